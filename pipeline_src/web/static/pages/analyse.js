// Analyse: open a record or a board, play variations on it, have players judge its positions, keep the result as SGF.

import { get, post } from "../api.js";
import { h, put, notice, number } from "../dom.js";
import { sentAgain, taken } from "../analyse/incoming.js";
import { before } from "../analyse/copy.js";
import { choose, edit } from "../analyse/open.js";
import { fenOf } from "../play/board.js";
import { solve } from "../analyse/puzzles.js";
import { study, result } from "../analyse/study.js";

const PAGE = 50, NAMES = ["first_name", "second_name", "winner", "resigned"];

export async function show(root, params) {
  let ended = null, turn = 0;
  const begin = async (view, ...more) => {
    const own = (turn += 1);
    ended?.();
    ended = null;
    try {
      const end = await view(...more) ?? null;
      if (own === turn) ended = end; else end?.();
    } catch (error) {
      if (own === turn) put(root, notice(error.message, "bad", before(error.message), h("button", { type: "button", onclick: () => begin(views.choose) }, "Open another")));
    }
  };
  /** What the server says of a record, which the browser gives it again where it has forgotten it. */
  const known = async (source, path) => {
    try { return await get(path); } catch (error) { if (!await sentAgain(source)) throw error; return get(path); }
  };
  const address = (values) => history.replaceState(null, "", `#/analyse?${new URLSearchParams(values)}`);
  const views = {
    choose: () => { address({}); return choose(root, begin, views); },
    edit: (place) => edit(root, begin, views, place),
    list,
    puzzles: (kind, number) => solve(root, begin, views, { kind, number, address: (puzzle) => address({ puzzle }) }),
    file: async (source, game, at, given) => study(root, begin, views, await known(source, `analyse/game?source=${encodeURIComponent(source)}&number=${game}`), { at, given, address: (ply, more) => address({ source, game, ply, ...more }) }),
    place: async (place, options, players = {}) => views.replay(await post("analyse/tree", { place, ...players }), options),
    replay: (replay, options) => {
      const { place, head } = replay, moves = [];
      replay.nodes.forEach((one, k) => { if (one.parent === k) moves.push(one.move); });
      const values = { game: place.game, fen: place.fen };
      if (moves.length) values.moves = moves.join(",");
      for (const key of NAMES) if (head[key]) values[key] = head[key];
      return study(root, begin, views, replay, { at: moves.length, ...options, address: (ply, more) => address({ ...values, ply, ...more }) });
    },
  };
  const come = params.open && taken();
  if (come) await begin(views[come[0]], ...come.slice(1));
  else if (params.edit) await begin(views.edit, { game: params.game, fen: params.fen || fenOf({ game: params.game, size: Number(params.size), variant: params.variant }) });
  else if (/^(forced|amazons|own)(-\d+)?$/.test(params.puzzle)) { const [kind, number] = params.puzzle.split("-"); await begin(views.puzzles, kind, Number(number)); }
  else if (params.source && params.game) await begin(views.file, params.source, Number(params.game), params.ply || 0, params);
  else if (params.source) await begin(list, params.source, Number(params.first) || 0);
  else if (params.game) {
    const place = { game: params.game, size: Number(params.size) || 10, variant: params.variant || "", fen: params.fen || "", moves: params.moves ? params.moves.split(",") : [] };
    const players = Object.fromEntries(NAMES.filter((key) => params[key]).map((key) => [key, key === "resigned" ? true : params[key]]));
    await begin(views.place, place, { ...(params.ply !== undefined && { at: params.ply }), given: params, seek: params.ply === undefined }, players);
  } else await begin(views.choose);
  return () => { turn += 1; ended?.(); };

  /** The games of a file. */
  async function list(source, first) {
    const found = await known(source, `analyse/games?source=${encodeURIComponent(source)}&first=${first}&count=${PAGE}`);
    if (found.games_in_all === 1 && !found.rejects_in_all) return views.file(source, found.games[0].number, 0);
    address({ source, ...(first && { first }) });
    const end = first + found.games.length;
    put(root, h("div", { class: "row" }, h("h1", { class: "grow" }, found.name), h("button", { type: "button", onclick: () => begin(views.choose) }, "Open another")),
      found.rejects_in_all > 0 && notice(`${number(found.rejects_in_all)} more cannot be read. ${found.rejects.join("; ")}`, "bad"),
      h("div", { class: "card stack" },
        h("div", { class: "scroll games-table", tabindex: 0, role: "region", "aria-label": "Games" }, h("table", {},
          h("thead", {}, h("tr", {}, ["Game", "First", "Second", "Result", "Moves", "Event"].map((word) => h("th", { scope: "col" }, word)))),
          h("tbody", {}, found.games.map((one) => h("tr", {},
            h("td", {}, h("button", { type: "button", onclick: () => { location.hash = `#/analyse?${new URLSearchParams({ source, game: one.number, ply: 0 })}`; } }, `Game ${one.number}`)),
            h("td", {}, one.first_name || "–"), h("td", {}, one.second_name || "–"), h("td", {}, result(one)), h("td", { class: "num" }, one.plies), h("td", {}, one.event)))))),
        h("div", { class: "row" },
          h("button", { type: "button", disabled: first === 0, onclick: () => begin(list, source, Math.max(0, first - PAGE)) }, "Earlier"),
          h("span", { class: "grow note" }, `${number(first + 1)} to ${number(end)} of ${number(found.games_in_all)} games`),
          h("button", { type: "button", disabled: end >= found.games_in_all, onclick: () => begin(list, source, end) }, "Later"))));
    return null;
  }
}
