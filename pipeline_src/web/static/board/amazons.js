// The board of the Amazons: a turn is three choices, the amazon, where she goes, and where the arrow goes.

import { s } from "../dom.js";
import { Grid, readRanks } from "./grid.js";

const CROWN = "M-33 26 L-38 -18 L-20 2 L-13 -30 L0 -2 L13 -30 L20 2 L38 -18 L33 26 Q0 36 -33 26 Z";
const JEWELS = [[-38, -22], [-13, -34], [13, -34], [38, -22]];
const NAMES = { Q: "white amazon", q: "black amazon", "*": "arrow" };

export class AmazonsBoard {
  /** Options as those of Grid; onmove("d1-d7/g7") is called with a legal turn, onpart(text) after each choice. */
  constructor(root, { size, width = size, height = size, onmove, onpart, label = "Amazons board", turned = false, onhover }) {
    Object.assign(this, { onmove, onpart, turns: {}, from: null, to: null, letters: new Map(), owners: new Map() });
    this.grid = new Grid(root, { width, height, label, turned, onhover, onpick: (name, how) => this.pick(name, how), oncancel: () => this.cancel() });
  }

  /**
   * Show a position.
   * @param fen ranks from the top, Q white, q black, * arrow
   * @param turns {from: {to: [arrow, ...]}}: the legal turns of who may choose now
   * @param last "d1-d7/g7", or null
   */
  set({ fen, turns = {}, last = null }) {
    this.letters = readRanks(fen);
    Object.assign(this, { turns, from: null, to: null, lastMove: last });
    if (last) this.grid.roving(last.split(/[-/]/)[1]);
    this.draw();
  }

  draw() {
    const { grid, from, to } = this, last = this.lastMove?.split(/[-/]/) || [];
    grid.clear("pieces", "under");
    if (last.length && !to) { grid.frame(last[0], "last from"); grid.frame(last[1]); grid.frame(last[2]); }
    if (from) { const [cx, cy] = grid.at(to || from); grid.layers.under.append(s("rect", { class: "selected", x: cx - 50, y: cy - 50, width: 100, height: 100 })); }
    for (const name of grid.cells.keys()) {
      const letter = this.letters.get(name);
      let text = NAMES[letter] || "";
      if (name === to) text = `${NAMES[this.letters.get(from)]}, moved here`;
      else if (name === from) text = to ? "left" : `${text}, chosen`;
      else if (last[2] === name) text += ", last arrow";
      else if (last[1] === name) text += ", moved last";
      grid.describe(name, text || this.owners.get(name) || "");
      if (letter === "*") this.burnt(name);
      else if (letter && !(name === from && to)) this.amazon(name, letter);
    }
    if (to) this.amazon(to, this.letters.get(from));
    const targets = this.targets();
    for (const name of from ? targets : []) {
      const [cx, cy] = grid.at(name);
      const mark = to ? s("path", { class: "target", d: `M${cx - 13} ${cy - 13}L${cx + 13} ${cy + 13}M${cx + 13} ${cy - 13}L${cx - 13} ${cy + 13}` }) : s("circle", { class: "target", cx, cy, r: 15 });
      if (to) { mark.style.stroke = "var(--last)"; mark.style.strokeWidth = 9; mark.style.strokeLinecap = "round"; }
      grid.layers.under.append(mark);
    }
    const again = Object.keys(this.turns).length ? [from, to].filter(Boolean) : [];
    grid.legal([...targets, ...again, ...(from ? Object.keys(this.turns) : [])]);
  }

  /** Colour the empty squares by their side: [{words, names, colour, settled}]; [] takes the colours off. */
  colour(groups) {
    const { grid } = this;
    grid.clear("heat");
    this.owners = new Map(groups.flatMap(({ words, names }) => names.map((name) => [name, words])));
    for (const { names, colour, settled } of groups) for (const name of names) {
      const [cx, cy] = grid.at(name), half = settled ? 46 : 17;
      const box = s("rect", { class: `owned${settled ? " settled" : ""}`, x: cx - half, y: cy - half, width: 2 * half, height: 2 * half, rx: 8 });
      box.style.fill = colour;
      grid.layers.heat.append(box);
    }
    this.draw();
  }

  /** Cells that can be chosen now. */
  targets() {
    if (!this.from) return Object.keys(this.turns);
    return this.to ? this.turns[this.from][this.to] : Object.keys(this.turns[this.from]);
  }

  pick(name, how) {
    const { turns, from, to } = this;
    if (to) {
      if (turns[from][to].includes(name)) { this.finish(name); return; }
      if (how === "drag") return;
      if (name === to) Object.assign(this, { to: null });
      else this.from = this.to = null;
    } else if (from && turns[from][name]) this.to = name;
    else if (how === "drag") return;
    else this.from = turns[name] && name !== from ? name : null;
    this.draw();
    this.tell();
  }

  tell() {
    const { from, to } = this;
    this.onpart?.(to ? `${from} to ${to}: choose the arrow's square` : from ? `${from}: choose where she goes` : "");
  }

  cancel() {
    if (this.to) this.to = null;
    else this.from = null;
    this.draw();
    this.tell();
  }

  finish(arrow) {
    const { from, to } = this, letter = this.letters.get(from);
    this.letters.delete(from);
    this.letters.set(to, letter).set(arrow, "*");
    const move = `${from}-${to}/${arrow}`;
    Object.assign(this, { turns: {}, from: null, to: null, lastMove: move });
    this.draw();
    this.onmove?.(move);
  }

  amazon(name, letter, ghost = false, layer = "pieces") {
    const [cx, cy] = this.grid.at(name);
    const piece = s("g", { class: `amazon ${letter === "Q" ? "white" : "black"}${ghost ? " ghost" : ""}`, transform: `translate(${cx} ${cy + 3})` },
      s("path", { class: "body", d: CROWN }), JEWELS.map(([x, y]) => s("circle", { class: "body", cx: x, cy: y, r: 6 })));
    this.grid.layers[layer].append(piece);
  }

  burnt(name) {
    const [cx, cy] = this.grid.at(name);
    this.grid.layers.pieces.append(s("rect", { class: "burnt", x: cx - 44, y: cy - 44, width: 88, height: 88, rx: 12 }));
    this.grid.cross(name, "burnt-mark", "pieces");
  }

  /** A turn as arrows: the amazon's way, and the dashed one of her arrow. */
  turn(move, options = {}) {
    const [from, to, arrow] = move.split(/[-/]/);
    this.grid.arrow(from, to, options);
    this.grid.arrow(to, arrow, { ...options, dashed: true });
  }

  /** A line of play: its first turn, and the next one paler. */
  line(moves) {
    if (moves[1]) this.turn(moves[1], { colour: "var(--line-2)", opacity: 0.45, width: 11 });
    if (moves[0]) this.turn(moves[0], {});
  }

  clearLine() { this.grid.clear("over"); }
  remove() { this.grid.remove(); }
}
