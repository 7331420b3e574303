// Plays positions from standard input with the searches of the pages below a folder: {place, task} each, one line of JSON for each.
import fs from "fs";
const [, , folder] = process.argv;
globalThis.fetch = async (url) => new Response(fs.readFileSync(new URL(url)));
const { Rules, boardOf } = await import(`${folder}/local/rules.js`);
const { searchOf } = await import(`${folder}/local/search.js`);
const { search: table, boards, asked } = JSON.parse(fs.readFileSync(0));
const where = { base: `file://${folder}/`, boards }, loaded = {};
for (const { place, task } of asked) {
  const board = boardOf(place), name = `${board.game} ${board.size} ${board.rule}`;
  if (!loaded[name]) { const rules = await Rules.load(where, board, false); loaded[name] = { rules, search: searchOf(rules, table) }; }
  const { rules, search } = loaded[name], shown = rules.show(place, board).board(false), counted = rules.counted();
  const found = await search(task, () => {}, () => false);
  console.log(JSON.stringify({ ...found, fen: shown.fen, line: shown.line, forbidden: Object.keys(shown.forbidden), threats: shown.threats, counted }));
}
process.exit(0);
