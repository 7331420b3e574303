// The games of a tournament: a list, and a board on which one is stepped through. `#game-12` in the address opens one.

const { sides, games } = JSON.parse(document.getElementById("data").textContent);
const list = h("tbody"), boardBox = h("div"), title = h("p", { class: "names" }), why = h("div"), where = h("span", { class: "turn", "aria-live": "polite" });
const turns = h("div", { class: "turns", tabindex: 0, role: "group", "aria-label": "Moves" });
const step = (text, label, to) => h("button", { type: "button", class: "icon", "aria-label": label, onclick: () => go(to()) }, text);
const buttons = [step("|◀", "To the start", () => 0), step("◀", "Previous move", () => ply - 1), step("▶", "Next move", () => ply + 1), step("▶|", "To the end", () => game.moves.length)];
const names = [...new Set(games.flatMap((one) => one.names))];
const filter = select([["", "All games"], ...names.map((name) => [name, `of ${name}`])], "", () => fillList());
let game = null, ply = 0, board = null, words = [];

const winner = (one) => one.winner === "draw" ? "drawn" : sides[one.winner === "first" ? 0 : 1], forfeit = (one) => one.forfeit ? ` (${one.forfeit})` : "";

function fillList() {
  put(list, games.filter((one) => !filter.value || one.names.includes(filter.value)).map((one) => h("tr", { "data-game": one.number, "aria-current": one === game ? "true" : null },
    h("td", {}, h("button", { type: "button", "aria-label": `Game ${one.number}`, onclick: () => open(one.number) }, String(one.number))),
    h("td", {}, one.names[0]), h("td", {}, one.names[1]), h("td", {}, `${winner(one)}${forfeit(one)}`), h("td", { class: "num" }, one.moves.length))));
}

function open(number, ply = 0) {
  const found = games.find((one) => one.number === number);
  if (!found) return;
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  game = found;
  list.querySelector(`[data-game="${number}"]`)?.setAttribute("aria-current", "true");
  board?.remove();
  board = new Board(boardBox, { width: game.width, height: game.height, label: `Board of game ${number}` });
  put(title, `Game ${number}: `, h("strong", {}, game.names[0]), ` (${sides[0]}) – `, h("strong", {}, game.names[1]), ` (${sides[1]}), ${winner(game)}${game.winner === "draw" ? "" : " won"}${forfeit(game)}`);
  put(why, game.detail ? notice(`Forfeit, ${game.forfeit}: ${game.detail}`, "bad") : null);
  words = game.moves.map((move, k) => h("button", { type: "button", class: k < game.opening ? "opening" : null, title: k < game.opening ? "of the opening" : null, onclick: () => go(k + 1) }, move));
  put(turns, words.flatMap((word, k) => k % 2 ? [word] : [h("span", { class: "n" }, `${k / 2 + 1}.`), word]));
  turns.scrollTop = 0;
  go(ply);
}

function go(to) {
  words[ply - 1]?.removeAttribute("aria-current");
  ply = Math.max(0, Math.min(game.moves.length, to));
  const word = words[ply - 1];
  word?.setAttribute("aria-current", "true");
  if (word) { const top = word.offsetTop - turns.offsetTop; if (top < turns.scrollTop || top > turns.scrollTop + turns.clientHeight - 40) turns.scrollTop = top - turns.clientHeight / 2; }
  board?.set({ fen: game.ranks[ply], last: ply ? game.moves[ply - 1] : null });
  put(where, `Move ${ply} of ${game.moves.length}`);
  buttons.forEach((one, k) => { one.disabled = k < 2 ? ply === 0 : ply === game.moves.length; });
}

addEventListener("keydown", (event) => {
  if (!game || event.target.closest("input, select, .board, .scroll") || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = { ArrowLeft: ply - 1, ArrowRight: ply + 1 }[event.key];
  if (to !== undefined) { event.preventDefault(); go(to); }
});

const replay = document.getElementById("replay"), asked = () => Number(location.hash.match(/^#game-(\d+)$/)?.[1] || 0);
put(replay, h("h2", {}, "Games"), games.length ? h("div", { class: "beside wide" },
  h("div", { class: "stack" }, boardBox, h("div", { class: "row steps" }, buttons, h("span", { class: "grow" }), where)),
  h("div", { class: "stack" }, h("div", { class: "card stack" }, title, why, turns),
    h("div", { class: "card stack" }, field("Games shown", filter), h("div", { class: "scroll games", tabindex: 0, role: "region", "aria-label": "Games" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Game", "First", "Second", "Winner", "Moves"].map((word) => h("th", { scope: "col" }, word)))), list))))) : h("p", {}, "None has been played yet."));
fillList();
if (games.length) open(asked() || games[0].number);
addEventListener("hashchange", () => { if (asked()) { open(asked()); replay.scrollIntoView(); } });
if (asked()) replay.scrollIntoView();
