// Where a game to analyse comes from: a file, a text, an empty board, or a position that is set up by hand.

import { get, here, post } from "../api.js";
import { choice, count, field, h, notice, number, put, select, short } from "../dom.js";
import { GameBoard, SIDES, fenOf } from "../play/board.js";
import { pathOf } from "./copy.js";
import { openFile, openText, refused } from "./incoming.js";
import { ownPuzzles } from "./puzzles.js";

const TURNS = "xo";
const PIECES = { gomoku: [[TURNS, "Stones in turn"], ["x", "Black stone"], ["o", "White stone"], ["", "Empty"]], amazons: [["Q", "White amazon"], ["q", "Black amazon"], ["*", "Arrow"], ["", "Empty"]] };

/** The first view: `begin` shows another one, `views` are those that it may choose. */
export async function choose(root, begin, views) {
  const input = h("input", { type: "file", id: "file", accept: here ? ".sgf,.psq" : ".sgf,.psq,.txt,.parquet,.jsonl", onchange: async () => {
    const [file] = input.files;
    input.value = ""; // or the same file, mended, would be no change
    try { if (file) { const [view, ...shown] = await openFile(file.name, file); begin(views[view], ...shown); } } catch (error) { refused(error.message); }
  } });
  const label = h("label", { class: "button main", for: "file" }, "Choose a file");
  const drop = h("div", { class: "drop" }, h("p", {}, `Drop a record on any page: SGF, a Piskvorky record (.psq)${here ? "." : ", LittleGolem’s text, a Parquet archive, or the journal of a match."}`), input, label, h("p", { id: "refused", class: "bad-text", role: "alert" }));
  drop.ondragover = () => drop.classList.add("over"); // what is dropped anywhere is opened
  drop.ondragleave = () => drop.classList.remove("over");
  const own = h("div", { class: "card stack" }, h("h2", {}, "A board of your own"), h("p", { class: "note" }, "Loading …"));
  const left = ownPuzzles().filter((one) => !one.solved).length;
  const puzzles = h("div", { class: "card stack" }, h("h2", {}, "Find the move"), h("div", { class: "row" },
    h("button", { type: "button", onclick: () => begin(views.puzzles, "forced") }, "Forced wins of Gomoku"),
    h("button", { type: "button", onclick: () => begin(views.puzzles, "amazons") }, "Turns of the Amazons"),
    h("button", { type: "button", onclick: () => begin(views.puzzles, "own") }, `Your own worst turns${left ? ` (${left} left)` : ""}`)));
  const files = h("div", { class: "card stack" }, h("h2", {}, "Records of this server"), h("p", { class: "note" }, "Loading …"));
  put(root, h("h1", {}, "Analyse a game"), h("div", { class: "beside wide" }, own, h("div", { class: "stack" }, puzzles, drop, files)));
  await Promise.all([get("analyse/files").then(list), get("play/choices").then((found) => board(found.games.filter((one) => one.game in SIDES)))]);

  function list(found) {
    const folders = new Map();
    found.files.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
    for (const one of found.files) { const cut = one.name.lastIndexOf("/"), folder = one.name.slice(0, Math.max(0, cut)); folders.set(folder, [...(folders.get(folder) || []), one]); }
    const button = (one) => h("button", { type: "button", onclick: () => begin(views.list, one.source, 0), "aria-label": one.name, title: `${one.name}, ${short(one.bytes)}B` }, one.name.split("/").at(-1).replace(".parquet", ""));
    put(files, h("h2", {}, here ? "Other records" : "Records of this server"), found.files.length
      ? [...folders].map(([folder, some]) => h("div", {}, h("h3", {}, folder || "at the top"), h("div", { class: "files" }, some.map(button))))
      : h("p", {}, found.note || "There are none below its folders yet."),
    found.left_out > 0 && h("p", { class: "note" }, `and ${number(found.left_out)} more`));
  }

  /** An empty board, a position set up by hand, or a text. */
  function board(games) {
    const place = { game: games[0].game, size: games[0].size, variant: games[0].variants[0].name };
    const text = h("textarea", { id: "pasted", rows: 4, maxlength: 1000000, spellcheck: "false", autocomplete: "off", placeholder: "h8 i9 j7, a FEN, or a record" }), problem = h("p", { class: "bad-text", role: "status" });
    fill();

    function fill() {
      const about = games.find((one) => one.game === place.game), rule = about.variants.find((one) => one.name === place.variant) || about.variants[0];
      place.variant = rule.name;
      if (!rule.sizes.includes(place.size)) place.size = about.size;
      const set = (change) => { Object.assign(place, change); fill(); };
      put(own, h("h2", {}, "A board of your own"),
        choice("Game", games.map((one) => [one.game, one.game === "amazons" ? "Amazons" : "Gomoku"]), place.game, (game) => { const other = games.find((one) => one.game === game); set({ game, size: other.size, variant: other.variants[0].name }); }),
        h("div", { class: "fields" },
          field("Board", select(rule.sizes.map((one) => [String(one), `${one} × ${one}`]), String(place.size), (value) => set({ size: Number(value) }))),
          field(place.game === "amazons" ? "Start" : "Rule", select(about.variants.map((one) => [one.name, one.name]), place.variant, (value) => set({ variant: value })))),
        h("div", { class: "row" },
          h("button", { type: "button", onclick: () => begin(views.place, { ...place }) }, place.game === "amazons" ? "From the start" : "From the empty board"),
          h("button", { type: "button", onclick: () => begin(views.edit, { ...place, fen: fenOf(place) }) }, "Set up a position")),
        h("div", { class: "field" }, h("label", { for: "pasted" }, "Moves, a FEN, SGF, a .psq or LittleGolem’s text"), text, problem),
        h("div", {}, h("button", { type: "button", onclick: paste }, "Read the text")));
    }

    async function paste() {
      put(problem);
      try { const [view, ...shown] = await openText(text.value, place); begin(views[view], ...shown); } catch (error) { put(problem, error.message); }
    }
  }
}

/** Set up a position: choose a piece, or stones in turn, and cells to put them on. In Gomoku the stones say who moves. */
export function edit(root, begin, views, { game, fen }) {
  const [ranks, letter, ...rest] = fen.split(" "), rows = ranks.split("/");
  const height = rows.length, cells = rows.map((row) => (row.match(/\d+|./g) || []).flatMap((part) => /\d/.test(part) ? Array(Number(part)).fill("") : [part]));
  const width = Math.max(...cells.map((row) => row.length));
  let side = letter, piece = PIECES[game][0][0];
  const place = h("div", { class: "board-place" }), problem = h("div", { role: "status" }), mover = h("p", { class: "note", role: "status" });
  const board = new GameBoard(place, { game, height, width }), { grid } = board.board;
  const number = (one) => cells.flat().filter((cell) => cell === one).length;
  grid.onpick = (name, how) => {
    if (how === "drag") return;
    const [y, x] = [height - Number(name.slice(1)), grid.files.indexOf(name[0])], next = piece === TURNS ? (number("x") > number("o") ? "o" : "x") : piece;
    cells[y][x] = cells[y][x] === next || (piece === TURNS && cells[y][x]) ? "" : next;
    draw();
  };
  const text = () => [cells.map((row) => row.map((one) => one || " ").join("").replace(/ +/g, (run) => String(run.length))).join("/"), side, ...rest].join(" ");
  const draw = () => {
    const ahead = number("x") - number("o");
    if (game === "gomoku") {
      side = ahead > 0 ? "w" : "b";
      put(mover, ahead === 0 ? "Black to move." : ahead === 1 ? "White to move." : `${SIDES.gomoku[ahead > 0 ? 0 : 1]} has ${count(Math.abs(ahead), "stone")} more: this cannot come about in a game.`);
    }
    board.show({ fen: text(), cells: [], turns: {} });
    grid.legal(grid.cells.keys());
  };
  put(root, h("h1", { class: "hidden-text" }, "Set up a position"), h("div", { class: "study" }, h("div", { class: "at-board" }, place), h("div", { class: "card stack" },
    h("h2", {}, "Set up a position"),
    choice("Put on the board", PIECES[game], piece, (value) => { piece = value; }),
    game === "amazons" ? choice("To move", ["w", "b"].map((one, k) => [one, SIDES[game][k]]), side, (value) => { side = value; }) : mover,
    h("div", { class: "row" },
      h("button", { type: "button", class: "main", onclick: () => done((replay) => begin(views.replay, replay)) }, "Analyse this position"),
      h("button", { type: "button", onclick: () => done(({ place: shown }) => { location.hash = `${pathOf({ ...shown, moves: [] })}&own=1`; }) }, "Play from here"),
      h("button", { type: "button", class: "danger", onclick: () => { cells.forEach((row) => row.fill("")); draw(); } }, "Clear the board"),
      h("button", { type: "button", class: "quiet", onclick: () => begin(views.choose) }, "Open another")), problem)));
  draw();

  async function done(then) {
    try { then(await post("analyse/tree", { place: { game, size: width, variant: "", fen: text() } })); } catch (error) { put(problem, notice(error.message, "bad")); }
  }
  return () => board.remove();
}
