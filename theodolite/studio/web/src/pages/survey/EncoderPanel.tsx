import type { ComponentChildren } from "preact";
import type { WholeSurvey } from "../../api/survey";
import { Panel } from "../../components/Panel";
import { number } from "../../lib/format";

/** The encoder, and whether it can be asked from the pages. */
export function EncoderPanel({ survey }: { survey: WholeSurvey }) {
  const { encoder, live } = survey;
  const [window, stride] = encoder.window.split("/");
  const note = live ? (
    <span>
      <span class="badge good">live</span> It is here and answers questions on every page.
    </span>
  ) : (
    <span>
      <span class="badge warning">not here</span> To ask it live, open the studio with <code>--model DIR</code>.
    </span>
  );
  return (
    <Panel title={`Encoder: ${encoder.name}`} note={note}>
      <dl class="facts">
        <Fact name="Layers">{number(encoder.layers)}</Fact>
        <Fact name="Dimensions">{number(encoder.dim)}</Fact>
        <Fact name="Reads at once">{`${window} tokens`}</Fact>
        <Fact name="Longer texts">{`windows every ${stride ?? "–"} tokens`}</Fact>
        {encoder.transform && <Fact name="Transform">{encoder.transform}</Fact>}
        <Fact name="Weights">
          <code title={encoder.hash}>{encoder.hash.slice(0, 12)}</code>
        </Fact>
        <Fact name="Tokenizer">
          <code title={encoder.tokenizer_hash}>{encoder.tokenizer_hash.slice(0, 12)}</code>
        </Fact>
      </dl>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
