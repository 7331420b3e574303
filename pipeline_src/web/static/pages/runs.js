// Runs: figures over versions of the project, curves of trainings and generations as they are made.

import { get } from "../api.js";
import { h, put, select, field, choice, notice, number, percent } from "../dom.js";
import { Chart } from "../chart.js";

const CURVES_MS = 3000, GENERATIONS_MS = 10000, SHOWN = 4, STALE_MIN = 10;

export async function show(root, params) {
  const project = await get("runs/project");
  const title = h("div", { class: "row" }, h("h1", { class: "grow" }, project.name ? `Runs of ${project.name}` : "Runs"),
    project.report && h("a", { class: "button", href: "/api/runs/report", target: "_blank", rel: "noopener" }, "Report page"),
    project.prefect?.last && h("a", { class: "button", href: project.prefect.last.url, target: "_blank", rel: "noopener noreferrer" }, `Run ${project.prefect.last.name}: ${project.prefect.last.state.toLowerCase()}`),
    project.prefect && h("a", { class: "button", href: project.prefect.url, target: "_blank", rel: "noopener noreferrer" }, "All of Prefect’s runs"));
  if (project.problem) { put(root, title, notice(project.problem)); return; }
  const figuresCard = h("section", { class: "card stack" }), curvesCard = h("section", { class: "card stack" }), generationsCard = h("section", { class: "card stack" });
  put(root, title, h("div", { class: "stack" }, h("div", { class: "two-columns" }, curvesCard, generationsCard), figuresCard));
  const ends = await Promise.all([[curves, curvesCard], [generations, generationsCard], [figures, figuresCard]].map(async ([view, card]) => {
    try { return await view(card); } catch (error) { put(card, notice(error.message, "bad")); return null; }
  }));
  return () => ends.forEach((end) => end?.());

  /** Curves of one training, read again while it goes on. */
  async function curves(card) {
    let known = (await get("runs/curves")).curves, name = known[0]?.name, wanted = null, timer = 0, ended = false, chart = null;
    const choose = h("div", {}), box = h("div", {}), columns = h("div", { class: "row checks" }), state = h("p", { class: "note", role: "status" });
    put(card, h("h2", {}, "Training"), choose, columns, box, state);
    if (!name) { put(card, h("h2", {}, "Training"), h("p", {}, "No training has left its curves yet.")); return null; }
    chart = new Chart(box, { label: "Curves of the training", height: 230 });
    pick();
    await draw();
    return () => { ended = true; clearTimeout(timer); chart.remove(); };

    function pick() {
      const options = known.map((one) => [one.name, `${one.title}${one.under_way ? " (under way)" : ""}`]);
      put(choose, field("Training", select(options, name, (value) => { name = value; wanted = null; draw(); })));
    }

    async function draw() {
      clearTimeout(timer);
      const own = name, found = await get(`runs/curve?name=${encodeURIComponent(name)}`).catch((error) => ({ error: error.message, series: {} }));
      if (ended || own !== name) return;
      const all = Object.keys(found.series);
      wanted ??= new Set([...all.filter((one) => /loss/.test(one) && !/l1|l2/.test(one)), ...all].slice(0, Math.min(SHOWN, Math.max(1, all.filter((one) => /loss/.test(one)).length))));
      put(columns, all.map((one) => h("label", {}, h("input", { type: "checkbox", checked: wanted.has(one), onchange: (event) => { wanted[event.target.checked ? "add" : "delete"](one); paint(found); } }), ` ${one}`)));
      paint(found);
      const file = known.find((one) => one.name === name), under = file?.under_way, minutes = file ? Math.floor((Date.now() / 1000 - file.modified) / 60) : 0;
      put(state, found.error ? found.error : !under ? "" : minutes < STALE_MIN ? "This training goes on; its curves are read every three seconds." : `Nothing was added for ${number(minutes)} minutes: this training was interrupted, or its steps take that long.`);
      timer = setTimeout(again, under ? CURVES_MS : GENERATIONS_MS);
    }

    /** The list anew: whether a training goes on is seen by when its files were written last. */
    async function again() {
      const more = await get("runs/curves").catch(() => null), names = () => known.map((one) => one.name + one.under_way).join(), before = names();
      if (ended) return;
      if (more) known = more.curves;
      if (names() !== before) {
        if (!known.some((one) => one.name === name)) name = known[0]?.name;
        pick();
      }
      draw();
    }

    function paint(found) {
      chart.update({ legend: true, x: { label: found.x }, series: Object.entries(found.series).filter(([key]) => wanted.has(key)).map(([key, points]) => ({ name: key, points: points.map(([x, y]) => ({ x, y })) })) });
    }
  }

  /** Generations of self-play, as they are made. */
  async function generations(card) {
    let timer = 0, ended = false, board = "", found = null;
    const gate = new Chart(h("div", {}), { label: "Score of each generation against the best one before", height: 180, rule: 0.5, y: { min: 0, max: 1, format: (value) => percent(value), axis: { format: "%" } } });
    const loss = new Chart(h("div", {}), { label: "Loss of each generation", height: 150 });
    const boards = h("div", {}), about = h("p", { class: "note" });
    await draw();
    return () => { ended = true; clearTimeout(timer); gate.remove(); loss.remove(); };

    async function draw() {
      found = await get("runs/generations");
      if (ended) return;
      const names = [...(found.gomoku.length ? ["Gomoku"] : []), ...new Set(found.growing.map((one) => one.board))];
      if (!names.length) put(card, h("h2", {}, "Generations"), h("p", {}, "No generation of self-play is there yet."));
      else {
        if (!names.includes(board)) board = names[0];
        if (!gate.box.isConnected) put(card, h("h2", {}, "Generations"), boards, gate.box, loss.box, about);
        put(boards, names.length > 1 ? choice("Of", names.map((one) => [one, one]), board, (one) => { board = one; paint(); }) : null);
        paint();
      }
      timer = setTimeout(() => draw().catch(() => { timer = setTimeout(draw, GENERATIONS_MS); }), GENERATIONS_MS);
    }

    function paint() {
      const rows = board === "Gomoku" ? found.gomoku : found.growing.filter((one) => one.board === board), x = { label: "generation", words: (value) => `generation ${value}` };
      gate.update({ x, series: [{ name: "score at the gate", points: rows.filter((one) => one.gate !== null).map((one) => ({ x: one.number, y: one.gate, low: one.gate_low, high: one.gate_high, text: `gate ${percent(one.gate)}${one.accepted === false ? ", not accepted" : ""}` })) }],
        dots: rows.filter((one) => one.accepted === false).map((one) => ({ x: one.number, y: one.gate })) });
      loss.update({ x, series: [{ name: "loss", colour: "var(--line-2)", points: rows.filter((one) => one.loss !== null).map((one) => ({ x: one.number, y: one.loss, text: `loss ${one.loss.toFixed(3)}` })) }] });
      const games = rows.reduce((sum, one) => sum + one.games, 0), seconds = rows.reduce((sum, one) => sum + (one.seconds || 0), 0);
      put(about, `${rows.length} generations, ${number(games)} games${seconds ? `, ${number(seconds / 60)} minutes` : ""}. Above: score against the best player before, with its 95 % interval; red: not accepted. Below: loss.`);
    }
  }

  /** Headline figures; one of them over the versions. */
  async function figures(card) {
    put(card, h("h2", {}, "Figures"), h("p", { class: "note" }, "Reading …"));
    const rows = (await get("runs/figures")).figures, systems = [...new Set(rows.map((one) => one.system))];
    const asked = rows.find((one) => `${one.system}.${one.name}` === params.figure);
    let system = asked?.system || systems[0], chosen = asked || null, versions = null, ended = false, asking = false;
    const values = new Map(), table = h("div", {}), box = h("div", {}), state = h("p", { class: "note", role: "status" }), heading = h("h3", {});
    const past = h("div", { class: "stack hidden" }, heading, box, state);
    const chart = new Chart(box, { label: "The figure over the versions of the project", height: 240 });
    put(card, h("h2", {}, "Figures"), h("div", { class: "fields" }, field("System", select(systems.map((one) => [one, one.replace("_", " ")]), system, (value) => { system = value; draw(); }))), past, table);
    draw();
    if (chosen) follow();
    return () => { ended = true; chart.remove(); };

    function draw() {
      const some = rows.filter((one) => one.system === system);
      put(table, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Figures" }, h("table", { class: "figure-table" },
        h("thead", {}, h("tr", {}, ["Figure", "Published", "Ours", "95 % interval", "Unit", "Made by"].map((word, k) => h("th", { scope: "col", class: k && k < 4 ? "num" : null }, word)))),
        h("tbody", {}, some.map((one) => h("tr", { class: one === chosen ? "chosen" : null },
          h("td", {}, h("button", { type: "button", class: "quiet figure", "aria-pressed": String(one === chosen), onclick: () => { chosen = one; draw(); follow(); past.scrollIntoView({ block: "nearest" }); } }, one.words)),
          h("td", { class: "num" }, value(one.published)), h("td", { class: "num" }, h("strong", {}, value(one.ours.value)), one.measured && h("div", {}, h("small", {}, ["measured", value(one.measured.value), one.measured.player].filter(Boolean).join(" ")))),
          h("td", { class: "num" }, one.ours.low === null ? "–" : `${value(one.ours.low)} – ${value(one.ours.high)}`), h("td", {}, one.unit),
          h("td", {}, h("small", {}, [one.ours.source === "graph" ? "dvc repro" : one.ours.source, one.ours.profile, one.ours.player, one.ours.date].filter(Boolean).join(", ") || "not yet made", h("br"), h("code", {}, one.ours.command)))))))));
    }

    /** The chosen figure in all versions, which are read one after the other, the newest first. */
    async function follow() {
      const key = `${chosen.system}.${chosen.name}`;
      history.replaceState(null, "", `#/runs?figure=${key}`);
      past.classList.remove("hidden");
      put(heading, `${chosen.words}, over the versions`);
      try {
        versions ??= (await get("runs/versions")).versions;
        paint();
        if (asking) return;
        asking = true;
        for (const one of [...versions].reverse()) {
          if (ended) return;
          if (!values.has(one.commit)) values.set(one.commit, (await get(`runs/version?commit=${one.commit}`)).figures);
          paint();
        }
      } catch (error) { put(state, error.message); } finally { asking = false; }
    }

    function paint() {
      const key = `${chosen.system}.${chosen.name}`, now = chosen.ours, at = (one) => new Date(one.date).toLocaleDateString("en", { month: "short", day: "numeric" });
      const names = (x) => x >= versions.length ? "now, in the working tree" : `${versions[x].name ? `experiment ${versions[x].name}` : versions[x].commit.slice(0, 7)}, ${at(versions[x])}: ${versions[x].subject}`;
      const points = versions.map((one, x) => ({ x, ...(values.get(one.commit)?.[key] || { value: NaN }) })).concat(now.value === null ? [] : [{ ...now, x: versions.length }])
        .filter((one) => Number.isFinite(one.value)).map((one) => ({ x: one.x, y: one.value, low: one.low, high: one.high, from: one.source }));
      const ticks = versions.map((one, x) => [x, at(one)]).filter(([, text], k, all) => k === 0 || all[k - 1][1] !== text).filter((_, k, all) => all.length < 9 || k % Math.ceil(all.length / 8) === 0);
      chart.update({ x: { min: -0.5, max: versions.length + 0.5, words: names, axis: { values: ticks.map(([x]) => x), labelExpr: `(${JSON.stringify(Object.fromEntries(ticks))})[datum.value]` } }, rule: chosen.published ?? undefined, legend: true,
        y: chosen.published === null || !points.length ? {} : { min: Math.min(chosen.published, ...points.map((p) => p.low ?? p.y)), max: Math.max(chosen.published, ...points.map((p) => p.high ?? p.y)) },
        series: [["graph", "of the graph", "var(--line-1)"], ["measured", "committed measurement", "var(--line-2)"]].map(([from, name, colour]) => ({ name, colour, points: points.filter((one) => one.from === from) })) });
      const left = versions.filter((one) => !values.has(one.commit)).length;
      put(state, left ? `${left} of ${versions.length} versions still to be read` : `${versions.length} versions`, chosen.published === null ? "" : `; dashed: published, ${value(chosen.published)}`);
    }
  }
}

function value(number_) {
  if (number_ === null) return "–";
  return Number.isInteger(number_) || Math.abs(number_) >= 1e4 ? number(number_) : String(Number(number_.toPrecision(4)));
}
