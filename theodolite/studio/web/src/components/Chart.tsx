import * as Plot from "@observablehq/plot";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { saveBlob } from "../lib/api";
import { standalone } from "../lib/svg";
import { Button } from "./Button";

interface ChartProps {
  /** The chart for a width in pixels; marks and scales as in Observable Plot. */
  plot: (width: number) => Plot.PlotOptions;
  title: string;
  /** Of the file it is saved as, without its ending. */
  name: string;
  /** What it shows, for those who cannot see it; shown beneath it too. */
  description: string;
}

/** A chart as SVG that fits its box, follows the theme and can be saved. */
export function Chart({ plot, title, name, description }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const base = useId();
  useEffect(() => {
    const element = box.current;
    if (!element || !width) return;
    const drawn = Plot.plot({ width, style: { background: "transparent" }, ...plot(width) });
    // The content policy refuses style elements; chart.css says what they would.
    for (const style of drawn.querySelectorAll("style")) style.remove();
    // Plot names its groups, which have no role: the picture as a whole has the name.
    for (const group of drawn.querySelectorAll("g[aria-label]")) group.removeAttribute("aria-label");
    const picture = mainPicture(drawn);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", title);
    picture.setAttribute("aria-describedby", `${base}-note`);
    element.replaceChildren(drawn);
  }, [plot, width, title, base]);
  const save = () => {
    const drawn = box.current?.firstElementChild;
    if (!drawn) return;
    const text = standalone(mainPicture(drawn), title);
    saveBlob(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`);
  };
  return (
    <figure class="chart">
      <div class="chart-head">
        <div class="chart-title">{title}</div>
        <Button compact kind="quiet" onClick={save} label={`Save SVG: ${title}`}>
          Save SVG
        </Button>
      </div>
      <div class="chart-box" ref={box} />
      <figcaption id={`${base}-note`}>{description}</figcaption>
    </figure>
  );
}

/** The drawing itself: with a legend Plot wraps it in a figure, where legends have small drawings of their own. */
function mainPicture(drawn: Element): SVGElement {
  if (drawn instanceof SVGElement) return drawn;
  const pictures = [...drawn.querySelectorAll<SVGElement>(":scope > svg")];
  return pictures[pictures.length - 1] as SVGElement;
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setWidth(Math.floor(element.clientWidth));
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    measure();
    return () => watcher.disconnect();
  }, [box]);
  return width;
}
