import { useState } from "preact/hooks";
import { type About, catalogueItems, corpusTexts } from "../../api/compare";
import { Button } from "../../components/Button";
import { Clamped } from "../../components/Clamped";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { number } from "../../lib/format";
import { useQuery } from "../../lib/query";

interface Offered {
  title: string;
  text: string;
  cut: boolean;
}

const OFFERED = 12;

/** Paragraphs to choose from: of a corpus, at random or by what they contain, or items of a catalogue. */
export function Picker({ slug, about, onPick }: { slug: string; about: About; onPick: (text: string) => void }) {
  const sources = [
    ...about.corpora.filter((one) => one.readable).map((one) => ({ value: `corpus ${one.name}`, label: `Corpus ${one.name}` })),
    ...about.catalogues.map((one) => ({ value: `items ${one.slug}`, label: `Catalogue ${one.name}` })),
  ];
  const [source, setSource] = useState(sources[0]?.value ?? "");
  const [typed, setTyped] = useState("");
  const [q, setQ] = useState("");
  const [seed, setSeed] = useState(1);
  const of = source.slice(source.indexOf(" ") + 1);
  const items = source.startsWith("items ");
  const found = useQuery(JSON.stringify(["pick", slug, source, q, seed]), (signal) =>
    items ? someItems(slug, of, q, signal) : someTexts(slug, of, q, seed, signal),
  );
  return (
    <div class="compare-picker">
      <div class="compare-picker-controls">
        <Select label="From" value={source} options={sources} onChange={setSource} />
        <TextField
          label={items ? "Title or id contains" : "Text contains"}
          type="search"
          value={typed}
          onChange={setTyped}
          onEnter={() => setQ(typed)}
          maxLength={200}
        />
        <Button onClick={() => setQ(typed)}>Search</Button>
        {!items && q === "" && <Button onClick={() => setSeed(seed + 1)}>Others at random</Button>}
      </div>
      {found.loading && <Loading what="Looking for texts" />}
      {found.fault && <Fault message={found.fault} again={found.again} />}
      {found.data && <p class="muted small">{told(found.data.found, found.data.offered.length, q, items)}</p>}
      <ul class="compare-list">
        {found.data?.offered.map((one, i) => (
          <li key={i}>
            <div>
              {one.title && (
                <strong>
                  <bdi>{one.title}</bdi>
                </strong>
              )}
              <Clamped text={one.text} lines={3} />
              {one.cut && <p class="muted small">Longer than can be compared; its beginning is taken.</p>}
            </div>
            <Button compact onClick={() => onPick(one.text)} label={`Use: ${one.text.slice(0, 60)}`}>
              Use
            </Button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function told(found: number, shown: number, q: string, items: boolean): string {
  if (!found) return "Nothing contains that.";
  if (q === "" && !items) return `${number(shown)} of ${number(found)} texts, at random.`;
  return shown < found ? `The first ${number(shown)} of ${number(found)}.` : `${number(found)} found.`;
}

async function someTexts(slug: string, corpus: string, q: string, seed: number, signal: AbortSignal) {
  const { texts, found } = await corpusTexts(slug, { corpus, q, seed }, signal);
  const offered: Offered[] = texts.map((one) => ({ title: "", text: one.text, cut: one.cut }));
  return { offered, found };
}

async function someItems(slug: string, catalogue: string, q: string, signal: AbortSignal) {
  const { items, found } = await catalogueItems(slug, catalogue, { q, start: 0, limit: OFFERED }, signal);
  const offered: Offered[] = items
    .filter((one) => !one.empty)
    .map((one) => ({ title: one.title, text: one.description, cut: false }));
  return { offered, found };
}
