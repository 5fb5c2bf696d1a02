import { useEffect, useRef, useState } from "preact/hooks";
import { LONGEST_TEXT, type TryRequest } from "../../api/salience";
import { Button } from "../../components/Button";
import { Checkbox } from "../../components/Checkbox";
import { Empty } from "../../components/Empty";
import { Panel } from "../../components/Panel";
import { Select } from "../../components/Select";
import { TextArea } from "../../components/TextArea";
import { Link } from "../../lib/address";
import { addressWith, type Here, MEANING } from "./state";
import { TryAnswer } from "./TryAnswer";
import { useTrial } from "./useTrial";

/** How long nobody must have typed before the classifier is asked. */
const PAUSE = 300;
/** The longest text that is put into the address. */
const ADDRESSED = 4000;

const METHODS = ["grad-l2", "grad-x-input", "integrated-gradients"];

/** A text of one's own, answered while it is typed, and set beside the one it came from. */
export function TryView({ here }: { here: Here }) {
  const { api, about, at, go } = here;
  const [text, setText] = useHeld(at.text, (value) => go({ text: value }, "replace"));
  const [second, setSecond] = useHeld(at.second, (value) => go({ second: value }, "replace"));
  const [pair, setPair] = useState(at.second !== "");
  const chosen = METHODS.filter((method) => at.methods.split(",").includes(method));
  const methods = chosen.length ? chosen : ["grad-l2"];
  const target = about.classes.includes(at.target) ? at.target : "predicted";
  const edited = at.original !== "" && (text !== at.original || second !== at.original_second);
  const now = useTrial(api, about.live ? request(text, second, methods, target) : null, PAUSE);
  const before = useTrial(api, edited ? request(at.original, at.original_second, ["grad-l2"], target) : null, 0);
  if (!about.live) {
    return <Empty title="The classifier cannot be asked here">{about.why_not_live}</Empty>;
  }
  const toggle = (method: string, on: boolean) =>
    go({ methods: METHODS.filter((one) => (one === method ? on : methods.includes(one))).join(",") });
  return (
    <div class="sal-try">
      <Panel
        title="A text of your own"
        note="The classifier answers while you type. Change a word and see what that does to the answer."
      >
        <div class="stack">
          <TextArea label="Text" value={text} onChange={setText} rows={5} maxLength={LONGEST_TEXT} />
          {pair && (
            <TextArea label="Second text of the pair" value={second} onChange={setSecond} rows={4} maxLength={LONGEST_TEXT} />
          )}
          <div class="row row-centre">
            <Button
              disabled={!text.trim() || (at.original === text && at.original_second === second)}
              onClick={() => go({ original: text, original_second: second, text, second })}
            >
              Compare edits with this
            </Button>
            <Button
              disabled={!edited}
              onClick={() => {
                setText(at.original);
                setSecond(at.original_second);
              }}
            >
              Back to the original
            </Button>
            {!text && (
              <Link to={addressWith({ view: "texts", row: "" })}>
                {about.classes.length > 0 ? "Take a text that it got wrong" : "Take a text of the corpus"}
              </Link>
            )}
          </div>
          {edited && <Original text={at.original} second={at.original_second} />}
          <details class="sal-how">
            <summary>
              How it is asked: {methods.join(", ")}; weights for {target === "predicted" ? "the class it answers" : target}
            </summary>
            <fieldset class="sal-methods">
              <legend>Methods</legend>
              {METHODS.map((method) => (
                <Checkbox
                  key={method}
                  label={method}
                  note={MEANING[method]}
                  checked={methods.includes(method)}
                  disabled={methods.length === 1 && methods[0] === method}
                  onChange={(on) => toggle(method, on)}
                />
              ))}
            </fieldset>
            <div class="sal-choices">
              {about.classes.length > 0 && (
                <Select
                  label="Weights for"
                  value={target}
                  options={[{ value: "predicted", label: "the class it answers" }, ...about.classes]}
                  onChange={(value) => go({ target: value })}
                />
              )}
              <Checkbox
                label="a pair of texts"
                note="For a classifier of pairs."
                checked={pair}
                onChange={(on) => {
                  setPair(on);
                  if (!on) setSecond("");
                }}
              />
            </div>
          </details>
        </div>
      </Panel>
      <TryAnswer here={here} now={now} before={edited ? before.answer?.answers : undefined} fault={before.fault} />
    </div>
  );
}

function Original({ text, second }: { text: string; second: string }) {
  return (
    <div class="sal-original">
      <h3>The original</h3>
      <p class="clamped-text clamped" dir="auto">
        {second ? `${text} ⁂ ${second}` : text}
      </p>
    </div>
  );
}

function request(text: string, second: string, methods: string[], target: string): TryRequest | null {
  return text.trim() ? { text, text_b: second.trim() ? second : null, methods, target } : null;
}

/** What is being typed: at once here, and after a pause in the address; what the address changes to, here. */
function useHeld(addressed: string, write: (value: string) => void): [string, (value: string) => void] {
  const [value, setValue] = useState(addressed);
  // What was typed after a write must not be undone by the address that comes of it.
  const written = useRef(addressed);
  useEffect(() => {
    if (addressed !== written.current) setValue(addressed);
    written.current = addressed;
  }, [addressed]);
  useEffect(() => {
    if (value === addressed || value.length > ADDRESSED) return;
    const timer = setTimeout(() => {
      written.current = value;
      write(value);
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return [value, setValue];
}
