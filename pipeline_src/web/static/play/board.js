// The board of a game, by its name: what is the same to the page of all games.

import { AmazonsBoard } from "../board/amazons.js";
import { GO_FILES } from "../board/grid.js";
import { StoneBoard } from "../board/stones.js";
import { h, toast } from "../dom.js";

export const SIDES = { amazons: ["White", "Black"], gomoku: ["Black", "White"], go: ["Black", "White"] };
/** Names of a game's sides, the first to move first; of a game in one file, Black moves first. */
export const sidesOf = (game) => SIDES[game] ?? SIDES.gomoku;
/** What people call a game: of one in one file, the words of its name. */
export const titleOf = (game) => game.split("/").at(-1).replace(/\.py$/, "").split("_").map((word) => word && word[0].toUpperCase() + word.slice(1)).join(" ");
/** A position in which nobody may move now. */
export const still = (position) => ({ ...position, cells: [], turns: {}, plain: position.plain && { ...position.plain, picks: {} } });
const LABELS = { amazons: "Board of the Amazons", gomoku: "Board of Gomoku", go: "Board of Go" };
const STARTS = {
  "10 standard": "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w", "10 cross": "3Q2Q3/10/10/q8q/10/10/q8q/10/10/3Q2Q3 w",
  "8 standard": "2q2q2/8/q6q/8/8/Q6Q/8/2Q2Q2 w", "6 standard": "1q2q1/q4q/6/6/Q4Q/1Q2Q1 w",
};

/** FEN of a start position, to draw while the server has not answered. */
export function startFen(game, size, variant) {
  if (game === "amazons") return STARTS[`${size} ${variant}`] || STARTS[`${size} standard`];
  return `${Array(size).fill(size).join("/")} b`;
}

/** FEN of a start position with its rule, as the server writes it. */
export function fenOf({ game, size, variant }) { return startFen(game, size, variant) + (game === "gomoku" && variant && variant !== "freestyle" ? ` ${variant}` : ""); }

/** The {size, variant} of a start position that has a name; null for another position. */
export function namedStart(game, fen) {
  const known = Object.keys(STARTS).find((key) => STARTS[key] === fen), [ranks, side, variant = "freestyle"] = fen.split(" ");
  if (game === "amazons") return known ? { size: Number(known.split(" ")[0]), variant: known.split(" ")[1] } : null;
  return /^[\d/]+$/.test(ranks) && side === "b" ? { size: ranks.split("/").length, variant } : null;
}

const isOn = (key) => localStorage.getItem(key) === "1", NUMBERS = "zugwerk.numbers", THREATS = "zugwerk.threats";

function switchButton(key, text, redraw) {
  const button = h("button", { type: "button", "aria-pressed": String(isOn(key)), onclick: () => { localStorage.setItem(key, isOn(key) ? 0 : 1); button.setAttribute("aria-pressed", String(isOn(key))); redraw(); } }, text);
  return button;
}

/** A button for the numbers of moves on the stones of Gomoku; `redraw` shows the position again. */
export const numbersButton = (redraw) => switchButton(NUMBERS, "Numbers", redraw);

/** A button for the points where either side makes five, a four that nothing stops or an open three; boards with `threats` show them. */
export const threatsButton = (redraw) => switchButton(THREATS, "Threats", redraw);

/** A board with the same verbs for each game: show(position), line(moves), onmove. `look` is that of a game in one file. */
export class GameBoard {
  constructor(root, { game, height, width, onmove, onpart, turned, look, threats = false }) {
    Object.assign(this, { game, height, width, threats });
    const common = { height, width, turned, look, label: LABELS[game] ?? `Board of ${titleOf(game)}`, onmove: (move) => this.moved(move, onmove), ...(game === "go" && { files: GO_FILES }) };
    const onrefused = (name, why) => toast(`${name} is forbidden to Black: ${why}.`, "bad");
    this.board = game === "amazons" ? new AmazonsBoard(root, { ...common, onpart }) : new StoneBoard(root, { ...common, onrefused, onaim: (name) => onpart?.(`${name}: touch it again to play there`) });
  }

  /** What a person has chosen is drawn at once; the server hears of it afterwards. */
  moved(move, onmove) {
    if (this.game !== "amazons") this.board.play(move, this.letter);
    onmove?.(this.picks?.[move] ?? move);
  }

  /** A position as the server sends it, or {fen} alone. */
  show(position) {
    const played = position.moves?.at(-1), last = !played || played === "pass" ? null : played;
    this.toPlay = position.to_play || 0;
    this.letter = "xo"[this.toPlay];
    this.picks = position.plain?.picks;
    if (this.game === "amazons") this.board.set({ fen: position.fen, turns: position.turns, last });
    else if (this.picks) this.board.set({ stones: position.plain.stones, legal: Object.keys(this.picks), last: position.plain.last || null });
    else {
      const numbers = this.game === "gomoku" && isOn(NUMBERS) ? Object.fromEntries((position.moves || []).map((name, k) => [name, k + 1])) : {};
      this.board.set({ fen: position.fen, legal: position.cells, last, forbidden: position.forbidden, line: position.line, numbers, threats: this.threats && isOn(THREATS) ? position.threats : [] });
    }
    this.board.clearLine();
  }

  /** The cells that choose a move of a game in one file. */
  cellsOf(move) { return Object.keys(this.picks).find((cells) => this.picks[cells] === move); }

  /** What a player expects, drawn over the position. */
  line(moves, most = 7) {
    this.board.clearLine();
    if (!moves.length) return;
    if (this.game === "amazons") this.board.line(moves);
    else if (this.picks) this.board.picked(this.cellsOf(moves[0]));
    else this.board.line(moves.slice(0, most), this.toPlay === 0 ? "black" : "white");
  }

  /** Some moves side by side, the best first: [{move, text}]. */
  candidates(list) {
    this.board.clearLine();
    const { grid } = this.board, colours = ["var(--line-1)", "var(--line-2)"];
    if (this.picks) list = list.map(({ move, text }) => ({ move: this.cellsOf(move) ?? "pass", text }));
    const amazons = this.game === "amazons", ends = new Set();
    const places = list.map(({ move }) => { const [start, to, arrow] = move.split(/[-/]/), at = to ? (amazons && ends.has(to) ? arrow : to) : start; ends.add(to); return at; });
    [...list].reverse().forEach(({ move, text }, k, all) => {
      const best = k === all.length - 1, colour = colours[best ? 0 : 1];
      if (move === "pass") return;
      if (this.picks && best) this.board.picked(move);
      if (amazons && best) this.board.turn(move, { colour, opacity: 0.85, width: 16 }); // of the others, where they end
      grid.markers([{ at: places[all.length - 1 - k], text, ground: colour, colour: "#fff", size: amazons ? 32 : 42, r: amazons ? 30 : 42, opacity: best ? 0.95 : 0.8 }], "over");
    });
  }

  cancel() { this.board.cancel?.(); }
  remove() { this.board.remove(); }
}
