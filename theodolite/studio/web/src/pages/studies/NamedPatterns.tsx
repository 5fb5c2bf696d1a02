import { useMemo } from "preact/hooks";
import type { PatternRow } from "../../api/studies";
import { Clamped } from "../../components/Clamped";
import { DataTable } from "../../components/DataTable";
import { Panel } from "../../components/Panel";

interface Group {
  name: string;
  times: number;
  others: string;
  where: string;
  people: number;
}

/** What people called the patterns, those that mean the same as one. */
export function NamedPatterns({ rows }: { rows: readonly PatternRow[] }) {
  const groups = useMemo(() => grouped(rows), [rows]);
  if (rows.length === 0) return null;
  return (
    <Panel title="What people saw" note="Patterns that mean the same count as one; decide which do under “Merge patterns”.">
      <DataTable<Group>
        caption="Patterns by name"
        hideCaption
        rows={groups}
        rowKey={(row) => row.name}
        heading="name"
        columns={[
          { key: "name", title: "Pattern", value: (row) => row.name, cell: (row) => <Clamped text={row.name} lines={2} /> },
          { key: "times", title: "Times named", value: (row) => row.times },
          { key: "people", title: "Annotators", value: (row) => row.people },
          { key: "others", title: "Also called", value: (row) => row.others, cell: (row) => <Clamped text={row.others || "–"} lines={2} /> },
          { key: "where", title: "In", value: (row) => row.where, cell: (row) => <Clamped text={row.where} lines={2} /> },
        ]}
      />
    </Panel>
  );
}

function grouped(rows: readonly PatternRow[]): Group[] {
  const found = new Map<string, PatternRow[]>();
  for (const row of rows) found.set(row.group, [...(found.get(row.group) ?? []), row]);
  return [...found]
    .map(([name, of]) => ({
      name,
      times: of.length,
      others: [...new Set(of.map((row) => row.pattern))].filter((one) => one !== name).join("; "),
      where: [...new Set(of.map((row) => `${row.direction ?? row.condition} in ${row.corpus}`))].join("; "),
      people: new Set(of.map((row) => row.annotator)).size,
    }))
    .sort((a, b) => b.times - a.times || a.name.localeCompare(b.name));
}
