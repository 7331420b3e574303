// Positions and moves as text, of either game, as people copy them from programs and sites.

const RECORD = /^\s*(\(|Piskvorky)/, FEN = /^[\dxoQq*]+(\/[\dxoQq*]+)+$/, PAIR = /^\d+,\d+$/;
const TURN = /^([a-j]\d{1,2})-?([a-j]\d{1,2})\/?([a-j]\d{1,2})$/, CELLS = /^([a-y]\d{1,2})+$/, NUMBERED = /\b\d+\.+(?=\s|$|[a-z])/g;
const AMAZONS = { game: "amazons", size: 10, variant: "standard" }, GOMOKU = { game: "gomoku", size: 15, variant: "freestyle" };

/** Whether a text is a record, SGF or psq, which is opened as a file. */
export const isRecord = (text) => RECORD.test(text);

/**
 * What a text may mean, the likeliest first: places as the server reads them.
 * @param hint the board that is chosen, if one is, {game, size, variant}: for moves without a position
 * @throws Error with what is wrong with the text
 */
export function read(text, hint = {}) {
  const words = text.trim().split(/\s+/).filter(Boolean), on = (other) => ({ ...(hint.game === other.game ? hint : other), fen: "", moves: [] });
  if (!words.length) throw new Error("nothing to read: paste a FEN, or moves such as h8 i9 or d1-d7/g7");
  if (words.length > 1 && /^[bw]$/.test(words[1]) && words[0].includes("/") && !words[0].includes("-")) {
    const game = /[xo]/.test(words[0]) ? "gomoku" : /[Qq*]/.test(words[0]) ? "amazons" : hint.game ?? "gomoku";
    if (!FEN.test(words[0])) throw new Error(`${words[0].slice(0, 40)} is no position: a FEN has numbers, and x and o, or Q, q and *`);
    return [{ game, size: 10, variant: "", fen: words.join(" "), moves: [] }];
  }
  const moves = text.toLowerCase().replace(/\(([a-j]\d+)\)/g, "/$1").replace(NUMBERED, " ").split(/[\s;]+|,(?!\d)/).filter(Boolean);
  if (moves.every((word) => PAIR.test(word))) {
    const pairs = moves.map((word) => word.split(",").map(Number)), most = Math.max(...pairs.flat()), place = on(GOMOKU), size = most < place.size ? place.size : 20;
    if (most >= size) throw new Error(`${most} is off the board: Gomocup counts columns and rows from 0, to 19`);
    return [{ ...place, size, moves: pairs.map(([x, y]) => `${String.fromCharCode(97 + x)}${size - y}`) }];
  }
  const cells = moves.flatMap((word) => word.split(",")), bad = cells.find((word) => !TURN.test(word) && !CELLS.test(word));
  if (bad !== undefined) throw new Error(`${bad.slice(0, 40)} is no move; expected moves such as h8 i9, 7,7 8,8 or d1-d7/g7, or a FEN`);
  const found = [];
  if (cells.every((word) => TURN.test(word))) found.push({ ...on(AMAZONS), moves: cells.map((word) => word.replace(TURN, "$1-$2/$3")) });
  if (cells.every((word) => CELLS.test(word))) found.push({ ...on(GOMOKU), moves: cells.flatMap((word) => word.match(/[a-y]\d{1,2}/g)) });
  if (!found.length) throw new Error("these are moves of two games: moves are all such as h8, or all such as d1-d7/g7");
  return hint.game === "gomoku" ? found.reverse() : found;
}
