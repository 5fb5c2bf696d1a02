import { useMemo } from "preact/hooks";
import type { RepresentationRow, ResultTables } from "../../api/studies";
import { Chart } from "../../components/Chart";
import { Clamped } from "../../components/Clamped";
import { DataTable } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { Panel } from "../../components/Panel";
import { interval, number, percent } from "../../lib/format";
import { intervalPlot } from "./intervalPlot";

/** How often neighbours explain a mistake, by representation, and in which ways. */
export function RationaleResults({ tables }: { tables: ResultTables }) {
  const rows = tables.representations ?? [];
  const plot = useMemo(() => {
    const shown = rows.map((row) => ({ name: row.representation, value: row.share, low: row.low, high: row.high }));
    return intervalPlot(shown, { unit: "share of the answers", domain: [0, 100], percent: true });
  }, [tables]);
  if (!rows.some((row) => row.answers > 0)) {
    return (
      <Panel title="By representation">
        <Empty title="Nobody has answered anything yet" />
      </Panel>
    );
  }
  return (
    <>
      <Panel title="By representation">
        <Chart plot={plot} title="Neighbours explain the mistake" name="rationales" description="Share of the answers that say so. Lines: 95% intervals, texts drawn anew." />
        <DataTable<RepresentationRow>
          caption="Share of the answers by representation"
          hideCaption
          heading="representation"
          rows={rows}
          columns={[
            { key: "representation", title: "Representation", value: (row) => row.representation },
            { key: "share", title: "Explains", value: (row) => row.share, cell: (row) => percent(row.share) },
            { key: "interval", title: "95% interval", align: "right", value: (row) => row.low, cell: (row) => `${percent(row.low)} to ${percent(row.high)}` },
            { key: "all", title: "Texts, by all", value: (row) => row.explained_by_all },
            { key: "conflicting", title: "by some", value: (row) => row.conflicting },
            { key: "none", title: "by none", value: (row) => row.explained_by_none },
            { key: "answers", title: "Answers", value: (row) => row.answers },
          ]}
        />
      </Panel>
      {(tables.differences?.length ?? 0) > 0 && (
        <Panel
          title={`Against ${tables.differences?.[0]?.against ?? "the reference"}`}
          note="On the same texts; an exact test of signs, p adjusted for false discoveries over all representations."
        >
          <DataTable
            caption="Paired differences"
            hideCaption
            heading="representation"
            rows={tables.differences ?? []}
            columns={[
              { key: "representation", title: "Representation", value: (row) => row.representation },
              { key: "difference", title: "Difference", value: (row) => row.difference, digits: 2 },
              { key: "interval", title: "95% interval", align: "right", value: (row) => row.low, cell: (row) => interval(row.low, row.high) },
              { key: "p", title: "Adjusted p", value: (row) => row.p_adjusted, cell: (row) => number(row.p_adjusted) },
            ]}
          />
        </Panel>
      )}
      {(tables.ways?.length ?? 0) > 0 && (
        <Panel title="The ways that people named">
          <DataTable
            caption="Ways and how often they were named"
            hideCaption
            rows={tables.ways ?? []}
            columns={[
              { key: "representation", title: "Representation", value: (row) => row.representation },
              { key: "way", title: "Way", value: (row) => row.way, cell: (row) => <Clamped text={row.way} lines={2} /> },
              { key: "count", title: "Times", value: (row) => row.count },
            ]}
          />
        </Panel>
      )}
    </>
  );
}
