// Find the move: forced wins of Gomoku and turns of the Amazons that come with the package, and the worst turns of one's own games.

import { get, post, socket } from "../api.js";
import { h, notice, percent, put, toast } from "../dom.js";
import { GameBoard, SIDES, still } from "../play/board.js";
import { AMAZONS } from "./amazons.js";
import { DOUBTFUL } from "./moves.js";

const OWN = "zugwerk.puzzles", MOST = 200;

function stored(key) {
  try { const found = JSON.parse(localStorage.getItem(key)); if (Array.isArray(found)) return found; } catch { /* dropped below */ }
  localStorage.removeItem(key);
  return [];
}

function store(key, list) { try { localStorage.setItem(key, JSON.stringify(list)); } catch { toast("The browser has no room to keep this.", "bad"); } }

/** Turns of one's own games to find something better for: [{place, played, lost, line, player, solved}]; the newest first. */
export const ownPuzzles = () => stored(OWN).filter((one) => one?.place?.game in SIDES && Array.isArray(one.place.moves) && Array.isArray(one.line) && one.line.length && typeof one.player === "string");

/** Keep turns as puzzles; those that are kept already stay as they are. */
export function keepPuzzles(list) {
  const name = (one) => JSON.stringify([one.place, one.played]), kept = ownPuzzles(), names = new Set(kept.map(name));
  store(OWN, [...list.filter((one) => !names.has(name(one))), ...kept].slice(0, MOST));
}

/** Numbers of the package's puzzles of a kind that are solved. */
const doneOf = (kind) => stored(`${OWN}.${kind}`);

/** Puzzles by kind. */
const LISTS = {
  forced: async () => (await get("analyse/forced")).wins,
  amazons: () => AMAZONS.map(({ fen, ...one }, k) => ({ number: k + 1, place: { game: "amazons", size: 10, variant: "", fen, moves: [] }, player: "alphabeta", ...one })),
  own: ownPuzzles,
};
const TITLES = { forced: "Forced win", amazons: "Turn", own: "Your turn" };

/**
 * A puzzle.
 * @param kind "forced", "amazons" or "own"
 * @param number place in its list, from 1; without it, the first that is not solved
 * @param address(puzzle) writes the puzzle into the page's address
 */
export async function solve(root, begin, views, { kind, number, address }) {
  const forced = kind === "forced", own = kind === "own", all = await LISTS[kind](), done = own ? [] : doneOf(kind);
  const isDone = (k) => own ? all[k].solved : done.includes(all[k].number);
  const at = number ? Math.min(all.length, Math.max(1, number)) - 1 : Math.max(0, all.findIndex((_, k) => !isDone(k)));
  const puzzle = all[at];
  if (!puzzle) {
    put(root, notice("There are no puzzles from your own games yet. Analyse a game, and its worst turns can be practised.", "", h("button", { type: "button", onclick: () => begin(views.choose) }, "Analyse a game")));
    return null;
  }
  address(`${kind}-${at + 1}`);
  const { game } = puzzle.place, boardBox = h("div", { class: "board-place" }), said = h("p", { class: "status", role: "status" }), about = h("p"), line = h("p", { class: "mono line" });
  let moves = [...puzzle.place.moves], position = await board(moves), left = puzzle.plies, ended = false, wire = null;
  const mover = SIDES[game][position.to_play];
  const shown = new GameBoard(boardBox, { game, height: position.height, width: position.width, onmove: (move) => attempt(move), onpart: (text) => { if (text) put(said, text); } });
  const step = (text, to) => h("button", { type: "button", disabled: to < 1 || to > all.length, onclick: () => begin(views.puzzles, kind, to) }, text);
  const give = h("button", { type: "button", onclick: show }, "Show the answer");
  put(root, h("div", { class: "row" }, h("h1", { class: "grow" }, "Find the move"), h("button", { type: "button", onclick: () => begin(views.choose) }, "Analyse a game")),
    h("div", { class: "beside wide" }, h("div", { class: "at-board" }, boardBox), h("div", { class: "stack" }, h("div", { class: "card stack" },
      h("h2", {}, `${TITLES[kind]} ${at + 1} of ${all.length}`, isDone(at) && h("small", {}, " solved")), about, said, line,
      h("div", { class: "row" }, give, h("button", { type: "button", onclick: () => begin(views.puzzles, kind, at + 1) }, "From the start"), h("button", { type: "button", onclick: () => begin(views.place, { ...puzzle.place }) }, "Analyse this position")),
      h("div", { class: "row" }, step("Previous", at), step("Next", at + 2))))));
  put(about, forced ? `${mover} to move wins by force${puzzle.place.variant === "freestyle" ? "" : ` (${puzzle.place.variant})`}, in ${Math.ceil(left / 2)} moves at most.`
    : !own ? `${mover} to move. One turn is far better than all others: the next one gives away ${percent(puzzle.lost)}, as ${puzzle.player} sees it.`
    : `${mover} to move. In your game ${puzzle.played} gave away ${percent(puzzle.lost)}, as ${puzzle.player} sees it. Find something better.`);
  draw();
  return () => { wire?.close(); shown.remove(); };

  function board(some) { return post("play/board", { ...puzzle.place, moves: some }); }

  function draw() { shown.show(ended ? still(position) : position); }

  function solved(words) {
    ended = true;
    if (own) store(OWN, ownPuzzles().map((one, k) => k === at ? { ...one, solved: true } : one));
    else store(`${OWN}.${kind}`, [...new Set([...doneOf(kind), puzzle.number])]);
    put(said, words);
    draw();
  }

  async function attempt(move) {
    put(line);
    put(said, "Looking at it …");
    try {
      if (forced) await force(move);
      else await compare(move);
    } catch (error) {
      put(said, error.message);
      draw();
    }
  }

  /** The game goes on against the answer that holds out longest, or stays where it was. */
  async function force(move) {
    const found = await post("analyse/forced/answer", { ...puzzle.place, moves: [...moves, move] });
    if (found.state === "spoilt") {
      put(said, found.answer ? `${move} does not win: ${found.answer} answers it. Try another move.` : `${move} does not win. Try another move.`);
      draw();
      shown.line([move, found.answer].filter(Boolean));
      return;
    }
    moves = [...moves, move, ...(found.answer ? [found.answer] : [])];
    position = await board(moves);
    if (found.state === "won") { solved(`${move} wins. Solved.`); return; }
    const slower = found.plies > left - 2;
    left = found.plies;
    put(said, `${move} ${slower ? "wins too, but there is a shorter way" : "is right"}. ${found.answer} holds out longest; ${Math.ceil(left / 2)} ${left === 1 ? "move" : "moves"} to go at most.`);
    draw();
  }

  /** The player that found the mistake compares the move with its best one. */
  async function compare(move) {
    const lost = move === puzzle.line[0] ? 0 : await given(move);
    if (lost < DOUBTFUL) {
      solved(lost > 0.02 ? `${move} is good enough: it gives away ${percent(lost)}. ${puzzle.player} prefers ${puzzle.line[0]}.` : `${move} is right. Solved.`);
      put(line, puzzle.line.slice(0, 6).join(" "));
    } else {
      put(said, `${move} gives away ${percent(lost)}${move === puzzle.played ? ", as in your game" : ""}. Try another move.`);
      draw();
    }
  }

  /** Win rate that a move gives away. */
  function given(move) {
    if (move === puzzle.played) return puzzle.lost;
    return new Promise((settle, fail) => {
      wire?.close();
      wire = socket("analyse/watch", {
        state: (state) => { if (state === "open") wire.send({ place: { ...puzzle.place, fen: position.fen, moves: [move] }, player: puzzle.player }); },
        message: (message) => {
          if (message.kind === "ply" && message.ply === 1) { wire.close(); settle(message.lost ?? 0); }
          if (message.state === "failed") { wire.close(); fail(new Error(message.error)); }
        },
      });
    });
  }

  async function show() {
    try {
      const found = forced ? (await post("analyse/forced/line", { ...puzzle.place, moves })).moves : puzzle.line;
      put(said, found.length ? `${found[0]}${forced ? " wins" : " is better"}${found.length > 1 ? ":" : "."}` : "No forced win is left here.");
      put(line, found.length > 1 && found.join(" "));
      draw();
      shown.line(found.slice(0, game === "amazons" ? 1 : 7));
    } catch (error) { toast(error.message, "bad"); }
  }
}
