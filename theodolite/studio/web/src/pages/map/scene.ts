import {
  BufferAttribute,
  BufferGeometry,
  ColorManagement,
  DataTexture,
  DynamicDrawUsage,
  LinearFilter,
  LinearSRGBColorSpace,
  OrthographicCamera,
  Points as ThreePoints,
  PointsMaterial,
  Scene as ThreeScene,
  WebGLRenderer,
} from "three";
import type { Drawing, Placed } from "./drawing";
import type { Size, View } from "./view";

// Colours are given as they are to be seen.
ColorManagement.enabled = false;

/** More points than these are not drawn a second time on top. */
const MOST_MARKS = 3_000;
/** Milliseconds that a frame may take while the map moves, and how few points are drawn then at least. */
const SLOW = 45;
const QUICK = 22;
const FEWEST = 8_000;
const REST = 140;
/** Pixels above which a point is drawn as a disc. */
const ROUND = 3;

/** The points on a canvas. While the map moves and the machine is slow, a sample of them; at rest, all. */
export class Scene implements Drawing {
  private readonly renderer: WebGLRenderer;
  private readonly scene = new ThreeScene();
  private readonly camera = new OrthographicCamera(-1, 1, 1, -1, -1, 1);
  private readonly geometry = new BufferGeometry();
  private readonly marked = new BufferGeometry();
  private readonly disc = discTexture();
  private readonly material = pointsMaterial(null);
  private readonly marks = pointsMaterial(this.disc);
  private readonly onTop: ThreePoints;
  private readonly places: Uint32Array;
  private readonly count: number;
  private budget: number;
  private frame = 0;
  private resting = 0;
  private moving = false;
  private last = 0;
  private coloured = false;
  private shown = false;

  constructor(
    canvas: HTMLCanvasElement | OffscreenCanvas,
    context: WebGL2RenderingContext,
    { points, order }: Placed,
    private readonly onDrawn: () => void,
  ) {
    this.renderer = new WebGLRenderer({ canvas, context, antialias: false, alpha: true });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.setClearColor(0, 0);
    this.renderer.sortObjects = false;
    this.count = points.count;
    this.budget = points.count;
    this.places = order.places;
    const spots = new Float32Array(2 * points.count);
    for (let place = 0; place < points.count; place++) {
      const point = order.points[place] ?? 0;
      spots[2 * place] = points.x[point] ?? 0;
      spots[2 * place + 1] = points.y[point] ?? 0;
    }
    const colours = new BufferAttribute(new Uint8Array(4 * points.count), 4, true).setUsage(DynamicDrawUsage);
    const positions = new BufferAttribute(spots, 2);
    for (const geometry of [this.geometry, this.marked]) {
      geometry.setAttribute("position", positions);
      geometry.setAttribute("color", colours);
    }
    this.onTop = new ThreePoints(this.marked, this.marks);
    this.onTop.visible = false;
    for (const drawn of [new ThreePoints(this.geometry, this.material), this.onTop]) {
      drawn.frustumCulled = false;
      this.scene.add(drawn);
    }
    canvas.addEventListener("webglcontextrestored", this.draw);
  }

  colour(rgba: Uint8Array): void {
    const colours = this.geometry.getAttribute("color") as BufferAttribute;
    colours.array.set(rgba);
    colours.needsUpdate = true;
    this.coloured = true;
    this.draw();
  }

  /** Draw these points larger, on top of the others. */
  mark(points: Uint32Array | null): void {
    const some = points && points.length <= MOST_MARKS ? points : new Uint32Array();
    this.marked.setIndex(new BufferAttribute(some.map((point) => this.places[point] ?? 0).sort(), 1));
    this.marked.setDrawRange(0, some.length);
    this.onTop.visible = some.length > 0;
    this.draw();
  }

  resize(size: Size, ratio: number): void {
    this.renderer.setPixelRatio(Math.min(ratio, 2));
    this.renderer.setSize(size.width, size.height, false);
    this.draw();
  }

  look(view: View, size: Size, fit: View, moving: boolean): void {
    const [wide, high] = [size.width / view.scale / 2, size.height / view.scale / 2];
    Object.assign(this.camera, { left: -wide, right: wide, top: high, bottom: -high });
    this.camera.position.set(view.x, view.y, 0);
    this.camera.updateProjectionMatrix();
    this.adapt(view.scale / fit.scale, size);
    if (moving) this.keepMoving();
    this.draw();
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.resting);
    for (const part of [this.geometry, this.marked, this.material, this.marks, this.disc]) part.dispose();
    this.renderer.dispose();
  }

  readonly draw = (): void => {
    if (!this.frame) this.frame = requestAnimationFrame(this.render);
  };

  private readonly render = (now: number): void => {
    this.frame = 0;
    if (this.moving) this.pace(now - this.last);
    this.last = now;
    this.geometry.setDrawRange(0, this.moving ? this.budget : this.count);
    this.renderer.render(this.scene, this.camera);
    if (this.coloured && !this.shown) {
      this.shown = true;
      this.onDrawn();
    }
  };

  /** Fewer points where frames take long, more where there is time. */
  private pace(took: number): void {
    if (took > 4 * REST) return;
    if (took > SLOW) this.budget = Math.max(Math.round(this.budget * 0.6), Math.min(FEWEST, this.count));
    else if (took < QUICK) this.budget = Math.min(Math.round(this.budget * 1.15), this.count);
  }

  private keepMoving(): void {
    this.moving = true;
    clearTimeout(this.resting);
    this.resting = self.setTimeout(() => {
      this.moving = false;
      this.draw();
    }, REST);
  }

  /** Larger points when near or few, more transparent ones where many lie on top of one another. */
  private adapt(zoom: number, { width, height }: Size): void {
    const base = Math.min(Math.max(50 * this.count ** -0.27, 1.7), 6);
    const size = Math.min(base * zoom ** 0.4, 11);
    const cover = (this.count * size * size) / Math.max(width * height * 0.5 * zoom * zoom, 1);
    // What is so small looks round either way, and a square one costs a software renderer half.
    const round = size > ROUND ? this.disc : null;
    if (this.material.alphaMap !== round) {
      this.material.alphaMap = round;
      this.material.needsUpdate = true;
    }
    this.material.size = size;
    this.material.opacity = Math.min(Math.max(0.75 / Math.sqrt(cover), 0.3), 0.9);
    this.marks.size = Math.min(size * 1.5 + 1, 13);
  }
}

function pointsMaterial(alphaMap: DataTexture | null): PointsMaterial {
  return new PointsMaterial({
    sizeAttenuation: false,
    vertexColors: true,
    transparent: true,
    depthTest: false,
    depthWrite: false,
    alphaMap,
  });
}

/** White where a point is, black around it. */
function discTexture(): DataTexture {
  const side = 32;
  const texels = new Uint8Array(4 * side * side);
  for (let i = 0; i < side * side; i++) {
    const out = Math.hypot((i % side) + 0.5 - side / 2, Math.floor(i / side) + 0.5 - side / 2) - (side / 2 - 1);
    texels.fill(255 * Math.min(Math.max(0.5 - out, 0), 1), 4 * i, 4 * i + 4);
  }
  const texture = new DataTexture(texels, side, side);
  texture.magFilter = texture.minFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}
