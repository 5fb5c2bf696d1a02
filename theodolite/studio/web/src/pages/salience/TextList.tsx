import type { ComponentChildren } from "preact";
import type { TextRow, Texts } from "../../api/salience";
import { Empty } from "../../components/Empty";
import { Link } from "../../lib/address";
import { number } from "../../lib/format";
import { openedText } from "./cards";
import { addressWith } from "./state";

interface TextListProps {
  texts: Texts;
  busy: boolean;
  /** Said where there are none. */
  empty: string;
  /** The row that is open. */
  current?: string;
}

/** Texts with what was answered, each a link to the text itself. */
export function TextList({ texts, busy, empty, current }: TextListProps) {
  return (
    <div aria-busy={busy}>
      {texts.note && <p class="muted small sal-note">{texts.note}</p>}
      {texts.rows.length === 0 && !texts.note && <Empty title={empty} />}
      <ol class="sal-list">
        {texts.rows.map((row) => (
          <li key={row.row} class={current === String(row.row) ? "sal-linked sal-current" : "sal-linked"}>
            <TextHead row={row}>
              <Link to={addressWith(openedText(row.corpus, row.row))} current={current === String(row.row)}>
                row {row.row}
              </Link>
            </TextHead>
            <p class="clamped-text clamped sal-text" dir="auto">
              {row.text ?? "(its text is not at hand)"}
            </p>
          </li>
        ))}
      </ol>
    </div>
  );
}

type Judged = Pick<TextRow, "label" | "answer" | "wrong"> & { probability?: number | null };

/** Which text it is, what was answered and how sure, and what would have been right. */
export function TextHead({ row, children }: { row: Judged; children: ComponentChildren }) {
  const other = row.label !== null && row.label !== row.answer;
  // Of a regression the label is another number, and the answer not wrong for that.
  const judged = row.wrong ? "badge danger" : row.label === null || other ? "badge" : "badge good";
  return (
    <div class="sal-text-head">
      {children}
      <span class={judged}>{other ? `answered ${row.answer}, is ${row.label ?? ""}` : `answered ${row.answer}`}</span>
      {row.probability != null && <span class="muted small numbers">p {number(row.probability, 2)}</span>}
    </div>
  );
}
