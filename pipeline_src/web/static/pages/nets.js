// What the nets see: a position as one net or two see it, before and after a search, square by square.

import { get } from "../api.js";
import { h, put, select, field, choice, notice, toast, percent } from "../dom.js";
import { AmazonsBoard } from "../board/amazons.js";
import { StoneBoard } from "../board/stones.js";

const LABELLED = 7;
const LAYERS = {
  amazons: [["start", "which amazon"], ["to", "where to"], ["arrow", "arrow"], ["queen", "queen’s reach"], ["king", "king’s reach"]],
  gomoku: [["to", "moves"]],
};

export async function show(root, params) {
  const { models } = await get("nets/models");
  if (!models.length) { put(root, h("h1", {}, "What the net sees"), notice("There is no net here: the package came without its weights, and no folder has models.")); return; }
  const first = models.find((one) => one.model === params.model) || models[0];
  const state = {
    a: first.model, b: models.some((one) => one.model === params.other) ? params.other : "",
    moves: (params.moves || "").split(",").filter(Boolean), ahead: [], layer: first.game === "amazons" ? "start" : "to", source: "policy",
    simulations: 50, half: "", position: null, number: 0,
  };
  for (const wanted of [params.model, params.other]) {
    if (wanted && !models.some((one) => one.model === wanted)) toast(`There is no net ${wanted.slice(0, 100)} here; choose one from the list.`, "bad");
  }
  const panels = { a: panel(), b: panel() };
  const boards = h("div", { class: "nets-boards" }, panels.a.box, panels.b.box), status = h("span", { class: "note", role: "status" });
  const layers = h("div", {}), where = h("span", { class: "turn", "aria-live": "polite" }), trouble = h("div", {});
  const other = h("div", { class: "grow" }), buttons = {
    first: h("button", { type: "button", class: "icon", "aria-label": "To the start", onclick: () => go(0) }, "|◀"),
    back: h("button", { type: "button", class: "icon", "aria-label": "One move back", onclick: () => go(state.moves.length - 1) }, "◀"),
    next: h("button", { type: "button", class: "icon", "aria-label": "One move on", onclick: () => go(state.moves.length + 1) }, "▶"),
  };
  const simulations = select([["10", "10"], ["50", "50"], ["100", "100"], ["400", "400"], ["1000", "1,000"]], String(state.simulations), (value) => { state.simulations = Number(value); look(); });
  put(root, h("h1", { class: "hidden-text" }, "What the net sees"), h("div", { class: "stack" },
    h("div", { class: "row steps" }, Object.values(buttons), h("span", { class: "grow" }), status, where), trouble, boards,
    h("div", { class: "card stack" },
      h("div", { class: "fields three" }, field("Net", chooser(models, state.a, take)), other, field("Simulations of its search", simulations)),
      h("div", { class: "row layers" }, layers, choice("Show", [["policy", "the net’s policy"], ["visits", "visits of the search"]], state.source, (one) => { state.source = one; draw(); })))));
  let wanted = new AbortController();
  takeOther();
  await ask();
  return () => { begun(); panels.a.board?.remove(); panels.b.board?.remove(); };

  function panel() {
    const board = h("div", {}), head = h("h2", {}), about = h("div", { class: "stack" });
    return { box: h("section", { class: "card stack hidden" }, head, board, about), boardBox: board, head, about, board: null, view: null, kind: "" };
  }

  function game() { return models.find((one) => one.model === state.a).game; }

  function take(model) {
    const before = game();
    state.a = model;
    if (game() !== before) Object.assign(state, { moves: [], ahead: [], b: "", layer: game() === "amazons" ? "start" : "to" });
    state.half = "";
    takeOther();
    ask();
  }

  /** The second net: of the same game; where the first is a generation, the one before it stands first. */
  function takeOther() {
    const rivals = models.filter((one) => one.game === game() && one.model !== state.a);
    if (!rivals.some((one) => one.model === state.b)) state.b = "";
    const same = models.filter((one) => one.group === models.find((two) => two.model === state.a).group), before = same[same.findIndex((one) => one.model === state.a) - 1];
    const sorted = before && same[0].group !== "package" ? [{ ...before, name: `${before.name} (the one before)` }, ...rivals.filter((one) => one !== before)] : rivals;
    put(other, field("Beside", chooser(sorted, state.b, (model) => { state.b = model; ask(); }, "nothing")));
  }

  function play(move) {
    const follows = state.ahead[0] === move;
    state.moves.push(move);
    if (follows) state.ahead.shift(); else state.ahead = [];
    state.half = "";
    if (game() === "amazons") state.layer = "start";
    ask();
  }

  function go(ply) {
    const all = [...state.moves, ...state.ahead], to = Math.max(0, Math.min(all.length, ply));
    if (to === state.moves.length) return;
    Object.assign(state, { moves: all.slice(0, to), ahead: all.slice(to), half: "" });
    ask();
  }

  /** The number of a new question; what was asked before is given up. */
  function begun() {
    wanted.abort();
    wanted = new AbortController();
    return (state.number += 1);
  }

  /** The position, then what the nets see in it. */
  async function ask() {
    const own = begun(), { signal } = wanted, moves = state.moves.join(",");
    history.replaceState(null, "", `#/nets?${new URLSearchParams({ model: state.a, ...(state.b && { other: state.b }), ...(moves && { moves }) })}`);
    put(status, "loading …");
    put(trouble);
    try {
      const asked = [state.a, state.b].filter(Boolean).map((model) => get(`nets/position?${new URLSearchParams({ model, moves })}`, { signal }));
      const [mine, theirs] = await Promise.all(asked);
      if (own !== state.number) return;
      if (theirs && (mine.height !== theirs.height || mine.variant !== theirs.variant)) {
        state.b = "";
        takeOther();
        toast(`The other net plays on ${theirs.height}x${theirs.width}, ${theirs.variant}; this one on ${mine.height}x${mine.width}, ${mine.variant}.`, "bad");
      }
      state.position = mine;
    } catch (error) {
      if (own !== state.number) return;
      put(trouble, notice(error.message, "bad"));
      put(status);
      if (state.moves.length && state.position) { state.moves.pop(); }
      return;
    }
    Object.values(panels).forEach((one) => { one.view = null; });
    draw();
    await look();
  }

  async function look() {
    const own = begun(), { signal } = wanted;
    if (!state.position || state.position.winner) { put(status); return; }
    put(status, "looking …");
    for (const [key, one] of Object.entries(panels)) {
      if (!state[key]) continue;
      try {
        const found = await get(`nets/view?${new URLSearchParams({ model: state[key], moves: state.moves.join(","), simulations: state.simulations, move: state.half })}`, { signal });
        if (own !== state.number) return;
        one.view = found;
        draw(false); // both: their heat has one scale
      } catch (error) {
        if (own !== state.number) return;
        put(trouble, notice(error.message, "bad"));
      }
    }
    if (own === state.number) put(status);
  }

  function draw(anew = true) {
    const { position } = state;
    if (!position) return;
    const current = LAYERS[position.game];
    put(layers, current.length > 1 ? choice("Of a turn", current, state.layer, (one) => { state.layer = one; draw(false); }) : null);
    put(where, position.winner ? "The game is over" : `${position.to_play} to move, move ${state.moves.length + 1}`);
    Object.entries({ first: state.moves.length, back: state.moves.length, next: state.ahead.length }).forEach(([name, can]) => { buttons[name].disabled = !can; });
    boards.classList.toggle("two", Boolean(state.b));
    for (const [key, one] of Object.entries(panels)) {
      one.box.classList.toggle("hidden", !state[key]);
      if (!state[key]) continue;
      put(one.head, models.find((model) => model.model === state[key]).name);
      const kind = `${position.game} ${position.width}x${position.height}`;
      if (one.kind !== kind) {
        one.board?.remove();
        const options = { width: position.width, height: position.height, label: `Board of ${one.head.textContent}`, onmove: play };
        one.board = position.game === "amazons" ? new AmazonsBoard(one.boardBox, { ...options, onpart: () => part(one) }) : new StoneBoard(one.boardBox, options);
        one.kind = kind;
        anew = true;
      }
      if (anew) one.board.set({ fen: position.fen, last: state.moves.at(-1) || null, turns: position.turns, legal: position.legal });
      paint(one);
      tell(one);
    }
  }

  /** Part of a turn was chosen on a board: the next part is what is of interest. */
  function part(one) {
    const { from, to } = one.board;
    state.half = to ? `${from}-${to}` : from || "";
    state.layer = to ? "arrow" : from ? "to" : "start";
    for (const two of Object.values(panels)) if (two !== one && two.board && two.kind === one.kind) { Object.assign(two.board, { from, to }); two.board.draw(); }
    draw(false);
    look();
  }

  function paint(one) {
    const { grid } = one.board, { view } = one, { position } = state;
    grid.clear("heat", "labels");
    if (["queen", "king"].includes(state.layer) && position.game === "amazons") {
      const colours = { first: "var(--white-stone)", second: "var(--black-stone)", both: "var(--from)" };
      for (const [owner, colour] of Object.entries(colours))
        grid.heat(Object.fromEntries(Object.entries(position[state.layer]).filter(([, who]) => who === owner).map(([name]) => [name, 1])), { colour, most: 2.5 });
      return;
    }
    if (!view) return;
    const name = { start: `start_${state.source}`, to: state.source, arrow: `arrow_${state.source}` }[state.layer], values = view[name];
    const most = Math.max(1e-9, ...Object.values(panels).flatMap((two) => two.view ? Object.values(two.view[name]) : [])); // one scale for both
    grid.heat(values, { most, colour: state.source === "policy" ? "var(--line-1)" : "var(--line-2)" });
    const best = Object.entries(values).sort((a, b) => b[1] - a[1]).slice(0, LABELLED).filter(([, share]) => share >= 0.01);
    const small = state.layer === "start" ? { dy: 1 } : {};
    grid.markers(best.map(([at, share]) => ({ at, text: String(Math.round(100 * share)), size: 34, colour: small.dy ? "#fff" : "var(--heat-ink)", ground: small.dy ? "#1b3a66" : null, r: 27 })));
  }

  function tell(one) {
    const { view } = one, { position } = state;
    if (position.winner) { put(one.about, h("p", {}, position.winner === "draw" ? "A draw." : "The game is over.")); return; }
    if (!view) { put(one.about, h("p", { class: "note" }, "…")); return; }
    const valued = view.candidates.some((move) => move.value !== null);
    const bar = h("div", { class: "rate", title: `win rate of ${position.to_play}` }, h("span", {}));
    bar.style.setProperty("--rate", `${100 * view.win_rate_searched}%`);
    put(one.about,
      h("div", {}, h("p", {}, `${position.to_play} wins `, h("strong", {}, percent(view.win_rate, 1)), " by the net, ", h("strong", {}, percent(view.win_rate_searched, 1)), ` after ${view.simulations} simulations`), bar),
      state.layer === "arrow" && h("p", { class: "note" }, `The arrow after ${view.arrow_after}.`),
      ["queen", "king"].includes(state.layer) ? territory() : h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Likeliest moves by ${one.head.textContent}` }, h("table", {},
        h("thead", {}, h("tr", {}, ["Move", "Policy", "Visits", ...(valued ? ["Wins"] : [])].map((word, k) => h("th", { scope: "col", class: k ? "num" : null }, word)))),
        h("tbody", {}, view.candidates.map((move) => h("tr", {}, h("td", {}, move.move), h("td", { class: "num" }, percent(move.prior, 1)), h("td", { class: "num" }, percent(move.visits, 1)), valued && h("td", { class: "num" }, move.value === null ? "–" : percent(move.value)))))),
      ));
  }

  function territory() {
    const owners = Object.values(state.position[state.layer]), count = (owner) => owners.filter((one) => one === owner).length;
    return h("p", {}, `White reaches ${count("first")} squares sooner, Black ${count("second")}; ${count("both")} both at once.`);
  }
}

/** A select of models, by group. */
function chooser(models, value, onchange, none = "") {
  const groups = new Map();
  models.forEach((one) => groups.set(one.group, [...(groups.get(one.group) || []), one]));
  const control = select(none ? [["", none]] : [], value, onchange);
  groups.forEach((some, group) => control.append(h("optgroup", { label: group }, some.map((one) => h("option", { value: one.model, selected: one.model === value }, one.name)))));
  return control;
}
