import { useEffect, useState } from "preact/hooks";
import type { About } from "../../api/compare";
import { Button } from "../../components/Button";
import { Empty } from "../../components/Empty";
import { useAddress } from "../../lib/address";
import { number } from "../../lib/format";
import { CARRIED, carried, carry, wellFormed } from "./carrying";
import { Explained } from "./Explained";
import { TextBox } from "./TextBox";

const EXAMPLE = {
  a: "A dry red wine with notes of cherry and a long finish. It was aged in French oak, which gives it a touch of vanilla.",
  b: "This red is very dry: ripe cherries, hints of vanilla from the barrel, and a taste that lasts.",
};

/** Two paragraphs, typed or picked, and why they are alike. */
export function TextsTab({ slug, about, waking }: { slug: string; about: About; waking: boolean }) {
  const [address, go] = useAddress({ a: "", b: "", ka: "", kb: "", job: "" });
  const asked = { a: carried({ text: address.a, key: address.ka }), b: carried({ text: address.b, key: address.kb }) };
  const [draft, setDraft] = useState({ a: asked.a ?? "", b: asked.b ?? "" });
  // Going back and forth in the browser's history brings its texts along.
  const shown = JSON.stringify([asked.a, asked.b]);
  useEffect(() => setDraft({ a: asked.a ?? "", b: asked.b ?? "" }), [shown]);

  const long = (["a", "b"] as const).find((side) => Array.from(draft[side]).length > about.longest);
  const whole = draft.a.trim() !== "" && draft.b.trim() !== "" && long === undefined;
  const show = (next: { a: string; b: string }) => {
    const [a, b] = [carry(wellFormed(next.a)), carry(wellFormed(next.b))];
    go({ a: a.text, b: b.text, ka: a.key, kb: b.key, job: "" });
  };
  const explain = () => {
    if (whole) show(draft);
  };
  const stale = draft.a !== (asked.a ?? "") || draft.b !== (asked.b ?? "");
  return (
    <div class="stack">
      <div class="compare-texts">
        {(["a", "b"] as const).map((side) => (
          <TextBox
            key={side}
            slug={slug}
            about={about}
            label={side === "a" ? "First text" : "Second text"}
            value={draft[side]}
            onChange={(text) => setDraft((before) => ({ ...before, [side]: text }))}
            onEnter={explain}
          />
        ))}
      </div>
      <div class="row row-centre">
        <Button kind="primary" onClick={explain} disabled={!whole}>
          Explain
        </Button>
        <Button onClick={() => show(EXAMPLE)}>Try an example</Button>
        <span class="muted small">
          or <kbd>Ctrl</kbd> + <kbd>Enter</kbd> in a text
        </span>
        {waking && (
          <span class="muted small" role="status">
            The model is being loaded; the first answer waits for it.
          </span>
        )}
      </div>
      <Lost asked={asked} />
      {(address.ka || address.kb) && asked.a !== null && asked.b !== null && (
        <p class="compare-hint">
          A text of more than about {number(CARRIED)} characters does not fit into a link: this address works in this tab
          only.
        </p>
      )}
      {asked.a && asked.b ? (
        <Explained
          slug={slug}
          about={about}
          pair={{ kind: "texts", a: asked.a, b: asked.b }}
          stale={stale ? "The texts above were changed; what follows is of those before." : ""}
        />
      ) : (
        <Empty title="Two texts, and what makes them alike">
          <p>
            Type or pick two paragraphs. You will see their cosine beside that of random texts, the words that carry it
            joined, every method side by side, and whether the explanation depends on the model at all.
          </p>
        </Empty>
      )}
    </div>
  );
}

function Lost({ asked }: { asked: { a: string | null; b: string | null } }) {
  const lost = [asked.a === null ? "first" : "", asked.b === null ? "second" : ""].filter(Boolean);
  if (!lost.length) return null;
  return (
    <p class="compare-hint" role="status">
      The {lost.join(" and ")} text was too long for a link, and is only in the tab that it was typed in. Paste it again.
    </p>
  );
}
