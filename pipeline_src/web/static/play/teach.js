// "Teach me": before a blunder is played, a warning and the choice to take it back. The switch holds for all games.

import { post } from "../api.js";
import { BAD } from "../analyse/moves.js";
import { h, percent, put, toast } from "../dom.js";

const KEPT = "zugwerk.play.teach";

/** The switch, in the setup and beside the board. */
export function teachSwitch() {
  const box = h("input", { type: "checkbox", checked: teaches(), onchange: () => localStorage.setItem(KEPT, box.checked ? "1" : "") });
  return h("label", { class: "switch", title: "Looks at each of your moves for half a second before it is played" }, box, " Teach me: warn before a blunder");
}

export const teaches = () => localStorage.getItem(KEPT) === "1";

/**
 * Judges the moves of a person before they are played, and says so in `place`.
 *
 * onplay(move): it is to be played; onback(): it is taken back; onbetter(line): show what is better.
 */
export class Teacher {
  constructor(place, { onplay, onback, onbetter }) { Object.assign(this, { place, onplay, onback, onbetter, asked: null }); }

  /** Whether a move waits for its judgement, or for the person's choice. */
  get holds() { return this.asked !== null; }

  async ask(place, side, move) {
    const asked = this.asked = { move };
    put(this.place, h("p", { class: "note", role: "status" }, `Looking at ${move} …`));
    let judged;
    try { judged = await post("play/judge", { place, move }); } catch (error) { toast(`${move} was not looked at: ${error.message}`, "bad"); }
    if (this.asked !== asked) return;
    if (judged && judged.lost >= BAD) this.warn(judged, side, move);
    else this.play();
  }

  warn({ win_rates: rates, line }, side, move) {
    const [before, after] = rates.map((rate) => percent(side ? 1 - rate : rate));
    const better = h("p", { class: "note", role: "status" });
    const back = h("button", { type: "button", class: "main", onclick: () => { this.drop(); this.onback(); } }, "Take it back");
    put(this.place, h("div", { class: "notice bad stack", role: "alert" }, h("p", {}, `${move} looks like a blunder: your chances fall from ${before} to ${after}.`),
      h("div", { class: "row" }, back, h("button", { type: "button", onclick: () => this.play() }, "Play it anyway"),
        h("button", { type: "button", onclick: (event) => { event.target.remove(); put(better, `Better: ${line.slice(0, 5).join(" ")}`); this.onbetter(line); back.focus(); } }, "Show a better move")), better));
    back.focus();
  }

  play() { const { move } = this.asked; this.drop(); this.onplay(move); }

  /** Forget the move that waits. */
  drop() { this.asked = null; put(this.place); }
}
