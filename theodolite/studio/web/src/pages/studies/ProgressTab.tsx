import { useEffect, useState } from "preact/hooks";
import { itemsAnswered, newLink, release, type AnnotatorInfo, type Invitation, type StudyInfo } from "../../api/studies";
import { Button } from "../../components/Button";
import { DataTable } from "../../components/DataTable";
import { Empty } from "../../components/Empty";
import { Fault } from "../../components/Fault";
import { Panel } from "../../components/Panel";
import { ProgressBar } from "../../components/ProgressBar";
import { faultText } from "../../lib/api";
import { count, MISSING, number } from "../../lib/format";
import { useQuery } from "../../lib/query";
import { InvitePanel } from "./InvitePanel";

const EVERY = 5000;

interface ProgressTabProps {
  study: StudyInfo;
  /** Those told since the page was opened. */
  links: Invitation[];
  onLinks: (links: Invitation[]) => void;
  refresh: () => void;
}

/** Who is invited, how far they and the items are; looked at again every few seconds while the study is open. */
export function ProgressTab({ study, links, onLinks, refresh }: ProgressTabProps) {
  const { progress } = study;
  const items = useQuery(`items ${study.id}`, (signal) => itemsAnswered(study.id, signal), { keep: true });
  const [fault, setFault] = useState<string>();
  const look = items.again;
  useEffect(() => {
    if (study.closed_at) return;
    const timer = setInterval(() => {
      if (document.hidden) return;
      refresh();
      look();
    }, EVERY);
    return () => clearInterval(timer);
  }, [study.closed_at, refresh, look]);
  const doing = (work: Promise<void>) => {
    setFault(undefined);
    work.then(refresh, (error: unknown) => setFault(faultText(error)));
  };
  const relink = (who: AnnotatorInfo) =>
    doing(newLink(study.id, who.id).then((link) => onLinks([...links.filter((one) => one.name !== link.name), link])));
  const free = (who: number | null) => doing(release(study.id, who).then(() => undefined));
  return (
    <div class="stack">
      <Panel title="Progress">
        <ProgressBar label="Answers" done={progress.answered} total={progress.wanted} />
        <dl class="facts studies-facts">
          <Fact title="Answers" value={`${number(progress.answered)} of ${number(progress.wanted)}`} />
          <Fact title="Items with all answers" value={`${number(progress.finished_items)} of ${number(progress.items)}`} />
          <Fact title="Annotators an item" value={number(study.annotators_per_item)} />
          <Fact title="In hand" value={number(progress.in_hand)} />
          {items.data?.map((one) => (
            <Fact key={one.answers} title={`Items with ${count(one.answers, "answer")}`} value={number(one.items)} />
          ))}
        </dl>
      </Panel>
      <InvitePanel study={study} links={links} onLinks={(more) => onLinks([...links, ...more])} refresh={refresh} />
      <Panel
        title="Annotators"
        note={`An item that was taken and not answered goes to others after ${count(study.release_after, "minute")}, or when you release it.`}
        actions={
          progress.in_hand > 0 && (
            <Button compact onClick={() => free(null)}>
              Release all in hand
            </Button>
          )
        }
      >
        {fault && <Fault message={fault} />}
        {progress.annotators.length === 0 ? (
          <Empty title="Nobody is invited yet">Invite at least {study.annotators_per_item} people above.</Empty>
        ) : (
          <DataTable<AnnotatorInfo>
            caption="Who is invited, and how far they are"
            hideCaption
            heading="name"
            rows={progress.annotators}
            rowKey={(row) => row.id}
            columns={[
              { key: "name", title: "Name", value: (row) => row.name, cell: (row) => <bdi>{row.name}</bdi> },
              { key: "answered", title: "Answered", value: (row) => row.answered },
              { key: "in_hand", title: "In hand", value: (row) => row.in_hand },
              { key: "seen", title: "Last seen", value: (row) => row.seen_at ?? "", cell: (row) => seen(row.seen_at) },
              {
                key: "do",
                title: "Links and items",
                value: () => "",
                sortable: false,
                cell: (row) => (
                  <span class="row">
                    <Button compact onClick={() => relink(row)} label={`New link for ${row.name}`}>
                      New link
                    </Button>
                    {row.in_hand > 0 && (
                      <Button compact onClick={() => free(row.id)} label={`Release the items of ${row.name}`}>
                        Release
                      </Button>
                    )}
                  </span>
                ),
              },
            ]}
          />
        )}
      </Panel>
    </div>
  );
}

function Fact({ title, value }: { title: string; value: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function seen(moment: string | null): string {
  return moment ? new Date(moment).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : MISSING;
}
