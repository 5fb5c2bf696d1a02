import { results } from "../../api/studies";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { capital } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { AgreementPanel } from "./AgreementPanel";
import { AnnotationResults } from "./AnnotationResults";
import { RationaleResults } from "./RationaleResults";
import { RatingResults } from "./RatingResults";

/** What the study found so far. */
export function ResultsTab({ id }: { id: number }) {
  const found = useQuery(`results ${id}`, (signal) => results(id, signal));
  if (found.fault) return <Fault message={found.fault} again={found.again} />;
  if (!found.data) return <Loading />;
  const { kind, tables, manifest } = found.data;
  // Each begins with the study's own name, which stands above.
  const findings = found.data.findings.map((one) => capital(one.startsWith(`${manifest.name}: `) ? one.slice(manifest.name.length + 2) : one));
  return (
    <div class="stack">
      <Panel
        title="Findings"
        note={`Intervals are of 95%, resampled with seed ${manifest.seed}.`}
        actions={
          <Button compact onClick={found.again}>
            Refresh
          </Button>
        }
      >
        <ul class="studies-findings">
          {findings.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      </Panel>
      {kind === "annotation" && <AnnotationResults tables={tables} />}
      {kind === "rating" && <RatingResults tables={tables} />}
      {kind === "rationale" && <RationaleResults tables={tables} />}
      <AgreementPanel rows={tables.agreement ?? []} annotators={tables.annotators ?? []} />
    </div>
  );
}
