const PAINT = ["fill", "stroke", "color", "stop-color"] as const;
const PADDING = 12;

/** A drawing of the page as a file that stands by itself: colours resolved, on a white or dark ground, with a title. */
export function standalone(drawing: SVGElement, title: string): string {
  const copy = drawing.cloneNode(true) as SVGElement;
  const originals = [drawing, ...drawing.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  originals.forEach((original, i) => resolve(original, copies[i]));
  const root = getComputedStyle(drawing);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.setAttribute("font-size", root.fontSize);
  copy.setAttribute("color", root.color);
  const [x = 0, y = 0, width = 0, height = 0] = (copy.getAttribute("viewBox") ?? "").split(/[ ,]+/).map(Number);
  const box = [x - PADDING, y - PADDING, width + 2 * PADDING, height + 2 * PADDING];
  copy.setAttribute("viewBox", box.join(" "));
  copy.setAttribute("width", String(box[2]));
  copy.setAttribute("height", String(box[3]));
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ x: box[0], y: box[1], width: box[2], height: box[3] })) {
    ground.setAttribute(name, String(value));
  }
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--surface").trim());
  const named = document.createElementNS("http://www.w3.org/2000/svg", "title");
  named.textContent = title;
  copy.prepend(named, ground);
  return new XMLSerializer().serializeToString(copy);
}

/** Colours that name variables of the page become the colours they stand for. */
function resolve(original: SVGElement, copy: SVGElement | undefined): void {
  if (!copy) return;
  const computed = getComputedStyle(original);
  for (const name of PAINT) {
    const said = original.getAttribute(name) ?? original.style.getPropertyValue(name);
    if (said.includes("var(") || said === "currentColor") copy.setAttribute(name, computed.getPropertyValue(name));
  }
  copy.removeAttribute("style");
  const white = computed.whiteSpace;
  if (original instanceof SVGTextElement && white === "pre") copy.setAttribute("xml:space", "preserve");
}
