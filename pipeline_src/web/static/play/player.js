// Picks an opponent: a level of measured strength where the board has some, or any player of the registry with how long
// it thinks, its model, and all other options.

import { post } from "../api.js";
import { field, h, number, put, select } from "../dom.js";

const USUAL = { amazons: "alphabeta:movetime=1000", gomoku: "engine:movetime=1000" };
const LIMITS = ["movetime", "nodes", "depth"];
const NAMES = { movetime: "Milliseconds a move", nodes: "Nodes a move", depth: "Depth", ":MODEL": "Model" };

const isOption = (item) => /^[a-z_]\w*=/i.test(item);
const quoted = (text) => (/[,"]/.test(text) || isOption(text) ? `"${text.replaceAll('"', '""')}"` : text);
const unquoted = (text) => (/^"([^"]|"")*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text);

/** NAME[:VALUE][,key=value...] taken apart; a comma in double quotes divides nothing. */
export function parsePlayer(text) {
  const at = text.indexOf(":"), name = at < 0 ? text : text.slice(0, at), options = {};
  const items = at < 0 ? [] : text.slice(at + 1).replace(/"[^"]*"/g, (part) => part.replaceAll(",", "\0")).split(",");
  items.map((item) => item.replaceAll("\0", ",")).forEach((item, k) => {
    const equals = item.indexOf("=");
    if (k === 0 && !isOption(item)) options[":MODEL"] = unquoted(item);
    else options[item.slice(0, equals)] = unquoted(item.slice(equals + 1));
  });
  return { name, options };
}

export function writePlayer(name, options) {
  const items = [quoted(options[":MODEL"] ?? ""), ...Object.entries(options).filter(([key, value]) => key !== ":MODEL" && value !== "").map(([key, value]) => `${key}=${quoted(value)}`)].filter(Boolean);
  return items.length ? `${name}:${items.join(",")}` : name;
}

/** A player's text for people: "alphabeta, 1 s". */
export function playerTitle(text) {
  if (text === "person") return "Person";
  const { name, options } = parsePlayer(text), ms = Number(options.movetime);
  if (name === "level") return `Level ${options[":MODEL"] || options.elo || ""}`;
  const model = options[":MODEL"]?.split("/").slice(-3, -1).join("/");
  return [name, model, ms ? (ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`) : "", options.nodes || options.simulations || options.iterations ? `${options.nodes || options.simulations || options.iterations} nodes` : "", options.depth ? `depth ${options.depth}` : ""].filter(Boolean).join(", ");
}

/** The player of the list that a text means: several may share a name, and then an option tells which. */
function listed(players, { name, options }) {
  const named = players.filter((one) => one.name === name), given = Object.entries(options).flatMap(([key, value]) => [key, `${key}=${value}`]);
  return named.find((one) => one.with_options.some((option) => given.includes(option))) || named.find((one) => !one.with_options.length);
}

export class PlayerPicker {
  /** ``board`` names the board on which the levels' strength was measured, if it is another one. */
  constructor({ label, about, levels, board, note, text, ontext, onboard }) {
    Object.assign(this, { label, about, levels, board, note, ontext, onboard });
    const middle = levels.findIndex((one, k) => !one.elsewhere && k + 1 >= levels.length / 2);
    const known = text && (this.levelOf(parsePlayer(text)) || listed(about.players, parsePlayer(text)));
    this.unknown = text && !known ? text : "";
    Object.assign(this, parsePlayer(known ? text : middle >= 0 ? `level:${middle + 1}` : about.usual ?? USUAL[about.game]));
    this.element = h("div", { class: "stack picker" });
    this.draw();
  }

  get text() { return writePlayer(this.name, this.options); }

  /** The level that a text means, or undefined. */
  levelOf({ name, options }) { return name === "level" ? this.levels.find((one, k) => k + 1 === Number(options[":MODEL"]) && !one.elsewhere) : undefined; }

  changed() { this.ontext(this.text); if (this.shown) this.shown.textContent = this.text; }

  draw() {
    const { about } = this, level = this.levelOf(this), player = !level && listed(about.players, this);
    const names = select([], "", (title) => {
      if (title.startsWith("level:")) Object.assign(this, parsePlayer(title));
      else this.choose(title);
      this.unknown = "";
      this.changed();
      this.draw();
      this.element.querySelector("select").focus();
      this.check();
    });
    const group = (label, options, chosen) => h("optgroup", { label }, options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
    put(names,
      this.levels.length ? group(this.board ? `Levels, Elo on ${this.board}` : "Levels", this.levels.flatMap((one, k) => one.elsewhere ? [] : [[`level:${k + 1}`, `${k + 1}, ${one.name}, about ${number(Math.round(one.elo / 10) * 10)}`]]), level && this.text) : null,
      group("Players and their options", about.players.map((one) => [one.title, one.title]), player.title));
    const gone = this.unknown && h("p", { class: "note bad-text", role: "status" }, `There is no player ${this.unknown.slice(0, 100)} on this board; ${level ? `level ${this.options[":MODEL"]}` : this.name} is chosen instead.`);
    if (level) {
      put(this.element, gone, field(this.label, names, `Elo ${number(level.elo)} on ${this.board ? `${this.board}, not measured on this board` : "this board"}, ${level.low < level.high ? `95 % interval ${number(level.low)} to ${number(level.high)}` : "the fixed point of its scale"}, from ${number(level.games)} games. It compares the levels with each other; ratings of clubs and sites have other scales.`));
      this.ontext(this.text);
      return;
    }
    const control = (option) => {
      const value = this.options[option.name] ?? "";
      const set = (given) => { if (given === "") delete this.options[option.name]; else this.options[option.name] = given; this.changed(); };
      if (option.name === ":MODEL") return select([...(about.game in USUAL ? [["", "comes with Zugwerk"]] : []), ...about.models.map((one) => [one, one.split("/").slice(-3).join("/")])], value, (given) => { set(given); this.check(); });
      if (option.type.startsWith("0 or 1")) return select([["", `default (${option.default || "0"})`], ["1", "yes"], ["0", "no"]], value, set);
      const numeric = option.type.includes("number");
      const box = h("input", { type: numeric ? "number" : "text", step: numeric ? (option.type.startsWith("whole") ? "1" : "any") : null, value, placeholder: option.default, oninput: () => set(box.value.trim()) });
      return box;
    };
    const limits = LIMITS.filter((name) => player.options.some((one) => one.name === name));
    const main = player.options.filter((one) => one.name === limits[0] || one.name === ":MODEL");
    const more = player.options.filter((one) => !main.includes(one) && !one.name.includes("KEY"));
    this.problem = h("p", { class: "note bad-text", role: "status" });
    put(this.element, gone, field(this.label, names, player.meaning),
      main.length ? h("div", { class: "fields" }, main.map((one) => field(NAMES[one.name] || one.name, control(one)))) : null, this.problem,
      more.length ? h("details", {}, h("summary", {}, `All options of ${player.title}`), h("div", { class: "fields wide" }, more.map((one) => field(one.name, control(one), one.meaning)))) : null,
      this.note && h("p", { class: "note" }, this.note));
    this.ontext(this.text);
  }

  /** Take another player of the list, with the time of the one before or the options of its example. */
  choose(title) {
    const chosen = this.about.players.find((one) => one.title === title), takes = chosen.options.some((one) => one.name === "movetime");
    this.name = chosen.name;
    this.options = chosen.with_options.length ? { ...parsePlayer(chosen.example).options, ":MODEL": undefined } : takes ? { movetime: this.options.movetime || "1000" } : {};
    if (this.name === "net") this.options[":MODEL"] = this.about.models[0];
  }

  /** Ask the server on which board the player plays; players with nets have one alone. */
  async check() {
    const text = this.text;
    if (this.levelOf(this)) return;
    this.problem.textContent = "";
    if (!listed(this.about.players, this).options.some((one) => one.name === ":MODEL")) return;
    try {
      const found = await post("play/player", { game: this.about.game, player: text });
      if (text === this.text) this.onboard(found.only);
    } catch (error) {
      if (text === this.text) this.problem.textContent = error.message;
    }
  }
}
