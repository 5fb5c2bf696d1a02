import type { FunctionComponent } from "preact";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { useQuery } from "../lib/query";
import { Guarded } from "./Guarded";

interface LazyProps<Props extends object> {
  /** Tells pages apart. */
  id: string;
  load: () => Promise<FunctionComponent<Props>>;
  props: Props;
}

/** A page whose code comes when it is opened. */
export function Lazy<Props extends object>({ id, load, props }: LazyProps<Props>) {
  const { data, fault, again } = useQuery(id, async () => ({ component: await load() }));
  if (fault) {
    return (
      <div class="page">
        <Fault message={`This page could not be loaded: ${fault}`} again={again} />
      </div>
    );
  }
  if (!data) {
    return (
      <div class="page">
        <Loading />
      </div>
    );
  }
  const Component = data.component;
  return (
    <Guarded key={id}>
      <Component {...props} />
    </Guarded>
  );
}
