import type { ResultTables } from "../../api/studies";
import { DataTable } from "../../components/DataTable";
import { Panel } from "../../components/Panel";
import { number } from "../../lib/format";

/** The reading's own figures beside people's verdicts, where the reading is at hand. */
export function LocalityPanel({ tables }: { tables: ResultTables }) {
  if (!tables.locality?.length) return null;
  const sets = tables.machine ?? [];
  const both = sets.filter((row) => row.people === row.machine).length;
  return (
    <Panel
      title="Beside the machine"
      note="Locality: how far a direction’s top sentences lie as close together as neighbours do. Meaningful: all annotators found a pattern."
    >
      <DataTable
        caption="Mean locality by people’s verdict, and the Mann-Whitney p of the two groups"
        rows={tables.locality}
        columns={[
          { key: "corpus", title: "Corpus", value: (row) => row.corpus },
          { key: "n1", title: "Meaningful sets", value: (row) => row.sets_meaningful },
          { key: "n0", title: "Others", value: (row) => row.sets_meaningless },
          { key: "m1", title: "Locality, meaningful", value: (row) => row.meaningful, digits: 3 },
          { key: "m0", title: "Locality, others", value: (row) => row.meaningless, digits: 3 },
          { key: "p", title: "p", value: (row) => row.p, cell: (row) => number(row.p) },
        ]}
      />
      {sets.length > 0 && (
        <p class="small">
          People and the machine’s own search for patterns say the same of {both} of {sets.length} sets.
        </p>
      )}
    </Panel>
  );
}
