// A game or a position as text for the clipboard, and the address at which it is played on.

import { h, toast } from "../dom.js";
import { namedStart } from "../play/board.js";

/** Buttons that copy a game's moves, its position, its SGF and, if there is one, its link; `of()` is {moves, fen, sgf(), link}. */
export function copies(of) {
  const copy = (what, text) => h("button", { type: "button", onclick: async () => {
    try {
      if (!navigator.clipboard) throw new Error("this browser lets only pages of this machine, or of HTTPS, copy");
      await navigator.clipboard.writeText(await text(of()));
      toast(`${what} copied.`, "good");
    } catch (error) { toast(`Not copied: ${error.message}`, "bad"); }
  } }, `Copy ${what.toLowerCase().replace("sgf", "SGF")}`);
  return [copy("Moves", ({ moves }) => moves.join(" ")), copy("Position", ({ fen }) => fen), copy("SGF", ({ sgf }) => sgf()), of().link && copy("Link", ({ link }) => link)];
}

/** Have the browser save a text as a file. */
export function saveAs(name, text) {
  const link = URL.createObjectURL(new Blob([text], { type: "application/x-go-sgf" }));
  h("a", { href: link, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(link), 10000);
}

/** The address of the page Play with a position. */
export function pathOf({ game, size, variant, fen, moves }) {
  const start = fen ? namedStart(game, fen) : { size, variant };
  const query = new URLSearchParams({ game, ...(start ?? { fen }), ...(moves.length && { moves: moves.join(",") }) });
  return `#/play?${query}`;
}
