import { useState } from "preact/hooks";
import type { RatingAnswer, RatingContent } from "../../api/annotate";
import { Choice } from "./Choice";
import { Joined } from "./Joined";
import type { Judging } from "./judging";
import { SubmitRow } from "./SubmitRow";
import { type Keys, useKeys } from "./useKeys";

const SCORES = [
  { value: 1, label: "Not at all", sign: "1" },
  { value: 2, label: "Poorly", sign: "2" },
  { value: 3, label: "Fairly", sign: "3" },
  { value: 4, label: "Well", sign: "4" },
  { value: 5, label: "Very well", sign: "5" },
] as const;

/** An explanation of why two texts are alike: how good is it? */
export function Rating({ content, draft, busy, shortcuts, onDraft, onSubmit }: Judging<RatingContent, RatingAnswer>) {
  const [rating, setRating] = useState<number | null>(draft?.rating ?? null);
  const [tried, setTried] = useState(false);
  const choose = (value: number) => {
    setRating(value);
    onDraft({ kind: "rating", rating: value });
  };
  const submit = () => {
    if (busy) return;
    if (rating === null) setTried(true);
    else onSubmit({ kind: "rating", rating });
  };
  const keys: Keys = { enter: submit };
  for (const { value, sign } of SCORES) keys[sign] = () => choose(value);
  useKeys(keys, shortcuts && !busy);
  return (
    <div class="study-one">
      <Joined content={content} />
      <section aria-label="Your answer" class="study-side">
        <Choice
          legend="How well does this explain why the two texts are alike?"
          name="rating"
          options={SCORES}
          value={rating}
          onChange={choose}
          disabled={busy}
        />
        <SubmitRow missing={rating === null ? "Choose from 1 to 5." : null} tried={tried} busy={busy} onSubmit={submit} />
      </section>
    </div>
  );
}
