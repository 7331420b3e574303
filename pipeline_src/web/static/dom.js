// Elements from data. Text always goes in as text: nothing here, and nothing elsewhere, reads HTML from data.
//
// The page of a tournament contains this file too: pipeline_src/report/tournament_page.py takes out imports and exports.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name in element && !(element instanceof SVGElement) && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element: h("button", {class: "main", onclick: f}, "Play"). */
export const h = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);

/** The same of SVG. */
export const s = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** Put children into an element in place of what it has. */
export function put(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A labelled field of a form; the control gets an id where it has none. */
export function field(label, control, note = "") {
  control.id ||= `field-${(field.count = (field.count || 0) + 1)}`;
  const about = note && h("small", { id: `${control.id}-note`, class: "note" }, note);
  if (about) control.setAttribute("aria-describedby", about.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, about);
}

/** A select from [value, text] pairs. */
export function select(options, value, onchange) {
  const control = h("select", { onchange: () => onchange && onchange(control.value) },
    options.map(([one, text]) => h("option", { value: one, selected: one === value }, text)));
  return control;
}

/** One choice of a few, as a row of buttons (radio buttons underneath). */
export function choice(legend, options, value, onchange) {
  const name = `choice-${(choice.count = (choice.count || 0) + 1)}`;
  return h("fieldset", { class: "choice" }, h("legend", {}, legend), h("div", { class: `segments${options.length === 3 ? " three" : ""}` },
    options.map(([one, text]) => h("label", {},
      h("input", { type: "radio", name, value: one, checked: one === value, onchange: () => onchange(one) }), h("span", {}, text)))));
}

/** Panels of which one is shown, with a row of tabs: [[name, element]]. */
export function tabs(label, list) {
  const number = (tabs.count = (tabs.count || 0) + 1), id = (k) => `tab-${number}-${k}`;
  const show = (k, focus) => buttons.forEach((one, other) => {
    one.setAttribute("aria-selected", String(other === k));
    one.tabIndex = other === k ? 0 : -1;
    panels[other].classList.toggle("hidden", other !== k);
    if (other === k && focus) one.focus();
  });
  const buttons = list.map(([name], k) => h("button", { type: "button", role: "tab", id: id(k), "aria-controls": `${id(k)}-panel`, onclick: () => show(k), onkeydown: (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) { event.preventDefault(); event.stopPropagation(); show((k + step + list.length) % list.length, true); }
  } }, name));
  const panels = list.map(([, element], k) => h("div", { class: "stack", role: "tabpanel", id: `${id(k)}-panel`, "aria-labelledby": id(k) }, element));
  show(0);
  return h("section", { class: "card stack tabbed" }, h("div", { class: "tabs", role: "tablist", "aria-label": label }, buttons), panels);
}

/** Moves as text, in which no line breaks within a move. */
export const spaced = (moves, most = 6) => moves.slice(0, most).flatMap((move, k) => [k ? " " : "", h("span", { class: "mono move-text" }, move)]);

/** Scroll a box, and nothing around it, until one of its elements is in sight. */
export function reveal(box, element) {
  const top = element.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
  if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 40) box.scrollTop = top - box.clientHeight / 2;
}

/** Keep a box as tall as it was, or a click on what lies below it would miss; until its width, a switch or a list in it changes. */
export function steady(box) {
  let width = 0;
  const free = (event) => { if (event.target.closest("[aria-pressed], select")) box.style.minHeight = ""; };
  box.addEventListener("click", free);
  box.addEventListener("change", free);
  new ResizeObserver(() => {
    if (box.offsetWidth !== width) box.style.minHeight = "";
    width = box.offsetWidth;
    box.style.minHeight = `${box.getBoundingClientRect().height}px`;
  }).observe(box);
  return box;
}

/** On a phone what is pressed may lie far below the board: bring a board back of which less than half is in sight. */
export function backInSight(board) {
  const { top, height } = board.getBoundingClientRect();
  if (top + height / 2 < 0) board.scrollIntoView();
}

/** A message in the corner that goes by itself; kind is "", "good" or "bad". */
export function toast(text, kind = "") {
  const one = h("div", { class: `toast ${kind}` }, text);
  const all = document.getElementById("toasts");
  all.append(one);
  while (all.children.length > 3) all.firstChild.remove();
  setTimeout(() => one.remove(), kind === "bad" ? 9000 : 4000);
}

/** A box in the page that says what is wrong or missing. */
export const notice = (text, kind = "", ...more) => h("div", { class: `notice ${kind}`, role: kind === "bad" ? "alert" : null }, h("p", {}, text), more);

export const number = (value, digits = 0) => Number(value).toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
export const percent = (value, digits = 0) => `${number(100 * value, digits)}\u00a0%`;
/** "1 node", "2 nodes". */
export const count = (value, word) => `${number(value)} ${word}${value === 1 ? "" : "s"}`;
/** 12,345,678 as 12.3 M. */
export function short(value) {
  for (const [size, letter] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (value >= size) return `${number(value / size, value < 10 * size ? 1 : 0)} ${letter}`;
  return number(value);
}
/** Milliseconds as 1:05 or, near the end, 9.3. */
export function clockText(ms) {
  const left = Math.max(0, ms);
  if (left < 20000) return (Math.floor(left / 100) / 10).toFixed(1);
  const seconds = Math.floor(left / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
