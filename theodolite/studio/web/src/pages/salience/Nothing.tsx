import type { About } from "../../api/salience";
import { Empty } from "../../components/Empty";

/** Said of a survey that has no salience reading: why, and what to run. */
export function Nothing({ about }: { about: About }) {
  return (
    <Empty title="No salience here">
      <div class="stack sal-nothing">
        <p>{about.why}</p>
        <p>Salience asks a classifier. Train one on labelled texts, survey it, and open that survey:</p>
        <pre tabIndex={0} aria-label="Commands">
          <code>{about.commands.join("\n")}</code>
        </pre>
      </div>
    </Empty>
  );
}
