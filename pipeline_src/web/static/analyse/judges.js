// What players said of positions, by FEN: in an analysis of a line, or while they thought about the position that was shown.
// A deeper value replaces a shallower one by the same player, whoever asked for it.

import { socket } from "../api.js";
import { count, field, h, put, select, short } from "../dom.js";
import { readValues, writeValues } from "./kept.js";
import { BAD } from "./moves.js";
import { BUDGETS, depthOf, proof, trusted, unitOf } from "./values.js";

const COLOURS = ["var(--line-1)", "var(--line-2)"], NOBODY = "", OTHER = "?", SOON_MS = 500, CLOSER = 16;

export class Judges {
  /**
   * @param key name of the game, to keep what was said; lineOf() positions of the line that is shown
   * @param place(node) a position as the server reads it; sideOf(node) 0 or 1; redraw() there is news; onplayer() another player
   * @param onsettings() `settings` have changed
   * @param analysts texts of players; given {player, other, nodes} of the page's address
   */
  constructor({ key, lineOf, place, sideOf, redraw, onplayer, onsettings, analysts, given = {} }) {
    Object.assign(this, { key, lineOf, place, sideOf, redraw, onplayer, onsettings, said: readValues(key), runs: [], asked: false, level: 0 });
    const chooser = (none, chosen, label) => {
      const list = [...none, ...new Set([...analysts, ...(chosen ? [chosen] : [])])], box = select([...list.map((one) => [one, one || "nobody"]), [OTHER, "another player …"]], chosen ?? list[0], (value) => this.chosen(box, value));
      box.setAttribute("aria-label", label);
      return box;
    };
    this.who = chooser([], given.player, "Player");
    this.against = chooser([NOBODY], given.other, "Compared with");
    this.own = h("input", { type: "text", class: "hidden", maxlength: 300, autocomplete: "off", spellcheck: "false", placeholder: "alphabeta:width=3", "aria-label": "Text of the player", onchange: () => this.named() });
    this.budgets = h("select", { "aria-label": "Budget a position", onchange: () => { this.level = Number(this.budgets.value); } });
    this.start = h("button", { type: "submit", class: "main" }, "Analyse game");
    this.deeper = h("button", { type: "button", class: "quiet closer hidden", title: "The whole game with four times the budget", onclick: () => { this.level += 1; this.fill(); this.analyse(); } }, "Deeper");
    this.stop = h("button", { type: "button", class: "hidden", onclick: () => this.halt() }, "Stop");
    this.told = h("div", { class: "grow" });
    this.progress = h("div", { class: "row" }, this.told, this.deeper);
    this.last = this.who.value;
    this.given = Number.isSafeInteger(Number(given.nodes)) && Number(given.nodes) > 0 ? Number(given.nodes) : 0;
    this.counts = this.unit; // of what the address has
    this.level = Math.max(0, this.budgetsOf(this.player).indexOf(this.given));
    this.fill();
  }

  /** The text of the chosen player; while another one is written, of the one before. */
  get player() { return this.who.value === OTHER ? this.last : this.who.value; }
  get nodes() { return this.budgetOf(this.player); }
  /** Budgets to choose from: the usual ones, and that of the address for players that count the same. */
  budgetsOf(player) {
    const all = BUDGETS[unitOf(player)];
    return this.given && this.counts === unitOf(player) && !all.includes(this.given) ? [...all, this.given].sort((a, b) => a - b) : all;
  }
  budgetOf(player) { const all = this.budgetsOf(player); return all[Math.min(this.level, all.length - 1)]; }
  get unit() { return unitOf(this.player); }

  /** What the page's address has of the analysis, once there is one. */
  get settings() { return this.asked ? { judge: 1, player: this.player, nodes: this.nodes, ...(this.against.value && { other: this.against.value }) } : {}; }

  fill() { this.level = Math.min(this.level, this.budgetsOf(this.player).length - 1); put(this.budgets, this.budgetsOf(this.player).map((one, k) => h("option", { value: k, selected: k === this.level }, `${short(one)} ${this.unit}`))); }

  chosen(box, value) {
    this.own.classList.toggle("hidden", value !== OTHER);
    if (value === OTHER) { this.box = box; this.own.focus(); return; }
    if (box === this.who) this.last = value;
    this.fill();
    if (box === this.who) this.onplayer();
  }

  /** The text of another player was written. */
  named() {
    const text = this.own.value.trim();
    if (!text) return;
    const option = [...this.box.options].find((one) => one.value === text) || h("option", { value: text }, text);
    this.box.prepend(option);
    this.box.value = text;
    this.chosen(this.box, text);
  }

  /** Remember a judgement: {player, win_rate of who moves first, value to the side to move, depth, nodes, budget, line}. */
  take(fen, one) {
    const found = this.said[one.player] ||= {}, before = found[fen];
    if (before && depthOf(before) > depthOf(one)) { before.budget = Math.max(before.budget, one.budget); return; }
    found[fen] = one;
    clearTimeout(this.later);
    this.later = setTimeout(() => writeValues(this.key, this.said), SOON_MS);
  }

  /** Players that have judged something, the chosen one first. */
  get players() { return [...new Set([this.player, this.against.value, ...Object.keys(this.said)])].filter((one) => this.said[one]); }

  of(player, node) { return this.said[player]?.[node.fen]; }

  /** What is said of a position by the first player that has judged it. */
  best(node) {
    const player = this.players.find((one) => this.of(one, node));
    return player && this.of(player, node);
  }

  /** All that is said of a position, as the server writes it into comments. */
  all(node) {
    return this.players.filter((one) => this.of(one, node)).slice(0, 4).map((player) => {
      const { win_rate, depth, nodes, line } = this.of(player, node);
      return { player, win_rate, depth, nodes, line, lost: this.lostBy(player, node) ?? null };
    });
  }

  /** Win rate that a move gave away, as a player sees it; undefined where that is not known deeply enough. */
  lostBy(player, node) {
    const before = node.parent && this.of(player, node.parent), after = this.of(player, node);
    if (!before || !after || !trusted(before) || !trusted(after)) return undefined;
    return before.line[0] === node.move ? 0 : Math.max(0, (before.win_rate - after.win_rate) * (this.sideOf(node.parent) ? -1 : 1));
  }

  /** The same by the first player that knows. */
  lost(node) {
    for (const player of this.players) { const lost = this.lostBy(player, node); if (lost !== undefined) return lost; }
    return undefined;
  }

  bar(more) {
    return h("form", { class: "row engine", onsubmit: (event) => { event.preventDefault(); this.analyse(); } }, this.who, this.own, more, this.budgets, this.start, this.stop);
  }

  compare() { return field("Compare the analysis with that of", this.against); }

  /** Judge all positions of the line that is shown, by one player after the other; those that are known deeply enough stay. */
  async analyse() {
    const line = [...this.lineOf()];
    this.asked = true;
    return this.run([this.player, this.against.value].filter((one) => one && one !== OTHER).map((player) => ({ player, line, first: 0, nodes: this.budgetOf(player) })));
  }

  /** Judge a move by a larger budget: the positions before and after it. */
  closer(node, line) { this.asked = true; return this.run([{ player: this.player, line, first: Math.max(0, node.depth - 1), nodes: CLOSER * this.nodes }]); }

  async run(runs) {
    this.halt();
    this.runs = runs;
    this.onsettings();
    for (const run of runs) if (!await this.follow(run)) return false;
    return true;
  }

  /** Have a player judge positions of a line; whether it came to the end. */
  follow(run) {
    const { player, line, first, nodes } = run, missing = line.findIndex((one, k) => k >= first && !((this.of(player, one)?.budget ?? 0) >= nodes));
    if (missing < 0) {
      const positions = line.length - first;
      run.state = { state: "done", done: positions, positions };
      this.busy(false);
      this.soon();
      return true;
    }
    return new Promise((settle) => {
      this.busy(true);
      const finish = (well) => { run.wire.close(); run.wire = null; this.busy(false); this.draw(); settle(well); };
      run.end = () => finish(false);
      run.wire = socket("analyse/watch", {
        state: (state) => { if (state === "open") run.wire.send({ place: this.place(line.at(-1)), player, nodes, first: missing }); },
        message: (message) => {
          if (message.kind === "ply") {
            const { win_rate, value, depth, nodes: searched, budget, line: moves } = message;
            this.take(line[message.ply].fen, { player, win_rate, value, depth, nodes: searched, budget, line: moves });
            this.soon();
            return;
          }
          run.state = message;
          if (message.state === "failed") finish(false); else if (message.state === "done") finish(true); else this.soon();
        },
      });
    });
  }

  busy(on) {
    this.start.classList.toggle("hidden", on);
    this.stop.classList.toggle("hidden", !on);
    this.deeper.classList.toggle("hidden", on || !this.asked || this.level + 1 >= this.budgetsOf(this.player).length);
  }

  halt() { this.runs.forEach((run) => run.wire && run.end()); }

  soon() { if (!this.waits) { this.waits = true; requestAnimationFrame(() => { this.waits = false; this.draw(); }); } }

  draw() {
    put(this.told, this.runs.map((run) => {
      const one = run.state;
      if (!one) return null;
      const done = `${one.done} of ${count(one.positions, "position")}`, words = { waiting: "waits for a free engine …", preparing: "getting ready …", running: done, done: `${done}, ${short(run.nodes)} ${unitOf(run.player)} each`, failed: one.error }[one.state];
      return h("div", { class: "row" }, h("small", {}, `${run.player}: ${words}`), ["failed", "done"].includes(one.state) ? null : h("progress", { class: "grow", max: one.positions, value: one.done, "aria-label": `Analysis by ${run.player}` }));
    }));
    this.redraw();
  }

  /** The first bad move of a line, and the move from which on its loss was forced: {bad, forced}, nodes or undefined. */
  story(line) {
    const bad = line.find((one) => one.parent && (this.lost(one) ?? 0) >= BAD), ends = (one) => {
      const said = this.best(one);
      return said && (said.value === null || proof(said.value, said.player)) ? said.win_rate : null;
    };
    const last = ends(line.at(-1));
    if (last === null || last === 0.5) return { bad };
    let at = line.length - 1;
    while (at > 0 && ends(line[at - 1]) !== null && ends(line[at - 1]) > 0.5 === last > 0.5) at -= 1;
    return { bad, forced: at > 0 && at < line.length - 1 ? line[at] : undefined };
  }

  remove() {
    this.halt();
    clearTimeout(this.later);
    if (Object.keys(this.said).length) writeValues(this.key, this.said);
  }
}

export { COLOURS };
