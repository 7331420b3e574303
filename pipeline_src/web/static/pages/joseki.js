// Joseki: a 19x19 board on a library of games. Stones are played here, and the server says what it knows of the position.

import { get } from "../api.js";
import { h, s, put, select, choice, notice, toast, number } from "../dom.js";
import { StoneBoard } from "../board/stones.js";
import { GO_FILES } from "../board/grid.js";
import { continuations, ofLibrary } from "../continuations.js";

const CORNERS = ["top left", "top right", "bottom left", "bottom right"], LABELLED = 12;
const EXAMPLE = ["Q16", "R17", "R16", "Q17", "P17", "P18", "O18", "Q18", "O17", "S16", "S15", "S17", "R15"]; // Black at 4-4, White at 3-3

export async function show(root, params) {
  const { libraries: known, problems } = await get("joseki/libraries");
  if (!known.length) {
    const place = h("div", { class: "example" }), example = new StoneBoard(place, { size: 19, files: GO_FILES, label: "An example" });
    put(root, h("h1", {}, "Joseki"), problems.map((one) => notice(one, "bad")), h("div", { class: "stack" }, notice(["There is no joseki library in the folders of this server. A clone of the project makes one, with ", h("code", { class: "move-text" }, "dvc repro joseki_build"), ", below its folder artifacts: ", h("code", { class: "move-text" }, "zugwerk web --folder artifacts")]),
      place, h("p", { class: "note" }, "An example: one sequence in a corner. With a library, the board says after each move what was played there, how often and who won, with the games themselves.")));
    example.set({ stones: Object.fromEntries(EXAMPLE.map((name, k) => [name, "xo"[k % 2]])), numbers: Object.fromEntries(EXAMPLE.map((name, k) => [name, k + 1])) });
    return () => example.remove();
  }
  const state = {
    library: known.some((one) => one.name === params.library) ? params.library : known[0].name,
    moves: (params.moves || "").split(",").filter(Boolean), ahead: [], corner: CORNERS[params.corner] ? Number(params.corner) : -1,
    position: null, game: null, number: 0,
  };
  if (params.library && state.library !== params.library) toast(`There is no library ${params.library.slice(0, 100)} here; this is ${state.library}.`, "bad");
  const boardBox = h("div", {}), board = new StoneBoard(boardBox, { size: 19, files: GO_FILES, label: "Go board", onmove: (name) => play(name) });
  const turn = h("p", { class: "turn", "aria-live": "polite" }), list = h("div", {}), corner = h("div", { class: "card hidden" }), game = h("div", {});
  const clashes = h("details", { class: "card" }, h("summary", {}, "Patterns of this library that share a code"));
  const buttons = {
    first: h("button", { type: "button", class: "icon", "aria-label": "To the empty board", onclick: () => go(0) }, "|◀"),
    back: h("button", { type: "button", class: "icon", "aria-label": "One move back", onclick: () => go(state.moves.length - 1) }, "◀"),
    next: h("button", { type: "button", class: "icon", "aria-label": "One move on", onclick: () => go(state.moves.length + 1) }, "▶"),
    pass: h("button", { type: "button", onclick: () => play("pass") }, "Play elsewhere"),
  };
  const corners = choice("Moves in", [[-1, "all"], [0, "↖"], [1, "↗"], [2, "↙"], [3, "↘"]], state.corner, (one) => { state.corner = one; draw(); });
  corners.querySelectorAll("input").forEach((input, k) => input.setAttribute("aria-label", k ? `the ${CORNERS[k - 1]} corner` : "all corners"));
  put(root, h("h1", { class: "hidden-text" }, "Joseki"), problems.map((one) => notice(one, "bad")), h("div", { class: "beside wide" },
    h("div", { class: "stack" }, boardBox, h("div", { class: "row steps" }, buttons.first, buttons.back, buttons.next, buttons.pass, h("span", { class: "grow" }), turn), game),
    h("div", { class: "stack" },
      h("div", { class: "card stack" },
        known.length > 1 && h("div", { class: "field" }, h("label", { for: "library" }, "Library"), libraries()),
        h("p", { class: "note", id: "about" }), corners, list),
      corner, clashes)));
  clashes.ontoggle = () => clashes.open && showClashes();
  const keys = (event) => {
    if (event.target.closest("input, select, svg, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowLeft") go(state.moves.length - 1);
    else if (event.key === "ArrowRight") go(state.moves.length + 1);
  };
  document.addEventListener("keydown", keys);
  await ask();
  return () => { document.removeEventListener("keydown", keys); board.remove(); };

  function libraries() {
    const control = select(known.map((one) => [one.name, `${one.name} (${number(one.games)} games)`]), state.library, (name) => { state.library = name; clashes.open = false; ask(); });
    control.id = "library";
    return control;
  }

  /** Play a move; the stone is there before the server has answered. */
  function play(word) {
    const follows = state.ahead.length && state.ahead[0] === word;
    if (word !== "pass") board.play(word, state.moves.length % 2 ? "o" : "x");
    state.moves.push(word);
    if (follows) state.ahead.shift(); else { state.ahead = []; state.game = null; }
    ask();
  }

  function go(ply) {
    const all = [...state.moves, ...state.ahead], to = Math.max(0, Math.min(all.length, ply));
    if (to === state.moves.length) return;
    Object.assign(state, { moves: all.slice(0, to), ahead: all.slice(to) });
    ask();
  }

  async function ask() {
    const own = (state.number += 1), words = state.moves.join(",");
    const query = `moves=${encodeURIComponent(words)}&library=${encodeURIComponent(state.library)}`;
    history.replaceState(null, "", `#/joseki?${new URLSearchParams({ ...(words && { moves: words }), ...(state.library !== known[0].name && { library: state.library }) })}`);
    try {
      const found = await get(`joseki/position?${query}`);
      if (own !== state.number) return;
      state.position = found;
      draw();
    } catch (error) {
      if (own !== state.number) return;
      toast(error.message, "bad");
      if (!state.moves.length) { put(list, notice(error.message, "bad")); return; }
      state.moves.pop();
      if (state.position) draw(); else ask();
    }
  }

  function draw() {
    if (!state.position) return;
    const { position } = state, forbidden = new Set(position.forbidden), last = state.moves.at(-1);
    board.set({ fen: position.fen, last: last && last !== "pass" ? last : null });
    const free = [...board.grid.cells.keys()].filter((name) => !board.stones.has(name) && !forbidden.has(name));
    board.legal = new Set(free);
    board.grid.legal(free);
    const shown = position.continuations.filter((one) => state.corner < 0 || one.corner === state.corner);
    board.grid.clear("labels", "over");
    shown.filter((one) => one.points.length).slice(0, LABELLED).reverse().forEach((one) => mark(one));
    put(turn, `${position.to_play} to play`, state.moves.length ? `, move ${state.moves.length + 1}` : "");
    const one = known.find((other) => other.name === state.library);
    put(root.querySelector("#about"), `${number(one.games)} games, ${number(one.patterns)} corner patterns`, one.fewest_games > 1 ? `; moves of fewer than ${one.fewest_games} games are left out` : "");
    Object.entries({ first: state.moves.length, back: state.moves.length, next: state.ahead.length }).forEach(([name, can]) => { buttons[name].disabled = !can; });
    put(list, shown.length ? table(shown) : notice(state.corner < 0 ? "No pattern of this position is in the library." : `The library does not know the ${CORNERS[state.corner]} corner as it is here.`));
    showGame();
    showCorner();
  }

  function mark(one, strong = false) {
    const text = one.share >= 0.005 ? String(Math.round(100 * one.share)) : "·";
    board.grid.markers(one.points.map((point) => ({ at: point, text, size: 38, colour: "var(--main-ink)", ground: strong ? "var(--last)" : "var(--main)", opacity: strong ? 1 : 0.35 + 0.6 * Math.sqrt(one.share) })), strong ? "over" : "labels");
  }

  function table(shown) {
    const rows = shown.map((one) => ofLibrary(one, state.position.to_play, CORNERS[one.corner], {
      play: () => play(one.points[0] || "pass"),
      games: one.games.map((where) => ({ text: `#${where.gid}`, label: `Open game ${where.gid} at move ${where.ply}`, open: () => open(where) })),
    }));
    return continuations(rows, { label: "Continuations", rarer: state.position.continuations_in_all - state.position.continuations.length, point });
  }

  function point(one) {
    board.grid.clear("over");
    if (one?.points.length) mark(one, true);
  }

  async function open(where) {
    try {
      const found = await get(`joseki/games/${where.gid}?library=${encodeURIComponent(state.library)}`);
      Object.assign(state, { game: found, moves: found.moves.slice(0, where.ply), ahead: found.moves.slice(where.ply) });
      ask();
    } catch (error) { toast(error.message, "bad"); }
  }

  function showGame() {
    const found = state.game;
    if (!found) { put(game); return; }
    const names = [found.first_name || "Black", found.second_name || "White"], won = found.winner === "draw" ? "a draw" : found.winner ? `${found.winner === "first" ? "Black" : "White"} won` : "result unknown";
    const source = found.source === "engine" ? (found.event === "made" ? "a made game, nobody played it" : "played by engines") : found.source === "littlegolem" ? "from LittleGolem" : "from a file";
    put(game, h("div", { class: "card row" }, h("div", { class: "grow" }, h("strong", {}, `Game ${found.gid}`), ` ${names.join(" – ")}, ${found.moves.length} moves, ${won}; ${source}.`,
      state.ahead.length ? h("span", { class: "note" }, ` Next: ${state.ahead[0]}`) : ""),
    h("a", { class: "button", href: `#/analyse?source=${encodeURIComponent(found.source_file)}&game=${found.gid}&ply=${state.moves.length}` }, "Analyse"),
    h("button", { type: "button", onclick: () => { state.game = null; state.ahead = []; draw(); } }, "Close")));
  }

  async function showCorner() {
    corner.classList.toggle("hidden", state.corner < 0);
    if (state.corner < 0) return;
    const own = state.number, about = state.position.corners[state.corner];
    try {
      const found = await get(`joseki/code?corner=${state.corner}&moves=${encodeURIComponent(state.moves.join(","))}&library=${encodeURIComponent(state.library)}`);
      if (own !== state.number || state.corner !== found.corner) return;
      const factors = [["x", found.black], ["o", found.white], ["both", found.both]];
      const others = found.patterns.filter((one) => !one.is_asked);
      put(corner, h("h2", {}, `The ${CORNERS[state.corner]} corner`),
        h("p", {}, "Pattern code S ", h("code", { class: "code" }, found.code)),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Factors of the code" }, h("table", { class: "factors" }, h("thead", {}, h("tr", {}, ["stones", "A", "B", "C", "K = A·B + C"].map((word, k) => h("th", { scope: "col", class: k ? "num" : null }, word)))),
          h("tbody", {}, factors.map(([name, one]) => h("tr", {}, h("th", { scope: "row" }, name), [one.a, one.b, one.c, one.k].map((value) => h("td", { class: "num mono" }, value))))))),
        h("p", { class: "note" }, `S is the product of the three K, modulo 2^64. ${about.known ? `The library saw this pattern ${number(about.seen)} times, in all symmetries.` : "The library does not have this pattern."}`),
        h("p", {}, others.length ? `${number(others.length)} other pattern${others.length > 1 ? "s have" : " has"} the same code: a clash. Only the exact key tells them apart.` : "No other pattern of the library has this code."),
        found.patterns.length > 1 && patterns(found.patterns));
    } catch (error) { if (own === state.number) put(corner, notice(error.message, "bad")); }
  }

  async function showClashes() {
    const summary = clashes.querySelector("summary");
    clashes.replaceChildren(summary, h("p", { class: "note" }, "Computing the code of every pattern …"));
    try {
      const found = await get(`joseki/clashes?library=${encodeURIComponent(state.library)}`);
      clashes.replaceChildren(summary, h("p", {}, `The paper's code gives ${number(found.clashing)} of ${number(found.patterns)} patterns a number that another pattern has too. Those seen most:`),
        h("div", { class: "scroll clashes", tabindex: 0, role: "region", "aria-label": "Clashes" }, found.clashes.map((one) => h("div", { class: "clash" }, h("code", { class: "code" }, one.code), patterns(one.patterns)))));
    } catch (error) { clashes.replaceChildren(summary, notice(error.message, "bad")); }
  }
}

/** Patterns as small boards. */
function patterns(list) {
  return h("div", { class: "patterns" }, list.map((one) => h("figure", { class: one.is_asked ? "asked" : null }, window10(one), h("figcaption", {}, `${one.is_asked ? "here, " : ""}${number(one.seen)}×`))));
}

function window10(one) {
  const lines = Array.from({ length: 10 }, (_, k) => [s("line", { class: "wire", x1: 5 + 10 * k, x2: 5 + 10 * k, y1: 5, y2: 100 }), s("line", { class: "wire", y1: 5 + 10 * k, y2: 5 + 10 * k, x1: 5, x2: 100 })]);
  const stones = one.board.flatMap((row, y) => [...row].map((letter, x) => letter !== "." && s("circle", { class: `stone ${letter === "x" ? "black" : "white"}`, cx: 5 + 10 * x, cy: 5 + 10 * y, r: 4.6 })));
  return s("svg", { class: "board window10", viewBox: "0 0 100 100", role: "img", "aria-label": `Corner pattern ${one.pattern}` }, lines, stones);
}
