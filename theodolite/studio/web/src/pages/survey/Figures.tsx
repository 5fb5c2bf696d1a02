import { type FigureInfo, figurePath, type ReadingInfo } from "../../api/survey";

/** The figure that says most at a glance, where it is not the first. */
const MAIN: Record<string, string> = { contextuality: "curves-adjusted", illusion: "verdicts" };

interface FigureProps {
  slug: string;
  reading: ReadingInfo;
}

/** The figures of the report; each can be saved as SVG. */
export function Figures({ slug, reading }: FigureProps) {
  if (!reading.figures.length) return <p class="muted">This reading has no figures.</p>;
  return (
    <div class="figures">
      {reading.figures.map((figure) => (
        <Figure key={figure.name} figure={figure} path={figurePath(slug, reading.name, figure.name)} />
      ))}
    </div>
  );
}

/** One figure beside the findings. */
export function MainFigure({ slug, reading }: FigureProps) {
  const wanted = MAIN[reading.instrument];
  const figure = reading.figures.find((one) => one.name === wanted) ?? reading.figures[0];
  return figure ? <Figure figure={figure} path={figurePath(slug, reading.name, figure.name)} /> : null;
}

function Figure({ figure, path }: { figure: FigureInfo; path: string }) {
  return (
    <figure class="figure">
      <div class="figure-head">
        <h3>{figure.title}</h3>
        <a class="button quiet compact" href={path} download aria-label={`Save SVG: ${figure.title}`}>
          Save SVG
        </a>
      </div>
      <img class="figure-picture" src={path} alt={figure.title} loading="lazy" />
      <figcaption>{figure.caption}</figcaption>
    </figure>
  );
}
