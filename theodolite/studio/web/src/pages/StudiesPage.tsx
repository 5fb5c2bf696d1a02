import { Empty } from "../components/Empty";
import { Page } from "../components/Page";
import { Link, useLocation } from "../lib/address";
import { NewStudyPage } from "./studies/NewStudyPage";
import { StudyList } from "./studies/StudyList";
import { StudyPage } from "./studies/StudyPage";
import "./studies/studies.css";

/** Studies: all of them, a new one, or one of them. */
export function StudiesPage() {
  const { path } = useLocation();
  const rest = path.split("/").filter(Boolean).slice(1);
  const [first] = rest;
  if (first === undefined) return <StudyList />;
  if (first === "new" && rest.length === 1) return <NewStudyPage />;
  if (/^\d{1,9}$/.test(first) && rest.length === 1) return <StudyPage key={first} id={Number(first)} />;
  return (
    <Page title="Studies">
      <Empty title="There is no such page">
        <Link to="/studies">All studies</Link>
      </Empty>
    </Page>
  );
}
