import type { AboutMap, MapApi, Points } from "../../api/map";
import { Button } from "../../components/Button";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { count } from "../../lib/format";
import type { At, Go } from "./address";
import type { Coloured } from "./data";
import { ExportButtons } from "./ExportButtons";
import { Summary } from "./Summary";
import { TextList } from "./TextList";

const ORDERS = [
  { value: "map", label: "as in the corpora" },
  { value: "high", label: "highest score first" },
  { value: "low", label: "lowest score first" },
];

interface ReadingPanelProps {
  api: MapApi;
  about: AboutMap;
  points: Points;
  coloured: Coloured;
  chosen: Uint32Array | null | undefined;
  listed: Uint32Array | null | undefined;
  colourAt: (point: number) => string;
  pin: number | null;
  at: At;
  go: Go;
}

/** What is selected: made of what, and the texts to read and save. */
export function ReadingPanel({ api, about, points, coloured, chosen, listed, colourAt, pin, at, go }: ReadingPanelProps) {
  if (chosen === null) {
    return (
      <Panel title="Nothing is selected">
        <p class="muted">
          Hold <kbd>Shift</kbd> and drag around some points, or take the lasso, to read their texts here; or search. A click on a
          point pins its text.
        </p>
      </Panel>
    );
  }
  if (!chosen) {
    return (
      <Panel title="Selection">
        <Loading what="Selecting" />
      </Panel>
    );
  }
  const { values } = coloured;
  return (
    <Panel
      title={count(chosen.length, about.unit)}
      note={said(at)}
      actions={
        <Button compact kind="quiet" onClick={() => go({ lasso: "", q: "", page: "1" })}>
          Clear
        </Button>
      }
    >
      <Summary api={api} about={about} points={points} chosen={chosen} />
      <ExportButtons api={api} chosen={chosen} count={about.count} direction={at.colour === "direction" ? at.direction : ""} />
      {values.kind === "numbers" && (
        <Select label="Order" value={at.order} options={ORDERS} onChange={(order) => go({ order, page: "1" }, "replace")} />
      )}
      {listed ? (
        <TextList
          api={api}
          listed={listed}
          page={Number(at.page) || 1}
          onPage={(page) => go({ page: String(page) })}
          colourAt={colourAt}
          scoreAt={(point) => (values.kind === "numbers" ? values.numbers[point] : undefined)}
          pin={pin}
          onPin={(point) => go({ pin: point === null ? "" : String(point) }, "replace")}
        />
      ) : (
        <Loading what="Sorting" />
      )}
    </Panel>
  );
}

function said({ lasso, q }: At): string {
  if (lasso && q) return `in the selection, with “${q}”`;
  return lasso ? "in the selection" : `with “${q}”`;
}
