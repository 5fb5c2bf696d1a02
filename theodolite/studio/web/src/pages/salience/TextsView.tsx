import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { count } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { Pager } from "./Pager";
import { type Here, oneOf } from "./state";
import { TextDetail } from "./TextDetail";
import { TextList } from "./TextList";

const ORDERS = [
  { value: "surest", label: "surest first" },
  { value: "least-sure", label: "least sure first" },
  { value: "row", label: "as they came" },
];

/** The texts with their answers, wrong ones first to hand; one of them opened beside the list. */
export function TextsView({ here }: { here: Here }) {
  const { api, at, go, corpus } = here;
  const from = Number(at.from) || 0;
  // A regression's answers are neither right nor wrong, and none is surer than another.
  const classes = here.about.classes.length > 0;
  const wrong = classes && at.texts === "wrong";
  const asked = {
    corpus,
    label: at.label,
    answer: at.answer,
    wrong,
    word: at.word,
    order: classes ? oneOf(at.order, ["surest", "least-sure", "row"]) : "row",
    offset: from,
  };
  const { data, fault, again, loading } = useQuery(api.key("texts", asked), (signal) => api.texts(asked, signal), {
    keep: true,
  });
  const opened = /^\d+$/.test(at.row);
  return (
    <div class={opened ? "sal-browse sal-opened" : "sal-browse"}>
      <div class="stack sal-browse-list">
        <Filters here={here} />
        <Panel title={data ? `${count(data.total, "text")}` : "Texts"}>
          {fault && <Fault message={fault} again={again} />}
          {!data && !fault && <Loading />}
          {data && (
            <>
              <TextList texts={data} busy={loading} empty={wrong ? "No wrong answers here" : "No texts"} current={at.row} />
              <Pager total={data.total} from={from} onMove={(next) => go({ from: String(next) })} />
            </>
          )}
        </Panel>
      </div>
      <div class="stack sal-browse-detail">
        {opened ? (
          <>
            <div class="sal-back">
              <Button kind="quiet" onClick={() => go({ row: "" })}>
                ← All texts
              </Button>
            </div>
            <TextDetail here={here} row={Number(at.row)} />
          </>
        ) : (
          <p class="muted sal-hint">Open a text to see what its answer rests on, and which texts are nearest to it.</p>
        )}
      </div>
    </div>
  );
}

function Filters({ here: { about, at, go } }: { here: Here }) {
  const [word, setWord] = useState(at.word);
  useEffect(() => setWord(at.word), [at.word]);
  const classes = [{ value: "", label: "any" }, ...about.classes];
  const search = () => go({ word: word.trim(), from: "0" });
  return (
    <div class="stack">
      {about.classes.length > 0 && (
        <div class="sal-choices">
          <Select label="Label" value={at.label} options={classes} onChange={(label) => go({ label, from: "0" })} />
          <Select label="Answered" value={at.answer} options={classes} onChange={(answer) => go({ answer, from: "0" })} />
          <Select label="Order" value={at.order} options={ORDERS} onChange={(order) => go({ order, from: "0" })} />
        </div>
      )}
      <div class="sal-search">
        <TextField label="Mentions" value={word} onChange={setWord} onEnter={search} type="search" maxLength={200} />
        <Button onClick={search}>Search</Button>
      </div>
      {about.classes.length > 0 && (
        <Checkbox
          label="wrong answers only"
          checked={at.texts === "wrong"}
          onChange={(checked) => go({ texts: checked ? "wrong" : "all", from: "0" })}
        />
      )}
    </div>
  );
}
