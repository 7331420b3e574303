// The router: #/PAGE?key=value shows the page PAGE, a module below pages/ that is loaded when it is first wanted.

import { listen } from "./analyse/incoming.js";
import { fileAt, here } from "./api.js";
import { h, put, notice } from "./dom.js";

const PAGES = here ? [["play", "Play"], ["analyse", "Analyse"]] : [["play", "Play"], ["nets", "Nets"], ["analyse", "Analyse"], ["joseki", "Joseki"]];
const TITLES = new Map([...PAGES, ...(here ? [] : [["interface", "Interface"]])]);
const load = (name) => import(here ? fileAt(`pages/${name}.js`) : `./pages/${name}.js`);
const main = document.getElementById("main"), nav = document.getElementById("nav"), theme = document.getElementById("theme");
const links = new Map(PAGES.map(([name, title]) => [name, h("a", { href: `#/${name}` }, title)]));
let leave = null, number = 0;

nav.append(...links.values());
if (!here) nav.append(h("a", { href: "/api/report", target: "_blank", rel: "noopener" }, "Report"));

function place() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return [path || "play", Object.fromEntries(new URLSearchParams(query))];
}

async function show() {
  const [name, params] = place(), own = (number += 1), title = TITLES.get(name);
  leave?.();
  leave = null;
  links.forEach((link, one) => one === name ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current"));
  document.title = title ? `${title} · Zugwerk` : "Zugwerk";
  if (!title) { put(main, notice(here ? `The page ${name} needs the server: zugwerk web.` : `There is no page ${name}.`, "bad", h("a", { href: "#/play" }, "Play a game"))); return; }
  const root = h("div", { class: `page ${name}` });
  try {
    const page = await load(name);
    if (own !== number) return;
    put(main, root);
    const ended = await page.show(root, params);
    if (own === number) leave = ended; else ended?.();
  } catch (error) {
    if (own === number) put(main, notice(`The page could not be shown: ${error.message}`, "bad",
      h("button", { type: "button", onclick: show }, "Try again")));
    console.error(error);
  }
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  put(theme, name === "dark" ? "☀" : "☾");
}
theme.onclick = () => {
  const name = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("zugwerk.theme", name);
  setTheme(name);
};
matchMedia("(prefers-color-scheme: dark)").onchange = (event) => {
  if (!localStorage.getItem("zugwerk.theme")) setTheme(event.matches ? "dark" : "light");
};
document.querySelector(".skip").onclick = (event) => { event.preventDefault(); main.focus(); };
setTheme(document.documentElement.dataset.theme);
listen();
const KEYS = [["← →", "one move back or on"], ["Home End", "to the start, to the end"], ["Tab", "to the board, at its centre or the last move"], ["arrows, Enter", "on the board: choose a point, a piece, a square"], ["Esc", "take back a part of a turn"], ["Ctrl+V", "open a record, a position or moves that were copied"], ["?", "this list"]];
const help = h("dialog", { "aria-label": "Keys", class: "card" }, h("h2", {}, "Keys"), h("table", {}, KEYS.map(([key, what]) => h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, what)))), h("form", { method: "dialog", class: "row" }, here ? null : h("a", { class: "grow", href: "#/interface", onclick: () => help.close() }, "Interface for programs"), h("button", {}, "Close")));
document.body.append(help);
addEventListener("keydown", (event) => { if (event.key === "?" && !help.open && !event.target.closest?.("input, textarea, select")) help.showModal(); });
addEventListener("hashchange", show);
addEventListener("pagehide", () => leave?.());
addEventListener("pageshow", (event) => { if (event.persisted) show(); }); // back from elsewhere, as it was left
await show();
(window.requestIdleCallback ?? setTimeout)(() => PAGES.forEach(([name]) => load(name).catch(() => {}))); // told when it is shown
