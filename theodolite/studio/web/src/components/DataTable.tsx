import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { number } from "../lib/format";

export type Cell = string | number | boolean | null | undefined;

export interface Column<Row> {
  key: string;
  title: string;
  /** What the column is sorted by; also what is shown when there is no `cell`. */
  value: (row: Row) => Cell;
  cell?: (row: Row) => ComponentChildren;
  digits?: number;
  align?: "left" | "right";
  /** Explains the heading. */
  note?: string;
  sortable?: boolean;
}

interface DataTableProps<Row> {
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** What the table shows; screen readers say it first. */
  caption: string;
  hideCaption?: boolean;
  /** Tells rows apart; their order otherwise. */
  rowKey?: (row: Row) => string | number;
  /** The column whose cells are the rows' headings. */
  heading?: string;
}

/** A table that is sorted by clicking a heading: once one way, twice the other, thrice as it came. */
export function DataTable<Row>({ columns, rows, caption, hideCaption, rowKey, heading }: DataTableProps<Row>) {
  const [order, setOrder] = useState<{ key: string; down: boolean } | null>(null);
  const shown = useMemo(() => {
    const column = columns.find((one) => one.key === order?.key);
    if (!column || !order) return rows;
    return [...rows].sort((a, b) => compare(column.value(a), column.value(b), order.down));
  }, [rows, columns, order]);
  const first = rows[0];
  const right = (column: Column<Row>) =>
    column.align ? column.align === "right" : first !== undefined && typeof column.value(first) === "number";
  const turn = (key: string) =>
    setOrder(order?.key !== key ? { key, down: true } : order.down ? { key, down: false } : null);
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label={caption}>
      <table class="table">
        <caption class={hideCaption ? "hidden-visually" : undefined}>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => {
              const state = order?.key === column.key ? (order.down ? "descending" : "ascending") : undefined;
              return (
                <th key={column.key} scope="col" class={right(column) ? "right" : ""} aria-sort={state} title={column.note}>
                  {column.sortable === false || rows.length < 2 ? (
                    column.title
                  ) : (
                    <button type="button" class="sort-button" onClick={() => turn(column.key)}>
                      {column.title}
                      {state && <span aria-hidden="true">{state === "descending" ? "▼" : "▲"}</span>}
                    </button>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {shown.map((row, i) => (
            <tr key={rowKey ? rowKey(row) : i}>
              {columns.map((column) => {
                const content = column.cell ? column.cell(row) : plain(column.value(row), column.digits);
                const name = right(column) ? "right" : "";
                return column.key === heading ? (
                  <th key={column.key} scope="row" class={name}>
                    {content}
                  </th>
                ) : (
                  <td key={column.key} class={name}>
                    {content}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function plain(value: Cell, digits?: number): string {
  if (typeof value === "number" || value === null || value === undefined) return number(value, digits);
  return typeof value === "boolean" ? (value ? "yes" : "no") : value;
}

/** What is missing goes last either way. */
function compare(a: Cell, b: Cell, down: boolean): number {
  const [none, other] = [missing(a), missing(b)];
  if (none || other) return Number(none) - Number(other);
  const order =
    typeof a === "string" || typeof b === "string"
      ? String(a).localeCompare(String(b), "en", { numeric: true })
      : Number(a) - Number(b);
  return down ? -order : order;
}

function missing(value: Cell): boolean {
  return value === null || value === undefined || (typeof value === "number" && Number.isNaN(value));
}
