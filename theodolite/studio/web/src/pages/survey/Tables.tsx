import { type ReadingInfo, tablePath, type TableInfo } from "../../api/survey";
import { Button } from "../../components/Button";
import { type Column, DataTable } from "../../components/DataTable";
import { useAddress } from "../../lib/address";
import { number, words } from "../../lib/format";
import { TablePreview } from "./TablePreview";

/** The tables of a reading: to look at, and to take home. */
export function Tables({ slug, reading }: { slug: string; reading: ReadingInfo }) {
  const key = `${reading.name}.table`;
  const [{ [key]: open = "" }, change] = useAddress<Record<string, string>>({ [key]: "" });
  const shown = reading.tables.find((table) => table.name === open);
  const columns: Column<TableInfo>[] = [
    { key: "name", title: "Table", value: (table) => words(table.name) },
    { key: "rows", title: "Rows", value: (table) => table.rows, cell: (table) => number(table.rows) },
    {
      key: "look",
      title: "Look",
      value: () => "",
      sortable: false,
      cell: (table) => (
        <Button
          compact
          kind="quiet"
          expanded={table.name === open}
          label={`${table.name === open ? "Close" : "Open"} ${words(table.name)}`}
          onClick={() => change({ [key]: table.name === open ? "" : table.name }, "replace")}
        >
          {table.name === open ? "Close" : "Open"}
        </Button>
      ),
    },
    {
      key: "files",
      title: "Download",
      value: () => "",
      sortable: false,
      cell: (table) => (
        <span class="table-files">
          {([".csv", ".parquet"] as const).map((kind) => (
            <a
              key={kind}
              href={tablePath(slug, reading.name, table.name, kind)}
              download
              aria-label={`${words(table.name)} as ${kind.slice(1)}`}
            >
              {kind.slice(1)}
            </a>
          ))}
        </span>
      ),
    },
  ];
  return (
    <div class="stack">
      <DataTable
        columns={columns}
        rows={reading.tables}
        caption={`Tables of ${reading.name}`}
        hideCaption
        rowKey={(table) => table.name}
        heading="name"
      />
      {shown && <TablePreview key={shown.name} slug={slug} reading={reading.name} table={shown} />}
    </div>
  );
}
