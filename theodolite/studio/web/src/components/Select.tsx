import { useId } from "preact/hooks";
import { described, Field, type FieldProps } from "./Field";

export interface Choice {
  value: string;
  label: string;
  disabled?: boolean;
}

interface SelectProps extends FieldProps {
  value: string;
  options: readonly (string | Choice)[];
  onChange: (value: string) => void;
  disabled?: boolean;
}

export function Select(props: SelectProps) {
  const id = useId();
  const choices = props.options.map((one) => (typeof one === "string" ? { value: one, label: one } : one));
  return (
    <Field {...props} id={id}>
      <select
        id={id}
        class="input"
        value={props.value}
        disabled={props.disabled}
        {...described(id, props)}
        onChange={(event) => props.onChange(event.currentTarget.value)}
      >
        {choices.map((one) => (
          <option key={one.value} value={one.value} disabled={one.disabled} selected={one.value === props.value}>
            {one.label}
          </option>
        ))}
      </select>
    </Field>
  );
}
