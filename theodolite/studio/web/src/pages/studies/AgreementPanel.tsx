import { useMemo } from "preact/hooks";
import type { AgreementRow, Told } from "../../api/studies";
import { Chart } from "../../components/Chart";
import { DataTable } from "../../components/DataTable";
import { Panel } from "../../components/Panel";
import { capital, interval, words } from "../../lib/format";
import { intervalPlot } from "./intervalPlot";

/** Of twenty annotators, 190 pairs could be drawn: the table has them all. */
const MOST = 15;

interface AgreementPanelProps {
  rows: AgreementRow[];
  annotators: Record<string, Told | string>[];
}

/** How far annotators agree beyond chance, and what each of them tends to. */
export function AgreementPanel({ rows, annotators }: AgreementPanelProps) {
  const known = rows.filter((row) => row.value !== null);
  const plot = useMemo(
    () => intervalPlot(known.slice(0, MOST).map((row) => ({ ...row, name: nameOf(row) })), { unit: "agreement beyond chance", base: 0 }),
    [rows],
  );
  const first = annotators[0];
  return (
    <>
      <Panel title="Agreement" note="1 is full agreement, 0 what chance would give. Krippendorff’s alpha and Fleiss’ kappa are over all annotators, Cohen’s kappa of two.">
        {known.length > 0 && (
          <Chart plot={plot} title="Agreement with its interval" name="agreement" description="The dashed line is chance. Lines: 95% intervals, items drawn anew." />
        )}
        <DataTable<AgreementRow>
          caption="Coefficients of agreement"
          hideCaption
          rows={rows}
          columns={[
            { key: "measure", title: "Measure", value: (row) => row.measure },
            { key: "level", title: "Level", value: (row) => row.level },
            { key: "among", title: "Among", value: (row) => row.among, cell: (row) => <bdi>{row.among}</bdi> },
            { key: "value", title: "Value", value: (row) => row.value, align: "right", digits: 2 },
            { key: "interval", title: "95% interval", align: "right", value: (row) => row.low, cell: (row) => interval(row.low, row.high) },
            { key: "items", title: "Items", value: (row) => row.items },
            { key: "why", title: "Why not", value: (row) => row.why, cell: (row) => row.why && <span class="muted small">{row.why}</span> },
          ]}
        />
      </Panel>
      {first && (
        <Panel title="By annotator" note="Some see more than others: compare before blaming an item.">
          <DataTable
            caption="What each annotator tends to"
            hideCaption
            heading="annotator"
            rows={annotators}
            columns={Object.keys(first).map((key) => ({
              key,
              title: capital(words(key)),
              value: (row: Record<string, Told | string>) => row[key],
              digits: Number.isInteger(first[key]) && !RATES.includes(key) ? undefined : 2,
              ...(key === "annotator" ? { cell: (row: Record<string, Told | string>) => <bdi>{row[key]}</bdi> } : {}),
            }))}
          />
        </Panel>
      )}
    </>
  );
}

const RATES = ["with_pattern", "patterns_per_set", "low", "high", "mean", "deviation", "explains"];

function nameOf(row: AgreementRow): string {
  return `${row.measure}: ${row.among === "all" ? row.level : row.among}`;
}
