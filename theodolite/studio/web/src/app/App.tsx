import { useEffect } from "preact/hooks";
import { surveys, type SurveyInfo } from "../api/survey";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { useLocation } from "../lib/address";
import { useQuery } from "../lib/query";
import { recall, remember } from "../lib/remember";
import { Header } from "./Header";
import { HomePage } from "./HomePage";
import { Lazy } from "./Lazy";
import { NowherePage } from "./NowherePage";
import { loadStudies, placeOf, SURVEY_ROUTES, type Place } from "./routes";
import { SurveysContext } from "./surveys";

const LAST = "last-survey";

export function App() {
  const { path } = useLocation();
  const place = placeOf(path);
  const found = useQuery("surveys", surveys);
  const slug = place.at === "survey" ? place.slug : null;
  const current = found.data?.find((one) => one.slug === slug);
  useEffect(() => {
    if (current) remember(LAST, current.slug);
  }, [current]);
  // On pages that belong to no survey, the navigation leads back to the last one looked at.
  const near = current ?? found.data?.find((one) => one.slug === recall(LAST)) ?? found.data?.[0];
  return (
    <SurveysContext.Provider value={{ surveys: found.data ?? [], refresh: found.again }}>
      <a class="skip-link" href="#main">
        Skip to the content
      </a>
      <Header surveys={found.data ?? []} survey={near} place={place} />
      <main id="main" tabIndex={-1}>
        {found.fault ? (
          <div class="page">
            <Fault message={found.fault} again={found.again} />
          </div>
        ) : found.data ? (
          <Here place={place} surveys={found.data} />
        ) : (
          <div class="page">
            <Loading />
          </div>
        )}
      </main>
    </SurveysContext.Provider>
  );
}

function Here({ place, surveys }: { place: Place; surveys: readonly SurveyInfo[] }) {
  switch (place.at) {
    case "home":
      return <HomePage surveys={surveys} />;
    case "studies":
      return <Lazy id="studies" load={loadStudies} props={{}} />;
    case "survey": {
      const survey = surveys.find((one) => one.slug === place.slug);
      if (!survey) return <NowherePage what={`No survey called “${place.slug}” is open here.`} />;
      const route = SURVEY_ROUTES.find((one) => one.id === place.page);
      if (!route) return <NowherePage what={`A survey has no page called “${place.page}”.`} />;
      return <Lazy key={`${route.id} ${survey.slug}`} id={`${route.id} ${survey.slug}`} load={route.load} props={{ survey }} />;
    }
    default:
      return <NowherePage what="There is no page at this address." />;
  }
}
