import { Unreached } from "../../api/annotate";

const LONGEST_WAIT = 15_000;

/** Ask until there is an answer; `waiting` is told after every failure and when it is over. */
export async function untilAnswered<T>(
  ask: () => Promise<T>,
  waiting: (why: string | null) => void,
  stopped: () => boolean,
): Promise<T> {
  for (let pause = 1000; ; pause = Math.min(2 * pause, LONGEST_WAIT)) {
    try {
      const found = await ask();
      waiting(null);
      return found;
    } catch (fault) {
      if (!(fault instanceof Unreached) || stopped()) {
        waiting(null);
        throw fault;
      }
      waiting(fault.message);
      await aWhile(pause);
    }
  }
}

/** Some time, or less when the browser is back online. */
function aWhile(milliseconds: number): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener("online", end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    addEventListener("online", end);
  });
}
