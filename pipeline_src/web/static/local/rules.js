// Positions by the kernels of a game: texts of moves and positions, and what a board shows. The rules are the kernels'.

import { Kernels } from "../kernels.js";

const FILES = "abcdefghijklmnopqrstuvwxy", LETTERS = { gomoku: ".xo", amazons: "*.qQ" };
const RELAXED = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15, 65, 2, 253, 15, 253, 128, 2, 11];
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11];
const [SIDE, , STANDING, LINE, RULE] = [0, 1, 2, 3, 4], [WON, DRAWN, RENJU] = [1, 2, 2];
const EMPTY = { gomoku: 0, amazons: 1 };

/** What is wrong with a request, in a sentence. */
export class Refusal extends Error {}

/** Whether WebAssembly takes these instructions here. */
const takes = (bytes) => typeof WebAssembly === "object" && WebAssembly.validate(new Uint8Array(bytes));

/** The unpacked bytes of a file; `files` has those that do not lie below `base`. */
export async function read({ base, files }, name) {
  const path = `engine/${name}.gz`;
  let bytes;
  try {
    const answer = files?.[path] ? new Response(files[path]) : await fetch(new URL(path, base));
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    bytes = new Uint8Array(await answer.arrayBuffer());
  } catch (error) { throw new Refusal(`${path} could not be loaded (${error.message}); reload the page, with a connection.`); }
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes; // unpacked on its way
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

const json = async (...where) => JSON.parse(new TextDecoder().decode(await read(...where)));

/** The parts of a place: its position text taken apart, and the board whose files it needs. */
export function boardOf({ game, size, variant, fen }) {
  if (!(game in LETTERS)) throw new Refusal(`${game} needs the server: zugwerk web.`);
  let start = null;
  if (fen) {
    const [ranks, letter, more = ""] = fen.trim().split(/\s+/), letters = LETTERS[game];
    const rows = ranks.split("/").map((row) => (row.match(/\d+|./g) || []).flatMap((part) => /\d/.test(part) ? Array(Number(part)).fill(EMPTY[game]) : [letters.indexOf(part)]));
    const side = (game === "gomoku" ? "bw" : "wb").indexOf(letter ?? "?");
    if (side < 0 || rows.flat().includes(-1) || rows.some((row) => row.length !== rows.length)) throw new Refusal(`${fen.slice(0, 100)} is no position of ${game} on a square board: expected ranks, a space, and the side to move.`);
    if (game === "gomoku") variant = more || "freestyle"; else variant = "standard";
    start = { rows, side };
    size = rows.length;
  }
  const [rule, length = "5"] = (variant || (game === "gomoku" ? "freestyle" : "standard")).split("-");
  return { game, size: Number(size), rule, length: Number(length), start };
}

export class Rules {
  /** Load the kernels of a board; `alone`: without what searches need. */
  static async load(where, { game, size, rule }, alone) {
    if (!takes(SIMD)) throw new Refusal("This browser has no WebAssembly with SIMD, which the engine of this page needs; current versions of Firefox, Chrome and Safari have it.");
    const name = `${game}-${size}-${rule}`;
    if (!where.boards[game]?.includes(`${size}-${rule}`)) throw new Refusal(`There is no board ${size} × ${size} ${rule} of ${game} in this page; the server has more boards: zugwerk web.`);
    const layout = await json(where, `${name}.json`), wanted = new Set(layout.data.map(([, file]) => file));
    if (alone) { wanted.clear(); wanted.add(""); layout.data = layout.data.filter(([, file]) => !file); }
    const files = await Promise.all([...wanted, ""].map(async (file) => [file, await read(where, `${file || name}.data`)]));
    const code = await read(where, `${game}${takes(RELAXED) ? ".relaxed" : ""}.wasm`);
    try {
      return new Rules(await Kernels.load(code, layout, Object.fromEntries(files)), game, size);
    } catch (error) { throw error instanceof RangeError ? new Refusal("There is not enough memory for the engine; close other tabs, or choose a smaller board.") : error; }
  }

  constructor(kernels, game, size) {
    Object.assign(this, { kernels, game, size, cells: size * size, moves: [] });
    this.state = Object.fromEntries(Object.keys(kernels.layout.arrays).filter((name) => name.startsWith("state.")).map((name) => [name.slice(6), kernels.array(name)]));
    this.initial = Object.entries(this.state).map(([name, array]) => [name, array.slice()]);
  }

  get searches() { return Boolean(this.kernels.layout.entries.play_out || this.kernels.layout.entries.search_root); }
  get side() { return this.state.turn[SIDE]; }

  /** Go to a place: its start, and the moves from there. */
  show(place, board = boardOf(place)) {
    for (const [name, array] of this.initial) this.state[name].set(array);
    this.moves = [];
    if (this.game === "gomoku") {
      if (board.length > this.size || (board.rule === "renju" && board.length !== 5)) throw new Refusal(`A line of ${board.length} does not fit ${board.rule} on a board of ${this.size}.`);
      this.state.turn[LINE] = board.length;
    }
    if (board.start) this.setUp(board.start);
    this.place = place;
    this.variant = board.rule + (this.game === "gomoku" && board.length !== 5 ? `-${board.length}` : "");
    for (const move of place.moves || []) this.play(move);
    return this;
  }

  setUp({ rows, side }) {
    const { state, kernels } = this;
    if (this.game === "gomoku") {
      const [black, white] = [1, 2].map((colour) => rows.flat().flatMap((one, cell) => one === colour ? [cell] : []));
      if (black.length - white.length !== side) throw new Refusal(`${black.length} black and ${white.length} white stones do not fit the side to move.`);
      black.forEach((cell, k) => { for (const one of [cell, ...white.slice(k, k + 1)]) kernels.run("play", { action: one }); });
      state.moves.fill(-1);
      if (kernels.run("any_line", { colour: side + 1 })) throw new Refusal("The side to move has a line already.");
      state.turn[STANDING] = kernels.run("any_line", { colour: 2 - side }) ? WON : black.length + white.length === this.cells || kernels.run("nowhere_to_play") ? DRAWN : 0;
      return;
    }
    const codes = rows.reverse().flat(), amazons = [3, 2].map((colour) => codes.flatMap((one, square) => one === colour ? [square] : []));
    if (amazons.some((squares) => squares.length > 4)) throw new Refusal("At most four amazons of a side can be played.");
    state.board.set(codes);
    state.lines.set(kernels.array("empty"));
    codes.forEach((one, square) => { if (one !== EMPTY.amazons) kernels.run("flip", { square }); });
    state.amazons.set(amazons.flatMap((squares) => [...Array(4 - squares.length).fill(-1), ...squares]));
    state.turn.set([side, -1, 0]);
    state.hash[0] = 0n; // of a start; moves change it
  }

  /** Play a move as text. */
  play(text) {
    const action = this.action(text);
    if (action < 0 || !this.kernels.run("is_legal", { action })) throw new Refusal(`Move ${this.moves.length + 1}, ${String(text).slice(0, 16)}, ${this.winner ? "comes after the end of the game" : "is not legal here"}.`);
    this.kernels.run("play", { action });
    this.moves.push(this.text(action));
  }

  square(text) {
    const column = FILES.indexOf(text[0]), rank = Number(text.slice(1));
    return column >= 0 && column < this.size && rank >= 1 && rank <= this.size ? (this.game === "gomoku" ? this.size - rank : rank - 1) * this.size + column : NaN;
  }

  name(square) { const row = Math.floor(square / this.size); return FILES[square % this.size] + (this.game === "gomoku" ? this.size - row : row + 1); }

  /** The action of a move's text, -1 for what is none. */
  action(text) {
    const squares = (String(text).toLowerCase().match(/[a-z]\d+/g) || []).map((one) => this.square(one));
    if (squares.length !== (this.game === "gomoku" ? 1 : 3) || squares.some(Number.isNaN)) return -1;
    return squares.reduce((number, square) => number * this.cells + square, 0);
  }

  text(action) {
    if (this.game === "gomoku") return this.name(action);
    const arrow = action % this.cells, rest = Math.floor(action / this.cells);
    return `${this.name(Math.floor(rest / this.cells))}-${this.name(rest % this.cells)}/${this.name(arrow)}`;
  }

  /** All legal actions. */
  legal() { return [...this.kernels.array("actions").subarray(0, this.kernels.run("write_actions"))]; }

  get winner() {
    const [over, result] = this.kernels.run("outcome");
    return !over ? null : result === 0 ? "draw" : (result > 0) === (this.side === 0) ? "first" : "second";
  }

  get fen() {
    const { board } = this.state, letters = LETTERS[this.game], rows = [];
    for (let row = 0; row < this.size; row++) rows.push([...board.subarray(row * this.size, (row + 1) * this.size)].map((code) => code === EMPTY[this.game] ? " " : letters[code]).join("").replace(/ +/g, (run) => String(run.length)));
    if (this.game === "amazons") return `${rows.reverse().join("/")} ${"wb"[this.side]}`;
    return `${rows.join("/")} ${"bw"[this.side]}${this.variant === "freestyle" ? "" : ` ${this.variant}`}`;
  }

  /** The position as a board shows it, see `Board` of the server's messages. */
  board(legal = true, why = "") {
    const { winner } = this, texts = legal && !winner ? this.legal().map((action) => this.text(action)) : [], turns = {};
    if (this.game === "amazons") for (const text of texts) { const [from, to, arrow] = text.split(/[-/]/); ((turns[from] ??= {})[to] ??= []).push(arrow); }
    return { game: this.game, fen: this.fen, height: this.size, width: this.size, moves: [...this.moves], to_play: this.side, winner,
      cells: this.game === "gomoku" ? texts : [], turns, line: this.line(), threats: this.threats(winner), forbidden: Object.fromEntries(this.forbidden().map((name) => [name, why])) };
  }

  /** The stones of Gomoku's winning lines. */
  line() {
    const { turn, board } = this.state;
    if (this.game !== "gomoku" || turn[STANDING] !== WON) return [];
    const colour = 2 - turn[SIDE], kind = this.kernels.run("kind_of_line", { colour });
    return [...board.keys()].filter((cell) => board[cell] === colour && this.kernels.run("line_through", { cell, colour, line: turn[LINE], kind })).map((cell) => this.name(cell));
  }

  /** The points that Renju forbids to Black, whoever is to move. */
  forbidden() {
    const { turn, board } = this.state;
    if (this.game !== "gomoku" || turn[RULE] !== RENJU || turn[STANDING] !== 0) return [];
    return [...board.keys()].filter((cell) => board[cell] === 0 && this.kernels.run("forbidden", { row: Math.floor(cell / this.size), column: cell % this.size })).map((cell) => this.name(cell));
  }

  /** By side of Gomoku, the points where a stone makes a winning line (5), a four that nothing stops (4) or an open three (3). */
  threats(winner) {
    if (this.game !== "gomoku" || winner) return [{}, {}];
    const marks = this.kernels.array("marks");
    this.kernels.run("mark_threats");
    return [0, 1].map((side) => Object.fromEntries([...Array(this.cells).keys()].filter((cell) => marks[side * this.cells + cell]).map((cell) => [this.name(cell), marks[side * this.cells + cell]])));
  }

  /** The turn of the Amazons to play without a search, as `closing_turn` has it, with bounds of the margin; or null. */
  closing() {
    const [least, most, turn] = this.kernels.run("count_out"), stride = this.size + 1;
    if (turn < 0 || !(least > 0 || (most <= 0 && this.kernels.run("closed")) || this.kernels.run("sealed"))) return null;
    const squares = [turn >> 14, (turn >> 7) & 127, turn & 127].map((bit) => Math.floor(bit / stride) * this.size + (bit % stride));
    return { action: squares.reduce((number, square) => number * this.cells + square, 0), least, most };
  }

  /** The result of a position of the Amazons that counting decides, or null. */
  counted() {
    if (this.game !== "amazons" || this.winner || !this.kernels.run("closed")) return null;
    const [least, most] = this.kernels.run("count_out"), sides = ["first", "second"];
    if (least > 0) return { winner: sides[this.side], spare: least - 1 };
    return most <= 0 ? { winner: sides[1 - this.side], spare: -most } : null;
  }
}
