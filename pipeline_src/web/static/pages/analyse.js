// Analyse: open a record, step through it, have players judge each of its positions, keep the result as SGF.

import { get, post, socket } from "../api.js";
import { h, put, field, notice, toast, number, percent, short } from "../dom.js";
import { AmazonsBoard } from "../board/amazons.js";
import { StoneBoard } from "../board/stones.js";
import { GO_FILES } from "../board/grid.js";
import { Chart } from "../chart.js";

const SIDES = { amazons: ["White", "Black"], gomoku: ["Black", "White"], go: ["Black", "White"] };
const COLOURS = ["var(--line-1)", "var(--line-2)"], DOUBTFUL = 0.1, BAD = 0.2, WORST = 5, PAGE = 50;

export async function show(root, params) {
  let ended = null;
  const at = (values) => history.replaceState(null, "", `#/analyse?${new URLSearchParams(values)}`);
  const begin = async (view, ...more) => { ended?.(); ended = null; try { ended = await view(...more) ?? null; } catch (error) { put(root, notice(error.message, "bad", h("button", { type: "button", onclick: () => begin(choose) }, "Open another"))); } };
  if (params.source && params.game) await begin(study, params.source, Number(params.game), Number(params.ply) || 0);
  else if (params.source) await begin(list, params.source, 0);
  else await begin(choose);
  return () => ended?.();

  /** Where a record comes from. */
  async function choose() {
    at({});
    const input = h("input", { type: "file", id: "file", accept: ".sgf,.psq,.txt,.parquet,.jsonl", onchange: () => input.files[0] && upload(input.files[0]) });
    const label = h("label", { class: "button main", for: "file" }, "Choose a file");
    const drop = h("div", { class: "drop" }, h("p", {}, "Drop a record here: LittleGolem’s text, SGF, a Piskvorky record (.psq), a Parquet archive, or the journal of a match."), input, label);
    drop.ondragover = (event) => { event.preventDefault(); drop.classList.add("over"); };
    drop.ondragleave = () => drop.classList.remove("over");
    drop.ondrop = (event) => { event.preventDefault(); drop.classList.remove("over"); if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]); };
    const files = h("div", { class: "card stack" }, h("h2", {}, "Records of this server"), h("p", { class: "note" }, "Loading …"));
    put(root, h("h1", {}, "Analyse a game"), h("div", { class: "stack" }, drop, files));
    const found = await get("analyse/files");
    const folders = new Map();
    for (const one of found.files) { const cut = one.name.lastIndexOf("/"), folder = one.name.slice(0, Math.max(0, cut)); folders.set(folder, [...(folders.get(folder) || []), one]); }
    const button = (one) => h("button", { type: "button", onclick: () => begin(list, one.source, 0), "aria-label": one.name, title: `${one.name}, ${short(one.bytes)}B` }, one.name.split("/").at(-1).replace(".parquet", ""));
    put(files, h("h2", {}, "Records of this server"), found.files.length
      ? [...folders].map(([folder, some]) => h("div", {}, h("h3", {}, folder || "at the top"), h("div", { class: "files" }, some.map(button))))
      : h("p", {}, "There are none below its folders yet."),
    found.left_out > 0 && h("p", { class: "note" }, `and ${number(found.left_out)} more`));
  }

  async function upload(file) {
    try {
      const opened = await post(`analyse/upload?name=${encodeURIComponent(file.name.slice(0, 200))}`, new Blob([await file.arrayBuffer()]));
      begin(list, opened.source, 0);
    } catch (error) { toast(error.message, "bad"); }
  }

  /** The games of a file. */
  async function list(source, first) {
    const found = await get(`analyse/games?source=${encodeURIComponent(source)}&first=${first}&count=${PAGE}`);
    if (found.games_in_all === 1 && !found.rejects_in_all) return study(source, found.games[0].number, 0);
    at({ source });
    const end = first + found.games.length;
    put(root, h("div", { class: "row" }, h("h1", { class: "grow" }, found.name), h("button", { type: "button", onclick: () => begin(choose) }, "Open another")),
      found.rejects_in_all > 0 && notice(`${number(found.rejects_in_all)} more cannot be read. ${found.rejects.join("; ")}`, "bad"),
      h("div", { class: "card stack" },
        h("div", { class: "scroll games-table", tabindex: 0, role: "region", "aria-label": "Games" }, h("table", {},
          h("thead", {}, h("tr", {}, ["Game", "First", "Second", "Result", "Moves", "Event"].map((word) => h("th", { scope: "col" }, word)))),
          h("tbody", {}, found.games.map((one) => h("tr", {},
            h("td", {}, h("button", { type: "button", onclick: () => begin(study, source, one.number, 0) }, `Game ${one.number}`)),
            h("td", {}, one.first_name || "–"), h("td", {}, one.second_name || "–"), h("td", {}, result(one)), h("td", { class: "num" }, one.plies), h("td", {}, one.event)))))),
        h("div", { class: "row" },
          h("button", { type: "button", disabled: first === 0, onclick: () => begin(list, source, Math.max(0, first - PAGE)) }, "Earlier"),
          h("span", { class: "grow note" }, `${number(first + 1)} to ${number(end)} of ${number(found.games_in_all)} games`),
          h("button", { type: "button", disabled: end >= found.games_in_all, onclick: () => begin(list, source, end) }, "Later"))));
  }

  /** One game. */
  async function study(source, game, from) {
    const replay = await get(`analyse/game?source=${encodeURIComponent(source)}&number=${game}`), { head } = replay;
    const last = replay.plies.length, sides = SIDES[head.game];
    const runs = [];
    let ply = -1, chart = null;
    const boardBox = h("div", {}), shape = { width: replay.width, height: replay.height, label: `${head.game} board` };
    const board = head.game === "amazons" ? new AmazonsBoard(boardBox, shape) : new StoneBoard(boardBox, { ...shape, ...(head.game === "go" && { files: GO_FILES }) });
    const where = h("span", { class: "turn", "aria-live": "polite" }), lines = h("div", { class: "lines" }), turns = h("div", { class: "turns", tabindex: 0, role: "group", "aria-label": "Moves" });
    const chartBox = h("div", {}), worst = h("div", { class: "worst" }), progress = h("div", { class: "stack" });
    const step = (text, label, to) => h("button", { type: "button", class: "icon", "aria-label": label, onclick: () => go(to()) }, text);
    const buttons = [step("|◀", "To the start", () => 0), step("◀", "Previous move", () => ply - 1), step("▶", "Next move", () => ply + 1), step("▶|", "To the end", () => last)];
    const known = h("datalist", { id: "analysts" }, replay.analysts.map((one) => h("option", { value: one })));
    const text = (value, rest) => h("input", { type: "text", list: "analysts", value, maxlength: 300, autocomplete: "off", spellcheck: "false", ...rest });
    const player = text(replay.analysts[0], { required: true }), other = text("", { placeholder: "nobody" });
    const time = h("input", { type: "number", min: 1, max: 60000, value: "100", step: 1, inputmode: "numeric" });
    const start = h("button", { type: "submit", class: "main" }, "Analyse"), stop = h("button", { type: "button", disabled: true, onclick: halt }, "Stop");
    const form = h("form", { class: "stack", onsubmit: (event) => { event.preventDefault(); analyse(); } },
      known, h("div", { class: "fields" }, field("Player", player), field("Compared with", other), field("Milliseconds a position", time)),
      h("div", { class: "row" }, start, stop, h("button", { type: "button", onclick: save }, "Export")));
    const title = h("p", { class: "names" }, h("strong", {}, head.first_name || sides[0]), ` (${sides[0]}) – `, h("strong", {}, head.second_name || sides[1]), ` (${sides[1]})`);
    put(root, h("h1", { class: "hidden-text" }, `Game ${head.number}`), h("div", { class: "beside wide" },
      h("div", { class: "stack" }, boardBox, h("div", { class: "row steps" }, buttons, h("span", { class: "grow" }), where), replay.analysts.length ? h("div", { class: "card" }, chartBox) : null),
      h("div", { class: "stack" },
        h("div", { class: "card stack" }, h("div", { class: "row" }, h("div", { class: "grow" }, title, h("small", {}, `${replay.name}, game ${head.number}: ${last} moves, ${result(head)}${head.event ? `; ${head.event}` : ""}`)),
          h("button", { type: "button", onclick: () => begin(choose) }, "Open another")),
        replay.illegal && notice(replay.illegal, "bad")),
        h("div", { class: "card stack" }, replay.analysts.length ? [form, progress, worst, lines] : h("p", {}, replay.illegal ? "A game with an illegal move is not analysed." : "No player of this package analyses this game."),
          !replay.analysts.length && h("div", {}, h("button", { type: "button", onclick: save }, "Export"))),
        h("div", { class: "card" }, turns))));
    if (replay.analysts.length) {
      chart = new Chart(chartBox, { label: "Win rate over the game", height: 190, rule: 0.5, onpick: (x) => go(x),
        x: { label: "moves played", min: 0, max: Math.max(1, last), words: (x) => `after ${x} moves` }, y: { min: 0, max: 1, format: (value) => percent(value) } });
    }
    const names = [];
    replay.plies.forEach((one, k) => {
      if (k % 2 === 0) turns.append(h("span", { class: "n" }, `${k / 2 + 1}.`));
      names.push(h("button", { type: "button", onclick: () => go(k + 1) }, h("span", {}, one.move), h("span", { class: "lost" })));
      turns.append(names[k]);
    });
    const keys = (event) => {
      if (event.target.closest("input, select, svg, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
      const to = { ArrowLeft: ply - 1, ArrowRight: ply + 1, Home: 0, End: last }[event.key];
      if (to !== undefined && !(event.target.closest(".scroll") && event.key.length > 9)) { event.preventDefault(); go(to); }
    };
    document.addEventListener("keydown", keys);
    go(from);
    return () => { halt(); document.removeEventListener("keydown", keys); chart?.remove(); board.remove(); };

    function go(to) {
      const next = Math.max(0, Math.min(last, to));
      if (next === ply) return;
      names[ply - 1]?.removeAttribute("aria-current");
      ply = next;
      const name = names[ply - 1];
      name?.setAttribute("aria-current", "true");
      if (name) { const top = name.offsetTop - turns.offsetTop; if (top < turns.scrollTop || top > turns.scrollTop + turns.clientHeight - 40) turns.scrollTop = top - turns.clientHeight / 2; }
      at({ source, game, ply });
      draw();
    }

    function draw() {
      const move = ply ? replay.plies[ply - 1].move : null;
      board.set({ fen: ply ? replay.plies[ply - 1].fen : replay.fen, last: move === "pass" ? null : move });
      put(where, `Move ${ply} of ${last}`);
      buttons.forEach((one, k) => { one.disabled = k < 2 ? ply === 0 : ply === last; });
      chart?.place(ply);
      board.clearLine();
      const best = runs.map((run) => run.found.get(ply)).find((one) => one?.line.length);
      if (best) head.game === "amazons" ? board.line(best.line.slice(0, 1)) : board.line(best.line.slice(0, 3), sideToMove().toLowerCase());
      put(lines, runs.map((run, k) => {
        const one = run.found.get(ply);
        if (!one) return null;
        const key = h("i", { class: "key" });
        key.style.background = COLOURS[k];
        const value = one.value === null ? "the game is over" : `${percent(one.win_rate, 1)} for ${sides[0]}`;
        return h("p", {}, key, h("strong", {}, run.player), ` ${value}`, one.lost > 0.005 && ply ? `; ${move} gave away ${percent(one.lost, 1)}` : "",
          one.line.length ? [h("br"), `best: ${one.line.slice(0, 5).join(" ")} `, h("small", {}, `depth ${one.depth}, ${short(one.nodes)} nodes`)] : "");
      }));
    }

    /** Colour of who moves in the position that is shown. */
    function sideToMove() {
      const word = (ply ? replay.plies[ply - 1].fen : replay.fen).split(" ")[1];
      return word === "b" || word === "x" ? "Black" : word === "w" || word === "o" ? "White" : sides[ply % 2];
    }

    async function analyse() {
      halt();
      runs.length = 0;
      const movetime = Number(time.value), players = [player.value.trim(), ...(other.value.trim() ? [other.value.trim()] : [])];
      players.forEach((text) => runs.push({ player: text, movetime, found: new Map(), state: null, wire: null }));
      redraw();
      for (const run of runs) if (!await follow(run)) return;
    }

    /** Have a player judge all positions; whether it came to the end. */
    function follow(run) {
      return new Promise((settle) => {
        stop.disabled = false;
        start.disabled = true;
        const finish = (well) => { run.wire.close(); run.wire = null; stop.disabled = true; start.disabled = false; redraw(); settle(well); };
        run.end = () => finish(false);
        run.wire = socket("analyse/watch", {
          state: (state) => { if (state === "open") run.wire.send({ source, number: game, player: run.player, movetime: run.movetime }); },
          message: (message) => {
            if (message.kind === "ply") { run.found.set(message.ply, message); soon(); return; }
            run.state = message;
            if (message.state === "failed") { toast(message.error, "bad"); finish(false); } else if (message.state === "done") finish(true); else soon();
          },
        });
      });
    }

    function halt() { runs.forEach((run) => run.wire && run.end()); }

    function soon() { if (!soon.asked) { soon.asked = true; requestAnimationFrame(() => { soon.asked = false; redraw(); }); } }

    function redraw() {
      put(progress, runs.map((run) => {
        const one = run.state;
        if (!one) return null;
        const words = { waiting: "waits for a free engine …", preparing: "getting ready …", running: `${one.done} of ${one.positions} positions`, done: `${one.done} of ${one.positions} positions`, failed: one.error }[one.state];
        return h("div", {}, h("small", {}, `${run.player}: ${words}`), one.state === "failed" ? null : h("progress", { max: one.positions, value: one.done, "aria-label": `Analysis by ${run.player}` }));
      }));
      const series = runs.map((run, k) => ({ name: run.player, colour: COLOURS[k], points: [...run.found.values()].sort((a, b) => a.ply - b.ply).map((one) => ({ x: one.ply, y: one.win_rate, text: `${percent(one.win_rate, 1)} for ${sides[0]}` })) }));
      const losses = [...(runs[0]?.found.values() || [])].filter((one) => one.lost >= DOUBTFUL).sort((a, b) => b.lost - a.lost).slice(0, WORST);
      chart.update({ series, cursor: ply, dots: losses.map((one) => ({ x: one.ply, y: one.win_rate, colour: one.lost >= BAD ? "var(--bad)" : "var(--from)" })) });
      put(worst, losses.length ? [h("span", {}, "Worst moves:"), losses.map((one) => h("button", { type: "button", onclick: () => go(one.ply) }, `${one.ply}. ${replay.plies[one.ply - 1].move} −${percent(one.lost)}`))] : null);
      names.forEach((name, k) => {
        const lost = runs[0]?.found.get(k + 1)?.lost ?? 0;
        name.classList.toggle("bad", lost >= BAD);
        name.classList.toggle("doubtful", lost >= DOUBTFUL && lost < BAD);
        put(name.lastChild, lost >= 0.02 ? `−${percent(lost)}` : "");
      });
      draw();
    }

    async function save() {
      try {
        const analyses = runs.filter((run) => run.found.size).map((run) => ({ source, number: game, player: run.player, movetime: run.movetime }));
        const { name, text } = await post("analyse/export", { source, number: game, analyses });
        const address = URL.createObjectURL(new Blob([text], { type: "application/x-go-sgf" }));
        h("a", { href: address, download: name }).click();
        setTimeout(() => URL.revokeObjectURL(address), 10000);
      } catch (error) { toast(error.message, "bad"); }
    }
  }
}

function result(head) {
  if (head.winner === "draw") return "drawn";
  if (!head.winner) return "result unknown";
  return `${SIDES[head.game]?.[head.winner === "first" ? 0 : 1] ?? head.winner} won${head.resigned ? " by resignation" : ""}`;
}
