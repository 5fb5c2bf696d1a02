import { useId } from "preact/hooks";
import { described, Field, type FieldProps } from "./Field";

interface TextFieldProps extends FieldProps {
  value: string;
  onChange: (value: string) => void;
  /** Called when Enter is pressed. */
  onEnter?: () => void;
  type?: "text" | "search" | "number" | "url" | "email" | "password";
  placeholder?: string;
  min?: number;
  max?: number;
  step?: number | "any";
  maxLength?: number;
  required?: boolean;
  disabled?: boolean;
  /** Values to offer while typing. */
  suggestions?: readonly string[];
}

export function TextField(props: TextFieldProps) {
  const id = useId();
  const { suggestions } = props;
  // JSX types tie each kind of input to its own attributes; all of these kinds take the ones below.
  const type = (props.type ?? "text") as "text";
  return (
    <Field {...props} id={id}>
      <input
        id={id}
        class="input"
        type={type}
        value={props.value}
        placeholder={props.placeholder}
        min={props.min}
        max={props.max}
        step={props.step}
        maxLength={props.maxLength}
        required={props.required}
        disabled={props.disabled}
        list={suggestions ? `${id}-list` : undefined}
        autocomplete="off"
        {...described(id, props)}
        onInput={(event) => props.onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.isComposing || !props.onEnter) return;
          event.preventDefault();
          props.onEnter();
        }}
      />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Field>
  );
}
