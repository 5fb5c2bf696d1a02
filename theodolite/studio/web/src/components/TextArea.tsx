import { useId } from "preact/hooks";
import { described, Field, type FieldProps } from "./Field";

interface TextAreaProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  /** Called when Ctrl or Cmd with Enter is pressed. */
  onEnter?: () => void;
  rows?: number;
  placeholder?: string;
  maxLength?: number;
  required?: boolean;
  disabled?: boolean;
}

export function TextArea(props: TextAreaProps) {
  const id = useId();
  return (
    <Field {...props} id={id}>
      <textarea
        id={id}
        class="input"
        dir="auto"
        rows={props.rows ?? 4}
        value={props.value}
        placeholder={props.placeholder}
        maxLength={props.maxLength}
        required={props.required}
        disabled={props.disabled}
        {...described(id, props)}
        onInput={(event) => props.onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !props.onEnter) return;
          event.preventDefault();
          props.onEnter();
        }}
      />
    </Field>
  );
}
