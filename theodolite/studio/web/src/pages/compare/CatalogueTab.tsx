import { useEffect, useRef, useState } from "preact/hooks";
import type { About } from "../../api/compare";
import { Empty } from "../../components/Empty";
import { Select } from "../../components/Select";
import { useAddress } from "../../lib/address";
import { capital, interval, number } from "../../lib/format";
import { Explained } from "./Explained";
import { ItemSearch } from "./ItemSearch";
import { Neighbours } from "./Neighbours";

/** A catalogue: its items, those most like one of them, and why. */
export function CatalogueTab({ slug, about }: { slug: string; about: About }) {
  const [address, go] = useAddress({ catalogue: about.catalogues[0]?.slug ?? "", item: "", other: "", job: "" });
  const answer = useRef<HTMLDivElement>(null);
  const [asked, setAsked] = useState("");
  useEffect(() => {
    // Its place is below the fold: who asked is taken there, who came by a link begins at the top.
    if (asked && asked === address.other) answer.current?.scrollIntoView({ behavior: "smooth" });
  }, [asked, address.other]);
  const catalogue = about.catalogues.find((one) => one.slug === address.catalogue);
  if (!about.catalogues.length) {
    return (
      <Empty title="No catalogue is open">
        <p>
          Make one of a table of items with <code>theodolite catalogue build</code>, and open the studio with{" "}
          <code>--catalogue DIR</code>.
        </p>
      </Empty>
    );
  }
  if (!catalogue) return <Empty title="The studio has no catalogue of that name open" />;
  const { mean, low, high, pairs } = catalogue.random_pairs;
  return (
    <div class="stack">
      <div class="row">
        {about.catalogues.length > 1 && (
          <Select
            label="Catalogue"
            value={catalogue.slug}
            options={about.catalogues.map((one) => ({ value: one.slug, label: one.name }))}
            onChange={(next) => go({ catalogue: next, item: "", other: "", job: "" })}
          />
        )}
        <p class="muted small">
          {number(catalogue.items)} items, {number(catalogue.descriptions)} different descriptions, by {catalogue.encoder}.
          Mean cosine of {number(pairs)} random pairs: {number(mean, 3)} ({interval(low, high, 3)}).
        </p>
      </div>
      <div class="compare-catalogue">
        <ItemSearch
          slug={slug}
          catalogue={catalogue.slug}
          chosen={address.item}
          onChoose={(item) => go({ item, other: "", job: "" })}
        />
        {address.item ? (
          <Neighbours
            slug={slug}
            catalogue={catalogue.slug}
            item={address.item}
            chosen={address.other}
            onChoose={(other) => {
              setAsked(other);
              go({ other, job: "" });
            }}
            onFollow={(item) => go({ item, other: "", job: "" })}
          />
        ) : (
          <Empty title="Choose an item">
            <p>You will see the items whose descriptions are most like its own; choose one of them, and see why.</p>
          </Empty>
        )}
      </div>
      {address.item && address.other && catalogue.why && (
        <Empty title="These two cannot be explained here">
          <p>{capital(catalogue.why)}.</p>
        </Empty>
      )}
      {address.item && address.other && !catalogue.why && (
        <div class="compare-answer" ref={answer}>
          <Explained
            slug={slug}
            about={about}
            pair={{ kind: "items", catalogue: catalogue.slug, item: address.item, other: address.other }}
          />
        </div>
      )}
    </div>
  );
}
