import { useState } from "preact/hooks";
import type { FileKind, MapApi } from "../../api/map";
import { Button } from "../../components/Button";
import { Fault } from "../../components/Fault";
import { faultText, saveBlob } from "../../lib/api";

const KINDS: readonly { kind: FileKind; title: string }[] = [
  { kind: "csv", title: "CSV" },
  { kind: "parquet", title: "Parquet" },
  { kind: "jsonl", title: "JSON lines" },
];

interface ExportButtonsProps {
  api: MapApi;
  chosen: Uint32Array;
  /** Of all points of the map. */
  count: number;
  /** Whose scores go into the file too. */
  direction: string;
}

/** The selection as a file. */
export function ExportButtons({ api, chosen, count, direction }: ExportButtonsProps) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const save = (kind: FileKind) => {
    setBusy(true);
    setFault(undefined);
    api
      .export(bitsOf(chosen, count), kind, direction)
      .then((blob) => saveBlob(blob, `${api.slug}-selection.${kind}`))
      .catch((error: unknown) => setFault(faultText(error)))
      .finally(() => setBusy(false));
  };
  return (
    <div class="map-export">
      <span class="small muted">Save as</span>
      {KINDS.map(({ kind, title }) => (
        <Button key={kind} compact disabled={busy || !chosen.length} onClick={() => save(kind)}>
          {title}
        </Button>
      ))}
      {fault && <Fault message={fault} />}
    </div>
  );
}

/** A bit a point, of each byte the lowest first. */
function bitsOf(chosen: Uint32Array, count: number): Uint8Array<ArrayBuffer> {
  const bits = new Uint8Array(Math.ceil(count / 8));
  for (const point of chosen) bits[point >> 3] = (bits[point >> 3] ?? 0) | (1 << (point & 7));
  return bits;
}
