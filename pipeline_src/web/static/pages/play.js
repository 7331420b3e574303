// The page Play.
import { AmazonsBoard } from "../board/amazons.js";
import { h } from "../dom.js";

export function show(root) {
  const place = h("div");
  root.append(place);
  const board = new AmazonsBoard(place, { size: 10 });
  board.set({ fen: "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3 w" });
  return () => board.remove();
}
