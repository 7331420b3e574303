// Small charts as SVG: lines with intervals, axes, a cursor for mouse, touch and keyboard. Drawn anew by update().

import { h, s, put, number } from "./dom.js";

const COLOURS = ["var(--line-1)", "var(--line-2)", "var(--main)", "var(--last)", "var(--from)"];
const LEFT = 54, RIGHT = 14, TOP = 12, BOTTOM = 40;

/** Round values between two ends, at most so many. */
function ticks(low, high, most) {
  const raw = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * power).find((k) => k >= raw * 0.999) || power;
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found;
}

const plain = (value) => Number.isInteger(value) && Math.abs(value) >= 1e4 && Math.abs(value) < 1e9 ? number(value) : Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? value.toExponential(1) : String(Number(value.toPrecision(4)));

/**
 * A chart in an element.
 * @param root element that gets it
 * @param options label: its name; series: [{name, points: [{x, y, low, high, text}], colour, marks: draw points}];
 *   x, y: {label, min, max, format, ticks: [[value, text]]}; height in pixels; rule: a y where a line is drawn;
 *   cursor: x of the cursor, or null; onpick(x): the cursor was moved; dots: [{x, y, colour, text}]
 */
export class Chart {
  constructor(root, options) {
    this.options = { height: 220, series: [], x: {}, y: {}, dots: [], cursor: null, ...options };
    this.svg = s("svg", { class: "chart", tabindex: 0, role: "slider", "aria-label": this.options.label });
    this.legend = h("div", { class: "legend" });
    this.told = h("div", { class: "told", "aria-hidden": "true" });
    this.box = h("div", { class: "chart-box" }, this.legend, this.svg, this.told);
    put(root, this.box);
    this.svg.addEventListener("keydown", (event) => this.onkey(event));
    this.svg.addEventListener("pointermove", (event) => { this.point(event); if (event.buttons) this.pick(event); });
    this.svg.addEventListener("pointerleave", () => this.hover(null));
    this.svg.addEventListener("pointerdown", (event) => this.pick(event));
    this.svg.addEventListener("focus", () => this.hover(this.options.cursor ?? this.places()[0] ?? null));
    this.svg.addEventListener("blur", () => this.hover(null));
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.box);
  }

  /** Change options, and draw. */
  update(options) { Object.assign(this.options, options); this.draw(); }

  remove() { this.watch.disconnect(); }

  /** All x of all points, ascending. */
  places() { return [...new Set(this.options.series.flatMap((one) => one.points.map((point) => point.x)))].sort((a, b) => a - b); }

  draw() {
    const { options: o, svg } = this, width = this.box.clientWidth || 400, height = o.height;
    const points = o.series.flatMap((one) => one.points), ends = (key, low, high) => {
      const values = points.flatMap((p) => key === "y" ? [p.y, p.low ?? p.y, p.high ?? p.y] : [p.x]).filter(Number.isFinite);
      let [a, b] = [o[key].min ?? Math.min(...values, ...(values.length ? [] : [low])), o[key].max ?? Math.max(...values, ...(values.length ? [] : [high]))];
      if (a === b) { const pad = Math.abs(a) * 0.1 || 1; a -= key === "x" ? 1 : pad; b += key === "x" ? 1 : pad; }
      return [a, b];
    };
    const [x0, x1] = ends("x", 0, 1), [y0, y1] = ends("y", 0, 1), format = o.y.format || plain, formatX = o.x.format || plain;
    this.x = (value) => LEFT + (value - x0) / (x1 - x0) * (width - LEFT - RIGHT);
    this.y = (value) => height - BOTTOM - (value - y0) / (y1 - y0) * (height - TOP - BOTTOM);
    this.back = (pixel) => x0 + (pixel - LEFT) / (width - LEFT - RIGHT) * (x1 - x0);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    const parts = [];
    for (const value of ticks(y0, y1, Math.max(2, height / 55))) {
      parts.push(s("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: this.y(value), y2: this.y(value) }),
        s("text", { class: "tick y", x: LEFT - 7, y: this.y(value) }, format(value)));
    }
    for (const [value, text] of o.x.ticks || ticks(x0, x1, Math.max(2, width / 90)).filter((one) => Number.isInteger(one) || !points.every((p) => Number.isInteger(p.x))).map((one) => [one, formatX(one)]))
      parts.push(s("text", { class: "tick x", x: this.x(value), y: height - BOTTOM + 16 }, text));
    if (o.x.label) parts.push(s("text", { class: "axis", x: (LEFT + width - RIGHT) / 2, y: height - 5, "text-anchor": "middle" }, o.x.label));
    if (o.rule !== undefined && o.rule >= y0 && o.rule <= y1) parts.push(s("line", { class: "rule", x1: LEFT, x2: width - RIGHT, y1: this.y(o.rule), y2: this.y(o.rule) }));
    this.cursorLine = s("line", { class: "cursor", y1: TOP, y2: height - BOTTOM, x1: -9, x2: -9 });
    parts.push(this.cursorLine);
    o.series.forEach((one, k) => parts.push(this.line(one, one.colour || COLOURS[k % COLOURS.length])));
    for (const dot of o.dots) { const mark = s("circle", { class: "dot", cx: this.x(dot.x), cy: this.y(dot.y), r: 5.5 }); mark.style.fill = dot.colour || "var(--bad)"; parts.push(mark); }
    this.hoverMarks = s("g");
    svg.replaceChildren(...parts, this.hoverMarks);
    put(this.legend, o.series.length > 1 || o.legend ? o.series.map((one, k) => { const key = h("i", {}); key.style.background = one.colour || COLOURS[k % COLOURS.length]; return h("span", {}, key, one.name); }) : null);
    this.place(o.cursor);
  }

  line(one, colour) {
    const group = s("g"), points = one.points.filter((p) => Number.isFinite(p.y)), band = points.filter((p) => Number.isFinite(p.low) && Number.isFinite(p.high));
    if (band.length === points.length && points.length > 1 && !one.marks) {
      const up = band.map((p) => `${this.x(p.x)} ${this.y(p.high)}`), down = band.map((p) => `${this.x(p.x)} ${this.y(p.low)}`).reverse();
      const area = s("path", { class: "band", d: `M${[...up, ...down].join("L")}Z` });
      area.style.fill = colour;
      group.append(area);
    } else for (const p of band) { const bar = s("path", { class: "whisker", d: `M${this.x(p.x)} ${this.y(p.low)}V${this.y(p.high)}M${this.x(p.x) - 4} ${this.y(p.low)}h8M${this.x(p.x) - 4} ${this.y(p.high)}h8` }); bar.style.stroke = colour; group.append(bar); }
    if (points.length > 1) {
      const line = s("path", { class: `line${one.dashed ? " dashed" : ""}`, d: `M${points.map((p) => `${this.x(p.x)} ${this.y(p.y)}`).join("L")}` });
      line.style.stroke = colour;
      group.append(line);
    }
    if (one.marks || points.length === 1) for (const p of points) { const mark = s("circle", { cx: this.x(p.x), cy: this.y(p.y), r: 3.5 }); mark.style.fill = colour; group.append(mark); }
    return group;
  }

  /** The cursor's line, and what a screen reader says of it. */
  place(x) {
    const at = x ?? null;
    this.options.cursor = at;
    if (this.cursorLine) { const pixel = at === null ? -9 : this.x(at); this.cursorLine.setAttribute("x1", pixel); this.cursorLine.setAttribute("x2", pixel); }
    const places = this.places(), index = at === null ? 0 : this.nearest(at);
    this.svg.setAttribute("aria-valuemin", 0);
    this.svg.setAttribute("aria-valuemax", Math.max(0, places.length - 1));
    this.svg.setAttribute("aria-valuenow", Math.max(0, index));
    this.svg.setAttribute("aria-valuetext", places.length ? this.words(places[Math.max(0, index)]).join("; ") : "no values yet");
  }

  /** Index among the places of the one nearest to an x. */
  nearest(x) {
    const places = this.places();
    return places.reduce((best, one, k) => Math.abs(one - x) < Math.abs(places[best] - x) ? k : best, 0);
  }

  words(x) {
    const { x: axis, y, series } = this.options, words = [axis.words ? axis.words(x) : `${axis.label || ""} ${(axis.format || plain)(x)}`.trim()];
    for (const one of series) {
      const point = one.points.find((p) => p.x === x);
      if (!point || !Number.isFinite(point.y)) continue;
      const format = y.format || plain, interval = Number.isFinite(point.low) ? ` (${format(point.low)} to ${format(point.high)})` : "";
      words.push(`${series.length > 1 ? `${one.name}: ` : ""}${point.text || format(point.y)}${interval}`);
    }
    return words;
  }

  point(event) { const places = this.places(); if (places.length) this.hover(places[this.nearest(this.back(this.pixel(event)))]); }

  pixel(event) { const box = this.svg.getBoundingClientRect(); return (event.clientX - box.left) * (this.box.clientWidth / box.width); }

  hover(x) {
    this.hoverMarks?.replaceChildren();
    if (x === null || !this.places().length) { this.told.classList.remove("shown"); return; }
    for (const [k, one] of this.options.series.entries()) {
      const p = one.points.find((other) => other.x === x);
      if (p && Number.isFinite(p.y)) { const mark = s("circle", { class: "hover", cx: this.x(p.x), cy: this.y(p.y), r: 4.5 }); mark.style.fill = one.colour || COLOURS[k % COLOURS.length]; this.hoverMarks.append(mark); }
    }
    put(this.told, this.words(x).map((word) => h("div", {}, word)));
    this.told.classList.add("shown");
    const width = this.box.clientWidth, at = this.x(x);
    this.told.style.left = at > width / 2 ? "auto" : `${at + 10}px`;
    this.told.style.right = at > width / 2 ? `${width - at + 10}px` : "auto";
  }

  pick(event) {
    const places = this.places();
    if (!places.length || event.button > 0) return;
    this.move(places[this.nearest(this.back(this.pixel(event)))]);
  }

  move(x) { this.place(x); this.hover(x); this.options.onpick?.(x); }

  onkey(event) {
    const places = this.places(), at = this.options.cursor === null ? -1 : this.nearest(this.options.cursor);
    const to = { ArrowLeft: at - 1, ArrowDown: at - 1, ArrowRight: at + 1, ArrowUp: at + 1, Home: 0, End: places.length - 1, PageUp: at + 10, PageDown: at - 10 }[event.key];
    if (to === undefined || !places.length) return;
    event.preventDefault();
    event.stopPropagation();
    this.move(places[Math.max(0, Math.min(places.length - 1, to))]);
  }
}
