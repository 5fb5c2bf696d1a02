import { useState } from "preact/hooks";

const FIRST = 700;

/** A text as it is, in its own direction; of a very long one the beginning, until the rest is asked for. */
export function LongText({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  const long = text.length > FIRST * 1.2;
  return (
    <>
      <bdi dir="auto" class="study-text">
        {long && !open ? `${beginning(text)}…` : text}
      </bdi>
      {long && (
        <button
          type="button"
          class="link-button study-more"
          aria-expanded={open}
          onClick={(event) => {
            // Within a label, a click would tick it.
            event.preventDefault();
            setOpen(!open);
          }}
        >
          {open ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
        </button>
      )}
    </>
  );
}

/** Never half of a character. */
function beginning(text: string): string {
  return text.slice(0, FIRST).replace(/[\ud800-\udbff]$/, "");
}
