// The table of what was played in a position, how often, and who won: of joseki libraries and of searches in games.

import { h, number, percent } from "./dom.js";

/**
 * @param rows [{points, words, label, share, times, black, white, title, play, games: [{text, label, open}]}]: `words` stand
 *   for a move without points; `label` is what a screen reader hears; `black` and `white` won so many of the games; `play`
 *   plays the move, or is null where it cannot be played
 * @param point(row or null) marks a row's points on the board
 */
export function continuations(rows, { label, games = true, rarer = 0, point }) {
  return h("div", { class: "scroll moves", tabindex: 0, role: "region", "aria-label": label }, h("table", {},
    h("thead", {}, h("tr", {}, ["Move", "How often", "Black : White, %", games && "Games"].filter(Boolean).map((word) => h("th", { scope: "col" }, word)))),
    h("tbody", {}, rows.map((one) => row(one, games, point)))), rarer > 0 && h("p", { class: "note" }, `and ${number(rarer)} rarer ones`));
}

function row(one, games, point) {
  const decided = one.black + one.white, rate = decided ? one.black / decided : 0;
  const split = decided ? h("div", { class: "split", title: `Black won ${number(one.black)}, White ${number(one.white)}` }, h("span", { class: "b" }), h("span", { class: "w" })) : "–";
  if (decided) split.style.setProperty("--black", `${100 * rate}%`);
  const bar = h("div", { class: "share" }, h("span", {}), h("b", {}, percent(one.share, one.share < 0.0995 ? 1 : 0)));
  bar.style.setProperty("--share", `${100 * one.share}%`);
  return h("tr", { title: one.title, onpointerenter: () => point(one), onpointerleave: () => point(null) },
    h("td", {}, one.play
      ? h("button", { type: "button", class: "move", onfocus: () => point(one), onblur: () => point(null), onclick: one.play, "aria-label": one.label }, one.points.join(" ") || one.words)
      : h("strong", {}, one.points.join(" ") || one.words), one.note && h("small", {}, ` ${one.note}`)),
    h("td", {}, bar, h("small", {}, `${number(one.times)} times`)),
    h("td", {}, split, decided ? h("small", {}, `${Math.round(100 * rate)} : ${Math.round(100 * (1 - rate))}`) : null),
    games && h("td", { class: "games" }, one.games.map((where) => h("button", { type: "button", class: "quiet game", onclick: where.open, "aria-label": where.label }, where.text))));
}

/** A continuation of a joseki library as a row of the table. */
export function ofLibrary(one, toPlay, corner, more) {
  const name = one.points.join(" ") || "elsewhere", [black, white] = toPlay === "Black" ? [one.won, one.lost] : [one.lost, one.won];
  return {
    points: one.points, words: "elsewhere", share: one.share, times: one.played, black, white, corner: one.corner,
    label: one.points.length ? `Play ${name}, ${corner}` : `Play elsewhere than in the ${corner} corner`,
    note: one.points.length ? "" : ["↖", "↗", "↙", "↘"][one.corner],
    title: one.win_rate_low === null ? "" : `${one.points.length ? "" : "played elsewhere: "}${toPlay} won ${percent(one.win_rate)}, 95 % interval ${percent(one.win_rate_low)} to ${percent(one.win_rate_high)}`,
    ...more,
  };
}
