// A game on a free board: moves that a person plays become variations of its tree, and players judge its positions.

import { post } from "../api.js";
import { h, put, field, notice, toast, percent, short } from "../dom.js";
import { GameBoard, SIDES, numbersButton } from "../play/board.js";
import { SquaresOfSides } from "../play/squares.js";
import { Chart } from "../chart.js";
import { Candidates } from "./candidates.js";
import { Judges } from "./judges.js";
import { forget, has, keyOf, read, write } from "./kept.js";
import { BAD, DOUBTFUL, MoveList, glyph } from "./moves.js";
import { Played } from "./played.js";
import { keepPuzzles } from "./puzzles.js";
import { GameTree } from "./tree.js";

const WORST = 5;

/**
 * @param replay the game, as the server sends it
 * @param at address of the position to begin with, see GameTree
 * @param address(at) writes the position that is shown into the page's address
 * @param judge whether to begin the analysis of the whole game at once
 */
export async function study(root, begin, views, replay, { at = 0, address, judge = false }) {
  const key = keyOf(replay), { head, place } = replay, sides = SIDES[head.game], ofFile = mainMoves(new GameTree(replay));
  let unshown = ""; // why changes that are kept are not shown, and so may not be replaced
  let tree = new GameTree(await restored()), node = null, line = [], chart = null, asked = null, undo = null, later = 0;
  const boardBox = h("div", {}), live = h("p", { class: "hidden-text", role: "status" });
  const board = new GameBoard(boardBox, { game: head.game, width: replay.width, height: replay.height, onmove: play, onpart: (text) => { if (text) live.textContent = text; } });
  const judges = new Judges({ lineOf: () => line, place: placeOf, redraw: judged });
  const candidates = replay.analysts.length ? new Candidates({ place: placeOf, player: () => judges.player.value.trim(), side: sides[0], rate: (one, rate) => sideToMove(one) ? 1 - rate : rate, onplay: play, onpoint: point, ondraw: words }) : null;
  const played = head.game === "go" ? new Played({ place: placeOf, size: replay.width, onplay: play, onopen: (source, game, ply) => begin(views.file, source, game, ply), onpoint: (marks) => board.candidates(marks) }) : null;
  const list = new MoveList({ onpick: go, lost: (one) => judges.best(one)?.lost });
  const where = h("span", { class: "turn", "aria-live": "polite" }), said = h("div", { class: "lines" }), chartBox = h("div", {}), chartCard = h("div", { class: "card hidden" }, chartBox), worst = h("div", { class: "worst" });
  const step = (text, label, to) => h("button", { type: "button", class: "icon", "aria-label": label, onclick: () => go(to()) }, text);
  const buttons = [step("|◀", "To the start", () => tree.root), step("◀", "Previous move", () => node.parent), step("▶", "Next move", () => node.children[0]), step("▶|", "To the end", () => line.at(-1))];
  const squares = new SquaresOfSides(() => node && [board, placeOf(node)]), marks = { amazons: squares.button, gomoku: numbersButton(() => draw()) }[head.game];
  const pass = h("button", { type: "button", class: "hidden", onclick: () => play("pass") }, "Pass");
  const name = h("input", { type: "text", maxlength: 200, autocomplete: "off", oninput: () => note({ name: name.value }) });
  const comment = h("textarea", { rows: 3, maxlength: 20000, oninput: () => note({ comment: comment.value }) });
  const promote = h("button", { type: "button", onclick: () => { tree.promote(node); changed(); } }, "Make main line");
  const prune = h("button", { type: "button", onclick: remove }, "Delete from here");
  const back = h("button", { type: "button", disabled: true, onclick: () => { const one = undo(); undo = null; changed(); go(one); } }, "Undo deletion");
  const asFile = h("button", { type: "button", class: "hidden", onclick: () => { forget(key); unshown = ""; warn(); tree = new GameTree(replay); node = null; undo = null; changed(false); go(tree.root); } }, "Drop my changes");
  const warning = h("div", {}), warn = () => put(warning, unshown && notice(`Changes to this game are kept, but not shown here: ${unshown} Reload to see them. What you change now is not kept; export it.`, "bad"));
  const elsewhere = (event) => { if (event.key === key && event.newValue) { unshown = "another tab made them."; warn(); } };
  window.addEventListener("storage", elsewhere);
  warn();
  const title = h("p", { class: "names" }, named(head.first_name, sides[0]), " – ", named(head.second_name, sides[1]));
  const about = replay.source ? `${replay.name}, game ${head.number}: ${head.plies} moves, ${result(head)}${head.event ? `; ${head.event}` : ""}` : head.winner ? `${head.plies} moves, ${result(head)}` : "A board of your own";
  put(root, h("h1", { class: "hidden-text" }, replay.source ? `Game ${head.number}` : "A board of your own"), live, h("div", { class: "beside wide" },
    h("div", { class: "stack" }, boardBox, h("div", { class: "row steps" }, buttons, pass, marks, h("span", { class: "grow" }), where), squares.text, replay.analysts.length ? chartCard : null),
    h("div", { class: "stack" },
      h("div", { class: "card stack" }, h("div", { class: "row" }, h("div", { class: "grow" }, title, h("small", {}, about)), h("button", { type: "button", onclick: () => begin(views.choose) }, "Open another")),
        warning, replay.left_out.length > 0 && notice(leftOut(replay.left_out), "bad")),
      candidates?.element, played?.element,
      h("div", { class: "card stack" }, list.element,
        h("details", {}, h("summary", {}, "Name, comment, variations"), h("div", { class: "stack" }, field("Name of the position", name), field("Comment", comment), h("div", { class: "row" }, promote, prune, back, asFile))),
        h("div", { class: "row" }, replay.formats.map((format) => h("button", { type: "button", onclick: () => save(format) }, `Export .${format}`)),
          head.game !== "go" && h("button", { type: "button", onclick: () => begin(views.edit, { game: head.game, fen: node.fen }) }, "Edit this position"))),
      h("div", { class: "card stack" }, replay.analysts.length ? [judges.form(replay.analysts), judges.progress, worst, said] : h("p", {}, "No player of this package analyses this game.")))));
  if (replay.analysts.length) chart = new Chart(chartBox, { label: "Win rate over the game", height: 190, rule: 0.5, onpick: (x) => go(line[x]), y: { min: 0, max: 1, format: (value) => percent(value), axis: { format: "%" } } });
  const keys = (event) => {
    if (event.target.closest("input, select, .chart, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowLeft: node.parent, ArrowRight: node.children[0], Home: tree.root, End: line.at(-1) }[event.key];
    if (to !== undefined && !(event.target.closest(".scroll") && event.key.length > 9)) { event.preventDefault(); go(to); }
  };
  document.addEventListener("keydown", keys);
  list.draw(tree);
  go(tree.find(at));
  if (judge) judges.analyse();
  judges.player?.addEventListener("change", () => candidates.show(candidates.node));
  return () => { clearTimeout(later); asked?.abort(); judges.halt(); candidates?.remove(); played?.remove(); document.removeEventListener("keydown", keys); chart?.remove(); board.remove(); window.removeEventListener("storage", elsewhere); };

  /** The game with what was changed in it earlier, if that is kept. */
  async function restored() {
    const kept = read(key);
    if (!kept) return replay;
    try {
      return await post("analyse/tree", { place: { ...place, moves: [] }, nodes: kept.nodes, comment: kept.comment });
    } catch (error) { unshown = error.message; return replay; }
  }

  function placeOf(one) { return { ...place, moves: tree.moves(one) }; }

  function go(to) {
    if (!to || to === node) return;
    const other = node === null || !line.includes(to);
    node = to;
    line = other || line.at(-1).children.length ? tree.line(node) : line;
    list.mark(node);
    clearTimeout(later);
    later = setTimeout(() => address(tree.address(node))); // takes longer than all the rest
    name.value = node.name;
    comment.value = node.comment;
    name.disabled = node === tree.root;
    prune.disabled = node === tree.root;
    candidates?.show(node.board?.winner ? null : node);
    played?.look(node);
    draw();
    if (other) judged();
    if (head.game === "amazons") squares.update();
    legal();
  }

  /** Ask for the legal moves of the position, which a click plays. */
  async function legal() {
    asked?.abort();
    const own = asked = new AbortController(), one = node;
    try {
      one.board ||= await post("play/board", placeOf(one), { signal: own.signal });
      if (one !== node || asked !== own) return;
      draw();
      if (one.board.winner) candidates?.show(null);
    } catch (error) { if (error.name !== "AbortError") toast(error.message, "bad"); }
  }

  async function play(move) {
    const from = node, known = tree.child(from, move);
    if (known) { go(known); return; }
    try {
      const position = await post("play/board", { ...place, moves: [...tree.moves(from), move] });
      const one = tree.child(from, move) || tree.add(from, { move, fen: position.fen });
      one.board = position;
      changed();
      if (node === from) go(one);
    } catch (error) { toast(error.message, "bad"); draw(); }
  }

  function remove() {
    const gone = node, parent = gone.parent;
    undo = tree.remove(gone);
    changed();
    go(parent);
  }

  function note(texts) {
    Object.assign(node, texts);
    keep();
    list.draw(tree);
    promote.disabled = tree.isMain(node);
  }

  /** The tree is another one: draw it and keep it. */
  function changed(kept = true) {
    line = node ? tree.line(node) : [];
    list.draw(tree);
    back.disabled = !undo;
    if (kept) keep();
    if (node) { draw(); judged(); }
  }

  function keep() {
    if (unshown) return;
    if (!write(key, tree.list(), tree.root.comment)) toast("The browser has no room to keep this; export it.", "bad");
    asFile.classList.remove("hidden");
  }

  function draw() {
    const position = node.board || { fen: node.fen, cells: null, turns: {} }, { winner } = position;
    board.show({ ...position, moves: tree.moves(node), to_play: sideToMove(node) });
    pass.classList.toggle("hidden", !position.cells?.includes("pass"));
    put(where, `Move ${node.depth} of ${line.at(-1).depth}`, !tree.isMain(node) && ", a variation", winner && `. ${winner === "draw" ? "Drawn" : `${sides[winner === "first" ? 0 : 1]} has won`}.`);
    if (node.move) live.textContent = `${node.move}${winner ? ", the game is over" : ""}`;
    buttons.forEach((one, k) => { one.disabled = k < 2 ? !node.parent : !node.children.length; });
    promote.disabled = tree.isMain(node);
    asFile.classList.toggle("hidden", !has(key));
    chart?.place(node.depth);
    words();
  }

  /** What players said of the position; a turn that a person has begun on the board is left alone. */
  function words() {
    const best = judges.best(node), lines = candidates?.lines(node) || [];
    board.line([]);
    if (lines.length) board.candidates(lines.map((one, k) => ({ move: one.moves[0], text: head.game === "amazons" ? String(k + 1) : one.win_rate === null ? "" : String(Math.round(100 * (sideToMove(node) ? 1 - one.win_rate : one.win_rate))) })));
    else if (best?.line.length) board.line(head.game === "amazons" ? best.line.slice(0, 1) : best.line.slice(0, 3));
    put(said, judges.runs.map((run) => {
      const one = run.found.get(node);
      if (!one) return null;
      const dot = h("i", { class: "key" });
      dot.style.background = run.colour;
      const value = one.value === null ? "the game is over" : `${percent(one.win_rate, 1)} for ${sides[0]}`;
      return h("p", {}, dot, h("strong", {}, run.player), ` ${value}`, one.lost > 0.005 && node.move ? `; ${node.move} gave away ${percent(one.lost, 1)}` : "", better(run, node),
        one.line.length ? [h("br"), `best: ${one.line.slice(0, 5).join(" ")} `, h("small", {}, `depth ${one.depth}, ${short(one.nodes)} nodes`)] : "");
    }));
  }

  /** Show a line that the pointer or the keyboard is at, or no longer is. */
  function point(moves) {
    if (moves) board.line(moves);
    else words();
  }

  /** Side to move: 0 moves first in the game. */
  function sideToMove(one) {
    if (one.board) return one.board.to_play;
    const letter = one.fen.split(" ")[1];
    return letter === "wb"[head.game === "amazons" ? 1 : 0] ? 1 : 0;
  }

  /** What players said has changed. */
  function judged() {
    list.judge();
    if (chart) {
      const series = judges.runs.map((run) => ({ name: run.player, colour: run.colour, points: line.flatMap((one, x) => { const found = run.found.get(one); return found ? [{ x, y: found.win_rate, text: `${percent(found.win_rate, 1)} for ${sides[0]}` }] : []; }) }));
      const losses = line.filter((one) => judges.best(one)?.lost >= DOUBTFUL).sort((a, b) => judges.best(b).lost - judges.best(a).lost).slice(0, WORST);
      chartCard.classList.toggle("hidden", !judges.runs.length);
      chart.update({ series, cursor: node.depth, x: { label: "moves played", min: 0, max: Math.max(1, line.length - 1), words: (x) => `after ${x} moves` },
        dots: losses.map((one) => ({ x: one.depth, y: judges.best(one).win_rate, colour: judges.best(one).lost >= BAD ? "var(--bad)" : "var(--from)" })) });
      const counts = sides.map((side, k) => {
        const of = line.filter((one) => one.parent && sideToMove(one.parent) === k).map((one) => judges.best(one)?.lost ?? 0), bad = of.filter((lost) => lost >= BAD).length;
        return `${side}: ${bad} ${bad === 1 ? "mistake" : "mistakes"}, ${of.filter((lost) => lost >= DOUBTFUL).length - bad} doubtful`;
      });
      put(worst, losses.length ? [h("p", { class: "note" }, `${counts.join("; ")}. The worst, and what was better:`), losses.map((one) => h("div", { class: "row" },
        h("button", { type: "button", onclick: () => go(one) }, `${one.depth}. ${one.move} ${glyph(judges.best(one).lost)} −${percent(judges.best(one).lost)}`), h("span", { class: "mono line grow" }, judges.best(one.parent)?.line.slice(0, 5).join(" ")),
        h("button", { type: "button", "aria-label": `Add what was better than move ${one.depth} as a variation`, onclick: () => add(one.parent) }, "Add"))),
      practised(losses).length > 0 && h("div", {}, h("button", { type: "button", onclick: () => { keepPuzzles(practised(losses)); begin(views.puzzles, "own"); } }, "Find the better moves"))] : null);
    }
    words();
  }

  /** The worst turns as puzzles: those of the person who played the game, if one did. */
  function practised(losses) {
    const own = [head.first_name, head.second_name].indexOf("You");
    return losses.filter((one) => judges.best(one.parent)?.line.length && (own < 0 || sideToMove(one.parent) === own)).map((one) => {
      const { player, line } = judges.best(one.parent);
      return { place: placeOf(one.parent), played: one.move, lost: judges.best(one).lost, line: line.slice(0, 6), player, solved: false };
    });
  }

  /** What should have been played instead of a move that gave something away, and how it would have gone on. */
  function better(run, one) {
    const lost = run.found.get(one).lost, line = run.found.get(one.parent)?.line;
    return lost >= DOUBTFUL && line?.length ? [h("br"), h("strong", {}, `better: ${line.slice(0, 5).join(" ")}`)] : null;
  }

  /** Add the line that a player expected after a position as a variation, and show its first move. */
  async function add(from) {
    try {
      const { player, line: moves } = judges.best(from), before = tree.moves(from);
      const { nodes } = await post("analyse/tree", { place: { ...place, moves: [...before, ...moves] } });
      let last = from;
      nodes.slice(before.length).forEach((one) => { last = tree.child(last, one.move) || tree.add(last, one); });
      const first = tree.child(from, moves[0]);
      first.name ||= `better, by ${player}`;
      changed();
      go(first);
    } catch (error) { toast(error.message, "bad"); }
  }

  async function save(format) {
    try {
      const same = mainMoves(tree).join() === ofFile.join();
      const whole = { place: { ...place, moves: [] }, nodes: tree.list((one) => ({ judgements: judges.all(one) })), comment: tree.root.comment, judgements: judges.all(tree.root),
        first_name: head.first_name, second_name: head.second_name, event: head.event, winner: same ? head.winner : null, resigned: same && head.resigned };
      const { name: file, text } = await post("analyse/export", { tree: whole, format, name: replay.source ? `${replay.name.replace(/\.[^.]*$/, "")}-${head.number}` : head.game });
      const link = URL.createObjectURL(new Blob([text], { type: "application/x-go-sgf" }));
      h("a", { href: link, download: file }).click();
      setTimeout(() => URL.revokeObjectURL(link), 10000);
    } catch (error) { toast(error.message, "bad"); }
  }
}

function named(name, side) { return name ? [h("strong", {}, name), ` (${side})`] : h("strong", {}, side); }

function mainMoves(tree) { return tree.line(tree.root).slice(1).map((one) => one.move); }

function leftOut(messages) {
  const text = messages.slice(0, 5).join("; ");
  return `${text[0].toUpperCase()}${text.slice(1)}${messages.length > 5 ? `; and ${messages.length - 5} more` : ""}.`;
}

/** A game's result in words. */
export function result(head) {
  if (head.winner === "draw") return "drawn";
  if (!head.winner) return "result unknown";
  return `${SIDES[head.game]?.[head.winner === "first" ? 0 : 1] ?? head.winner} won${head.resigned ? " by resignation" : ""}`;
}
