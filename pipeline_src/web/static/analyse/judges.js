// One or two players that judge each position of a line, as long as the page is open.

import { socket } from "../api.js";
import { field, h, put, toast } from "../dom.js";

const COLOURS = ["var(--line-1)", "var(--line-2)"];

export class Judges {
  /** @param lineOf() positions of the line that is shown; place(node): a position as the server reads it; redraw() */
  constructor({ lineOf, place, redraw }) {
    Object.assign(this, { lineOf, place, redraw, runs: [], progress: h("div", { class: "stack" }) });
  }

  /** What the first player that judged a position said of it. */
  best(node) {
    for (const run of this.runs) if (run.found.has(node)) return { ...run.found.get(node), player: run.player };
    return undefined;
  }

  /** All that was said of a position, as the server writes it into comments. */
  all(node) {
    return this.runs.filter((run) => run.found.has(node)).map((run) => {
      const { win_rate, depth, nodes, line, lost } = run.found.get(node);
      return { player: run.player, movetime: run.movetime, win_rate, depth, nodes, line, lost };
    });
  }

  form(analysts) {
    const known = h("datalist", { id: "analysts" }, analysts.map((one) => h("option", { value: one })));
    const text = (value, rest) => h("input", { type: "text", list: "analysts", value, maxlength: 300, autocomplete: "off", spellcheck: "false", ...rest });
    this.player = text(analysts[0], { required: true });
    this.other = text("", { placeholder: "nobody" });
    this.time = h("input", { type: "number", min: 1, max: 60000, value: "100", step: 1, inputmode: "numeric" });
    this.start = h("button", { type: "submit", class: "main" }, "Analyse");
    this.stop = h("button", { type: "button", disabled: true, onclick: () => this.halt() }, "Stop");
    return h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); this.analyse(); } },
      known, h("div", { class: "fields" }, field("Player", this.player), field("Compared with", this.other), field("Milliseconds a position", this.time)),
      h("div", { class: "row" }, this.start, this.stop));
  }

  /** Judge all positions of the line that is shown, by one player after the other. */
  async analyse() {
    this.halt();
    const movetime = Number(this.time.value), line = [...this.lineOf()];
    const players = [this.player.value.trim(), ...(this.other.value.trim() ? [this.other.value.trim()] : [])];
    this.runs = players.map((player, k) => {
      const before = this.runs.find((run) => run.player === player && run.movetime === movetime);
      return { player, movetime, line, colour: COLOURS[k], found: before?.found || new Map(), state: null, wire: null };
    });
    this.draw();
    for (const run of this.runs) if (!await this.follow(run)) return;
  }

  /** Have a player judge all positions; whether it came to the end. */
  follow(run) {
    return new Promise((settle) => {
      this.stop.disabled = false;
      this.start.disabled = true;
      const finish = (well) => { run.wire.close(); run.wire = null; this.stop.disabled = true; this.start.disabled = false; this.draw(); settle(well); };
      run.end = () => finish(false);
      run.wire = socket("analyse/watch", {
        state: (state) => { if (state === "open") run.wire.send({ place: this.place(run.line.at(-1)), player: run.player, movetime: run.movetime }); },
        message: (message) => {
          if (message.kind === "ply") { run.found.set(run.line[message.ply], message); this.soon(); return; }
          run.state = message;
          if (message.state === "failed") { toast(message.error, "bad"); finish(false); } else if (message.state === "done") finish(true); else this.soon();
        },
      });
    });
  }

  halt() { this.runs.forEach((run) => run.wire && run.end()); }

  soon() { if (!this.asked) { this.asked = true; requestAnimationFrame(() => { this.asked = false; this.draw(); }); } }

  draw() {
    put(this.progress, this.runs.map((run) => {
      const one = run.state;
      if (!one) return null;
      const words = { waiting: "waits for a free engine …", preparing: "getting ready …", running: `${one.done} of ${one.positions} positions`, done: `${one.done} of ${one.positions} positions`, failed: one.error }[one.state];
      return h("div", {}, h("small", {}, `${run.player}: ${words}`), one.state === "failed" ? null : h("progress", { max: one.positions, value: one.done, "aria-label": `Analysis by ${run.player}` }));
    }));
    this.redraw();
  }
}
