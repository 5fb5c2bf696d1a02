import { studies } from "../../api/studies";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Loading } from "../../components/Loading";
import { Page } from "../../components/Page";
import { ProgressBar } from "../../components/ProgressBar";
import { Link } from "../../lib/address";
import { count, day, number } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { KIND_TITLES } from "./kinds";

/** All studies, the newest first. */
export function StudyList() {
  const found = useQuery("studies", studies);
  return (
    <Page
      title="Studies"
      lead="People judge patterns and explanations blind: nobody is told which condition or method they look at."
      actions={
        <Link to="/studies/new" class="button primary">
          New study
        </Link>
      }
    >
      {found.fault && <Fault message={found.fault} again={found.again} />}
      {!found.data && !found.fault && <Loading />}
      {found.data?.length === 0 && (
        <Empty title="No study yet">
          Draw one from a survey, invite two or more people, and read what they agree on.{" "}
          <Link to="/studies/new">Make the first</Link>
        </Empty>
      )}
      {found.data && found.data.length > 0 && (
        <ul class="studies-list">
          {found.data.map((one) => (
            <li key={one.id} class="panel">
              <h2>
                <Link to={`/studies/${one.id}`}>
                  <bdi>{one.name}</bdi>
                </Link>
              </h2>
              <p class="muted small">
                <span class="badge">{KIND_TITLES[one.kind]}</span>{" "}
                {one.closed_at ? <span class="badge">closed</span> : <span class="badge good">open</span>}{" "}
                {count(one.progress.items, "item")}, {count(one.progress.annotators.length, "annotator")}, made on{" "}
                {day(one.created_at)}
              </p>
              <ProgressBar label={`Answers of ${one.name}`} done={one.progress.answered} total={one.progress.wanted} />
              <p class="small">
                {number(one.progress.answered)} of {number(one.progress.wanted)} answers
              </p>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
