// Charts of the pages, drawn by Vega from a template that the report and `dvc plots` use too. A chart is a slider: mouse,
// touch and keys move its cursor from point to point, and a screen reader says what is there.

import { fileAt } from "./api.js";
import { h, put, number } from "./dom.js";

const plain = (value) => Number.isInteger(value) && Math.abs(value) >= 1e4 && Math.abs(value) < 1e9 ? number(value) : Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(4)));
const colourOf = (one, k) => one.colour || `var(--line-${k % 7 + 1})`;
const MOST_MARKERS = 25, MOST_TICKS = 12;
let loaded = null;

/** Vega, which is large, and the template: read for the first chart of a page. */
function load() {
  const read = async (name) => (await fetch(fileAt(`charts/${name}.json`))).json();
  const library = (resolve, reject) => document.head.append(h("script", { src: fileAt("vega.js"), onload: () => resolve(window.vegaEmbed), onerror: () => reject(new Error("the charts could not be loaded; reload the page")) }));
  return loaded ??= Promise.all([new Promise(library), read("linear"), read("theme")]);
}

/** A template with its anchors replaced by values. */
function fill(part, values) {
  if (typeof part === "string") return part in values ? values[part] : part;
  if (Array.isArray(part)) return part.map((one) => fill(one, values));
  return part && typeof part === "object" ? Object.fromEntries(Object.entries(part).map(([key, one]) => [key, fill(one, values)])) : part;
}

/**
 * A chart in an element.
 * @param root element that gets it
 * @param options label: its name; series: [{name, points: [{x, y, low, high, text}], colour}]; height in pixels;
 *   x, y: {label, min, max, format: of words, axis: of Vega-Lite, words(x)}; rule: a y where a line is drawn;
 *   halves: colours below and above the first series, which is a share;
 *   cursor: x of the cursor, or null; onpick(x): the cursor was moved; dots: [{x, y, colour}]
 */
export class Chart {
  constructor(root, options) {
    this.options = { height: 220, series: [], x: {}, y: {}, dots: [], cursor: null, ...options };
    this.picture = h("div", { "aria-hidden": "true" });
    this.told = h("div", { class: "told", "aria-hidden": "true" });
    this.slider = h("div", { class: "chart", tabindex: 0, role: "slider", "aria-label": this.options.label }, this.picture);
    this.box = h("div", { class: "chart-box" }, this.slider, this.told);
    put(root, this.box);
    this.slider.addEventListener("keydown", (event) => this.onkey(event));
    this.slider.addEventListener("pointermove", (event) => { const x = this.at(event); this.hover(x); if (event.buttons && this.options.onpick) this.move(x); });
    this.slider.addEventListener("pointerleave", () => this.hover(null));
    this.slider.addEventListener("click", (event) => this.move(this.at(event)));
    this.slider.addEventListener("focus", () => this.hover(this.options.cursor ?? this.places()[0] ?? null));
    this.slider.addEventListener("blur", () => this.hover(null));
    this.drawn = Promise.resolve();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.box);
  }

  /** Change options, and draw. */
  update(options) { Object.assign(this.options, options); this.place(this.options.cursor); this.draw(); }

  remove() { this.watch.disconnect(); this.gone = true; this.view?.finalize(); }

  /** All x of all points, ascending. */
  places() { return [...new Set(this.options.series.flatMap((one) => one.points.map((point) => point.x)))].sort((a, b) => a - b); }

  /** Draw after what is being drawn. */
  draw() { this.drawn = this.drawn.then(() => this.paint()).catch((error) => put(this.picture, error.message)); }

  async paint() {
    const [embed, template, theme] = await load(), width = this.box.clientWidth;
    if (this.gone || !width) return;
    const spec = this.spec(template, theme, width), key = JSON.stringify(spec);
    const rows = this.options.series.flatMap((one) => one.points.filter((p) => Number.isFinite(p.y)).map(({ x, y, low, high }) => ({ x, y, low, high, series: one.name })));
    if (key !== this.key) {
      this.view?.finalize();
      spec.data.values = rows;
      this.view = (await embed(this.picture, spec, { actions: false, renderer: "svg", ast: true, defaultStyle: false, logLevel: 0, tooltip: () => {} })).view;
      this.key = key;
    }
    this.view.data("rows", rows);
    await this.mark();
  }

  /** The template for these options, without the rows. */
  spec(template, theme, width) {
    const { series, x, y, height, rule, halves, onpick } = this.options, names = series.map((one) => one.name), longest = Math.max(0, ...names.map((name) => name.length));
    const color = { field: "series", type: "nominal", scale: { domain: names, range: series.map(colourOf) }, legend: names.length > 1 ? { columns: Math.max(1, Math.floor(width / (6.2 * longest + 40))) } : null };
    const anchors = { DATA: [], TITLE: "", X: "x", Y: "y", X_LABEL: x.label || null, Y_LABEL: null, COLOR: color, STROKE_DASH: { value: [1, 0] }, PLOT_WIDTH: width, PLOT_HEIGHT: height, ZOOM_AND_PAN: { name: "grid", select: { type: "interval", zoom: "wheel![event.ctrlKey]" }, bind: "scales" } };
    const spec = fill(template, Object.fromEntries(Object.entries(anchors).map(([key, one]) => [`<DVC_METRIC_${key}>`, one]))), line = spec.layer.at(-1), place = { x: { field: "x", type: "quantitative" }, y: { field: "y", type: "quantitative", title: null } };
    const domain = (axis) => axis.min === undefined ? {} : { domain: [axis.min, axis.max] }, places = this.places();
    Object.assign(spec.encoding.x, { scale: { ...spec.encoding.x.scale, ...domain(x) }, axis: { grid: false, ...(places.every(Number.isInteger) ? { tickMinStep: 1, format: ",d" } : {}), ...(places.length <= MOST_TICKS && places.every(Number.isInteger) ? { values: places } : {}), ...x.axis } });
    Object.assign(line.encoding.y, { scale: { zero: false, padding: 6, ...domain(y) }, axis: { ...y.axis } });
    if (Math.max(0, ...series.map((one) => one.points.length)) <= MOST_MARKERS) line.mark.point = true;
    if (onpick) delete line.params; // dragging moves the cursor
    if (rule !== undefined) spec.layer.unshift({ data: { values: [{}] }, mark: { type: "rule", strokeDash: [4, 4], color: "var(--soft)" }, encoding: { x: null, color: null, y: { datum: rule } } });
    if (halves) halves.toReversed().forEach((fill, k) => spec.layer.unshift({ transform: [{ filter: { field: "series", equal: names[0] ?? "" } }], mark: { type: "area", color: fill, opacity: 1, line: false }, encoding: { ...place, y: { ...place.y, stack: null }, y2: { datum: k ? 0 : 1 }, color: null } }));
    spec.layer.push({ data: { name: "cursor", values: [] }, mark: "rule", encoding: { x: place.x, color: { value: "var(--ink)" } } });
    spec.layer.push({ data: { name: "dots", values: [] }, mark: { type: "point", size: 90, opacity: 1 }, encoding: { ...place, color: { field: "colour", type: "nominal", scale: null } } });
    return { ...spec, config: theme, autosize: { type: "fit", contains: "padding" } };
  }

  /** Draw the cursor, and the dots with those under the pointer. */
  async mark() {
    const { cursor, dots, series } = this.options, shown = this.shown ?? null;
    const under = series.flatMap((one, k) => one.points.filter((p) => p.x === shown && Number.isFinite(p.y)).map(({ x, y }) => ({ x, y, colour: colourOf(one, k) })));
    await this.view?.data("cursor", cursor === null ? [] : [{ x: cursor }]).data("dots", [...dots.map((one) => ({ colour: "var(--bad)", ...one })), ...under]).runAsync();
  }

  /** The cursor's line, and what a screen reader says of it. */
  place(x) {
    this.options.cursor = x ?? null;
    const places = this.places(), index = x === null || x === undefined ? 0 : this.nearest(x);
    this.slider.setAttribute("aria-valuemin", 0);
    this.slider.setAttribute("aria-valuemax", Math.max(0, places.length - 1));
    this.slider.setAttribute("aria-valuenow", Math.max(0, index));
    this.slider.setAttribute("aria-valuetext", places.length ? this.words(places[Math.max(0, index)]).join("; ") : "no values yet");
    this.mark();
  }

  /** Index among the places of the one nearest to an x. */
  nearest(x) { return this.places().reduce((best, one, k, all) => Math.abs(one - x) < Math.abs(all[best] - x) ? k : best, 0); }

  words(x) {
    const { x: axis, y, series } = this.options, words = [axis.words ? axis.words(x) : `${axis.label || ""} ${plain(x)}`.trim()];
    for (const one of series) {
      const point = one.points.find((p) => p.x === x);
      if (!point || !Number.isFinite(point.y)) continue;
      const format = y.format || plain, interval = Number.isFinite(point.low) ? ` (${format(point.low)} to ${format(point.high)})` : "";
      words.push(`${series.length > 1 ? `${one.name}: ` : ""}${point.text || format(point.y)}${interval}`);
    }
    return words;
  }

  /** The place nearest to the pointer; null before there is one. */
  at(event) {
    const places = this.places();
    if (!places.length || !this.view) return null;
    return places[this.nearest(this.view.scale("x").invert(event.clientX - this.picture.getBoundingClientRect().left - this.view.origin()[0]))];
  }

  hover(x) {
    this.shown = x;
    this.mark();
    this.told.classList.toggle("shown", x !== null && this.places().length > 0);
    if (x === null || !this.view) return;
    put(this.told, this.words(x).map((word) => h("div", {}, word)));
    const width = this.box.clientWidth, at = this.view.scale("x")(x) + this.view.origin()[0];
    this.told.style.left = at > width / 2 ? "auto" : `${at + 10}px`;
    this.told.style.right = at > width / 2 ? `${width - at + 10}px` : "auto";
  }

  move(x) { if (x === null) return; this.place(x); this.hover(x); this.options.onpick?.(x); }

  onkey(event) {
    const places = this.places(), at = this.options.cursor === null ? -1 : this.nearest(this.options.cursor);
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: places.length - 1, PageUp: at + 10, PageDown: at - 10 }[event.key];
    if (to === undefined || !places.length) return;
    event.preventDefault();
    event.stopPropagation();
    this.move(places[Math.max(0, Math.min(places.length - 1, to))]);
  }
}
