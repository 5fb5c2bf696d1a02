import { useState } from "preact/hooks";
import type { About } from "../../api/compare";
import { Button } from "../../components/Button";
import { TextArea } from "../../components/TextArea";
import { number } from "../../lib/format";
import { Picker } from "./Picker";

interface TextBoxProps {
  slug: string;
  about: About;
  label: string;
  value: string;
  onChange: (text: string) => void;
  onEnter: () => void;
}

/** A text to type or to pick. */
export function TextBox({ slug, about, label, value, onChange, onEnter }: TextBoxProps) {
  const [picking, setPicking] = useState(false);
  const does = picking ? "Close" : "Pick from a corpus or catalogue";
  const length = Array.from(value).length;
  const fault =
    length > about.longest
      ? `${number(length)} characters; at most ${number(about.longest)} can be compared, so shorten it.`
      : undefined;
  const some = about.corpora.some((corpus) => corpus.readable) || about.catalogues.length > 0;
  return (
    <div class="compare-box">
      <TextArea label={label} value={value} onChange={onChange} onEnter={onEnter} rows={5} fault={fault} />
      {some && (
        <Button compact kind="quiet" expanded={picking} onClick={() => setPicking(!picking)} label={`${does}: ${label}`}>
          {does}
        </Button>
      )}
      {picking && (
        <Picker
          slug={slug}
          about={about}
          onPick={(text) => {
            onChange(text);
            setPicking(false);
          }}
        />
      )}
    </div>
  );
}
