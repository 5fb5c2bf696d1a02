import type { CorpusInfo, WholeSurvey } from "../../api/survey";
import { type Column, DataTable } from "../../components/DataTable";
import { Panel } from "../../components/Panel";
import { capital, count, words } from "../../lib/format";

const COLUMNS: readonly Column<CorpusInfo>[] = [
  { key: "name", title: "Corpus", value: (corpus) => corpus.name },
  { key: "texts", title: "Texts", value: (corpus) => corpus.texts },
  { key: "tokens", title: "Tokens", value: (corpus) => corpus.tokens },
  {
    key: "source",
    title: "Read from",
    value: (corpus) => corpus.source ?? "–",
    cell: (corpus) => <span title={corpus.source ?? undefined}>{fileOf(corpus.source)}</span>,
  },
];

/** What became of some texts: how many, for one and for several. */
const FATES = [
  ["empty", "is empty and was skipped", "are empty and were skipped"],
  ["without_tokens", "has no tokens and was skipped", "have no tokens and were skipped"],
  ["duplicate", "repeats an earlier one", "repeat an earlier one"],
  ["windowed", "is longer than the encoder reads at once and was read in windows",
    "are longer than the encoder reads at once and were read in windows"],
] as const;

/** The texts, and what was skipped and why. */
export function CorporaPanel({ survey }: { survey: WholeSurvey }) {
  const skipped = [...fates(survey), ...leftOut(survey), ...withoutTexts(survey)];
  return (
    <div class="columns">
      <Panel title="Corpora">
        <DataTable columns={COLUMNS} rows={survey.corpora} caption="Corpora" hideCaption heading="name" />
      </Panel>
      <Panel title="What was skipped, and why">
        {skipped.length ? (
          <ul class="findings">
            {skipped.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        ) : (
          <p>Nothing: every text was read whole, and every instrument was run.</p>
        )}
      </Panel>
    </div>
  );
}

/** The file's name; the whole path is said when pointed at. */
function fileOf(source: string | null): string {
  return source?.split("/").pop() || "–";
}

function fates({ corpora }: WholeSurvey): string[] {
  const told = corpora.flatMap((corpus) =>
    FATES.flatMap(([name, one, several]) => {
      const many = corpus[name] ?? 0;
      return many ? [`${corpus.name}: ${count(many, "text")} ${many === 1 ? one : several}.`] : [];
    }),
  );
  return told.length ? told : ["No text was empty, repeated or too long: all were read whole."];
}

function leftOut(survey: WholeSurvey): string[] {
  const made = new Set(survey.readings.map((reading) => reading.instrument));
  return Object.entries(survey.left_out)
    .filter(([name]) => !made.has(name))
    .map(([name, why]) => `${capital(words(name))} was not run: ${why}.`);
}

function withoutTexts(survey: WholeSurvey): string[] {
  return survey.without_texts.map(
    (name) => `The texts of ${name} are no longer at hand: pages show its figures, not its sentences.`,
  );
}
