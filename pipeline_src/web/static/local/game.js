// Games without a server: who plays, what they think, clocks. The messages are those of the server's WebSocket, and a game is kept in the browser.

import { Engine, at, table, taskOf } from "./engine.js";
import { Refusal } from "./rules.js";

const PREFIX = "zugwerk.here.", PERSON = "person", MOST = 50, SHORTEST_MS = 250, OTHER = ["second", "first"];
const games = new Map();

/** Begin a game; its id. */
export async function begin({ place, first, second, opening, minutes, increment_s: increment = 0 }) {
  if (opening) throw new Refusal("Openings with balanced or swapped stones need the server: zugwerk web.");
  for (const seat of [first, second]) if (seat !== PERSON) await taskOf(seat, place);
  const rules = await at(place), { moves } = rules, id = Math.random().toString(36).slice(2, 12);
  const left = minutes ? [60000 * minutes, 60000 * minutes] : null;
  const game = { id, place: { ...place, moves: [] }, moves: [...moves], seats: [first, second], ended: null, winner: null, left, increment: 1000 * increment, times: left ? Array.from({ length: moves.length + 1 }, () => left) : [], at: Date.now() };
  games.set(id, new Game(game));
  games.get(id).keep();
  return id;
}

/** The game of an id, from this page or from what the browser keeps; null if there is none. */
export function gameOf(id) {
  if (games.has(id)) return games.get(id);
  try {
    const kept = JSON.parse(localStorage.getItem(PREFIX + id));
    if (kept && Array.isArray(kept.moves) && Array.isArray(kept.seats) && kept.place) { games.set(id, new Game(kept)); return games.get(id); }
  } catch { /* damaged: forgotten below */ }
  localStorage.removeItem(PREFIX + id);
  return null;
}

class Game {
  constructor(kept) { Object.assign(this, { kept, engine: new Engine(), hear: null, paused: false, failed: false, searching: "", latest: null, since: null, flag: 0, queue: Promise.resolve() }); }

  keep() {
    this.kept.at = Date.now();
    const others = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX) && key !== PREFIX + this.kept.id);
    const age = (key) => { try { return JSON.parse(localStorage.getItem(key)).at || 0; } catch { return 0; } };
    others.map((key) => [age(key), key]).sort((a, b) => a[0] - b[0]).slice(0, Math.max(0, others.length - MOST + 1)).forEach(([, key]) => localStorage.removeItem(key));
    try { localStorage.setItem(PREFIX + this.kept.id, JSON.stringify(this.kept)); } catch { this.hear?.({ kind: "problem", text: "The browser has no room to keep this game.", engine: false }); }
  }

  get place() { return { ...this.kept.place, moves: this.kept.moves }; }

  /** The page that shows the game. */
  join(hear) {
    this.hear = hear;
    this.act({ do: "show" });
    return () => { if (this.hear === hear) { this.hear = null; this.abandon(); this.stopClock(); } };
  }

  /** Carry out an action of a person, one after the other. */
  act(act) {
    if (act.do === "stop") { this.engine.stop(); return; }
    this.queue = this.queue.then(async () => {
      try {
        const now = await this.now();
        await this[`do_${act.do}`]?.(act, now);
      } catch (error) { this.hear?.({ kind: "problem", text: error.message, engine: false }); }
      await this.tell();
    }).catch((error) => this.hear?.({ kind: "problem", text: error.message, engine: false }));
  }

  /** The position. */
  async now() {
    const words = (await table()).forbidden, rules = await at(this.place), { ended } = this.kept; // no other await follows
    const counted = rules.counted(), board = rules.board(true, words), over = Boolean(ended || board.winner);
    const turn = !over && this.kept.seats[board.to_play] === PERSON;
    const sides = [board.to_play]; // by ply, from the last one back: sides alternate in these games
    for (let ply = this.kept.moves.length; ply > 0; ply--) sides.unshift(1 - sides[0]);
    return { board, over, counted: over ? null : counted, turn, sides };
  }

  undoTo({ sides }) {
    const { seats, moves, ended } = this.kept, people = seats.includes(PERSON);
    for (let ply = moves.length - (ended ? 0 : 1); ply >= 0; ply--) if (!people || seats[sides[ply]] === PERSON) return ply;
    return null;
  }

  /** Tell the page how the game stands, and have a player play if it is its turn. */
  async tell() {
    const { kept } = this, now = await this.now(), { board } = now, { levels } = await table();
    if (!this.hear) return;
    const due = !now.over && !now.turn && !this.paused && !this.failed;
    this.startClock(now);
    const level = (seat) => levels.find((one) => one.game === board.game && one.sizes.includes(board.width) && one.variant === (kept.place.variant || "freestyle"))?.words[Number(/^level:(\d+)$/.exec(seat)?.[1]) - 1] ?? "";
    const clocks = kept.left && { left_ms: [0, 1].map((side) => this.leftOf(side, board.to_play)), running: this.since === null ? null : board.to_play };
    if (!now.turn) Object.assign(board, { cells: [], turns: {} });
    this.hear({ kind: "game", id: kept.id, place: kept.place, seats: kept.seats, levels: kept.seats.map(level), board: { ...board, winner: kept.winner ?? board.winner }, ended: kept.ended ?? (board.winner ? "board" : null),
      opening: null, counted: now.counted, clocks, persons_turn: now.turn, can_undo: this.undoTo(now) !== null, paused: this.paused, thinking: due, formats: ["sgf"] });
    if (this.latest) this.hear(this.latest);
    if (due && this.searching !== "move") this.think("move", kept.seats[board.to_play], board.to_play);
  }

  async think(purpose, player, side) {
    this.abandon();
    this.searching = purpose;
    const begun = performance.now(), { engine } = this;
    const say = (stage, thought, more = {}) => { this.latest = { kind: "thought", purpose, side, thought, stage, before: 0, hint: "", ...more }; this.hear?.(this.latest); };
    try {
      const task = await taskOf(player, this.place);
      if (purpose === "move" && this.kept.left) task.movetime = Math.min(task.movetime ?? Infinity, Math.max(20, this.leftOf(side, side) / 25 + 0.7 * this.kept.increment));
      const found = await engine.search(this.place, task, (thought) => say(thought ? "thinking" : "loading", thought));
      if (!this.kept.seats.includes(PERSON)) await new Promise((then) => setTimeout(then, SHORTEST_MS - (performance.now() - begun)));
      if (this.searching !== purpose || !this.hear) return;
      this.searching = "";
      say("done", found.thought, { hint: purpose === "hint" ? found.move : "" });
      if (purpose === "move") { this.played(found.move, side); await this.tell(); }
    } catch (error) {
      if (error.given || this.searching !== purpose) return;
      this.searching = "";
      this.latest = null;
      this.failed = purpose === "move";
      this.stopClock();
      this.hear?.({ kind: "problem", text: error.message, engine: this.failed });
      await this.tell();
    }
  }

  abandon() { this.searching = ""; this.latest = null; this.engine.cancel(); }

  played(move, side) {
    const { kept } = this;
    kept.moves.push(move);
    if (kept.left) {
      this.stopClock(side);
      kept.left = kept.left.map((left, k) => left + (k === side ? kept.increment : 0));
      kept.times.push(kept.left);
    }
    this.failed = false;
    this.keep();
  }

  async do_move({ move, ply }, { over, turn, board }) {
    if (over) throw new Refusal("The game is over.");
    if (!turn) throw new Refusal("It is the player's turn.");
    if (ply !== undefined && ply !== this.kept.moves.length) throw new Refusal("The game has moved on meanwhile; this is how it stands.");
    const rules = await at({ ...this.place, moves: [...this.kept.moves, move] });
    this.abandon();
    this.played(rules.moves.at(-1), board.to_play);
  }

  do_undo(_, now) {
    const ply = this.undoTo(now), { kept } = this;
    if (ply === null) throw new Refusal("There is no move of a person to take back.");
    this.abandon();
    this.stopClock();
    kept.moves.length = ply;
    Object.assign(kept, { ended: null, winner: null });
    if (kept.left) { kept.times.length = ply + 1; kept.left = kept.times[ply]; }
    this.failed = false;
    this.paused ||= !kept.seats.includes(PERSON);
    this.keep();
  }

  do_resign(_, { over, turn, board }) {
    if (over || !turn) throw new Refusal(over ? "The game is over." : "Resign when it is your turn.");
    this.over("resigned", OTHER[board.to_play]);
  }

  do_agree(_, { counted }) {
    if (!counted) throw new Refusal("The result is not settled yet; play on.");
    this.over("agreed", counted.winner);
  }

  async do_hint({ player }, { turn, board }) {
    if (!turn) throw new Refusal("A hint is for a person whose turn it is.");
    this.think("hint", player || (await table()).hints[board.game], board.to_play);
  }

  do_pause() { this.paused = true; this.abandon(); this.stopClock(); }
  do_go() { this.paused = this.failed = false; }
  do_choose() { throw new Refusal("There is no colour to choose now."); }
  do_balance() { this.do_choose(); }

  over(how, winner) {
    this.abandon();
    this.stopClock();
    Object.assign(this.kept, { ended: how, winner });
    this.keep();
  }

  leftOf(side, toPlay) { return this.kept.left[side] - (this.since === null || side !== toPlay ? 0 : performance.now() - this.since); }

  startClock({ over, board }) {
    this.toPlay = board.to_play;
    if (!this.kept.left || this.since !== null || over || this.paused || this.failed || !this.kept.moves.length) return;
    this.since = performance.now();
    this.flag = setTimeout(() => { this.over("time", OTHER[this.toPlay]); this.tell(); }, Math.max(0, this.kept.left[board.to_play]));
  }

  stopClock(side = this.toPlay) {
    clearTimeout(this.flag);
    if (this.since !== null) this.kept.left = this.kept.left.map((left, k) => k === side ? left - (performance.now() - this.since) : left);
    this.since = null;
  }
}
