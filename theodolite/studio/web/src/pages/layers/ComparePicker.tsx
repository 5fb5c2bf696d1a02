import { siblings } from "../../api/layers";
import { Checkbox } from "../../components/Checkbox";
import { Panel } from "../../components/Panel";
import { useQuery } from "../../lib/query";
import { listed, toggled, type Change, type Selected } from "./state";

/** Other surveys that are open, to be drawn beside this one. */
export function ComparePicker({ slug, selected, change }: { slug: string; selected: Selected; change: Change }) {
  const { data } = useQuery(`siblings ${slug}`, (signal) => siblings(slug, signal));
  if (!data?.length) return null;
  const chosen = listed(selected.with);
  return (
    <Panel title="Compare encoders" note="Surveys that are open in this studio, drawn beside this one.">
      <div class="stack">
        {data.map((one) => (
          <Checkbox
            key={one.survey}
            label={`${one.encoder}: ${one.title} (${one.survey})`}
            note={
              one.shared.length
                ? `on the same texts: ${one.shared.join(", ")}`
                : `on other texts (${one.corpora.join(", ")}), so the curves differ for that too`
            }
            checked={chosen.includes(one.survey)}
            onChange={() => change({ with: toggled(selected.with, one.survey) })}
          />
        ))}
      </div>
    </Panel>
  );
}
