interface ChoiceProps<Value> {
  legend: string;
  name: string;
  options: readonly { value: Value; label: string; sign: string }[];
  value: Value | null;
  onChange: (value: Value) => void;
  disabled: boolean;
}

/** One of several, as large buttons; each shows its key. */
export function Choice<Value extends string | number>(props: ChoiceProps<Value>) {
  return (
    <fieldset class="study-choice" disabled={props.disabled}>
      <legend>{props.legend}</legend>
      <div class="study-choices">
        {props.options.map((one) => (
          <label key={one.value} class="study-option">
            <input
              type="radio"
              name={props.name}
              checked={props.value === one.value}
              onChange={() => props.onChange(one.value)}
            />
            <span>{one.label}</span>
            <kbd aria-hidden="true">{one.sign}</kbd>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
