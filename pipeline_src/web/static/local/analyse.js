// Trees of variations and the analysis of games without a server; the messages are those of the server.

import { BUDGETS, unitOf } from "../analyse/values.js";
import { at, table, taskOf } from "./engine.js";
import { Refusal } from "./rules.js";

const JUDGE_MS = 250, RESULTS = { first: 1, draw: 0.5, second: 0 };

/** A tree of variations with its positions, see `Replay` of the server's messages. */
export async function replay({ place, nodes = [], comment = "", first_name = "", second_name = "", event = "", winner = null, resigned = false }) {
  const { analysts } = await table(), start = { ...place, moves: [] }, rules = await at(start), fen = rules.fen, moves = place.moves || [];
  const all = [...moves.map((move, parent) => ({ parent, move })), ...nodes.map((one) => ({ ...one, parent: one.parent + moves.length }))];
  const lines = [[]], drawn = [];
  let main = 0, plies = 0, shown = 0;
  all.forEach((one, k) => {
    if (!(one.parent <= k)) throw new Refusal(`Position ${k + 1} of the tree is after position ${one.parent}, which is not before it.`);
    if (one.parent === shown) rules.play(one.move); else rules.show({ ...start, moves: [...lines[one.parent], one.move] });
    shown = k + 1;
    lines.push([...rules.moves]);
    if (one.parent === main) { main = shown; plies += 1; }
    drawn.push({ name: "", comment: "", judgements: [], ...one, move: rules.moves.at(-1), fen: rules.fen });
  });
  const known = rules.game === "amazons" || !/-\d/.test(rules.variant);
  return {
    source: "", name: "", left_out: [], comment, nodes: drawn, height: rules.size, width: rules.size, formats: ["sgf"],
    head: { number: 0, game: place.game, first_name, second_name, winner, resigned, plies, event },
    place: { game: place.game, size: rules.size, variant: place.variant || "", fen, moves: [] }, analysts: known ? analysts[place.game] : [],
  };
}

/** The position or the moves that a text describes. */
export function read(place, text) {
  const words = text.trim().split(/\s+/);
  if (!words[0]) throw new Refusal("Nothing to read: paste a FEN, or moves such as h8 i9 or d1-d7/g7.");
  if (/^[bw]$/.test(words[1]) && words[0].includes("/") && !words[0].includes("-")) return { ...place, fen: words.join(" "), moves: [] };
  const moves = text.toLowerCase().replace(/\b\d+\.+(?=\s|$|[a-z])/g, " ").split(/[\s,;]+/).filter(Boolean).flatMap((word) => {
    const parts = word.match(/[a-z]\d+-[a-z]\d+\/[a-z]\d+|[a-z]\d+/g) || [];
    if (parts.join("") !== word) throw new Refusal(`${word.slice(0, 40)} is no move; expected moves such as h8 i9 or d1-d7/g7, or a FEN.`);
    return parts;
  });
  return { ...place, moves };
}

/** Judge the positions of a line from a ply on, in order, within `limits` for each. */
async function* judged(engine, place, player, limits, first = 0) {
  const task = { ...await taskOf(player, place) }, { search } = await table(), moves = place.moves || [];
  delete task.nodes;
  delete task.movetime;
  Object.assign(task, limits);
  let before = null;
  for (let ply = first; ply <= moves.length; ply++) {
    const rules = await at({ ...place, moves: moves.slice(0, ply) }), { winner, side } = rules, played = rules.moves.at(-1), about = { value: null, depth: 0, nodes: 0, line: [] };
    let rate = RESULTS[winner];
    if (!winner) {
      const rates = [];
      const { thought } = await engine.search({ ...place, moves: moves.slice(0, ply) }, task, (heard) => { if (heard) rates[heard.depth] = heard.win_rate; });
      if (!thought) throw new Refusal(`The player ${player} gives no value of its positions; take another one.`);
      Object.assign(about, { value: thought.value, depth: thought.depth, nodes: thought.nodes, line: thought.line });
      // Values favour the side that moves last in a line: of two iterations the mean, but for trees and proofs.
      const earlier = thought.unit === "rate" || Math.abs(thought.value) >= search.amazons.proven ? undefined : rates[thought.depth - 1];
      rate = earlier === undefined ? thought.win_rate : (thought.win_rate + earlier) / 2;
      rate = side === 0 ? rate : 1 - rate;
    }
    const lost = before && (before.line[0] === played ? 0 : Math.max(0, (before.win_rate - rate) * (before.side === 0 ? 1 : -1)));
    before = { kind: "ply", ply, win_rate: rate, lost, side, ...about };
    yield before;
  }
}

/** What a move gives away, by a quick look at the positions before and after it. */
export async function judge(engine, place, move) {
  const moves = [...place.moves, move], found = [];
  for await (const one of judged(engine, { ...place, moves }, (await table()).hints[place.game], { movetime: JUDGE_MS }, moves.length - 1)) found.push(one);
  const [before, after] = found;
  return { win_rates: [before.win_rate, after.win_rate], lost: after.lost, line: before.line };
}

/** Judge the positions of a line from a ply on, with messages as of the server's WebSocket. */
export async function analyse(engine, { place, player, nodes = BUDGETS[unitOf(player)][0], first = 0 }, hear, closed) {
  const positions = (place.moves || []).length + 1 - first;
  const say = (state, done, error = "") => hear({ kind: "state", state, done, positions, error });
  try {
    let done = 0;
    say("preparing", 0);
    for await (const one of judged(engine, place, player, { nodes }, first)) {
      if (closed()) return;
      hear({ ...one, budget: nodes });
      say("running", done += 1);
    }
    say("done", positions);
  } catch (error) { if (!error.given) say("failed", 0, error.message); }
}
