import { useId } from "preact/hooks";

interface CheckboxProps {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  note?: string;
  disabled?: boolean;
}

export function Checkbox({ label, checked, onChange, note, disabled }: CheckboxProps) {
  const id = useId();
  return (
    <div class="checkbox">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={note ? `${id}-note` : undefined}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        {note && (
          <div class="field-note" id={`${id}-note`}>
            {note}
          </div>
        )}
      </div>
    </div>
  );
}
