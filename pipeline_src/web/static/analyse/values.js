// What a player's value of a position says: a proven end, in how many moves, and whether it is deep enough to judge moves by.

const WIN = 10000, COUNTED = 9500, SURE = 5000, RATES = ["mcts", "net", "nets", "puct", "zero"];
const LEAST = { nodes: 2000, depth: 2, simulations: 100 };

/** Budgets of an analysis, in nodes or simulations a position; the first is the server's own. */
export const BUDGETS = { nodes: [5e4, 2e5, 8e5, 32e5], simulations: [400, 1600, 6400, 25600] };

const nameOf = (player) => player.split(":")[0];
/** What the searches of a player count: "nodes" or "simulations". */
export const unitOf = (player) => nameOf(player) === "uct" || RATES.includes(nameOf(player)) ? "simulations" : "nodes";

/**
 * The proof that a value is: {sign, moves}, for the side to move, `moves` of the winner to the end or null where the value
 * does not say; null for a value that is no proof.
 */
export function proof(value, player) {
  if (value === null || value === undefined) return null;
  const size = Math.abs(value), sign = Math.sign(value);
  if (RATES.includes(nameOf(player))) return size >= 1 ? { sign, moves: null } : null;
  return size > COUNTED ? { sign, moves: Math.max(1, Math.ceil((WIN - size) / 2)) } : size >= SURE ? { sign, moves: null } : null;
}

/** "wins in 3", "loses" and so on, of the side to move; "" without a proof. */
export function proven(value, player) {
  const found = proof(value, player);
  return found ? `${found.sign > 0 ? "wins" : "loses"}${found.moves ? ` in ${found.moves}` : ""}` : "";
}

/** The same in the space of a stone: "#3", "#−3", as chess programs write it; without a number "#" and "#−". */
export function sharp(value, player) {
  const found = proof(value, player);
  return found ? `#${found.sign < 0 ? "−" : ""}${found.moves ?? ""}` : "";
}

/** How deep a judgement is, to compare two by the same player. The end of a game, and a proof, are final. */
export const depthOf = (one) => one.value === null || proof(one.value, one.player) ? Infinity : one.nodes;

/** Whether a judgement is deep enough to mark moves by it. */
export function trusted(one) {
  if (depthOf(one) === Infinity) return true;
  return unitOf(one.player) === "simulations" ? one.nodes >= LEAST.simulations : one.nodes >= LEAST.nodes && one.depth >= LEAST.depth;
}
