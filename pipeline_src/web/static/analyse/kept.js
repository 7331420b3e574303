// Trees that a person has changed are kept in the browser, by the tree that they began as; the last fifty of them.

const PREFIX = "zugwerk.analyse.tree.", MOST = 50;

/** A short name for a tree: its start, the moves of its main line, its variations and its texts. */
export function keyOf({ place, nodes, comment }) {
  const main = [], more = [comment];
  let at = 0;
  nodes.forEach((one, k) => {
    more.push(one.name, one.comment);
    if (one.parent === at) { main.push(one.move); at = k + 1; } else more.push(`${one.parent}:${one.move}`);
  });
  let [a, b] = [0x811c9dc5, 0x9e3779b9];
  for (const letter of [place.game, place.fen, ...main, ...more.filter(Boolean)].join(" ")) { a = Math.imul(a ^ letter.codePointAt(0), 0x01000193); b = Math.imul(b + letter.codePointAt(0), 0x85ebca6b) ^ (b >>> 13); }
  return PREFIX + [a, b].map((one) => (one >>> 0).toString(16)).join("") + main.length;
}

/** The kept tree, or null. A damaged one is dropped. */
export function read(key) {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    return found && Array.isArray(found.nodes) ? found : null;
  } catch { localStorage.removeItem(key); return null; }
}

/** Keep a tree; whether there was room for it. */
export const write = (key, nodes, comment) => keep(PREFIX, key, { nodes, comment });

function atOf(key) { try { return JSON.parse(localStorage.getItem(key)).at || 0; } catch { return 0; } }

/** Keep a value under a name, and of the names that begin alike the newest. */
function keep(prefix, key, value) {
  const others = Object.keys(localStorage).filter((one) => one.startsWith(prefix) && one !== key);
  if (others.length >= MOST) others.map((one) => [atOf(one), one]).sort((x, y) => x[0] - y[0]).slice(0, others.length - MOST + 1).forEach(([, one]) => forget(one));
  try { localStorage.setItem(key, JSON.stringify({ at: Date.now(), ...value })); return true; } catch { return false; }
}

export const has = (key) => localStorage.getItem(key) !== null;
export const forget = (key) => localStorage.removeItem(key);

const VALUES = "zugwerk.analyse.values.", valuesOf = (key) => VALUES + key.slice(PREFIX.length);

/** What players said of the positions of a tree: {player: {fen: judgement}}. */
export function readValues(key) {
  const usable = (one, player) => one && typeof one.win_rate === "number" && typeof one.nodes === "number" && Array.isArray(one.line) && one.player === player;
  try {
    const { said } = JSON.parse(localStorage.getItem(valuesOf(key))) ?? { said: {} };
    return Object.fromEntries(Object.entries(said).map(([player, found]) => [player, Object.fromEntries(Object.entries(found).filter(([, one]) => usable(one, player)))]));
  } catch { forget(valuesOf(key)); return {}; }
}

export const writeValues = (key, said) => keep(VALUES, valuesOf(key), { said });
