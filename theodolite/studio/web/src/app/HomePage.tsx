import { useEffect } from "preact/hooks";
import type { SurveyInfo } from "../api/survey";
import { Empty } from "../components/Empty";
import { Page } from "../components/Page";
import { Link, navigate } from "../lib/address";
import { count, day } from "../lib/format";
import { surveyPath } from "./routes";

/** The surveys that are open; with only one, it is shown at once. */
export function HomePage({ surveys }: { surveys: readonly SurveyInfo[] }) {
  const only = surveys.length === 1 ? surveys[0] : undefined;
  useEffect(() => {
    if (only) navigate(surveyPath(only.slug, "survey"), "replace");
  }, [only]);
  if (only) return null;
  if (!surveys.length) return <NoSurveys />;
  return (
    <Page title="Surveys" lead="Each is what was measured of one encoder over the same corpora.">
      <ul class="survey-list">
        {surveys.map((survey) => (
          <li key={survey.slug} class="panel survey-card">
            <h2>
              <Link to={surveyPath(survey.slug, "survey")}>{survey.title}</Link>
            </h2>
            <p class="muted small">{day(survey.made)}</p>
            <p>
              {survey.encoder.name} over {survey.corpora.map((corpus) => corpus.name).join(", ")} (
              {count(
                survey.corpora.reduce((sum, corpus) => sum + (corpus.texts ?? 0), 0),
                "text",
              )}
              )
            </p>
          </li>
        ))}
      </ul>
    </Page>
  );
}

function NoSurveys() {
  return (
    <Page title="Welcome" lead="The studio shows surveys: what Theodolite measured of an encoder over your texts.">
      <Empty title="No survey is open">
        <p>Make one, and open the studio on it:</p>
        <pre>
          <code>
            {"theodolite survey --corpus news=news.txt --corpus notes=notes.csv --out my-survey\ntheodolite studio my-survey"}
          </code>
        </pre>
        <p>
          Or look at a finished example with <code>theodolite demo --studio</code>.
        </p>
      </Empty>
    </Page>
  );
}
