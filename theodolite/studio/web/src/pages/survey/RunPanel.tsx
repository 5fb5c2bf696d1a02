import { useEffect, useState } from "preact/hooks";
import { type InstrumentForm, instruments, type RunResult, runInstrument, type WholeSurvey } from "../../api/survey";
import { useSurveys } from "../../app/surveys";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { JobProgress } from "../../components/JobProgress";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { useAddress } from "../../lib/address";
import { faultText } from "../../lib/api";
import { capital } from "../../lib/format";
import { isOver, useJob } from "../../lib/jobs";
import { useQuery } from "../../lib/query";
import { OptionControl } from "./OptionControl";
import { shownDefault, type Typed, wanted } from "./options";

/** Any instrument, with any options, over the survey's corpora; its reading appears above. */
export function RunPanel({ survey }: { survey: WholeSurvey }) {
  const { data, fault, again } = useQuery("instruments", instruments);
  return (
    <Panel
      title="Run another instrument"
      note="Over the same corpora and with the same encoder. The reading is kept in the survey's folder."
    >
      {fault ? (
        <Fault message={fault} again={again} />
      ) : !data ? (
        <Loading />
      ) : !survey.live ? (
        <p>
          The encoder is not here: open the studio with <code>--model DIR</code>, the folder of {survey.encoder.name}.
        </p>
      ) : survey.without_texts.length ? (
        <p>The texts of {survey.without_texts.join(", ")} are no longer at hand, so nothing can be measured on them.</p>
      ) : (
        <RunForm survey={survey} forms={data} />
      )}
    </Panel>
  );
}

function RunForm({ survey, forms }: { survey: WholeSurvey; forms: readonly InstrumentForm[] }) {
  const [{ run, job: id }, change] = useAddress({ run: forms[0]?.name ?? "", job: "" });
  const form = forms.find((one) => one.name === run) ?? forms[0];
  const [typed, setTyped] = useState<Record<string, Typed>>({});
  const [fault, setFault] = useState<string>();
  const { job, fault: lost } = useJob<RunResult>(id || null);
  const { refresh } = useSurveys();
  const made = job?.state === "done" ? job.result?.reading : undefined;
  useEffect(() => {
    if (made && !survey.readings.some((reading) => reading.name === made)) refresh();
  }, [made, survey.readings, refresh]);
  if (!form) return null;
  const mine = typed[form.name] ?? {};
  const { options, faults } = wanted(form.options.properties, mine);
  const busy = job !== undefined && !isOver(job);
  const start = () => {
    setFault(undefined);
    runInstrument(survey.slug, form.name, options).then(
      (started) => change({ job: started.id }, "replace"),
      (error: unknown) => setFault(faultText(error)),
    );
  };
  const why = survey.left_out[form.name];
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!Object.keys(faults).length && !busy) start();
      }}
    >
      <div class="run-choice">
        <Select
          label="Instrument"
          note={form.question}
          value={form.name}
          options={forms.map((one) => ({ value: one.name, label: capital(one.name) }))}
          onChange={(value) => change({ run: value }, "replace")}
        />
        {why && <p class="field-note">Left out of this survey: {why}.</p>}
      </div>
      <details class="run-options">
        <summary>Options ({Object.keys(options).length ? `${Object.keys(options).length} changed` : "all as usual"})</summary>
        <div class="run-fields">
          {Object.entries(form.options.properties).map(([name, schema]) => (
            <OptionControl
              key={`${form.name} ${name}`}
              name={name}
              schema={schema}
              value={mine[name] ?? shownDefault(schema)}
              fault={faults[name]}
              onChange={(value) => setTyped({ ...typed, [form.name]: { ...mine, [name]: value } })}
            />
          ))}
        </div>
      </details>
      <div class="row row-centre">
        <Button type="submit" kind="primary" disabled={busy || Object.keys(faults).length > 0}>
          Run {form.name}
        </Button>
      </div>
      {fault && <Fault message={fault} />}
      {lost && <p class="field-note">The job in this address is over: {lost}.</p>}
      {job && <JobProgress job={job} again={start} />}
      {made && (
        <p role="status">
          Done: <strong>{made}</strong> is among the readings above.
        </p>
      )}
    </form>
  );
}
