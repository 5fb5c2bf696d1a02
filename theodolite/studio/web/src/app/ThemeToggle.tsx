import { useState } from "preact/hooks";
import { recall, remember } from "../lib/remember";

const CHOICES = ["system", "light", "dark"] as const;
type Choice = (typeof CHOICES)[number];

/** Each press goes to the next of: as the system, light, dark. */
export function ThemeToggle() {
  const [choice, setChoice] = useState<Choice>(() => CHOICES.find((one) => one === recall("theme")) ?? "system");
  const next = () => {
    const wanted = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length] ?? "system";
    remember("theme", wanted);
    dispatchEvent(new Event("theme"));
    setChoice(wanted);
  };
  return (
    <button type="button" class="tool-button" onClick={next} aria-label={`Theme: ${choice}`} title={`Theme: ${choice}`}>
      <svg viewBox="0 0 24 24" aria-hidden="true">
        {choice === "light" && (
          <>
            <circle cx="12" cy="12" r="4.5" />
            <path d="M12 2v2.500M12 19.500V22M2 12h2.500M19.5 12H22M5 5l1.7 1.700M17.3 17.3 19 19M5 19l1.7-1.700M17.3 6.7 19 5" />
          </>
        )}
        {choice === "dark" && <path d="M20 14.500A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.500Z" />}
        {choice === "system" && (
          <>
            <circle cx="12" cy="12" r="8.5" />
            <path class="filled" d="M12 3.500a8.5 8.5 0 0 1 0 17Z" />
          </>
        )}
      </svg>
    </button>
  );
}
