// What all boards share: an SVG of cells with coordinates, layers to draw on, mouse, touch and keyboard.
//
// A cell goes by its name, file and rank, such as "d1"; rank 1 is at the bottom unless the board is turned. A cell is
// 100 units wide. Screen readers see a grid whose cells say what stands on them.
//
// The page of a tournament contains this file too, see ../dom.js.

import { s } from "../dom.js";

const MARGIN = 62, FINGER = 32;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
export const FILES = "abcdefghijklmnopqrstuvwxy";
/** Go leaves the i out, on boards that players see. */
export const GO_FILES = "ABCDEFGHJKLMNOPQRSTUVWXYZ";

export class Grid {
  /**
   * @param root element that gets the board
   * @param options width, height: cells; points: lines cross where stones stand (else squares); hexagons: each rank is half a
   *   cell to the right of the one above; label: what a screen reader calls it; files: letters of the columns; turned: rank 1 at the top;
   *   onpick(name, how): a cell was chosen, how is "click", "drag" or "key"; oncancel(): Escape;
   *   onhover(name or null); onaim(name): a finger touched a small point, and may touch it again to choose it
   */
  constructor(root, options) {
    Object.assign(this, { files: FILES, points: false, hexagons: false, turned: false, label: "Board" }, options);
    this.cells = new Map();
    this.layers = {};
    const [w, h] = [this.width * 100 + this.slant(this.height - 1) + 2 * MARGIN, this.height * 100 + 2 * MARGIN];
    this.svg = s("svg", { class: "board", viewBox: `0 0 ${w} ${h}`, role: "grid", "aria-label": this.label, "aria-rowcount": this.height, "aria-colcount": this.width });
    for (const name of ["ground", "heat", "under", "pieces", "over", "labels", "hits"])
      this.svg.append(this.layers[name] = s("g", { class: name, "aria-hidden": name === "hits" ? null : "true", role: name === "hits" ? "rowgroup" : null }));
    this.drawGround();
    this.makeCells();
    root.replaceChildren(this.svg);
  }

  /** Names from the top row down, left to right, as shown. */
  rows() {
    const rows = [];
    for (let y = 0; y < this.height; y++) {
      const rank = this.turned ? y + 1 : this.height - y;
      rows.push(Array.from({ length: this.width }, (_, x) => `${this.files[this.turned ? this.width - 1 - x : x]}${rank}`));
    }
    return rows;
  }

  /** Middle of a cell, in units. */
  at(name) {
    const file = this.files.indexOf(name[0]), rank = Number(name.slice(1));
    const x = this.turned ? this.width - 1 - file : file, y = this.turned ? rank - 1 : this.height - rank;
    return [MARGIN + 50 + 100 * x + this.slant(y), MARGIN + 50 + 100 * y];
  }

  /** How far rank y, from the top, is to the right. */
  slant(y) { return this.hexagons ? 50 * y : 0; }

  drawGround() {
    const ground = this.layers.ground, { width: w, height: h } = this, edge = MARGIN + 50;
    this.svg.classList.toggle("large", w > 12); // its coordinates would be too small to read
    if (this.points) {
      for (let x = 0; x < w; x++) ground.append(s("line", { class: "wire", x1: edge + 100 * x, x2: edge + 100 * x, y1: edge, y2: edge + 100 * (h - 1) }));
      for (let y = 0; y < h; y++) ground.append(s("line", { class: "wire", y1: edge + 100 * y, y2: edge + 100 * y, x1: edge, x2: edge + 100 * (w - 1) }));
      for (const name of this.stars()) { const [cx, cy] = this.at(name); ground.append(s("circle", { class: "star", cx, cy, r: 11 })); }
    } else if (this.hexagons) {
      for (const name of this.rows().flat()) { const [x, y] = this.at(name); ground.append(s("path", { class: "square hexagon", d: `M${x} ${y - 64}l50 28v72l-50 28l-50 -28v-72Z` })); }
    } else {
      for (let y = 0; y < h; y++) for (let x = 0; x < w; x++)
        ground.append(s("rect", { class: `square${(x + y + h) % 2 ? "" : " dark"}`, x: MARGIN + 100 * x, y: MARGIN + 100 * y, width: 100, height: 100 }));
    }
    this.rows().forEach((row, y) => {
      const rank = row[0].slice(1);
      for (const x of [MARGIN / 2, MARGIN * 1.5 + 100 * w]) ground.append(s("text", { class: "coordinate", x: x + this.slant(y), y: MARGIN + 50 + 100 * y }, rank));
    });
    this.rows()[0].forEach((name, x) => {
      for (const k of [0, 1]) ground.append(s("text", { class: "coordinate", x: MARGIN + 50 + 100 * x + this.slant(k ? h - 0.5 : -0.5), y: k ? MARGIN * 1.5 + 100 * h : MARGIN / 2 }, name[0]));
    });
  }

  /** The points that boards mark. */
  stars() {
    if (this.width !== this.height || this.width < 9 || this.width % 2 === 0) return [];
    const n = this.width, edge = n >= 13 ? 3 : 2, middle = (n - 1) / 2;
    const lines = n >= 15 ? [edge, middle, n - 1 - edge] : [edge, n - 1 - edge];
    const points = lines.flatMap((x) => lines.map((y) => [x, y]));
    if (n < 15) points.push([middle, middle]);
    return points.map(([x, y]) => `${this.files[x]}${y + 1}`);
  }

  makeCells() {
    const hits = this.layers.hits;
    this.rows().forEach((row, y) => {
      const line = s("g", { role: "row", "aria-rowindex": y + 1 });
      row.forEach((name, x) => {
        const [cx, cy] = this.at(name);
        const cell = s("g", { class: "cell", role: "gridcell", tabindex: -1, "aria-label": name, "aria-colindex": x + 1, "data-cell": name },
          s("rect", { class: "hit", x: cx - 50, y: cy - 50, width: 100, height: 100 }));
        this.cells.set(name, cell);
        line.append(cell);
      });
      hits.append(line);
    });
    this.focusable = this.rows()[this.height >> 1][this.width >> 1];
    this.cells.get(this.focusable).setAttribute("tabindex", 0);
    const cellOf = (name) => this.cells.get(name).firstChild, named = (event) => event.target.closest?.(".cell")?.dataset.cell;
    hits.addEventListener("keydown", (event) => this.onkey(event, named(event)));
    hits.addEventListener("focusin", (event) => { const name = named(event); if (name) this.roving(name); });
    let down = null;
    hits.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      down = named(event);
      if (event.target.hasPointerCapture(event.pointerId)) event.target.releasePointerCapture(event.pointerId); // touch: else no other cell is seen
      if (!down) return;
      this.roving(down);
      if (this.points && event.pointerType === "touch" && cellOf(down).getBoundingClientRect().width < FINGER && this.aimed !== down) { this.aim(down); return; }
      this.aim(null);
      this.onpick?.(down, "click");
    });
    addEventListener("pointerup", this.onup = (event) => {
      const from = down;
      down = null;
      if (!from) return;
      const over = document.elementFromPoint(event.clientX, event.clientY)?.closest?.(".cell");
      if (!over || !this.svg.contains(over) || over.dataset.cell === from) return;
      if (this.aimed === from) this.aim(over.dataset.cell);
      else this.onpick?.(over.dataset.cell, "drag");
    });
    if (this.onhover) {
      hits.addEventListener("pointerover", (event) => this.onhover(named(event) || null));
      hits.addEventListener("pointerleave", () => this.onhover(null));
    }
  }

  /** Mark the point under a finger, where points are smaller than it: a second touch chooses it. */
  aim(name) {
    this.svg.querySelector(".aim")?.remove();
    this.aimed = name;
    if (!name) return;
    const [cx, cy] = this.at(name);
    this.layers.labels.append(s("circle", { class: "aim", cx, cy, r: 90 }));
    this.onaim?.(name);
  }

  roving(name) {
    this.cells.get(this.focusable)?.setAttribute("tabindex", -1);
    this.focusable = name;
    this.cells.get(name).setAttribute("tabindex", 0);
  }

  onkey(event, name) {
    if (!name || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); this.onpick?.(name, "key"); return; }
    if (event.key === "Escape") { this.oncancel?.(); return; }
    const rows = this.rows(), y = rows.findIndex((row) => row.includes(name)), x = rows[y].indexOf(name);
    const step = ARROWS[event.key];
    let to = null;
    if (step) to = rows[y + step[1]]?.[x + step[0]];
    else if (event.key === "Home") to = rows[y][0];
    else if (event.key === "End") to = rows[y][this.width - 1];
    else return;
    event.preventDefault();
    if (to) this.focus(to);
  }

  /** Give the keyboard to a cell. */
  focus(name) { this.roving(name); this.cells.get(name).focus(); }

  /** What a screen reader says of a cell. */
  describe(name, text) {
    const cell = this.cells.get(name), label = text ? `${name}, ${text}` : name;
    if (cell && cell.getAttribute("aria-label") !== label) cell.setAttribute("aria-label", label); // most stay as they are
  }

  /** Cells that can be chosen: a hand on hover; `live` is whether anything can. Null: not known yet, so nothing can. */
  legal(names) {
    if (names === null) { this.svg.classList.remove("live"); return; }
    const set = new Set(names), before = this.legalNow || new Set();
    this.svg.classList.toggle("live", set.size > 0);
    for (const name of before) if (!set.has(name)) this.cells.get(name).classList.remove("legal");
    for (const name of set) if (!before.has(name)) this.cells.get(name)?.classList.add("legal");
    this.legalNow = new Set([...set].filter((name) => this.cells.has(name)));
  }

  clear(...layers) { layers.forEach((name) => this.layers[name].replaceChildren()); }

  /**
   * Heat below the pieces: name -> 0..1, the greatest as 1 unless `most` says otherwise.
   * @param colour a CSS colour, such as "var(--line-1)"
   */
  heat(values, { colour = "var(--line-1)", most = Math.max(1e-9, ...Object.values(values)), layer = "heat" } = {}) {
    for (const [name, value] of Object.entries(values)) {
      const share = Math.min(1, value / most);
      if (share < 0.01) continue;
      const [cx, cy] = this.at(name);
      const box = s("rect", { class: "heat", x: cx - 50, y: cy - 50, width: 100, height: 100, rx: 14 });
      box.style.fill = colour;
      box.style.fillOpacity = 0.08 + 0.77 * Math.sqrt(share);
      this.layers[layer].append(box);
    }
  }

  /** Labels on cells: [{at, text, colour, ground, aside, kind}]; `ground` is the colour of a disc below the text, `aside` how far off the middle. */
  markers(list, layer = "labels") {
    for (const one of list) {
      const [x, y] = this.at(one.at), cx = x + (one.aside || 0), cy = y - (one.aside || 0); // to the upper right
      const group = s("g", { class: one.kind || "mark" });
      if (one.ground) { const disc = s("circle", { cx, cy, r: one.r || 40 }); disc.style.fill = one.ground; disc.style.fillOpacity = one.opacity ?? 0.9; group.append(disc); }
      if (one.text) { const text = s("text", { class: "marker-label", x: cx, y: cy + 2, "font-size": one.size || null }, one.text); text.style.fill = one.colour || "var(--board-ink)"; if (one.size) text.style.fontSize = `${one.size}px`; group.append(text); }
      this.layers[layer].append(group);
    }
  }

  /** An arrow from a cell's middle to another's. */
  arrow(from, to, { colour = "var(--line-1)", width = 16, dashed = false, opacity = 0.8, layer = "over" } = {}) {
    const [x1, y1] = this.at(from), [x2, y2] = this.at(to), length = Math.hypot(x2 - x1, y2 - y1);
    if (!length) return;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length], head = 34 + width / 2;
    const [bx, by] = [x2 - dx * head, y2 - dy * head], [nx, ny] = [-dy * (16 + width / 2), dx * (16 + width / 2)];
    const group = s("g", { class: "mark", opacity });
    const line = s("line", { x1: x1 + dx * 22, y1: y1 + dy * 22, x2: bx, y2: by, "stroke-width": width, "stroke-linecap": "round", "stroke-dasharray": dashed ? `${width * 0.4} ${width * 2}` : null });
    line.style.stroke = colour;
    const tip = s("path", { d: `M${x2} ${y2}L${bx + nx} ${by + ny}L${bx - nx} ${by - ny}Z` });
    tip.style.fill = colour;
    group.append(line, tip);
    this.layers[layer].append(group);
  }

  /** A frame around a cell. */
  frame(name, kind = "last", layer = "under") {
    const [cx, cy] = this.at(name);
    this.layers[layer].append(s("rect", { class: kind, x: cx - 46, y: cy - 46, width: 92, height: 92, rx: 10 }));
  }

  /** A cross on a cell. */
  cross(name, kind, layer = "under") {
    const [cx, cy] = this.at(name);
    this.layers[layer].append(s("path", { class: kind, d: `M${cx - 20} ${cy - 20}L${cx + 20} ${cy + 20}M${cx + 20} ${cy - 20}L${cx - 20} ${cy + 20}` }));
  }

  remove() { removeEventListener("pointerup", this.onup); this.svg.remove(); }
}

/** Cells of a FEN's ranks: name -> letter; numbers are empty cells. */
export function readRanks(fen, files = FILES) {
  const ranks = fen.split(" ")[0].split("/"), found = new Map();
  ranks.forEach((text, y) => {
    let x = 0;
    for (const part of text.match(/\d+|./g) || []) {
      if (/\d/.test(part)) x += Number(part);
      else found.set(`${files[x++]}${ranks.length - y}`, part);
    }
  });
  return found;
}
