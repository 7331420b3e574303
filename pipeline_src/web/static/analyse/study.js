// A game on a free board: moves that a person plays become variations of its tree, and players judge its positions.

import { get, post } from "../api.js";
import { backInSight, count, field, h, notice, percent, put, short, spaced, steady, tabs, toast } from "../dom.js";
import { GameBoard, numbersButton, sidesOf, threatsButton } from "../play/board.js";
import { SquaresOfSides } from "../play/squares.js";
import { Chart } from "../chart.js";
import { Candidates } from "./candidates.js";
import { copies, pathOf, saveAs } from "./copy.js";
import { COLOURS, Judges } from "./judges.js";
import { forget, has, keyOf, read, write } from "./kept.js";
import { BAD, DOUBTFUL, MoveList, glyph } from "./moves.js";
import { openingName } from "./openings.js";
import { Played } from "./played.js";
import { keepPuzzles } from "./puzzles.js";
import { GameTree } from "./tree.js";
import { proven, sharp, unitOf } from "./values.js";

const WORST = 5, CURVE_MS = 700;

/**
 * @param replay the game, as the server sends it
 * @param at address of the position to begin with, see GameTree
 * @param address(at) writes the position that is shown into the page's address
 * @param given the page's address: `judge` begins the analysis of the whole game at once, by `player`, with `nodes`
 * @param seek whether to go to the first bad move, once it is known
 */
export async function study(root, begin, views, replay, { at = 0, address, given = {}, seek = false }) {
  const key = keyOf(replay), { head, place } = replay, sides = sidesOf(head.game), ofFile = mainMoves(new GameTree(replay));
  let unshown = ""; // why changes that are kept are not shown, and so may not be replaced
  let tree = new GameTree(await restored()), node = null, line = [], chart = null, asked = null, undo = null, later = 0, late = 0;
  let won = null; // the winning line that is shown, {node, moves, text}, until another position or another line is
  let listed = null; // what the list of mistakes shows: it is put anew for other mistakes alone, or a click would miss it
  const boardBox = h("div", { class: "board-place" }), live = h("p", { class: "hidden-text", role: "status" });
  const board = new GameBoard(boardBox, { game: head.game, width: replay.width, height: replay.height, look: replay.look ?? undefined, threats: true, onmove: play, onpart: (text) => { if (text) live.textContent = text; } });
  const judged = replay.analysts.length > 0, gone = [];
  for (const key of judged ? ["player", "other"] : []) {
    if (!given[key] || replay.analysts.includes(given[key])) continue;
    const about = (await get("play/choices")).games.find((one) => one.game === head.game);
    if (about && !about.players.some((one) => one.name === given[key].split(":")[0])) { gone.push(given[key]); given = { ...given, [key]: undefined }; }
  }
  const judges = judged ? new Judges({ key, analysts: replay.analysts, given, onsettings: () => node && address(tree.address(node), judges.settings), lineOf: () => line, place: placeOf, sideOf: sideToMove, redraw, onplayer: () => { redraw(); candidates.show(candidates.node); } }) : null;
  const candidates = judged ? new Candidates({ place: placeOf, player: () => judges.player, side: sides[0], rate, onplay: play, onpoint: point, onwin: win, ondraw: words,
    onthought: (one, { player, win_rate, value, depth, nodes, line: moves }) => {
      if (win_rate !== null) judges.take(one.fen, { player, win_rate: rate(one, win_rate), value, depth, nodes, budget: nodes, line: moves });
      late ||= setTimeout(() => { late = 0; redraw(); }, CURVE_MS);
    } }) : null;
  const closer = h("button", { type: "button", class: "quiet closer", onclick: () => judges.closer(node, tree.path(node)) });
  const played = head.game === "go" ? new Played({ place: placeOf, size: replay.width, onplay: play, onopen: (source, game, ply) => begin(views.file, source, game, ply), onpoint: (marks) => board.candidates(marks) }) : null;
  const list = new MoveList({ onpick: go, lost: (one) => judges?.lost(one) });
  const where = h("span", { class: "turn", "aria-live": "polite" }), said = h("div", { class: "lines" }), chartBox = h("div", {}), opening = h("small", { class: "opening" }), worst = h("div", { class: "worst" }), story = h("p", { class: "story", role: "status" });
  const chartCard = h("section", { class: "hidden" }, h("h2", { class: "curve" }, `Win rate of ${sides[0]}`), chartBox);
  const step = (text, label, to) => h("button", { type: "button", class: "icon", "aria-label": label, onclick: () => go(to()) }, text);
  const buttons = [step("|◀", "To the start", () => tree.root), step("◀", "Previous move", () => node.parent), step("▶", "Next move", () => node.children[0]), step("▶|", "To the end", () => line.at(-1))];
  const squares = new SquaresOfSides(() => node && [board, placeOf(node)]), marks = { amazons: squares.button, gomoku: [numbersButton(() => draw()), threatsButton(() => draw())] }[head.game];
  const pass = h("button", { type: "button", class: "hidden", onclick: () => play("pass") }, "Pass");
  const typed = h("input", { type: "text", class: "typed", maxlength: 16, autocomplete: "off", spellcheck: "false", placeholder: "move", "aria-label": "Move to play", onchange: () => { const text = typed.value.trim(); typed.value = ""; if (text) play(text); } }), wrong = h("p", { class: "bad-text", role: "alert" });
  const name = h("input", { type: "text", maxlength: 200, autocomplete: "off", oninput: () => note({ name: name.value }) });
  const comment = h("textarea", { rows: 3, maxlength: 20000, oninput: () => note({ comment: comment.value }) });
  const promote = h("button", { type: "button", onclick: () => { tree.promote(node); changed(); } }, "Make main line");
  const prune = h("button", { type: "button", class: "danger", onclick: remove }, "Delete from here");
  const back = h("button", { type: "button", disabled: true, onclick: () => { const one = undo(); undo = null; changed(); go(one); } }, "Undo deletion");
  const asFile = h("button", { type: "button", class: "hidden danger", onclick: () => { forget(key); unshown = ""; warn(); tree = new GameTree(replay); node = null; undo = null; changed(false); go(tree.root); } }, "Drop my changes");
  const warning = h("div", {}), warn = () => put(warning, unshown && notice(`Changes to this game are kept, but not shown here: ${unshown} Reload to see them. What you change now is not kept; export it.`, "bad", h("button", { type: "button", onclick: () => window.location.reload() }, "Reload")));
  const elsewhere = (event) => { if (event.key === key && event.newValue) { unshown = "another tab made them."; warn(); } };
  window.addEventListener("storage", elsewhere);
  warn();
  const title = h("p", { class: "names" }, named(head.first_name, sides[0]), " – ", named(head.second_name, sides[1]));
  const moves = count(head.plies, "move"), about = replay.source ? `${replay.name}, game ${head.number}: ${moves}, ${result(head)}${head.event ? `; ${head.event}` : ""}` : head.winner ? `${moves}, ${result(head)}` : "A board of your own";
  const playable = head.game !== "go", position = () => ({ ...place, moves: tree.moves(node) });
  const panels = [
    ["Moves", list.element],
    judged && ["Mistakes", worst],
    played && ["Elsewhere", played.element],
    ["Notes", [field("Name of the position", name), field("Comment", comment), h("div", { class: "row" }, promote, prune, back, asFile)]],
    ["Tools", [h("div", { class: "row" }, playable && h("button", { type: "button", class: "main", onclick: () => { location.hash = `${pathOf(position())}&own=1`; } }, "Play from here"), playable && !replay.look && h("button", { type: "button", onclick: () => begin(views.edit, { game: head.game, fen: node.fen }) }, "Edit this position")),
      h("div", { class: "row" }, copies(() => ({ moves: node ? tree.moves(node) : [], fen: node?.fen, sgf: replay.formats.includes("sgf") && (async () => (await written("sgf")).text) }))),
      h("div", { class: "row" }, replay.formats.map((format) => h("button", { type: "button", onclick: () => save(format) }, `Export .${format}`))), judged && judges.compare()]],
  ].filter(Boolean).map(([title, content]) => [title, h("div", { class: "stack" }, content)]);
  put(root, h("h1", { class: "hidden-text" }, replay.source ? `Game ${head.number}` : "A board of your own"), live, h("div", { class: "study" },
    h("div", { class: "stack at-board" }, boardBox, h("div", { class: "row steps" }, buttons, pass, marks, typed, h("span", { class: "grow" }), where), wrong, squares.text),
    h("div", { class: "stack" },
      h("div", { class: "row head" }, h("div", { class: "grow" }, title, h("small", {}, about), " ", opening), h("button", { type: "button", class: "quiet", onclick: () => begin(views.choose) }, "Open another")),
      warning, gone.length > 0 && notice(`There is no player ${gone.join(", nor ").slice(0, 200)} here; ${given.player || replay.analysts[0]} analyses instead.`, "bad"), replay.left_out.length > 0 && notice(leftOut(replay.left_out), "bad"),
      judged ? steady(h("div", { class: "card stack judged" }, judges.bar(candidates.controls), judges.progress, chartCard, story, candidates.element, said, closer))
        : playable && h("p", { class: "note" }, "No player of this package analyses this game."),
      tabs("About the game", panels))));
  if (judged) chart = new Chart(chartBox, { label: `Win rate of ${sides[0]} over the game`, height: innerHeight < 820 ? 95 : 130, rule: 0.5, halves: head.game === "amazons" ? ["var(--white-stone)", "var(--black-stone)"] : ["var(--black-stone)", "var(--white-stone)"], onpick: (x) => go(line[x]), y: { min: 0, max: 1, format: (value) => percent(value), axis: { format: "%" } } });
  const keys = (event) => {
    if (event.target.closest("input, select, .chart, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const to = { ArrowLeft: node.parent, ArrowRight: node.children[0], Home: tree.root, End: line.at(-1) }[event.key];
    if (to !== undefined && !(event.target.closest(".scroll") && event.key.length > 9)) { event.preventDefault(); go(to); }
  };
  document.addEventListener("keydown", keys);
  list.draw(tree);
  go(tree.find(at));
  if (given.judge && judged) {
    const from = node;
    judges.analyse().then((well) => { const { bad } = judges.story(line); if (well && seek && bad && node === from) go(bad); });
  }
  return () => { clearTimeout(later); clearTimeout(late); asked?.abort(); judges?.remove(); candidates?.remove(); played?.remove(); document.removeEventListener("keydown", keys); chart?.remove(); board.remove(); window.removeEventListener("storage", elsewhere); };

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
    backInSight(boardBox);
    if (!to || to === node) return;
    const other = node === null || !line.includes(to);
    node = to;
    put(wrong);
    line = other || line.at(-1).children.length ? tree.line(node) : line;
    list.mark(node);
    clearTimeout(later);
    later = setTimeout(() => address(tree.address(node), judges?.settings)); // takes longer than all the rest
    name.value = node.name;
    comment.value = node.comment;
    name.disabled = node === tree.root;
    prune.disabled = node === tree.root;
    candidates?.show(node.board?.winner ? null : node);
    played?.look(node);
    draw();
    if (other) redraw();
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
      const one = tree.child(from, move) || tree.add(from, { move, fen: position.fen, ...(position.plain && { to_play: position.to_play }) });
      one.board = position;
      changed();
      if (node === from) go(one);
    } catch (error) { put(wrong, error.message); draw(); }
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
    listed = null;
    list.draw(tree);
    back.disabled = !undo;
    if (kept) keep();
    if (node) { draw(); redraw(); }
  }

  function keep() {
    if (unshown) return;
    if (!write(key, tree.list(), tree.root.comment)) toast("The browser has no room to keep this; export it.", "bad");
    asFile.classList.remove("hidden");
  }

  function draw() {
    const position = node.board || { fen: node.fen, cells: null, turns: {} }, { winner } = position;
    board.show({ ...position, moves: tree.moves(node), to_play: sideToMove(node) });
    pass.classList.toggle("hidden", !position.cells?.includes("pass") && !position.plain?.picks.pass);
    put(where, `Move ${node.depth} of ${line.at(-1).depth}`, !tree.isMain(node) && ", a variation", winner && `. ${winner === "draw" ? "Drawn" : `${sides[winner === "first" ? 0 : 1]} has won`}.`);
    if (head.game === "gomoku" && !/[xo]/.test(tree.root.fen.split(" ")[0])) put(opening, openingName(tree.moves(node), replay.width));
    if (node.move) live.textContent = `${node.move}${winner ? ", the game is over" : ""}`;
    buttons.forEach((one, k) => { one.disabled = k < 2 ? !node.parent : !node.children.length; });
    promote.disabled = tree.isMain(node);
    asFile.classList.toggle("hidden", !has(key));
    chart?.place(node.depth);
    words();
  }

  /** What players said of the position; a turn that a person has begun on the board is left alone. */
  function words() {
    if (!judged) return;
    const best = judges.best(node), lines = candidates.lines(node), text = (one, k) => sharp(one.value, judges.player) || (one.win_rate === null ? String(k + 1) : String(Math.round(100 * rate(node, one.win_rate))));
    board.line([]);
    if (won?.node === node) board.line(won.moves, won.moves.length);
    else if (lines.length) board.candidates(lines.map((one, k) => ({ move: one.moves[0], text: text(one, k) })));
    else if (best?.line.length) board.line(head.game === "amazons" ? best.line.slice(0, 1) : best.line.slice(0, 3));
    put(said, won?.node === node ? h("p", {}, h("strong", {}, won.text), spaced(won.moves, won.moves.length)) : judges.players.map((player) => {
      const one = judges.of(player, node), lost = judges.lostBy(player, node) ?? 0, before = node.parent && judges.of(player, node.parent);
      if (!one) return null;
      const dot = h("i", { class: "key" });
      dot.style.background = colourOf(player);
      return h("p", {}, dot, h("strong", {}, player), ` ${valueOf(one, node)}`, lost > 0.005 ? `; ${node.move} gave away ${percent(lost, 1)}` : "",
        lost >= DOUBTFUL && before.line.length ? [h("br"), h("strong", {}, "better: ", spaced(before.line))] : null,
        one.line.length && !lines.length ? [h("br"), "best: ", spaced(one.line), " ", h("small", {}, `depth ${one.depth}, ${short(one.nodes)} ${one.nodes === 1 ? unitOf(player).slice(0, -1) : unitOf(player)}`)] : "");
    }));
    closer.classList.toggle("hidden", !node.parent || !judges.best(node)); // it stays, or a click while values change would miss it
    closer.disabled = judges.runs.some((run) => run.wire);
    closer.textContent = `Analyse ${node.move} deeper`;
  }

  function colourOf(player) { return COLOURS[judges.players.indexOf(player)] || "var(--line-3)"; }

  /** A judgement in words: who wins in how many moves, or the win rate, and the squares ahead in the Amazons. */
  function valueOf(one, at) {
    if (one.value === null) return "the game is over";
    const won = proven(one.value, one.player), own = (value) => sideToMove(at) ? -value : value;
    if (won) return `${sides[sideToMove(at)]} ${won}`;
    const squares = head.game === "amazons" && ["alphabeta", "uct"].includes(one.player.split(":")[0]) && own(one.value).toFixed(1).replace("-", "−");
    return `${percent(one.win_rate, 1)} for ${sides[0]}${squares ? `, ${/^[^−]*[1-9]/.test(squares) ? "+" : ""}${squares} squares` : ""}`;
  }

  /** The winning line that begins with a move of the side to move, on the board and in words: in Gomoku to its end, by the solver after the first answer. */
  async function win(from, moves) {
    let found = moves, whole = head.game !== "gomoku";
    const [move, expected] = moves, after = (...more) => ({ ...place, moves: [...tree.moves(from), ...more] });
    if (!whole) {
      try {
        const { state, answer } = expected ? { answer: expected } : await post("analyse/forced/answer", after(move));
        const rest = state !== "won" && answer ? (await post("analyse/forced/line", after(move, answer))).moves : [];
        whole = state === "won" || rest.length > 0;
        if (rest.length) found = [move, answer, ...rest];
      } catch { /* the player's own */ }
    }
    if (node !== from) return;
    won = { node, moves: found, text: `${sides[sideToMove(from)]} wins${whole ? " by" : "; the line begins"} ` };
    words();
  }

  /** Show a line that the pointer or the keyboard is at, or no longer is. */
  function point(moves) {
    won = null;
    if (moves) board.line(moves);
    else words();
  }

  /** Side to move: 0 moves first in the game. */
  function sideToMove(one) {
    if (one.board) return one.board.to_play;
    if (one.to_play !== undefined) return one.to_play; // of a game in one file
    const letter = one.fen.split(" ")[1];
    return letter === "wb"[head.game === "amazons" ? 1 : 0] ? 1 : 0;
  }

  function rate(one, value) { return sideToMove(one) ? 1 - value : value; }

  /** What players said has changed. */
  function redraw() {
    if (!judged || !node) return;
    list.judge();
    const shown = judges.players.slice(0, 2), series = shown.map((player) => ({ name: player, colour: colourOf(player), points: line.flatMap((one, x) => { const found = judges.of(player, one); return found ? [{ x, y: found.win_rate, text: valueOf(found, one) }] : []; }) }));
    const losses = line.filter((one) => (judges.lost(one) ?? 0) >= DOUBTFUL).sort((a, b) => judges.lost(b) - judges.lost(a)).slice(0, WORST), bads = losses.filter((one) => judges.best(one));
    chartCard.classList.toggle("hidden", !series.some((one) => one.points.length > 1));
    chart.update({ series, cursor: node.depth, x: { label: "moves played", min: 0, max: Math.max(1, line.length - 1), words: (x) => `after ${count(x, "move")}` },
      dots: bads.map((one) => ({ x: one.depth, y: judges.best(one).win_rate, colour: judges.lost(one) >= BAD ? "var(--bad)" : "var(--from)" })) });
    const counts = sides.map((side, k) => {
      const of = line.filter((one) => one.parent && sideToMove(one.parent) === k).map((one) => judges.lost(one) ?? 0), bad = of.filter((lost) => lost >= BAD).length;
      return `${side}: ${count(bad, "mistake")}, ${of.filter((lost) => lost >= DOUBTFUL).length - bad} doubtful`;
    });
    const now = JSON.stringify([judges.asked, counts, losses.map((one) => [tree.address(one), judges.lost(one), judges.best(one.parent)?.line])]);
    if (now !== listed) put(worst, losses.length ? [h("p", { class: "note" }, `${counts.join("; ")}. The worst, and what was better:`), losses.map((one) => h("div", { class: "row" },
      h("button", { type: "button", onclick: () => go(one) }, `${one.depth}. ${one.move} ${glyph(judges.lost(one))} −${percent(judges.lost(one))}`), h("span", { class: "mono line grow" }, spaced(judges.best(one.parent)?.line ?? [])),
      h("button", { type: "button", "aria-label": `Add what was better than move ${one.depth} as a variation`, onclick: () => add(one.parent) }, "Add"))),
    !replay.look && practised(losses).length > 0 && h("div", {}, h("button", { type: "button", onclick: () => { keepPuzzles(practised(losses)); begin(views.puzzles, "own"); } }, "Find the better moves"))]
      : h("p", { class: "note" }, judges.asked ? "No move gave much away, as far as that is known." : "Analyse the game to see what moves gave away."));
    listed = now;
    tell();
    words();
  }

  /** What decided the game, in a sentence. */
  function tell() {
    const { bad, forced } = judges.story(line), loser = forced && sides[Number(judges.best(forced).win_rate > 0.5)], after = bad && judges.best(bad), point = bad && judges.best(bad.parent)?.line[0];
    const won = after && proven(after.value, after.player).startsWith("wins");
    put(story, bad && ["After ", h("a", { href: "", onclick: (event) => { event.preventDefault(); go(bad); } }, bad.move), ` (move ${bad.depth})`, won ? ` ${sides[1 - sideToMove(bad.parent)]} had a forced win` : ` ${sides[sideToMove(bad.parent)]} had given away ${percent(judges.lost(bad))}`, point && point !== bad.move ? `; ${point} was the point. ` : ". "],
      forced && (forced === bad ? `From there on the loss of ${loser} was forced.` : `The loss of ${loser} was forced from ${forced.move} (move ${forced.depth}) on.`));
  }

  /** The worst turns as puzzles: those of the person who played the game, if one did. */
  function practised(losses) {
    const own = [head.first_name, head.second_name].indexOf("You");
    return losses.filter((one) => judges.best(one.parent)?.line.length && (own < 0 || sideToMove(one.parent) === own)).map((one) => {
      const { player, line: moves } = judges.best(one.parent);
      return { place: placeOf(one.parent), played: one.move, lost: judges.lost(one), line: moves.slice(0, 6), player, solved: false };
    });
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

  /** The tree as a file: {name, text}. */
  function written(format) {
    const same = mainMoves(tree).join() === ofFile.join(), all = (one) => judges?.all(one) ?? [];
    const whole = { place: { ...place, moves: [] }, nodes: tree.list((one) => ({ judgements: all(one) })), comment: tree.root.comment, judgements: all(tree.root),
      first_name: head.first_name, second_name: head.second_name, event: head.event, winner: same ? head.winner : null, resigned: same && head.resigned };
    return post("analyse/export", { tree: whole, format, name: replay.source ? `${replay.name.replace(/\.[^.]*$/, "")}-${head.number}` : head.game });
  }

  async function save(format) {
    try { const { name: file, text } = await written(format); saveAs(file, text); } catch (error) { toast(error.message, "bad"); }
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
  return `${sidesOf(head.game)[head.winner === "first" ? 0 : 1]} won${head.resigned ? " by resignation" : ""}`;
}
