// A game or a position as text for the clipboard, and the address at which it is played on.

import { here } from "../api.js";
import { count, h, toast } from "../dom.js";
import { namedStart } from "../play/board.js";

const LOCAL = location.protocol === "file:" || (!here && /^(127\.|localhost$|\[::1\]$)/.test(location.hostname));

/** Buttons that copy a game's moves, its position, and if there are any its SGF and its link; `of()` is {moves, fen, sgf(), link}. */
export function copies(of) {
  const copy = (what, text) => h("button", { type: "button", onclick: async () => {
    try {
      if (!navigator.clipboard) throw new Error("this browser lets only pages of this machine, or of HTTPS, copy");
      await navigator.clipboard.writeText(await text(of()));
      toast(`${what} copied.${what === "Link" && LOCAL ? " It works on this machine only; what else is copied works anywhere." : ""}`, "good");
    } catch (error) { toast(`Not copied: ${error.message}`, "bad"); }
  } }, `Copy ${what.toLowerCase().replace("sgf", "SGF")}`);
  return [copy("Moves", ({ moves }) => moves.join(" ")), copy("Position", ({ fen }) => fen), of().sgf && copy("SGF", ({ sgf }) => sgf()), of().link && copy("Link", ({ link }) => link)];
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

/** A link to the moves of the page's address before the one that a refusal names; null where it names none. */
export function before(why) {
  const [page, query] = location.hash.split("?"), values = new URLSearchParams(query), number = Number(/\bmove (\d+),/i.exec(why)?.[1]), moves = (values.get("moves") ?? "").split(",");
  if (!(number >= 1 && number <= moves.length)) return null;
  values.set("moves", moves.slice(0, number - 1).join(","));
  for (const key of ["ply", "winner", "resigned"]) values.delete(key);
  return h("a", { class: "button", href: `${page}?${values}` }, number > 1 ? `Show the ${count(number - 1, "move")} before it` : "Show the position before it");
}
