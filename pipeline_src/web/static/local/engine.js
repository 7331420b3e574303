// Workers that search. One that looks at no message while it searches is ended, and another one begins.

import { parsePlayer } from "../play/player.js";
import { Refusal, Rules, boardOf } from "./rules.js";

/** Where the files are, and the tables that the page comes with. */
export const where = { base: document.baseURI, files: globalThis.zugwerkFiles };
const module = globalThis.zugwerkFiles?.["local/worker.js"] ?? new URL("local/worker.js", document.baseURI);
let tables = null;

/** The tables, read once. */
export async function table() {
  return tables ??= fetch(where.files?.["tables.json"] ?? new URL("tables.json", where.base)).then((answer) => {
    if (!answer.ok) throw new Refusal(`tables.json could not be loaded (status ${answer.status}); reload the page.`);
    return answer.json();
  }).then((found) => { where.boards = found.boards; return found; }).catch((error) => {
    tables = null;
    throw error instanceof Refusal ? error : new Refusal("The page's tables could not be loaded; reload the page, with a connection.");
  });
}

const boards = new Map();

/** The rules at a place. What is done with them before the next `await` belongs to the place. */
export async function at(place) {
  await table();
  const board = boardOf(place), name = `${board.game} ${board.size} ${board.rule}`;
  if (!boards.has(name)) boards.set(name, Rules.load(where, board, true));
  try {
    return (await boards.get(name)).show(place, board);
  } catch (error) {
    if (!(await boards.get(name).catch(() => null))) boards.delete(name);
    throw error;
  }
}

/** What a search has to do for a player's text. */
export async function taskOf(text, place) {
  const { players, levels, search } = await table(), board = boardOf(place);
  let { name, options } = parsePlayer(text);
  if (name === "level") {
    const ladder = levels.find((one) => one.game === board.game && one.sizes.includes(board.size) && one.variant === board.rule && board.length === 5);
    const level = ladder?.levels[Number(options[":MODEL"]) - 1];
    if (!level) throw new Refusal(`There is no level ${options[":MODEL"] ?? ""} on ${board.size} × ${board.size} ${board.rule}.`);
    ({ name, options } = parsePlayer(level));
  }
  const known = players[board.game]?.[name], other = known && Object.keys(options).find((key) => options[key] !== undefined && !known.includes(key));
  if (!known || other) throw new Refusal(`${other ? `The option ${other === ":MODEL" ? "model" : other} of ${name}` : `The player ${name}`} needs the server: zugwerk web.`);
  if (options.fours && Number(options.fours) !== search.gomoku.fours) throw new Refusal(`fours=${options.fours} needs the server: zugwerk web; here it is ${search.gomoku.fours}.`);
  const number = (...keys) => { const key = keys.find((one) => options[one]); if (!key) return undefined; if (!(Number(options[key]) > 0)) throw new Refusal(`${key}: ${options[key]} is no number above 0.`); return Number(options[key]); };
  const task = { kind: name, nodes: number("nodes", "simulations"), movetime: number("movetime"), depth: number("depth"), temperature: number("temperature"), fours: number("fours"), noise: number("noise"), policy: options.search === "none" };
  task.alone = !task.fours && Boolean(task.nodes || task.policy); // as the registry picks the player
  if (!task.nodes && !task.movetime && !task.depth) Object.assign(task, players.limits[name]);
  return Object.fromEntries(Object.entries(task).filter(([, value]) => value !== undefined));
}

export class Engine {
  constructor() { Object.assign(this, { worker: null, task: null, id: 0, kept: "" }); }

  /** Search a position; heard(thought or null) of what is thought meanwhile, null while it loads. Gives {move, thought}; an error with `given` if it was given up. */
  async search(place, task, heard = () => {}) {
    this.cancel();
    const id = this.id += 1, found = await table();
    if (id !== this.id) throw Object.assign(new Error("given up"), { given: true });
    this.worker ??= this.begin(found);
    return new Promise((settle, fail) => {
      this.task = { id, heard, settle, fail, latest: null, blocks: ["alphabeta", "answer", "line"].includes(task.kind) };
      this.worker.postMessage({ id, place, task });
    });
  }

  begin(found) {
    const worker = new Worker(module, { type: "module" });
    worker.onmessage = ({ data }) => {
      const { task } = this;
      if (!task || data.id !== task.id) return;
      if (data.thought) task.latest = data.thought;
      if (data.thought || data.loading) { task.heard(data.thought ?? null); return; }
      this.task = null;
      if (data.found) task.settle(data.found); else task.fail(new Refusal(data.failed));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (this.worker !== worker) return;
      this.end();
      const { task } = this;
      this.task = null;
      task?.fail(new Refusal(`The engine's worker died${event.message ? ` (${event.message})` : ""}; the next question starts another one.`));
    };
    worker.postMessage({ where, table: found.search });
    return worker;
  }

  end() { this.worker?.terminate(); this.worker = null; }

  /** Have the search answer now. */
  stop() {
    const { task } = this;
    if (!task) return;
    if (!task.blocks) { this.worker.postMessage({ stop: task.id }); return; }
    if (!task.latest) return; // it has not begun
    this.end();
    this.task = null;
    task.settle({ move: task.latest.line[0], thought: task.latest });
  }

  /** Give the search up. */
  cancel() {
    const { task } = this;
    this.task = null;
    if (!task) return;
    if (task.blocks) this.end(); else this.worker.postMessage({ stop: task.id });
    task.fail(Object.assign(new Error("given up"), { given: true }));
  }
}
