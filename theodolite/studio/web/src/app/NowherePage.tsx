import { Empty } from "../components/Empty";
import { Page } from "../components/Page";
import { Link } from "../lib/address";

export function NowherePage({ what }: { what: string }) {
  return (
    <Page title="Not found">
      <Empty title={what}>
        <Link to="/">See the surveys that are open</Link>
      </Empty>
    </Page>
  );
}
