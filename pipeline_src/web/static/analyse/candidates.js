// The best moves of the position that is shown, by a player that thinks about it while somebody looks.

import { socket } from "../api.js";
import { h, percent, select, short } from "../dom.js";
import { proof, proven, unitOf } from "./values.js";

const KEPT = "zugwerk.analyse.think", COUNTS = ["1", "2", "3", "5", "8"], STEPPING_MS = 250, PAUSE_MS = 40;

export class Candidates {
  /**
   * @param place(node) a position as the server reads it; player() text of the player that thinks
   * @param rate(node, rate) win rate of who moves first, from that of who moves now
   * @param onplay(move) a move was chosen; onpoint(moves or null) a line is pointed at; ondraw() there is news
   * @param onthought(node, thought) what the player found so far; onwin(node, moves) the whole winning line is wanted
   */
  constructor({ place, player, rate, side, onplay, onpoint, ondraw, onthought, onwin }) {
    Object.assign(this, { place, player, rate, side, onplay, onpoint, ondraw, onthought, onwin, thoughts: new Map(), node: null, number: 0, wire: null, wait: 0 });
    const [on = "1", count = "3"] = (localStorage.getItem(KEPT) || "").split(" ").filter(Boolean);
    this.on = on === "1";
    this.count = COUNTS.includes(count) ? count : "3";
    this.toggle = h("button", { type: "button", "aria-pressed": String(this.on), onclick: () => { this.on = !this.on; this.changed(); } }, "Think");
    this.status = h("small", { class: "grow" });
    this.rows = [];
    this.list = h("ol", { class: "candidates", "aria-label": `Best moves, with win rates of ${side}` });
    const counts = select(COUNTS.map((one) => [one, one === "1" ? "1 move" : `${one} moves`]), this.count, (value) => { this.count = value; this.changed(); });
    counts.setAttribute("aria-label", "Number of best moves");
    this.controls = [this.toggle, counts];
    this.element = h("section", { class: "thinks", "aria-label": "Best moves" }, this.status, this.list);
    document.addEventListener("visibilitychange", this.onvisible = () => this.begin());
  }

  changed() {
    this.toggle.setAttribute("aria-pressed", String(this.on));
    localStorage.setItem(KEPT, `${this.on ? 1 : 0} ${this.count}`);
    this.begin();
    this.draw();
    if (this.node) this.ondraw();
  }

  /** Show what is known of a position; null for one in which the game is over. */
  look(node) {
    this.node = node;
    this.draw();
  }

  /** Think about a position, too. */
  show(node) {
    this.look(node);
    this.begin();
  }

  /** Ask the server at once; if the person is stepping through the game, once they have stayed at the position for a moment. */
  begin() {
    clearTimeout(this.wait);
    const stepping = performance.now() - (this.begun ?? -Infinity) < STEPPING_MS;
    this.begun = performance.now();
    this.asking = 0;
    this.state = null;
    if (!this.on || !this.node || document.hidden) { this.wire?.close(); this.wire = null; return; }
    this.wire ||= socket("analyse/think", { state: (state) => { if (state === "open") { this.asking = 0; this.ask(); } }, message: (message) => this.heard(message), refused: (text) => this.tell(text) });
    if (stepping) this.wait = setTimeout(() => this.ask(), PAUSE_MS);
    else this.ask();
  }

  ask() {
    if (this.asking) return; // as the connection opens
    const wanted = { number: this.number + 1, place: this.place(this.node), player: this.player(), lines: Number(this.count) };
    if (!this.wire?.send(wanted)) return; // asked again as soon as it is connected
    this.asking = this.number += 1;
    this.asked = this.node;
  }

  heard(message) {
    if (message.number !== this.asking) return;
    this.state = message;
    if (message.thought) {
      this.thoughts.set(this.asked, { ...message.thought, player: this.player() });
      this.onthought(this.asked, this.thoughts.get(this.asked));
    }
    if (!this.soon) requestAnimationFrame(() => { this.soon = false; this.draw(); this.ondraw(); });
    this.soon = true;
  }

  tell(text) { this.status.textContent = text; }

  /** Lines of a position, best first. */
  lines(node) { return this.on ? this.thoughts.get(node)?.lines || [] : []; }

  /** Lines in the order of the rows while somebody points at them, lest a click finds another move than the eye did. */
  held(lines) {
    if (this.drawn !== this.node || !this.list.matches(":hover, :focus-within")) return lines;
    const left = new Map(lines.map((line) => [line.moves[0], line]));
    const kept = lines.map((_, k) => { const move = this.rows[k]?.moves[0], line = left.get(move); left.delete(move); return line; });
    const others = [...left.values()];
    return kept.map((line) => line ?? others.shift());
  }

  draw() {
    const thought = this.on && this.node ? this.thoughts.get(this.node) : null, lines = this.held(thought?.lines || []);
    this.drawn = this.node;
    const words = { waiting: "waits for a free engine …", loading: "is getting ready …", failed: this.state?.error }[this.state?.state];
    this.tell(!this.on ? "off" : !this.node ? "the game is over" : words ? (this.state.state === "failed" ? words : `${this.player()} ${words}`) : thought ? `${thought.player}: ${short(thought.nodes)} ${thought.nodes === 1 ? unitOf(thought.player).slice(0, -1) : unitOf(thought.player)}${this.state?.state === "done" ? ", done" : ""}; win rates of ${this.side}` : "");
    while (this.rows.length < lines.length) this.rows.push(this.row());
    while (this.list.childElementCount > lines.length) this.list.lastElementChild.remove();
    while (this.list.childElementCount < lines.length) this.list.append(this.rows[this.list.childElementCount].item);
    lines.forEach((line, k) => {
      const row = this.rows[k];
      row.moves = line.moves;
      row.move.textContent = line.moves[0];
      const won = proof(line.value, thought.player)?.sign > 0;
      row.rate.textContent = proven(line.value, thought.player) || (line.win_rate === null ? "–" : percent(this.rate(this.node, line.win_rate), 1));
      row.item.lastChild.classList.toggle("hidden", !won);
      row.about.textContent = line.visits === null ? `depth ${line.depth}` : `${short(line.visits)} visits`;
      row.rest.textContent = line.moves.slice(1, won ? undefined : 7).join(" ");
    });
  }

  /** An entry of the list. They are used again, so that the keyboard stays where it is while values change. */
  row() {
    const row = { moves: [], move: h("strong"), rate: h("span", { class: "num" }), about: h("small"), rest: h("span", { class: "line mono" }) };
    const point = () => this.onpoint(row.moves), leave = () => this.onpoint(null);
    row.item = h("li", {}, h("button", { type: "button", onclick: () => this.onplay(row.moves[0]), onpointerenter: point, onpointerleave: leave, onfocus: point, onblur: leave }, h("span", { class: "note" }, String(this.rows.length + 1)), " ", row.move, " ", row.rate, " ", row.about), row.rest,
      h("button", { type: "button", class: "quiet win hidden", onclick: () => this.onwin(this.node, row.moves) }, "Show the win"));
    return row;
  }

  remove() {
    clearTimeout(this.wait);
    this.wire?.close();
    document.removeEventListener("visibilitychange", this.onvisible);
  }
}
