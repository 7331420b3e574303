// A board of stones: Gomoku, Go. Draws positions and says which cell was chosen; it knows no rule.

import { s } from "../dom.js";
import { Grid, readRanks, FILES } from "./grid.js";

const COLOURS = { x: "black", o: "white", X: "black", O: "white" };

export class StoneBoard {
  /** Options as those of Grid; onmove(name) is called with a legal cell. */
  constructor(root, { size, width = size, height = size, onmove, label = "Board", files = FILES, turned = false, onhover }) {
    this.onmove = onmove;
    this.stones = new Map();
    this.legal = new Set();
    this.grid = new Grid(root, { width, height, points: true, label, files, turned, onhover, onpick: (name, how) => { if (how !== "drag" && this.legal.has(name)) this.onmove?.(name); } });
  }

  /**
   * Show a position.
   * @param fen ranks from the top, x black, o white; or `stones`: name -> "x" or "o"
   * @param legal cells that may be chosen now
   * @param last cell of the last stone, or null
   */
  set({ fen = null, stones = fen === null ? new Map() : readRanks(fen, this.grid.files), legal = [], last = null }) {
    const { grid } = this;
    this.stones = stones instanceof Map ? stones : new Map(Object.entries(stones));
    this.legal = new Set(legal);
    grid.clear("pieces", "under");
    for (const name of grid.cells.keys()) {
      const colour = COLOURS[this.stones.get(name)];
      grid.describe(name, colour ? `${colour} stone${name === last ? ", last move" : ""}` : "");
      if (colour) this.stone(name, colour);
    }
    this.last(last);
    grid.legal(this.legal);
  }

  /** Put a stone down at once, before the server has answered. */
  play(name, letter) {
    this.stones.set(name, letter);
    this.legal = new Set();
    this.stone(name, COLOURS[letter]);
    this.last(name);
    this.grid.legal([]);
  }

  last(name) {
    this.grid.layers.pieces.querySelector(".last")?.remove();
    if (!name) return;
    const [cx, cy] = this.grid.at(name);
    this.grid.layers.pieces.append(s("circle", { class: "last", cx, cy, r: 17 }));
  }

  stone(name, colour, ghost = false, layer = "pieces") {
    const [cx, cy] = this.grid.at(name);
    this.grid.layers[layer].append(s("circle", { class: `stone ${colour}${ghost ? " ghost" : ""}`, cx, cy, r: 45 }));
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
