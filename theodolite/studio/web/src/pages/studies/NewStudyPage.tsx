import { useState } from "preact/hooks";
import { createStudy, type Kind, type StudyForm, studyForms } from "../../api/studies";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Page } from "../../components/Page";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { TextArea } from "../../components/TextArea";
import { TextField } from "../../components/TextField";
import { navigate, useAddress } from "../../lib/address";
import { faultText } from "../../lib/api";
import { useQuery } from "../../lib/query";
import { DrawOptions, optionValues } from "./DrawOptions";
import { KIND_NOTES, KIND_TITLES } from "./kinds";

/** The form of a new study; its kind and its source are in the address. */
export function NewStudyPage() {
  const forms = useQuery("study forms", studyForms);
  const [chosen, change] = useAddress({ kind: "", source: "" });
  const fitting = forms.data?.filter((form) => form.sources.length > 0) ?? [];
  const form = fitting.find((one) => one.kind === chosen.kind) ?? fitting[0];
  return (
    <Page title="New study" lead="Its items are drawn from a reading of an open survey, by a seed: the same draw every time.">
      {forms.fault && <Fault message={forms.fault} again={forms.again} />}
      {!forms.data && !forms.fault && <Loading />}
      {forms.data && !form && (
        <Empty title="No open survey has what a study is drawn from">
          Annotation needs a reading of illusion, rating one of similarity, rationale one of salience with neighbours of
          errors.
        </Empty>
      )}
      {form && (
        <>
          <Panel title="What is judged">
            <div class="stack">
              <div class="columns">
                <Select
                  label="Kind"
                  value={form.kind}
                  options={fitting.map((one) => ({ value: one.kind, label: KIND_TITLES[one.kind] }))}
                  onChange={(kind) => change({ kind, source: "" }, "replace")}
                />
                <Select
                  label="Drawn from"
                  value={sourceId(sourceOf(form, chosen.source))}
                  options={form.sources.map((one) => ({ value: sourceId(one), label: `${one.title} (${one.survey}): ${one.reading}` }))}
                  onChange={(source) => change({ source }, "replace")}
                />
              </div>
              <p class="muted">{KIND_NOTES[form.kind]}</p>
            </div>
          </Panel>
          <Details key={form.kind} form={form} source={sourceOf(form, chosen.source)} kind={form.kind} />
        </>
      )}
    </Page>
  );
}

type Source = StudyForm["sources"][number];

function sourceId(source: Source | undefined): string {
  return source ? `${source.survey} ${source.reading}` : "";
}

function sourceOf(form: StudyForm, id: string): Source | undefined {
  return form.sources.find((one) => sourceId(one) === id) ?? form.sources[0];
}

function Details({ form, source, kind }: { form: StudyForm; source: Source | undefined; kind: Kind }) {
  const [name, setName] = useState("");
  const [annotators, setAnnotators] = useState("2");
  const [seed, setSeed] = useState("0");
  const [title, setTitle] = useState(form.title);
  const [instructions, setInstructions] = useState(form.instructions);
  const [options, setOptions] = useState<Record<string, string>>({});
  const [fault, setFault] = useState<string>();
  const [making, setMaking] = useState(false);
  const make = async () => {
    if (!source || making) return;
    setMaking(true);
    setFault(undefined);
    try {
      const made = await createStudy({
        kind,
        name,
        survey: source.survey,
        reading: source.reading,
        options: optionValues(form, options),
        annotators: Number(annotators),
        seed: Number(seed),
        title,
        instructions,
      });
      navigate(`/studies/${made.id}`);
    } catch (error) {
      setFault(faultText(error));
      setMaking(false);
    }
  };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <Panel title="How it is drawn">
        <div class="columns">
          <TextField label="Name" note="For you; annotators never see it." value={name} onChange={setName} required maxLength={200} />
          <TextField
            label="Annotators for each item"
            type="number"
            min={1}
            max={100}
            value={annotators}
            onChange={setAnnotators}
            required
          />
          <DrawOptions form={form} values={options} onChange={setOptions} />
          <TextField label="Seed" note="Of the draw and of each annotator’s order." type="number" min={0} value={seed} onChange={setSeed} required />
        </div>
      </Panel>
      <Panel title="What annotators read" note="Say nothing of where the items come from.">
        <div class="stack">
          <TextField label="Title" value={title} onChange={setTitle} maxLength={200} />
          <TextArea label="Instructions" rows={4} value={instructions} onChange={setInstructions} maxLength={10000} />
        </div>
      </Panel>
      {fault && <Fault message={fault} />}
      <div>
        <Button kind="primary" type="submit" disabled={making || !source}>
          {making ? "Drawing…" : "Create study"}
        </Button>
      </div>
    </form>
  );
}
