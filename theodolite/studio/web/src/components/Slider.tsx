import { useId } from "preact/hooks";
import { described, Field, type FieldProps } from "./Field";

interface SliderProps extends FieldProps {
  value: number;
  min: number;
  max: number;
  step?: number;
  onChange: (value: number) => void;
  /** How the value is said; plain when not given. */
  format?: (value: number) => string;
  disabled?: boolean;
}

export function Slider(props: SliderProps) {
  const id = useId();
  const said = (props.format ?? String)(props.value);
  return (
    <Field {...props} id={id}>
      <div class="slider-row">
        <input
          id={id}
          type="range"
          min={props.min}
          max={props.max}
          step={props.step ?? 1}
          value={props.value}
          disabled={props.disabled}
          aria-valuetext={said}
          {...described(id, props)}
          onInput={(event) => props.onChange(event.currentTarget.valueAsNumber)}
        />
        <output for={id}>{said}</output>
      </div>
    </Field>
  );
}
