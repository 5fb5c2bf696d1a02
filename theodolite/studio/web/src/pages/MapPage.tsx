import { useMemo } from "preact/hooks";
import { type AboutMap, MapApi } from "../api/map";
import type { SurveyInfo } from "../api/survey";
import { Empty } from "../components/Empty";
import { Fault } from "../components/Fault";
import { Loading } from "../components/Loading";
import { Page } from "../components/Page";
import { Select } from "../components/Select";
import { ApiFault } from "../lib/api";
import { Link, useAddress } from "../lib/address";
import { count } from "../lib/format";
import { useQuery } from "../lib/query";
import { DEFAULTS } from "./map/address";
import { Explorer } from "./map/Explorer";
import "./map/map.css";

const TITLE = "Map";

/** Every text as a point: near ones are alike. */
export function MapPage({ survey }: { survey: SurveyInfo }) {
  const [at, go] = useAddress(DEFAULTS);
  const api = useMemo(() => new MapApi(survey.slug, at.reading), [survey.slug, at.reading]);
  // Both at once: the points need not wait to be described.
  const about = useQuery(api.key("about"), (signal) => aboutOrNone(api, signal));
  const points = useQuery(api.key("points"), (signal) => api.points(signal));
  if (about.data === null) {
    return (
      <Page title={TITLE}>
        <Empty title="This survey has no map">
          The instruments illusion and salience make one, unless told not to. Run one of them from the{" "}
          <Link to={`/s/${encodeURIComponent(survey.slug)}/survey`}>survey’s page</Link>.
        </Empty>
      </Page>
    );
  }
  const fault = about.fault ?? points.fault;
  if (fault) {
    const again = () => {
      about.again();
      points.again();
    };
    return (
      <Page title={TITLE}>
        <Fault message={fault} again={again} />
      </Page>
    );
  }
  if (!about.data || !points.data) {
    return (
      <Page title={TITLE}>
        <Loading what="Fetching the points" />
      </Page>
    );
  }
  const { readings, reading } = about.data;
  return (
    <Page
      title={TITLE}
      lead={said(about.data, survey)}
      actions={
        readings.length > 1 && (
          <Select
            label="Map of"
            value={reading}
            options={readings}
            onChange={(next) => go({ ...DEFAULTS, reading: next })}
          />
        )
      }
    >
      {about.data.without_texts.length > 0 && (
        <Fault
          message={`The texts of ${about.data.without_texts.join(", ")} are no longer at hand: open the studio with the store that the survey was made with.`}
        />
      )}
      <Explorer key={api.key("")} api={api} about={about.data} points={points.data} at={at} go={go} />
    </Page>
  );
}

async function aboutOrNone(api: MapApi, signal: AbortSignal): Promise<AboutMap | null> {
  try {
    return await api.about(signal);
  } catch (error) {
    if (error instanceof ApiFault && error.status === 404) return null;
    throw error;
  }
}

function said(about: AboutMap, survey: SurveyInfo): string {
  const what = count(about.count, about.unit);
  if (about.reading.startsWith("salience")) return `${what} by what ${survey.encoder.name} looks at: near ones have the same words salient.`;
  return `${what} as ${survey.encoder.name} sees them: near ones are alike.`;
}
