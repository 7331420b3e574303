// What the server answers, without a server: requests and sockets of the pages Play and Analyse, by the kernels in this page.

import { ApiError } from "../api.js";
import { analyse, judge, replay, read } from "./analyse.js";
import { Engine, at, table, taskOf } from "./engine.js";
import { begin, gameOf } from "./game.js";
import { game, list, upload, written } from "./records.js";
import { Refusal } from "./rules.js";

const GONE = 4404;
const NOTE = "SGF and .psq are read here; archives, journals of matches, LittleGolem’s text and records of Go need the server: zugwerk web.";
const think = new Engine(), watch = new Engine(), solver = new Engine();

if (!globalThis.zugwerkFiles) navigator.serviceWorker?.register(new URL("sw.js", document.baseURI)).catch(() => {}); // without one, it needs the connection

const board = async (place) => { const { forbidden } = await table(); return (await at(place)).board(true, forbidden); };
const ROUTES = {
  "play/choices": async () => (await table()).choices,
  "play/board": board,
  "play/player": async ({ game, player }) => { const { size, variants: [{ name }] } = (await table()).choices.games.find((one) => one.game === game); await taskOf(player, { game, size, variant: name }); return { only: null }; },
  "play/games": async (wanted) => ({ id: await begin(wanted) }),
  "play/judge": async ({ place, move }) => judge(watch, place, move),
  "analyse/forced": async () => ({ wins: (await table()).forced }),
  "analyse/forced/answer": (place) => solver.search(place, { kind: "answer" }),
  "analyse/forced/line": (place) => solver.search(place, { kind: "line" }),
  "analyse/files": async () => ({ files: [], left_out: 0, note: NOTE }),
  "analyse/tree": replay,
  "analyse/upload": (blob, { name }) => upload(name, blob),
  "analyse/games": (_, query) => list(query),
  "analyse/game": (_, query) => game(query, replay),
  "analyse/export": async ({ tree, name = "game" }) => ({ name: `${name}.sgf`, text: await written(tree) }),
  "analyse/paste": async ({ place, text }) => replay({ place: read(place, text) }),
};
const NEEDS = { "play/territory": "The squares of each side need the server: zugwerk web." };

/** The answer to a request. */
export async function ask(path, body, { signal } = {}) {
  const [name, query] = path.split("?");
  try {
    if (!ROUTES[name]) throw new Refusal(NEEDS[name] ?? "This needs the server: zugwerk web.");
    const found = await ROUTES[name](body, Object.fromEntries(new URLSearchParams(query)));
    if (signal?.aborted) throw new DOMException("given up", "AbortError");
    return found;
  } catch (error) {
    if (error.name === "AbortError" || error.given) throw new DOMException("given up", "AbortError");
    throw new ApiError(error.message, 400);
  }
}

/** A socket of a game, of thoughts about a position, or of an analysis; `handlers` as in api.js. */
export function open(path, handlers) {
  const [, id] = /^play\/games\/([^/]+)\/socket$/.exec(path) ?? [];
  let leave = null, closed = false;
  const hear = (value) => { if (!closed) handlers.message(value); };
  const send = id ? (act) => gameOf(decodeURIComponent(id))?.act(act) : path === "analyse/think" ? thinking(hear) : (wanted) => { analyse(watch, wanted, hear, () => closed); };
  setTimeout(() => {
    if (closed) return;
    const game = id && gameOf(decodeURIComponent(id));
    if (id && !game) { handlers.refused?.("this browser keeps no such game", GONE); return; }
    leave = game ? game.join(hear) : () => (path === "analyse/think" ? think : watch).cancel();
    handlers.state?.("open");
  });
  return {
    send(value) { if (!leave) return false; send(value); return true; },
    close() { closed = true; leave?.(); },
  };
}

/** Thinks about the position asked for last, until another one is asked for. */
function thinking(hear) {
  return async ({ number, place, player, lines }) => {
    const say = (state, thought = null, error = "") => hear({ kind: "thinking", number, state, thought, error });
    try {
      const { kind } = await taskOf(player, place);
      const found = await think.search(place, { kind, lines }, (thought) => say(thought ? "thinking" : "loading", thought));
      say("done", found.thought);
    } catch (error) { if (!error.given) say("failed", null, error.message); }
  };
}
