import { type AboutMap, type MapApi, NO_CATEGORY } from "../../api/map";
import { Fault } from "../../components/Fault";
import { Legend } from "../../components/Legend";
import { Loading } from "../../components/Loading";
import { Select } from "../../components/Select";
import { type At, type Go, readHidden } from "./address";
import type { Colours } from "./data";
import { DirectionForm } from "./DirectionForm";
import { colourOf } from "./paint";
import { ScoreLegend } from "./ScoreLegend";

interface ColourPanelProps {
  api: MapApi;
  about: AboutMap;
  colours: Colours;
  at: At;
  go: Go;
}

/** What the colours stand for, and which of them are shown. */
export function ColourPanel({ api, about, colours, at, go }: ColourPanelProps) {
  const { coloured, fault, loading } = colours;
  const choices = about.colourings.map((one) => ({ value: one.id, label: one.title }));
  const directed = at.colour === "direction";
  choices.push({ value: "direction", label: "Score along a direction" });
  const { values } = coloured;
  return (
    <section class="panel map-colours" aria-label="Colours">
      <Select label="Colour by" value={at.colour} options={choices} onChange={(colour) => go({ colour, hidden: "", order: "map" })} />
      {directed && <DirectionForm api={api} about={about} vectors={colours.vectors} at={at} go={go} />}
      {fault && <Fault message={fault} />}
      {loading && <Loading what="Colouring" />}
      {values.kind === "numbers" ? (
        <>
          {directed && <p class="map-direction-title">{coloured.about.title}</p>}
          <ScoreLegend low={values.low} high={values.high} median={coloured.median} />
        </>
      ) : (
        <Categories colours={colours} at={at} go={go} total={about.count} />
      )}
    </section>
  );
}

function Categories({ colours, at, go, total }: { colours: Colours; at: At; go: Go; total: number }) {
  const { about } = colours.coloured;
  const hidden = readHidden(at.hidden);
  const items = about.categories.map((one, code) => ({
    id: String(code),
    label: one.name,
    colour: colourOf(code),
    count: one.count,
    on: !hidden.has(code),
  }));
  const without = total - about.categories.reduce((sum, one) => sum + one.count, 0);
  if (without > 0) {
    const on = !hidden.has(NO_CATEGORY);
    items.push({ id: String(NO_CATEGORY), label: "none", colour: colourOf(NO_CATEGORY), count: without, on });
  }
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(Number(id))) next.add(Number(id));
    go({ hidden: [...next].sort((a, b) => a - b).join(","), page: "1" }, "replace");
  };
  return <Legend label={`${about.title}: press to hide or show`} items={items} onToggle={toggle} />;
}
