import type { Drawing, Placed } from "./drawing";
import { Scene } from "./scene";
import type { Size, View } from "./view";

export type ToScene =
  | { kind: "open"; canvas: OffscreenCanvas; placed: Placed }
  | { kind: "colour"; rgba: Uint8Array }
  | { kind: "mark"; points: Uint32Array | null }
  | { kind: "resize"; size: Size; ratio: number }
  | { kind: "look"; view: View; size: Size; fit: View; moving: boolean };

export type FromScene = "drawn" | "undrawable";

let scene: Drawing | null = null;

self.onmessage = ({ data }: MessageEvent<ToScene>) => {
  switch (data.kind) {
    case "open":
      scene = opened(data.canvas, data.placed);
      break;
    case "colour":
      scene?.colour(data.rgba);
      break;
    case "mark":
      scene?.mark(data.points);
      break;
    case "resize":
      scene?.resize(data.size, data.ratio);
      break;
    case "look":
      scene?.look(data.view, data.size, data.fit, data.moving);
      break;
  }
};

function opened(canvas: OffscreenCanvas, placed: Placed): Drawing | null {
  const context = canvas.getContext("webgl2", { alpha: true, antialias: false });
  if (!context) {
    tell("undrawable");
    return null;
  }
  return new Scene(canvas, context, placed, () => tell("drawn"));
}

function tell(said: FromScene): void {
  self.postMessage(said);
}
