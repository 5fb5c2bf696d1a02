import { useEffect, useState } from "preact/hooks";
import { vocabulary, wordCurves, type Layers } from "../../api/layers";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { TextField } from "../../components/TextField";
import { useQuery } from "../../lib/query";
import { listed, type Change, type Key, type Selected } from "./state";
import { UnmeasuredWord } from "./UnmeasuredWord";
import { WordChart } from "./WordChart";

interface WordProps {
  slug: string;
  data: Layers;
  legend: Key;
  selected: Selected;
  change: Change;
}

/** A word of one's own through the layers. */
export function WordPanel({ slug, data, legend, selected, change }: WordProps) {
  const { word } = selected;
  const beside = listed(selected.with);
  const found = useQuery(
    word ? `word ${slug} ${word} ${selected.with}` : null,
    (signal) => wordCurves(slug, word, beside, signal),
    { keep: true },
  );
  return (
    <Panel
      title="A word of your own"
      note="How alike a word's vectors are over its texts. A word whose curve lies under the mean of all words takes more from its context."
    >
      <div class="stack">
        <WordBox slug={slug} word={word} onPick={(next) => change({ word: next })} />
        {!word ? (
          <Empty title="Type a word to see its own curves." />
        ) : found.fault ? (
          <Fault message={found.fault} again={found.again} />
        ) : !found.data || found.data.word !== word.trim() ? (
          <Loading what={`Looking for ${word}`} />
        ) : (
          <>
            {found.data.series.length > 0 && <WordChart found={found.data} data={data} legend={legend} selected={selected} />}
            {found.data.missing.length > 0 && <UnmeasuredWord key={word} slug={slug} found={found.data} again={found.again} />}
          </>
        )}
      </div>
    </Panel>
  );
}

function WordBox({ slug, word, onPick }: { slug: string; word: string; onPick: (word: string) => void }) {
  const [typed, setTyped] = useState(word);
  useEffect(() => setTyped(word), [word]);
  const { data } = useQuery(`vocabulary ${slug} ${typed}`, (signal) => vocabulary(slug, typed, signal), { keep: true });
  const go = () => typed.trim() && onPick(typed.trim());
  return (
    <div class="stack">
      <div class="row word-box">
        <TextField
          label="Word"
          type="search"
          maxLength={100}
          value={typed}
          onChange={setTyped}
          onEnter={go}
          suggestions={data?.words.map((one) => one.word) ?? []}
        />
        <Button kind="primary" onClick={go} disabled={!typed.trim()}>
          Show
        </Button>
      </div>
      {data && data.words.length > 0 && (
        <div class="suggested" aria-label="Measured words" role="group">
          {data.words.slice(0, 8).map((one) => (
            <Button key={one.word} compact pressed={one.word === word} onClick={() => onPick(one.word)}>
              {one.word}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}
