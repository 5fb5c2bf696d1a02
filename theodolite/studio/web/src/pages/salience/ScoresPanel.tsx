import type { Scores } from "../../api/salience";
import { type Column, DataTable } from "../../components/DataTable";
import { Panel } from "../../components/Panel";
import { number, percent } from "../../lib/format";
import type { Here } from "./state";

const COLUMNS: readonly Column<Scores>[] = [
  { key: "name", title: "class", value: (row) => row.name },
  { key: "accuracy", title: "rightly named", value: (row) => row.accuracy, cell: (row) => percent(row.accuracy) },
  {
    key: "interval",
    title: "95% interval",
    value: (row) => row.accuracy_low,
    cell: (row) => `${percent(row.accuracy_low)} to ${percent(row.accuracy_high)}`,
    sortable: false,
  },
  { key: "texts", title: "texts with this label", value: (row) => row.texts },
  { key: "predicted", title: "answered so", value: (row) => row.predicted },
];

/** How good the answers are, beside always naming the commonest class. */
export function ScoresPanel({ here: { about, corpus } }: { here: Here }) {
  const mine = about.scores.filter((row) => row.corpus === corpus);
  const whole = mine.find((row) => row.name === "all");
  const classes = mine.filter((row) => row.name !== "all");
  if (!whole) return null;
  if (!whole.texts) {
    return (
      <Panel title="How good are its answers?">
        <p class="muted">No text of {corpus} has a label, so nobody knows.</p>
      </Panel>
    );
  }
  return (
    <Panel
      title="How good are its answers?"
      note={`Over the labelled texts of ${corpus}. If the classifier was trained on them, they flatter it.`}
    >
      <div class="stack">
        {whole.accuracy !== null ? <Accuracy whole={whole} /> : <Regression whole={whole} />}
        {classes.length > 0 && <DataTable columns={COLUMNS} rows={classes} caption="By class" heading="name" />}
      </div>
    </Panel>
  );
}

function Accuracy({ whole }: { whole: Scores }) {
  const better = whole.accuracy_low !== null && whole.baseline !== null && whole.accuracy_low > whole.baseline;
  return (
    <dl class="facts sal-facts">
      <div>
        <dt>rightly named</dt>
        <dd>
          <strong>{percent(whole.accuracy, 1)}</strong>
          <span class="muted small">
            {percent(whole.accuracy_low, 1)} to {percent(whole.accuracy_high, 1)}
          </span>
        </dd>
      </div>
      <div>
        <dt>always the commonest class</dt>
        <dd>
          <strong>{percent(whole.baseline, 1)}</strong>
          {!better && <span class="badge warning">no better than this</span>}
        </dd>
      </div>
      <Labelled texts={whole.texts} />
    </dl>
  );
}

function Regression({ whole }: { whole: Scores }) {
  return (
    <dl class="facts sal-facts">
      <div>
        <dt>correlation with the labels</dt>
        <dd>
          <strong>{number(whole.correlation, 3)}</strong>
          {whole.correlation_low !== null && (
            <span class="muted small">
              {number(whole.correlation_low, 3)} to {number(whole.correlation_high, 3)}
            </span>
          )}
        </dd>
      </div>
      <div>
        <dt>squared error</dt>
        <dd>
          <strong>{number(whole.squared_error, 3)}</strong>
          <span class="muted small">always the mean: {number(whole.baseline, 3)}</span>
        </dd>
      </div>
      <Labelled texts={whole.texts} />
    </dl>
  );
}

function Labelled({ texts }: { texts: number }) {
  return (
    <div>
      <dt>labelled texts</dt>
      <dd>
        <strong>{number(texts)}</strong>
      </dd>
    </div>
  );
}
