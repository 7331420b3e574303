// The worker of an engine: searches of positions with the kernels of their boards, one after the other.

import { Refusal, Rules, boardOf } from "./rules.js";
import { searchOf } from "./search.js";

let where = null, table = null, loaded = null, newest = 0, halted = 0, queue = Promise.resolve();

onmessage = ({ data }) => {
  if (data.where) ({ where, table } = data);
  else if (data.stop) halted = data.stop;
  else { newest = data.id; queue = queue.then(() => work(data)); }
};

async function work({ id, place, task }) {
  if (id !== newest) return;
  try {
    const board = boardOf(place), name = `${board.game} ${board.size} ${board.rule}`;
    if (loaded?.name !== name) {
      postMessage({ id, loading: true });
      loaded = null; // the memory of one board at a time
      const rules = await Rules.load(where, board, false);
      loaded = { name, rules, search: searchOf(rules, table) };
    }
    if (!loaded.rules.searches || (board.game === "gomoku" && board.length !== 5)) throw new Refusal(`No net of this page plays ${place.variant || board.rule} on ${board.size} × ${board.size}.`);
    loaded.rules.show(place, board);
    const found = await loaded.search(task, (thought) => postMessage({ id, thought }), () => id !== newest || id === halted);
    postMessage({ id, found });
  } catch (error) {
    loaded = null; // its memory may be in any state
    postMessage({ id, failed: error instanceof Refusal ? error.message : `The engine stopped: ${error.message}.` });
  }
}
