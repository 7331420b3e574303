// A board of stones: Gomoku, Go. Draws positions and says which cell was chosen; it knows no rule.

import { s } from "../dom.js";
import { Grid, readRanks, FILES } from "./grid.js";

const MAKES = { 5: "five", 4: "a four that nothing stops", 3: "an open three" };
const COLOURS = { x: "black", o: "white", X: "black", O: "white", "#": "block" };
const KINDS = { X: "◆", O: "◆" }; // what marks a side's other kind of piece

export class StoneBoard {
  /** Options as those of Grid; onmove(name) is called with a legal cell, onrefused(name, why) with a forbidden one. */
  constructor(root, { size, width = size, height = size, onmove, onrefused, label = "Board", files = FILES, turned = false, look = "points", onhover, onaim }) {
    Object.assign(this, { onmove, onrefused, stones: new Map(), drawn: new Map(), rings: {}, legal: new Set(), forbidden: {}, from: null });
    this.grid = new Grid(root, { width, height, points: look === "points", hexagons: look === "hexagons", label, files, turned, onhover, onaim, onpick: (name, how) => this.pick(name, how), oncancel: () => this.choose(null) });
  }

  pick(name, how) {
    const way = `${this.from}-${name}`;
    if (this.legal.has(way)) this.onmove?.(way);
    else if (how === "drag") return;
    else if (this.legal.has(name)) this.onmove?.(name);
    else if (name in this.forbidden) this.onrefused?.(name, this.forbidden[name]);
    else this.choose(name !== this.from && this.ways(name).length ? name : null);
  }

  /** Where the piece on a cell may go. */
  ways(from) { return [...this.legal].filter((one) => one.startsWith(`${from}-`)).map((one) => one.split("-")[1]); }

  /** Mark the piece that is to move, and where it may go. */
  choose(from) {
    const { grid } = this, ways = from ? this.ways(from) : [];
    this.from = from;
    grid.svg.querySelectorAll(".selected, .target").forEach((one) => one.remove());
    if (from) grid.frame(from, "selected");
    for (const to of ways) { const [cx, cy] = grid.at(to); grid.layers.over.append(s("circle", { class: "target", cx, cy, r: 15 })); }
    grid.legal([...[...this.legal].map((one) => one.split("-")[0]), ...ways]);
  }

  /**
   * Show a position.
   * @param fen ranks from the top, x black, o white; or `stones`: name -> "x" or "o"
   * @param legal cells that may be chosen now, and ways from one cell to another, "d2-d3"; null while that is not known
   * @param last the last move: the cell of its stone, or source-target; or null
   * @param forbidden {name: why} of cells that the rule forbids to Black; fainter where White may play
   * @param line stones that have won
   * @param numbers {name: number} to write on stones
   * @param threats by side, {name: 5, 4 or 3} of points where its stone makes five, a four that nothing stops, or an open three
   */
  set({ fen = null, stones = fen === null ? new Map() : readRanks(fen, this.grid.files), legal = [], last = null, forbidden = {}, line = [], numbers = {}, threats = [] }) {
    const { grid } = this, won = new Set(line), marks = new Map();
    threats.forEach((own, side) => { for (const [name, kind] of Object.entries(own)) if (!(marks.get(name)?.kind >= kind)) marks.set(name, { kind, colour: ["black", "white"][side] }); });
    this.stones = stones instanceof Map ? stones : new Map(Object.entries(stones));
    last = last?.split("-").at(-1);
    if (!grid.cells.has(last)) last = null; // a pass
    this.legal = new Set(legal || []);
    this.forbidden = forbidden;
    grid.clear("under");
    grid.aim(null);
    if (last) grid.roving(last);
    for (const name of grid.cells.keys()) {
      const letter = this.stones.get(name), colour = COLOURS[letter], number = numbers[name] ?? KINDS[letter];
      const words = colour ? [`${colour} stone`, name === last && "last move", numbers[name] && `move ${number}`, KINDS[letter] && "of another kind", won.has(name) && "in the line that won"] : [name in forbidden && `forbidden${this.legal.has(name) ? " to Black" : ""}: ${forbidden[name]}`, marks.has(name) && `${marks.get(name).colour} makes ${MAKES[marks.get(name).kind]}`];
      grid.describe(name, words.filter(Boolean).join(", "));
      this.keep(name, colour, number);
    }
    for (const name of Object.keys(forbidden)) grid.cross(name, this.legal.has(name) ? "forbidden later" : "forbidden");
    grid.layers.labels.querySelectorAll(".threat").forEach((one) => one.remove());
    grid.markers([...marks].map(([at, { kind, colour }]) => ({ at, kind: "threat", text: String(kind), aside: 25, size: 38, r: 26, ground: colour === "black" ? "#222" : "#fff", colour: colour === "black" ? "#fff" : "#222" })));
    this.ring("won", line, 33);
    this.last(last, numbers[last] ? 41 : 17);
    if (legal) this.choose(null);
    else grid.legal(null);
  }

  /** Put a stone down, or move it, at once, before the server has answered. */
  play(move, letter) {
    const [start, to] = move.split("-"), name = to ?? start, piece = to ? this.stones.get(start) : letter;
    if (to) { this.stones.delete(start); this.keep(start); }
    this.stones.set(name, piece);
    this.legal = new Set();
    this.keep(name, COLOURS[piece], KINDS[piece]);
    this.last(name);
    this.choose(null);
  }

  /** Show a move that a player expects, by its cells. */
  picked(move) {
    const [start, to] = move?.split("-") ?? [];
    if (to) this.grid.arrow(start, to);
    else if (this.grid.cells.has(start)) this.grid.markers([{ at: start, ground: "var(--line-1)" }], "over");
  }

  last(name, r = 17) { this.ring("last", name ? [name] : [], r); }

  ring(kind, names, r) {
    const { pieces } = this.grid.layers, now = `${names} ${r}`;
    if (this.rings[kind] === now) return;
    this.rings[kind] = now;
    pieces.querySelectorAll(`.${kind}`).forEach((one) => one.remove());
    for (const name of names) { const [cx, cy] = this.grid.at(name); pieces.append(s("circle", { class: kind, cx, cy, r })); }
  }

  /** Have a cell show a stone, or none; of a large board, few cells change. */
  keep(name, colour, number = "") {
    const want = colour ? `${colour} ${number}` : "", have = this.drawn.get(name);
    if ((have?.want ?? "") === want) return;
    have?.element.remove();
    this.drawn.delete(name);
    this.rings = {}; // they are drawn above the stones
    if (colour) this.drawn.set(name, { want, element: this.stone(name, colour, false, "pieces", number) });
  }

  stone(name, colour, ghost = false, layer = "pieces", number = "") {
    const [cx, cy] = this.grid.at(name), circle = s("circle", { class: `stone ${colour}${ghost ? " ghost" : ""}`, cx, cy, r: 45 });
    const element = number ? s("g", {}, circle, s("text", { class: `number ${colour}`, x: cx, y: cy + 2 }, String(number))) : circle;
    this.grid.layers[layer].append(element);
    return element;
  }

  /** A line of play as pale stones with numbers; `first` is the colour that begins. */
  line(moves, first) {
    moves.filter((name) => !this.stones.has(name)).forEach((name, k) => {
      const black = (k % 2 === 0) === (first === "black");
      this.stone(name, black ? "black" : "white", true, "over");
      this.grid.markers([{ at: name, text: String(k + 1), colour: black ? "#fff" : "#222" }], "over");
    });
  }

  clearLine() { this.grid.clear("over"); }
  remove() { this.grid.remove(); }
}
