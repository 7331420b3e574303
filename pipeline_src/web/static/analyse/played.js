// What others played in a position of Go: in the corners, by a joseki library, and on the board, in the games of the server.

import { get, post } from "../api.js";
import { field, h, notice, number, put, select } from "../dom.js";
import { GO_FILES } from "../board/grid.js";
import { continuations, ofLibrary } from "../continuations.js";

const CORNERS = ["top left", "top right", "bottom left", "bottom right"], JOSEKI = 19, WAIT = 400, SHOWN = 8;
const WON = { first: "Black won", second: "White won", draw: "drawn" };

export class Played {
  /**
   * @param place(node) the position of a node, for requests
   * @param onplay(move) plays a move
   * @param onopen(source, game, ply) opens a game of a file
   * @param onpoint(marks) draws [{move, text}] on the board
   */
  constructor(options) {
    Object.assign(this, options, { node: null, area: "", more: false, chosen: -1, found: null });
    this.corners = h("div", { class: "stack" });
    this.folders = h("div", {});
    this.problem = h("p", { class: "note hidden" });
    this.said = h("p", { role: "status" });
    this.games = h("div", { class: "stack" });
    const text = h("input", { type: "text", maxlength: 20, autocomplete: "off", placeholder: `A1-${GO_FILES[this.half() - 1]}${this.half()}`, onchange: () => this.part(text.value.trim()) });
    this.other = field("Two corners of the part", text);
    this.other.classList.add("hidden");
    this.element = h("div", { class: "stack joseki played" },
      this.size === JOSEKI ? h("details", { class: "card", open: true }, h("summary", {}, "Joseki"), this.corners) : null,
      h("details", { class: "card", open: true }, h("summary", {}, "In the games of this server"), h("div", { class: "stack" }, this.folders,
        field("Find", select(this.parts(), "", (value) => {
          this.other.classList.toggle("hidden", value !== "other");
          if (value !== "other") this.part(value); else if (text.value.trim()) this.part(text.value.trim()); else text.focus();
        })), this.other, this.said, this.problem, this.games)));
    this.read();
    if (this.size === JOSEKI) this.libraries();
  }

  half() { return Math.ceil(this.size / 2); }

  /** Parts of the board to choose from, [area, words]. */
  parts() {
    const n = this.size, half = this.half(), at = (x, y) => `${GO_FILES[x - 1]}${y}`, low = n - half + 1;
    const quarters = [[1, low, half, n], [low, low, n, n], [1, 1, half, half], [low, 1, n, half]];
    const quarter = Math.floor(n / 4), sides = [[quarter + 1, low, n - quarter, n, "upper"], [quarter + 1, 1, n - quarter, half, "lower"], [1, quarter + 1, half, n - quarter, "left"], [low, quarter + 1, n, n - quarter, "right"]];
    return [["", "the whole board"], ...quarters.map(([l, b, r, t], k) => [`${at(l, b)}-${at(r, t)}`, `the ${CORNERS[k]} corner`]), ...sides.map(([l, b, r, t, name]) => [`${at(l, b)}-${at(r, t)}`, `the ${name} side`]), ["other", "another part"]];
  }

  part(area) { this.area = area; this.ask(); }

  async libraries() {
    put(this.corners, h("p", { class: "note" }, "Opening the library …"));
    try {
      const { libraries, problems } = await get("joseki/libraries");
      this.library = libraries[0]?.name;
      if (this.library) this.askCorners();
      else put(this.corners, h("p", { class: "note" }, problems.join("; ") || "There is no joseki library in the folders of this server (--folder). A clone of the project makes one: dvc repro joseki_build"));
    } catch (error) { put(this.corners, h("p", { class: "note" }, error.message)); }
  }

  /** Have the server read new games, and follow how far it is. */
  async read() {
    try {
      let { folders } = await post("go/read");
      while (folders.some((one) => one.state === "reading") && !this.gone) {
        const [done, files] = ["done", "files"].map((key) => folders.reduce((sum, one) => sum + one[key], 0));
        put(this.said, files ? `Reading the games: ${number(done)} of ${number(files)} files.` : "Looking for games …");
        await new Promise((then) => { this.timer = setTimeout(then, WAIT); });
        ({ folders } = await get("go/folders"));
      }
      if (this.gone) return;
      this.known = folders;
      const with_games = folders.filter((one) => one.games);
      this.folder = (with_games[0] || folders[0])?.folder;
      put(this.folders, with_games.length > 1 && field("Folder", select(with_games.map((one) => [one.folder, one.folder]), this.folder, (value) => { this.folder = value; this.ask(); })));
      const wrong = folders.flatMap((one) => [one.error, ...one.problems]).filter(Boolean), left = folders.reduce((sum, one) => sum + one.problems_in_all - one.problems.length, 0);
      this.problem.classList.toggle("hidden", !wrong.length);
      put(this.problem, `Not read: ${wrong.join("; ")}${left ? `; and ${number(left)} more` : ""}`);
      this.ask();
      if (folders.every((one) => one.state === "failed")) put(this.said);
    } catch (error) { if (!this.gone) put(this.said, error.message); }
  }

  look(node) { this.node = node; this.askCorners(); this.ask(); }

  /** Ask for the position that is shown; `show` gets the answer unless another question has come since. */
  async question(name, path, body, show, fail) {
    this[name]?.abort();
    const own = this[name] = new AbortController();
    try {
      const found = await post(path, { place: this.place(this.node), ...body }, { signal: own.signal });
      if (this[name] === own) show(found);
    } catch (error) { if (error.name !== "AbortError" && this[name] === own) fail(error.message); }
  }

  askCorners() {
    if (this.node && this.library) this.question("cornersAsked", "joseki/position", { library: this.library }, (found) => this.showCorners(found), (text) => put(this.corners, h("p", { class: "note" }, text)));
  }

  ask() {
    if (this.node && this.known?.some((one) => one.state === "ready"))
      this.question("gamesAsked", "go/find", { folder: this.folder, area: this.area }, (found) => { Object.assign(this, { found, chosen: -1, more: false }); this.showGames(); }, (text) => { put(this.said); put(this.games, notice(text, "bad")); });
  }

  mark(rows) { this.onpoint(rows.flatMap((one) => one.points.map((move) => ({ move, text: String(Math.round(100 * one.share)) })))); }

  showCorners(found) {
    const seen = found.corners.map((one, k) => h("li", {}, h("strong", {}, CORNERS[k]), one.known ? `: ${one.pattern || "empty"}, seen ${number(one.seen)} times` : ": not in the library"));
    const rows = found.continuations.slice(0, SHOWN).map((one) => ofLibrary(one, found.to_play, CORNERS[one.corner], { play: one.points.length ? () => this.onplay(one.points[0]) : null }));
    const empty = /^(19\/){18}19 b/.test(this.place(this.node).fen);
    put(this.corners, h("ul", { class: "plain" }, seen), rows.length ? continuations(rows, { label: `Joseki for ${found.to_play}`, games: false, rarer: found.continuations_in_all - rows.length, point: (one) => this.mark(one ? [one] : []) })
      : h("p", { class: "note" }, `The library has no move of ${found.to_play} in these corners.`),
    empty && h("p", {}, h("a", { href: `#/joseki?moves=${encodeURIComponent(found.moves.join(","))}` }, "Open in Joseki")));
  }

  showGames() {
    const { found } = this, toPlay = this.node.fen.split(" ")[1] === "w" ? "White" : "Black";
    put(this.said, found.occurrences ? `${number(found.occurrences)} times in ${number(found.games)} of ${number(found.searched)} games, in any symmetry. Black won ${number(found.black_won)}, White ${number(found.white_won)}, as the position has the colours.`
      : found.searched ? `In none of ${number(found.searched)} games.` : "There are no games of Go on a board of this size below the server’s folders.");
    const all = found.next.reduce((sum, one) => sum + one.played, 0);
    const rows = found.next.map((one) => ({
      points: one.points, share: one.played / all, times: one.played, black: one.black_won, white: one.white_won, note: one.colour,
      label: `Play ${one.points.join(" ")}, ${one.colour}`, play: one.colour === toPlay ? () => this.onplay(one.points[0]) : null,
      title: one.after_elsewhere ? `${number(one.after_elsewhere)} times after a move elsewhere` : "",
    }));
    const list = found.found.map((one, k) => ({ ...one, k })).filter((one) => this.chosen < 0 || one.next === this.chosen), shown = this.more ? list : list.slice(0, SHOWN);
    put(this.games, rows.length > 0 && continuations(rows, { label: "Next moves", games: false, rarer: found.next_in_all - rows.length, point: (one) => this.mark(one ? [one] : []) }),
      rows.length > 1 && field("Games that go on with", select([["-1", "any move"], ...found.next.map((one, k) => [String(k), `${one.colour} ${one.points.join(" ")}`])], String(this.chosen), (value) => { this.chosen = Number(value); this.showGames(); this.games.querySelector("select").focus(); })),
      shown.length > 0 && h("ul", { class: "plain found" }, shown.map((one) => {
        const words = `${one.first_name || "Black"} – ${one.second_name || "White"}, move ${one.ply}, ${WON[one.winner] || "result unknown"}`;
        return h("li", {}, one.source ? h("button", { type: "button", class: "quiet", onclick: () => this.onopen(one.source, one.number, one.ply) }, words) : words,
          h("small", {}, ` ${one.name}${one.number > 1 ? `, game ${one.number}` : ""}${one.next >= 0 ? `; next ${found.next[one.next].points[0]}` : ""}`));
      })),
      !this.more && list.length > SHOWN && h("button", { type: "button", onclick: () => { this.more = true; this.showGames(); } }, `Show ${number(list.length - SHOWN)} more`),
      this.more && found.occurrences > found.found.length && h("p", { class: "note" }, `${number(found.found.length)} of ${number(found.occurrences)} occurrences, the first ones of each next move.`));
  }

  remove() { this.gone = true; this.cornersAsked?.abort(); this.gamesAsked?.abort(); clearTimeout(this.timer); }
}
