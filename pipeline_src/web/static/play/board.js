// The board of a game, by its name: what is the same to the page of all games.

import { AmazonsBoard } from "../board/amazons.js";
import { StoneBoard } from "../board/stones.js";

export const SIDES = { amazons: ["White", "Black"], gomoku: ["Black", "White"] };
const STARTS = {
  "10 standard": "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w", "10 cross": "3Q2Q3/10/10/q8q/10/10/q8q/10/10/3Q2Q3 w",
  "8 standard": "2q2q2/8/q6q/8/8/Q6Q/8/2Q2Q2 w", "6 standard": "1q2q1/q4q/6/6/Q4Q/1Q2Q1 w",
};

/** FEN of a start position, to draw while the server has not answered. */
export function startFen(game, size, variant) {
  if (game === "amazons") return STARTS[`${size} ${variant}`] || STARTS[`${size} standard`];
  return `${Array(size).fill(size).join("/")} b`;
}

/** A board with the same verbs for each game: show(position), line(moves), onmove. */
export class GameBoard {
  constructor(root, { game, height, width, onmove, onpart, turned }) {
    Object.assign(this, { game, height, width });
    const label = game === "amazons" ? "Board of the Amazons" : "Board of Gomoku";
    const common = { height, width, turned, label, onmove: (move) => this.moved(move, onmove) };
    this.board = game === "amazons" ? new AmazonsBoard(root, { ...common, onpart }) : new StoneBoard(root, common);
  }

  /** What a person has chosen is drawn at once; the server hears of it afterwards. */
  moved(move, onmove) {
    if (this.game !== "amazons") this.board.play(move, this.letter);
    onmove?.(move);
  }

  /** A position as the server sends it, or {fen} alone. */
  show(position) {
    const last = position.moves?.at(-1) || null;
    this.toPlay = position.to_play || 0;
    this.letter = "xo"[this.toPlay];
    if (this.game === "amazons") this.board.set({ fen: position.fen, turns: position.turns, last });
    else this.board.set({ fen: position.fen, legal: position.cells, last });
    this.board.clearLine();
  }

  /** What a player expects, drawn over the position. */
  line(moves) {
    this.board.clearLine();
    if (!moves.length) return;
    if (this.game === "amazons") this.board.line(moves);
    else this.board.line(moves.slice(0, 7), this.toPlay === 0 ? "black" : "white");
  }

  cancel() { this.board.cancel?.(); }
  remove() { this.board.remove(); }
}
