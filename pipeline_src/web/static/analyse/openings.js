// Names of the 26 openings of Renju, by the Renju International Federation: three stones, the first one in the centre.

import { FILES } from "../board/grid.js";

const THIRD = {
  D: ["Kansei 0 2", "Keigetsu 1 2", "Sosei 2 2", "Kagetsu 1 1", "Zangetsu 2 1", "Ugetsu 1 0", "Kinsei 2 0", "Shogetsu 0 -1", "Kyugetsu 1 -1", "Shingetsu 2 -1", "Zuisei 0 -2", "Sangetsu 1 -2", "Yusei 2 -2"],
  I: ["Chosei 2 2", "Kyogetsu 2 1", "Kosei 2 0", "Suigetsu 2 -1", "Ryusei 2 -2", "Ungetsu 1 0", "Hogetsu 1 -1", "Rangetsu 1 -2", "Gingetsu 0 -1", "Myojo 0 -2", "Shagetsu -1 -1", "Meigetsu -1 -2", "Suisei -2 -2"],
}; // columns to the right and rows up from the first stone, with the second one above it (D) or above and to the right (I)
const SECOND = { D: [0, 1], I: [1, 1] };
const TURNS = [[1, 0, 0, 1], [0, 1, 1, 0]].flatMap(([a, b, c, d]) => [1, -1].flatMap((x) => [1, -1].map((y) => [a * x, b * x, c * y, d * y])));
const NAMES = new Map(Object.entries(THIRD).flatMap(([kind, some]) => some.flatMap((one, k) => {
  const [name, ...third] = one.split(" ");
  return TURNS.map(([a, b, c, d]) => [`${[SECOND[kind], third].map(([x, y]) => [a * x + b * y, c * x + d * y])}`, `${name} (${kind}${k + 1})`]);
}))); // by the places of the second and third stone from the first

/** The opening of a game of Gomoku on a board of an odd size, such as "Kagetsu (D4)"; empty for all others. */
export function openingName(moves, size) {
  const middle = (size + 1) / 2, [first, ...more] = moves.slice(0, 3).map((move) => [FILES.indexOf(move[0]) + 1 - middle, Number(move.slice(1)) - middle]);
  return (`${first}` === "0,0" && NAMES.get(`${more}`)) || "";
}
