import { reportPath, type SurveyInfo, wholeSurvey, type WholeSurvey, zipPath } from "../api/survey";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { count, day } from "../lib/format";
import { useQuery } from "../lib/query";
import { CorporaPanel } from "./survey/CorporaPanel";
import { EncoderPanel } from "./survey/EncoderPanel";
import { ReadingPanel } from "./survey/ReadingPanel";
import { RepeatPanel } from "./survey/RepeatPanel";
import { RunPanel } from "./survey/RunPanel";
import "./survey/survey.css";

/** What was found, by which encoder over which texts, what was skipped, and everything to take home. */
export function SurveyPage({ survey }: { survey: SurveyInfo }) {
  // Kept while it is asked for again, so that a form on the page is not lost when a reading is added.
  const { data, fault, again } = useQuery(
    `survey ${survey.slug} ${survey.readings.join()}`,
    (signal) => wholeSurvey(survey.slug, signal),
    { keep: true },
  );
  return (
    <Page title={survey.title} lead={lead(survey)} actions={<Downloads slug={survey.slug} />}>
      {fault ? <Fault message={fault} again={again} /> : data ? <Contents survey={data} /> : <Loading />}
    </Page>
  );
}

function Downloads({ slug }: { slug: string }) {
  return (
    <>
      <a class="button" href={reportPath(slug)} download>
        Report
      </a>
      <a class="button" href={zipPath(slug)} download>
        Everything (zip)
      </a>
    </>
  );
}

function Contents({ survey }: { survey: WholeSurvey }) {
  return (
    <>
      {survey.readings.map((reading) => (
        <ReadingPanel key={reading.name} slug={survey.slug} reading={reading} />
      ))}
      <EncoderPanel survey={survey} />
      <CorporaPanel survey={survey} />
      <RunPanel survey={survey} />
      <RepeatPanel survey={survey} />
    </>
  );
}

function lead({ encoder, corpora, made }: SurveyInfo): string {
  const texts = corpora.reduce((sum, corpus) => sum + (corpus.texts ?? 0), 0);
  const over = `${count(texts, "text")} of ${count(corpora.length, "corpus", "corpora")}`;
  return `What ${encoder.name} makes of ${over}${made ? `, measured on ${day(made)}` : ""}.`;
}
