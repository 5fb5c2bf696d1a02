import { useEffect, useRef } from "preact/hooks";
import type { SurveyInfo } from "../api/survey";
import { Link, navigate } from "../lib/address";
import { JobsMenu } from "./JobsMenu";
import { SURVEY_ROUTES, surveyPath, type Place } from "./routes";
import { ThemeToggle } from "./ThemeToggle";

interface HeaderProps {
  surveys: readonly SurveyInfo[];
  /** The survey that the navigation leads to. */
  survey: SurveyInfo | undefined;
  place: Place;
}

export function Header({ surveys, survey, place }: HeaderProps) {
  return (
    <header class="shell-header">
      <div class="shell-bar">
        <Link to="/" class="brand" label="Theodolite, home">
          <Mark />
          <span class="brand-name">Theodolite</span>
        </Link>
        {surveys.length > 1 && survey && <Switcher surveys={surveys} survey={survey} place={place} />}
        <Navigation survey={survey} place={place} />
        <div class="shell-tools">
          <JobsMenu />
          <ThemeToggle />
        </div>
      </div>
    </header>
  );
}

function Switcher({ surveys, survey, place }: { surveys: readonly SurveyInfo[]; survey: SurveyInfo; place: Place }) {
  const page = place.at === "survey" ? place.page : "survey";
  return (
    <div class="switcher">
      <select
        class="input"
        aria-label="Survey"
        value={survey.slug}
        onChange={(event) => navigate(surveyPath(event.currentTarget.value, page))}
      >
        {surveys.map((one) => (
          <option key={one.slug} value={one.slug} selected={one.slug === survey.slug}>
            {one.slug}
          </option>
        ))}
      </select>
    </div>
  );
}

function Navigation({ survey, place }: { survey: SurveyInfo | undefined; place: Place }) {
  const bar = useRef<HTMLElement>(null);
  const here = place.at === "survey" ? place.page : place.at;
  useEffect(() => {
    // On a narrow screen the bar scrolls by itself; the page one is on should be in view.
    const link = bar.current?.querySelector<HTMLElement>("[aria-current]");
    const box = bar.current;
    if (link && box) box.scrollLeft = link.offsetLeft - (box.clientWidth - link.offsetWidth) / 2;
  }, [here, survey?.slug]);
  return (
    <nav class="shell-nav" aria-label="Pages" ref={bar}>
      {survey &&
        SURVEY_ROUTES.map((route) => (
          <Link key={route.id} class="nav-link" to={surveyPath(survey.slug, route.id)} current={here === route.id}>
            {route.title}
          </Link>
        ))}
      <Link class="nav-link" to="/studies" current={here === "studies"}>
        Studies
      </Link>
    </nav>
  );
}

function Mark() {
  return (
    <svg class="brand-mark" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="16" cy="12" r="8" />
      <path d="M16 1.500v5M16 17.500v5M5.5 12h5M21.5 12h5M16 20 9 30.500M16 20l7 10.5" />
      <circle class="brand-dot" cx="16" cy="12" r="1.8" />
    </svg>
  );
}
