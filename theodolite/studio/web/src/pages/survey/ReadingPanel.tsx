import type { ReadingInfo } from "../../api/survey";
import { surveyPath } from "../../app/routes";
import { Panel } from "../../components/Panel";
import { Tabs } from "../../components/Tabs";
import { Link, useAddress } from "../../lib/address";
import { capital, words } from "../../lib/format";
import { Figures, MainFigure } from "./Figures";
import { Findings } from "./Findings";
import { Options } from "./Options";
import { Tables } from "./Tables";

/** Where a reading can be explored further. */
const PAGES: Record<string, readonly { page: string; title: string }[]> = {
  contextuality: [{ page: "layers", title: "Layers" }],
  isotropy: [{ page: "layers", title: "Layers" }],
  illusion: [
    { page: "directions", title: "Directions" },
    { page: "map", title: "Map" },
  ],
  salience: [{ page: "salience", title: "Salience" }],
  similarity: [{ page: "compare", title: "Compare" }],
};

type Tab = "findings" | "figures" | "tables" | "options";

/** One reading: its question, what it found, its figures and tables. */
export function ReadingPanel({ slug, reading }: { slug: string; reading: ReadingInfo }) {
  // Each reading keeps its own tab in the address, under its name.
  const [{ [reading.name]: chosen = "findings" }, change] = useAddress<Record<string, string>>({
    [reading.name]: "findings",
  });
  const tabs: { id: Tab; title: string }[] = [
    { id: "findings", title: "Findings" },
    { id: "figures", title: `Figures (${reading.figures.length})` },
    { id: "tables", title: `Tables (${reading.tables.length})` },
    { id: "options", title: "Options" },
  ];
  const tab = tabs.find((one) => one.id === chosen)?.id ?? "findings";
  return (
    <Panel
      title={titleOf(reading)}
      note={reading.added ? `${reading.question} Run in the studio.` : reading.question}
      actions={<Further slug={slug} instrument={reading.instrument} />}
    >
      <Tabs
        label={`Reading of ${reading.name}`}
        tabs={tabs}
        value={tab}
        onChange={(id) => change({ [reading.name]: id }, "replace")}
      >
        {tab === "findings" && (
          <div class="found">
            <Findings findings={reading.findings} />
            <MainFigure slug={slug} reading={reading} />
          </div>
        )}
        {tab === "figures" && <Figures slug={slug} reading={reading} />}
        {tab === "tables" && <Tables slug={slug} reading={reading} />}
        {tab === "options" && <Options options={reading.options} />}
      </Tabs>
    </Panel>
  );
}

/** Readings of one instrument are told apart by the key in their names. */
function titleOf({ name, instrument, added }: ReadingInfo): string {
  const said = capital(words(instrument));
  return added ? `${said} (${name.slice(instrument.length + 1)})` : said;
}

function Further({ slug, instrument }: { slug: string; instrument: string }) {
  return (PAGES[instrument] ?? []).map(({ page, title }) => (
    <Link key={page} class="button quiet compact" to={surveyPath(slug, page)} label={`${title} of ${instrument}`}>
      {title} <span aria-hidden="true">→</span>
    </Link>
  ));
}
