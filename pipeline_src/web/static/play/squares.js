// Whose squares are whose in the Amazons, coloured on the board and counted, as long as the button is pressed.

import { post } from "../api.js";
import { h, put, toast } from "../dom.js";
import { SIDES } from "./board.js";

const KEPT = "zugwerk.squares", COLOURS = ["var(--side-1)", "var(--side-2)"];

/** The result of a position that counting decides, in words. */
export function counted({ winner, spare }) {
  const name = SIDES.amazons[winner === "first" ? 0 : 1];
  return `${name} wins${spare ? ` with ${spare} ${spare === 1 ? "turn" : "turns"} to spare` : ""}`;
}

export class SquaresOfSides {
  /** @param shown() [GameBoard, its place] or null; @param ontoggle() the button was pressed */
  constructor(shown, ontoggle = () => {}) {
    this.shown = shown;
    this.button = h("button", { type: "button", "aria-pressed": String(this.on), onclick: () => { localStorage.setItem(KEPT, this.on ? 0 : 1); this.button.setAttribute("aria-pressed", String(this.on)); this.update(); ontoggle(); } }, "Territory");
    this.text = h("p", { class: "note squares", role: "status" });
  }

  get on() { return localStorage.getItem(KEPT) === "1"; }

  /** Ask for the squares of the position that is shown. */
  async update() {
    this.asked?.abort();
    const own = this.asked = new AbortController(), [board, place] = this.shown() || [];
    if (!board) return;
    if (!this.on) { this.draw(board, null); return; }
    try {
      const found = await post("play/territory", place, { signal: own.signal });
      this.draw(board, found);
    } catch (error) { if (error.name !== "AbortError") toast(error.message, "bad"); }
  }

  draw({ board }, found) {
    const sides = found ? [found.first, found.second] : [];
    board.colour(sides.flatMap(({ settled, nearer }, k) => [{ words: `settled for ${SIDES.amazons[k]}`, names: settled, colour: COLOURS[k], settled: true }, { words: `nearer to ${SIDES.amazons[k]}`, names: nearer, colour: COLOURS[k] }]));
    const counts = sides.map(({ settled, nearer }, k) => [h("i", { class: `key side-${k + 1}` }), `${SIDES.amazons[k]}: ${settled.length} settled, ${nearer.length} nearer. `]);
    put(this.text, counts, found?.counted ? `All is settled: ${counted(found.counted)}.` : "");
  }
}
