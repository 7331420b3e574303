// A new game: who plays whom, on which board, by which rule; or a position that somebody has shared.

import { get, post } from "../api.js";
import { choice, field, h, notice, put, select, toast } from "../dom.js";
import { before } from "../analyse/copy.js";
import { GameBoard, SIDES, startFen, still, titleOf } from "./board.js";
import { PlayerPicker, parsePlayer, writePlayer } from "./player.js";
import { teachSwitch } from "./teach.js";

const PLACE = ["game", "size", "variant", "fen", "moves"];
const KEPT = "zugwerk.play.setup", LAST = "zugwerk.play.last";

const OPENINGS = [["", "none"], ["balanced", "balanced stones"], ["swap", "swap"], ["swap2", "swap2"]];
const OPENING_NOTES = { balanced: "Three stones that a search calls level.", swap: "One side places three stones, the other takes a colour.", swap2: "As swap; or the other places two more and leaves the choice." };

/** Whether a game may begin with stones that make it level: Gomoku with lines of five, on a board that has room. */
function hasOpening({ game, size, variant }) { return game === "gomoku" && size >= 7 && !/-[^5]/.test(variant); }

export function showSetup(root, params) {
  const kept = usable(stored(KEPT)) || {};
  const shared = params.moves || params.fen || params.size;
  const setup = { game: "amazons", size: 10, variant: "standard", mode: "player", side: 0, minutes: "", increment: "", ...kept };
  const asked = PLACE.some((key) => params[key] !== undefined);
  if (asked) Object.assign(setup, { game: params.game ?? "amazons", size: params.size, variant: params.variant || "" });
  const moves = params.moves ? params.moves.split(",") : [];
  if (params.first && params.second) seat(setup, [params.first, params.second]);
  else if (shared) setup.mode = params.own ? "player" : "people";
  if (params.own) setup.side = (Number([setup.game === "amazons" ? "b" : "w", "1"].includes(params.fen?.split(" ")[1]?.split(",")[0])) + moves.length) % 2; // who is to move there
  const wrong = h("p", { class: "bad-text", role: "alert" });
  let board = null, all = null, closed = false, seats = null, previews = 0;

  const place = h("div", { class: "board-place" }), form = h("form", { class: "card stack setup", onsubmit: begin });
  root.append(h("div", { class: "beside play-layout" }, place, h("div", { class: "stack" }, again(), form)));
  put(form, h("h1", {}, "New game"), h("p", { class: "note" }, "Loading the players …"));
  if (!asked && setup.game in SIDES) preview();
  get("play/choices").then((found) => {
    if (closed) return;
    all = found;
    const refused = asked && settle(setup, found.games, Boolean(params.fen));
    if (refused) { refuse(refused); return; }
    if (!all.games.some((one) => one.game === setup.game)) { localStorage.removeItem(KEPT); Object.assign(setup, { game: "amazons", size: 10, variant: "standard" }); } // of a server that was given another file
    if (asked || !board || board.game !== setup.game) preview();
    fillForm();
  })
    .catch((error) => put(form, notice(error.message, "bad", h("button", { type: "button", onclick: () => location.reload() }, "Try again"))));

  function again() {
    const last = localStorage.getItem(LAST);
    return last && !shared ? h("a", { class: "button", href: `#/play?id=${encodeURIComponent(last)}` }, "Go on with your last game") : null;
  }

  function refuse(why) {
    board?.remove();
    put(root, notice(why, "bad", before(why), " ", h("a", { href: "#/play" }, "Begin from the start")));
  }

  function preview() {
    const turn = ++previews;
    board?.remove();
    board = null;
    if (!params.fen && setup.game in SIDES) {
      board = new GameBoard(place, { game: setup.game, height: setup.size, width: setup.size });
      board.show({ fen: startFen(setup.game, setup.size, setup.variant) });
    }
    if (!moves.length && !params.fen && setup.game in SIDES) return;
    post("play/board", { game: setup.game, size: setup.size, variant: setup.variant, fen: params.fen || "", moves }).then((position) => {
      if (closed || turn !== previews) return;
      board?.remove();
      board = new GameBoard(place, { game: position.game, height: position.height, width: position.width, look: position.plain?.look });
      board.show(still(position));
    }).catch((error) => { if (!closed && turn === previews) refuse(`This position cannot be shown: ${error.message}`); });
  }

  function fillForm() {
    const about = all.games.find((one) => one.game === setup.game) || all.games[0], own = !(about.game in SIDES);
    if (!about.variants.some((one) => setup.variant === one.name || (setup.game === "gomoku" && setup.variant.startsWith(`${one.name}-`)))) setup.variant = about.variants[0].name;
    const [base, length = ""] = setup.variant.split("-"), rule = about.variants.find((one) => one.name === base);
    if (!rule.sizes.includes(setup.size)) setup.size = about.size;
    const redo = (change) => { Object.assign(setup, change); preview(); fillForm(); };
    const sizes = select(rule.sizes.map((one) => [String(one), own ? String(one) : `${one} × ${one}`]), String(setup.size), (value) => redo({ size: Number(value) }));
    const variants = select(about.variants.map((one) => [one.name, one.name]), base, (value) => redo({ variant: value }));
    const line = h("input", { type: "number", min: "3", max: "9", value: length || "5", onchange: () => redo({ variant: line.value === "5" ? base : `${base}-${line.value}` }) });
    const minutes = h("input", { type: "number", min: "0.1", max: "600", step: "any", value: setup.minutes, placeholder: "no limit", oninput: () => { setup.minutes = minutes.value; } });
    const increment = h("input", { type: "number", min: "0", max: "600", step: "any", value: setup.increment, placeholder: "0", oninput: () => { setup.increment = increment.value; } });
    const modes = [["player", "You and a player"], ["people", "Two people"], ["players", "Two players"]];
    seats = { player: picker("player", "Opponent"), first: picker("first", about.first), second: picker("second", about.second) };
    put(form, h("h1", {}, shared ? "Play on from here" : "New game"),
      shared ? h("p", { class: "note" }, moves.length ? `${params.own ? "A" : "A shared"} position of ${setup.game === "amazons" ? "the Amazons" : titleOf(setup.game)}, after ${moves.length} moves.` : params.own ? "A position of your own." : "A shared position.", " ", h("a", { href: "#/play" }, "Begin from the start instead")) : [
        games(about),
        own && rule.sizes.length === 1 && about.variants.length === 1 ? null : h("div", { class: "fields" }, field("Board", sizes), own && about.variants.length === 1 ? null : field(setup.game === "amazons" ? "Start" : "Rule", variants),
          setup.game === "gomoku" && base !== "renju" ? field("In a row", line) : null,
          hasOpening(setup) ? field("Opening", select(OPENINGS, setup.opening ||= "", (value) => { setup.opening = value; fillForm(); }), OPENING_NOTES[setup.opening]) : null)],
      own ? null : h("a", { class: "button", href: `#/analyse?${new URLSearchParams({ edit: 1, game: setup.game, ...(params.fen ? { fen: params.fen } : { size: setup.size, variant: setup.variant }) })}` }, "Set up a position"),
      choice("Who plays", modes, setup.mode, (mode) => { setup.mode = mode; fillForm(); }),
      setup.mode === "player" ? [seats.player.element, choice("You play", [["0", `${about.first} (first)`], ["1", `${about.second} (second)`]], String(setup.side), (side) => { setup.side = Number(side); }), teachSwitch()] : null,
      setup.mode === "players" ? [seats.first.element, seats.second.element] : null,
      h("details", { open: Boolean(setup.minutes) }, h("summary", {}, "Clock"), h("div", { class: "fields" }, field("Minutes a side", minutes), field("Seconds added a move", increment))),
      wrong, h("button", { class: "main", type: "submit" }, "Play"));

    function games({ game, rules }) {
      const chosen = (one) => { const found = all.games.find((other) => other.game === one); redo({ game: one, size: found.size, variant: "", ...found.boards[found.models[0]] }); };
      const others = all.games.map((one) => one.game).filter((one) => !(one in SIDES)), named = [["amazons", "Amazons"], ["gomoku", "Gomoku"]];
      return [choice("Game", others.length ? [...named, [own ? game : others[0], "Others"]] : named, game, chosen),
        own ? field("Which", select(others.map((one) => [one, titleOf(one)]), game, chosen), rules) : null];
    }

    function picker(name, label) {
      const kept = `${name} ${setup.game}`, models = about.models.filter((one) => !own || (about.boards[one].size === setup.size && about.boards[one].variant === setup.variant));
      const asked = parsePlayer(setup[kept] ?? "").options[":MODEL"], text = own && asked && !models.includes(asked) ? "" : setup[kept];
      const offered = own ? { ...about, models, players: about.players.filter((one) => models.length || one.name !== "net"), usual: models.length ? writePlayer("net", { ":MODEL": models[0] }) : "mcts:nodes=1000" } : about;
      const ladder = about.ladders.find((one) => one.sizes.includes(setup.size) && one.variant === setup.variant);
      const board = ladder && ladder.size !== setup.size ? `${ladder.size} × ${ladder.size}` : "";
      const note = ladder ? "" : own ? (models.length ? "" : `There is no net for this board yet; zugwerk learn ${about.game} --size ${setup.size} makes one.`) : `There are no levels on this board. Strength is measured on ${about.ladders.map((one) => `${one.size} × ${one.size} ${one.variant}`).join(", ")}.`;
      return new PlayerPicker({ label, about: offered, levels: ladder && !params.fen ? ladder.levels : [], board, note, text, ontext: (text) => { setup[kept] = text; },
        onboard: (only) => { if (only && !shared && (only.height !== setup.size || only.variant !== setup.variant)) { redo({ size: only.height, variant: only.variant }); toast(`This player plays on ${only.height} × ${only.width}, ${only.variant}.`); } } });
    }
  }

  async function begin(event) {
    event.preventDefault();
    const button = form.querySelector("button.main");
    const opponent = setup.mode === "player" && seats.player.text;
    const both = { people: ["person", "person"], player: setup.side ? [opponent, "person"] : ["person", opponent], players: [seats.first.text, seats.second.text] }[setup.mode];
    button.disabled = true;
    put(wrong);
    try {
      const begun = await post("play/games", {
        place: { game: setup.game, size: setup.size, variant: setup.variant, fen: params.fen || "", moves },
        first: both[0], second: both[1], opening: !shared && hasOpening(setup) ? setup.opening : "", minutes: Number(setup.minutes) || null, increment_s: Number(setup.increment) || 0,
      });
      if (!shared) localStorage.setItem(KEPT, JSON.stringify(setup));
      location.hash = `#/play?id=${encodeURIComponent(begun.id)}`;
    } catch (error) {
      put(wrong, error.message);
      button.disabled = false;
    }
  }

  return () => { closed = true; board?.remove(); };
}

/** Make what a link asks for a board that there is, from the server's choices; return why that is not possible, or "". */
function settle(setup, games, hasFen) {
  const about = games.find((one) => one.game === setup.game);
  if (!about) return `There is no game ${setup.game} to play here. Games: ${games.map((one) => one.game).join(", ")}.`;
  const asked = setup.size, [base, length] = (setup.variant ||= about.variants[0].name).split("-");
  const rule = about.variants.find((one) => one.name === base);
  if (!rule) return `There is no variant ${setup.variant} of ${about.game}. Variants: ${about.variants.map((one) => one.name).join(", ")}.`;
  setup.size = asked === undefined || hasFen ? about.size : Number(asked);
  if (!rule.sizes.includes(setup.size)) return `There is no board of size ${asked} for ${about.game}, ${base}. Sizes: ${spanned(rule.sizes)}.`;
  const fits = /^[1-9]\d?$/.test(length) && Number(length) <= setup.size && about.game === "gomoku" && base !== "renju";
  return length === undefined || fits ? "" : `There is no variant ${setup.variant} of ${about.game} on a board of size ${setup.size}.`;
}

function spanned(sizes) {
  const low = Math.min(...sizes), high = Math.max(...sizes);
  return sizes.length > 2 && high - low === sizes.length - 1 ? `${low} to ${high}` : sizes.join(", ");
}

/** Set who plays from the texts of both seats. */
function seat(setup, seats) {
  const people = seats.filter((one) => one === "person").length;
  setup.mode = ["players", "player", "people"][people];
  if (people === 1) { setup.side = seats.indexOf("person"); setup[`player ${setup.game}`] = seats[1 - setup.side]; }
  if (!people) [setup[`first ${setup.game}`], setup[`second ${setup.game}`]] = seats;
}

/** What the browser keeps under a name; null, and no longer kept, if it is damaged. */
export function stored(key) {
  let found = null;
  try { found = JSON.parse(localStorage.getItem(key)); } catch { /* dropped below */ }
  if (found !== null && typeof found === "object" && !Array.isArray(found)) return found;
  localStorage.removeItem(key);
  return null;
}

/** A kept setup; null, and no longer kept, if no game can be offered from it. */
function usable(kept) {
  if (!kept) return null;
  const texts = Object.entries(kept).filter(([key]) => /^(variant|mode|opening|player|first|second)/.test(key));
  if (typeof (kept.game ?? "gomoku") === "string" && Number.isInteger(kept.size ?? 10) && texts.every(([, one]) => typeof one === "string")) return kept;
  localStorage.removeItem(KEPT);
  return null;
}

/** The link to a game's position, with the players who sit there. */
export function shareLink(place, moves, seats) {
  const query = new URLSearchParams({ game: place.game, size: place.size, variant: place.variant, first: seats[0], second: seats[1] });
  if (place.fen) query.set("fen", place.fen);
  if (moves.length) query.set("moves", moves.join(","));
  return `${location.href.split("#")[0]}#/play?${query}`;
}

export { SIDES, LAST };
