import type { About } from "../../api/salience";
import { useSurveys } from "../../app/surveys";
import { Empty } from "../../components/Empty";
import { Link } from "../../lib/address";

/** Said of a survey that has no salience reading: why, where there is one, and what to run. */
export function Nothing({ about }: { about: About }) {
  const others = useSurveys().surveys.filter((one) => one.instruments.includes("salience"));
  return (
    <Empty title="No salience here">
      <div class="stack sal-nothing">
        <p>{about.why}</p>
        {others.map((one) => (
          <p key={one.slug}>
            There is salience in <Link to={`/s/${one.slug}/salience`}>{one.title}</Link>, which is open too.
          </p>
        ))}
        <p>Salience asks a classifier. Train one on labelled texts, survey it, and open that survey:</p>
        <pre tabIndex={0} aria-label="Commands">
          <code>{about.commands.join("\n")}</code>
        </pre>
      </div>
    </Empty>
  );
}
