// A game: the board, who plays, what they think, clocks, moves. The server knows the game; this draws it and says what
// a person does.

import { copies, saveAs } from "../analyse/copy.js";
import { here, post, socket } from "../api.js";
import { backInSight, clockText, h, notice, percent, put, reveal, short, spaced, toast } from "../dom.js";
import { GameBoard, numbersButton, sidesOf, still } from "./board.js";
import { parsePlayer, playerTitle } from "./player.js";
import { LAST, shareLink, stored } from "./setup.js";
import { SquaresOfSides, counted } from "./squares.js";
import { Teacher, teaches, teachSwitch } from "./teach.js";

const SLOW_MS = 1000;
const PROVEN = 5000; // of greater values in squares or points, `DECIDED` of the server's analysis
const STAGES = { loading: "is getting ready …", thinking: "is thinking …", done: "" };

export function showGame(root, id) {
  let resigning = false, game = null, board = null, shown = null, turned = null, looking = null, thought = null, slow = 0, lost = false;
  const place = h("div", { class: "board-place" }), live = h("p", { class: "hidden-text", role: "status", "aria-live": "polite" });
  const status = h("p", { class: "status" }), hintLine = h("p", { class: "note part" });
  const bars = [h("div", { class: "seat" }), h("div", { class: "seat" })];
  const thinking = h("section", { class: "thinking", "aria-label": "What the player thinks" }), list = h("ol", { class: "moves", "aria-label": "Moves" });
  const problem = h("div", { class: "problem" }), teaching = h("div"), buttons = h("div", { class: "row actions" }), meter = h("div", { class: "meter", "aria-hidden": "true" }, h("div"));
  const step = (text, label, to) => h("button", { type: "button", class: "icon", "aria-label": label, onclick: () => game && look(Math.max(0, to(looking ?? game.board.moves.length))) }, text);
  const typed = h("input", { type: "text", class: "typed", maxlength: 16, autocomplete: "off", spellcheck: "false", placeholder: "move", "aria-label": "Move to play", onchange: () => { const text = typed.value.trim(); typed.value = ""; if (text) send(text); } });
  const steps = h("div", { class: "row steps" }, step("|◀", "To the start", () => 0), step("◀", "Previous move", (at) => at - 1), step("▶", "Next move", (at) => at + 1), step("▶|", "To the end", () => Infinity), typed);
  const tools = h("div", { class: "row tools" }), switches = h("div"), numbers = numbersButton(() => look(looking ?? game.board.moves.length));
  const squares = new SquaresOfSides(() => game?.board.game === "amazons" && [board, { ...game.place, moves: game.board.moves.slice(0, looking ?? undefined) }], () => draw());
  const teacher = new Teacher(teaching, {
    onplay: send, onback: () => board.show(game.board), onbetter: (line) => { board.show(game.board); board.line(line); },
  });
  put(root, live, problem, h("div", { class: "beside play-layout" },
    h("div", { class: "with-meter" }, meter, place, steps),
    h("div", { class: "stack" }, h("section", { class: "card stack" }, h("h1", { class: "hidden-text" }, "Game"), bars[1], bars[0], status, teaching, hintLine, squares.text, buttons, switches),
      h("section", { class: "card stack thought-card" }, thinking), h("section", { class: "card stack" }, list, tools))));
  const act = (what, more = {}) => wire.send({ do: what, ...more }) || toast("Not connected; trying again.", "bad");
  const wire = socket(`play/games/${encodeURIComponent(id)}/socket`, { message, state, refused });
  const ticking = setInterval(tick, 100);
  addEventListener("keydown", onkey);

  function state(name) {
    if (name !== "lost") return; // once it is open, the server sends the game
    lost = true;
    put(problem, notice("The connection to the server is lost; trying again. The game is kept.", "bad"));
    board?.show(still(game.board));
  }

  function refused(text, code) {
    lost = true;
    const kept = stored(`zugwerk.game.${id}`);
    const own = typeof kept?.link === "string" && h("a", { class: "button main", href: kept.link.replace(location.origin, "") }, "Go on from where it stood");
    put(problem, notice(`${text[0].toUpperCase()}${text.slice(1)}.`, "bad", h("div", { class: "row" }, code === 4404 ? own : h("button", { type: "button", onclick: () => location.reload() }, "Reload"), h("a", { class: "button", href: "#/play" }, "New game"))));
    if (code === 4404 && localStorage.getItem(LAST) === id) localStorage.removeItem(LAST);
    if (game) board?.show(still(game.board));
  }

  function message(value) {
    clearTimeout(slow);
    if (lost) { lost = false; put(problem); }
    if (value.kind === "game") gameMessage(value);
    else if (value.kind === "thought") thoughtMessage(value);
    else if (value.engine) put(problem, notice(value.text, "bad", h("button", { type: "button", onclick: () => { put(problem); act("go"); } }, "Ask it again")));
    else toast(value.text, "bad");
  }

  function gameMessage(value) {
    const before = game;
    game = value;
    resigning &&= !game.ended && before.board.moves.length === game.board.moves.length;
    game.heard = performance.now();
    if (!board) {
      localStorage.setItem(LAST, id);
      turned = game.board.game === "amazons" && game.seats[0] !== "person" && game.seats[1] === "person";
      makeBoard();
      steps.append(...(game.board.plain ? [] : [game.board.game === "amazons" ? squares.button : numbers]), h("button", { type: "button", onclick: () => { turned = !turned; makeBoard(); look(looking ?? game.board.moves.length); } }, "Turn board"));
    }
    if (!before || before.board.moves.length !== game.board.moves.length) teacher.drop();
    if (teacher.holds) { draw(); return; }
    if (before && before.board.moves.length !== game.board.moves.length) { if (thought?.stage !== "done" || thought.purpose === "hint" || before.board.moves.length > game.board.moves.length) thought = null; looking = shown = null; put(hintLine); }
    localStorage.setItem(`zugwerk.game.${id}`, JSON.stringify({ link: shareLink(game.place, game.board.moves, game.seats), at: Date.now() }));
    forgetOld();
    if (looking === null) { board.show(game.board); squares.update(); }
    draw();
    say(before);
    if (!before && document.activeElement === document.body) { const { grid } = board.board; grid.cells.get(grid.focusable).focus({ preventScroll: true }); }
    if (before?.opening && !game.opening) put(hintLine, coloursWords());
  }

  function makeBoard() {
    board?.remove();
    board = new GameBoard(place, { game: game.board.game, height: game.board.height, width: game.board.width, turned, look: game.board.plain?.look,
      onmove: (move) => { put(hintLine); if (teaches() && !lost && !game.opening) teacher.ask({ ...game.place, moves: game.board.moves }, game.board.to_play, move); else send(move); },
      onpart: (text) => put(hintLine, text) });
  }

  function send(move) {
    if (act("move", { move, ply: game.board.moves.length })) slow = setTimeout(() => put(status, "Waiting for the server …"), SLOW_MS);
    else if (lost) board.show(game.board);
  }

  function say(before) {
    const moves = game.board.moves, side = game.board.plain ? before?.board.to_play : (moves.length + 1) % 2; // a side may move twice
    if (before && moves.length > before.board.moves.length) live.textContent = `${sidesOf(game.board.game)[side]} played ${moves.at(-1)}. ${result() || ""}`;
    else if (result()) live.textContent = result();
  }

  function result() {
    if (!game.ended) return "";
    if (game.board.winner === "draw") return "The game is drawn.";
    const won = game.board.winner === "first" ? 0 : 1, name = sidesOf(game.board.game)[won];
    const why = { board: "", agreed: " All is settled, and the result was agreed on.", resigned: ` ${sidesOf(game.board.game)[1 - won]} resigned.`, time: ` ${sidesOf(game.board.game)[1 - won]} ran out of time.` }[game.ended];
    return `${name} has won.${why}`;
  }

  function draw() {
    const people = game.seats.filter((one) => one === "person").length, over = Boolean(game.ended);
    game.seats.forEach((seat, side) => {
      const toMove = !over && (game.opening ? game.opening.seat : game.board.to_play) === side;
      put(bars[side], h("span", { class: `dot ${sidesOf(game.board.game)[side].toLowerCase()}` }),
        h("span", { class: "grow" }, h("strong", {}, sidesOf(game.board.game)[side]), h("span", { class: "note" }, ` ${game.opening ? "" : people === 1 && seat === "person" ? "You" : game.levels[side] || playerTitle(seat)}`)),
        game.clocks ? h("span", { class: "clock", "data-side": side }) : null);
      bars[side].classList.toggle("to-move", toMove);
      bars[side].style.order = Boolean(turned) === (side === 0) ? -2 : -1; // as they sit at the board
    });
    put(status, looking !== null ? [`Looking at move ${looking} of ${game.board.moves.length}. `, h("button", { type: "button", onclick: () => look(game.board.moves.length) }, "Back to the game")] : result() || (game.paused ? "Paused." : game.opening ? openingWords() : game.persons_turn ? (people === 2 ? `${sidesOf(game.board.game)[game.board.to_play]} to move.` : "Your turn.") : `${sidesOf(game.board.game)[game.board.to_play]} to move.`));
    if (game.counted && looking === null && !squares.on) status.append(` All is settled: ${counted(game.counted)}.`);
    const mine = people === 1 && over && looking === null && game.board.winner !== "draw" && game.seats[game.board.winner === "first" ? 0 : 1] === "person";
    status.classList.toggle("over", over);
    status.classList.toggle("won", mine);
    const beaten = over && people === 1 && looking === null && !mine && game.board.winner !== "draw";
    status.classList.toggle("gone", beaten);
    const button = (text, what, more = {}) => h("button", { type: "button", onclick: () => act(what), ...more }, text);
    put(buttons,
      button("Undo", "undo", { disabled: !game.can_undo }),
      game.opening ? openingButtons() : null,
      game.board.plain?.picks.pass ? h("button", { type: "button", class: "main", onclick: () => send(game.board.plain.picks.pass) }, "Pass") : null,
      people ? button("Hint", "hint", { disabled: !game.persons_turn || game.opening, ...(game.board.plain && people === 1 && { onclick: () => act("hint", { player: game.seats.find((seat) => seat !== "person") }) }) }) : null,
      people ? resigning ? [button("Yes, resign", "resign", { class: "danger" }), h("button", { type: "button", onclick: () => { resigning = false; draw(); } }, "Play on")]
        : h("button", { type: "button", class: "danger", disabled: !game.persons_turn || game.opening || !game.board.moves.length, onclick: () => { resigning = true; draw(); } }, "Resign") : null,
      people && game.counted ? button("Agree", "agree", { class: "main" }) : null,
      game.thinking ? button("Move now", "stop") : null,
      people < 2 && !over ? (game.paused ? button("Go on", "go", { class: "main" }) : people ? null : button("Pause", "pause")) : null,
      over ? h("a", { class: `button double${beaten ? " main" : ""}`, href: analyseLink() }, "Analyse this game") : h("a", { class: "button double", href: shareLink(game.place, game.board.moves, game.seats).replace(location.origin, "") }, "Other players"),
      over ? h("a", { class: `button${beaten ? "" : " main"}`, href: "#/play" }, "New game") : null);
    if (people && !switches.firstChild) put(switches, teachSwitch());
    drawMoves();
    drawTools();
    drawThought();
    tick();
  }

  /** Who has to do what in the opening, in which colours belong to nobody yet. */
  function openingWords() {
    const { seat, stones } = game.opening, does = stones ? `${stones} ${stones === 1 ? "stone" : "stones"} to place, black and white in turn` : "choose a colour; White moves next";
    if (seat === null) return "Level stones are looked for …";
    const who = game.seats[seat] !== "person" ? playerTitle(game.seats[seat]) : game.seats[1 - seat] === "person" ? `${["First", "Second"][seat]} person` : "You";
    return `${who}: ${does}.`;
  }

  /** Whose the colours are, once somebody has chosen. */
  function coloursWords() {
    const [black, white] = game.seats.map((seat, side) => seat !== "person" ? (game.levels[side].split(",")[0] || playerTitle(seat)) : game.seats[1 - side] === "person" ? "" : "You");
    return !black ? "" : black === "You" ? `You are Black. ${white} takes White.` : `${black} takes Black. ${white === "You" ? "You are" : `${white} takes`} White.`;
  }

  function openingButtons() {
    const { seat, stones, may_place } = game.opening;
    if (seat === null || game.seats[seat] !== "person") return null;
    const button = (text, what, more) => h("button", { type: "button", class: "main", onclick: () => act(what, more) }, text);
    if (stones) return h("button", { type: "button", class: "double", onclick: () => { put(hintLine, "Level stones are looked for …"); act("balance"); } }, "Balanced stones");
    const choose = (text, choice) => button(text, "choose", { choice });
    return [choose("Play Black", "swap"), choose("Play White", "stay"), may_place ? h("button", { type: "button", class: "double", onclick: () => act("choose", { choice: "place" }) }, "Place two more stones") : null];
  }

  /** The page Analyse with this game, which it begins to judge at once. */
  function analyseLink() {
    const { place, board: { moves, winner }, seats } = game, people = seats.filter((one) => one === "person").length;
    const names = seats.map((seat) => seat === "person" ? (people === 1 ? "You" : "") : playerTitle(seat));
    const query = new URLSearchParams({ game: place.game, size: place.size, variant: place.variant, judge: 1, first_name: names[0], second_name: names[1] });
    if (place.fen) query.set("fen", place.fen);
    if (moves.length) query.set("moves", moves.join(","));
    if (winner) query.set("winner", winner);
    if (game.ended === "resigned") query.set("resigned", 1);
    return `#/analyse?${query}`;
  }

  function drawMoves() {
    const moves = game.board.moves, at = looking ?? moves.length;
    const one = (k) => k < moves.length ? h("button", { type: "button", class: "move", "aria-current": k + 1 === at ? "step" : null, onclick: () => look(k + 1) }, moves[k]) : null;
    put(list, moves.length ? Array.from({ length: Math.ceil(moves.length / 2) }, (_, k) => h("li", {}, h("span", { class: "ply" }, `${k + 1}`), one(2 * k), one(2 * k + 1))) : h("li", { class: "note" }, "No moves yet."));
    const current = list.querySelector("[aria-current]");
    if (current) reveal(list, current);
  }

  function drawTools() {
    const moves = game.board.moves.slice(0, looking ?? undefined), names = game.seats.map((seat, side) => seat === "person" ? (game.seats[1 - side] === "person" ? `${["First", "Second"][side]} person` : "You") : game.levels[side] || playerTitle(seat));
    const sgf = async (more) => (await post("analyse/export", { tree: { place: { ...game.place, moves }, ...more }, format: "sgf" })).text;
    const save = async () => { try { saveAs(`${game.board.game}.sgf`, await sgf({ first_name: names[0], second_name: names[1], winner: game.board.winner, resigned: game.ended === "resigned", date: new Date().toISOString().slice(0, 10) })); } catch (error) { toast(error.message, "bad"); } };
    put(tools,
      copies(() => ({ moves, fen: shown?.fen ?? game.board.fen, link: shareLink(game.place, moves, game.seats), sgf: !game.board.plain && sgf })),
      game.formats.map((suffix) => here ? h("button", { type: "button", onclick: save }, `Save .${suffix}`) : h("a", { class: "button", href: `/api/play/games/${encodeURIComponent(id)}/record.${suffix}`, download: "" }, `Save .${suffix}`)));
  }

  async function look(ply) {
    const moves = game.board.moves;
    if (ply >= moves.length) { looking = shown = null; board.show(game.board); squares.update(); draw(); return; }
    looking = ply;
    backInSight(place);
    try {
      const position = await post("play/board", { ...game.place, moves: moves.slice(0, ply) });
      if (looking === ply) { shown = position; board.show(still(position)); squares.update(); }
    } catch (error) { toast(error.message, "bad"); }
    draw();
  }

  function onkey(event) {
    if (!game || event.target.closest?.("input, select, textarea, .cell") || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = looking ?? game.board.moves.length;
    if (event.key === "ArrowLeft" && at > 0) look(at - 1);
    else if (event.key === "ArrowRight" && looking !== null) look(at + 1);
  }

  function thoughtMessage(value) {
    if (value.stage !== "done" && !value.thought && thought?.side === value.side && thought.stage !== "done") value.thought = thought.thought;
    thought = value;
    if (value.stage === "done" && value.hint) {
      put(hintLine, `Hint: ${value.hint}`);
      if (looking === null) board.line([value.hint, ...(value.thought?.line.slice(1) || [])]);
      backInSight(place);
    } else if (value.stage === "thinking" && value.thought && looking === null && !board.board.from) board.line(value.thought.line);
    drawThought();
  }

  function drawThought() {
    const found = thought?.thought;
    thinking.parentElement.classList.toggle("empty", !thought);
    thinking.parentElement.classList.toggle("hidden", !thought && game.seats.every((seat) => seat === "person"));
    if (!thought) { put(thinking, h("p", { class: "note" }, "What a player thinks is shown here.")); drawMeter(null); return; }
    const who = thought.purpose === "hint" ? "The hint's player" : game.levels[thought.side].split(",")[0] || parsePlayer(game.seats[thought.side]).name;
    const text = thought.stage === "waiting" ? `waits for a free engine; ${thought.before} before it.` : thought.stage === "done" ? (thought.purpose === "hint" ? "suggests:" : found ? "thought:" : "moves without a search.") : STAGES[thought.stage];
    const value = !found || found.value === null || (found.unit !== "rate" && Math.abs(found.value) >= PROVEN) ? (found?.win_rate > 0.5 ? "won" : found?.win_rate < 0.5 ? "lost" : "") : found.unit === "rate" ? percent((1 + found.value) / 2) : `${signed(found.value, found.unit === "squares" ? 1 : 0)} ${found.unit}`;
    put(thinking, h("h2", {}, h("span", { class: thought.stage === "done" ? "" : "pulse" }), `${who} ${text}`),
      found ? [h("dl", { class: "figures" }, [["depth", found.depth], ["nodes", short(found.nodes)], ["nodes / s", found.seconds > 0.01 ? short(found.nodes / found.seconds) : "–"], ["value", value || "–"]].map(([name, shown]) => h("div", {}, h("dt", {}, name), h("dd", {}, shown)))),
        h("p", { class: "line" }, spaced(found.line, 8))] : null);
    drawMeter(found ? (thought.side === 0 ? found.win_rate : 1 - found.win_rate) : null);
  }

  function drawMeter(rate) {
    const light = sidesOf(game.board.game)[0] === "White" ? rate : 1 - rate;
    meter.classList.toggle("known", rate !== null);
    if (rate !== null) meter.firstChild.style.height = `${100 * light}%`;
    meter.classList.toggle("turned", Boolean(turned) !== (sidesOf(game.board.game)[0] === "Black"));
  }

  function tick() {
    if (!game?.clocks || lost) return;
    for (const shown of root.querySelectorAll(".clock")) {
      const side = Number(shown.dataset.side), runs = game.clocks.running === side;
      const left = game.clocks.left_ms[side] - (runs ? performance.now() - game.heard : 0), text = clockText(left);
      if (shown.textContent !== text) shown.textContent = text;
      shown.classList.toggle("short", left < 20000);
    }
  }

  return () => { wire.close(); clearInterval(ticking); clearTimeout(slow); removeEventListener("keydown", onkey); board?.remove(); };
}

/** A number with its sign; what rounds to 0 has none. */
function signed(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : value > 0 ? `+${text}` : text.replace("-", "−");
}

/** Of games in other tabs, fifty are remembered at most. */
function forgetOld() {
  const all = Object.keys(localStorage).filter((key) => key.startsWith("zugwerk.game."));
  if (all.length <= 50) return;
  all.map((key) => [stored(key)?.at || 0, key]).sort((a, b) => a[0] - b[0]).slice(0, all.length - 50).forEach(([, key]) => localStorage.removeItem(key));
}
