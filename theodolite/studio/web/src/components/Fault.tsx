import { Button } from "./Button";

/** Something went wrong: what, and a way to try again. */
export function Fault({ message, again }: { message: string; again?: () => void }) {
  return (
    <div class="fault" role="alert">
      <p>{message}</p>
      {again && (
        <Button compact onClick={again}>
          Try again
        </Button>
      )}
    </div>
  );
}
