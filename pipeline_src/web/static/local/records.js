// Records without a server: SGF and Piskvorky's text are read into trees of variations, and trees are written as SGF.

import { at, table } from "./engine.js";
import { Refusal } from "./rules.js";

const TOKEN = /\s*(?:([();])|([A-Za-z]+)|\[((?:\\[^]|[^\]\\])*)\])/y, PSQ = /^Piskvorky (\d+)x(\d+), *\d+:\d+, *([01])/, STONE = /^(\d+),(\d+)(,-?\d+)?$/;
const PIECES = { gomoku: { AB: "x", AW: "o" }, amazons: { AB: "q", AW: "Q", AA: "*" } }, TURN = /^[a-j]\d+-?[a-j]/i, WINNERS = ["first", "second"], MARKS = [[0.2, "BM", "1"], [0.1, "DO", ""]];
const UPLOAD = "upload:", files = new Map();

/** Read a file; its games are then known by its name in requests, which is the same for the same file. */
export async function upload(name, blob) {
  const text = decoded(new Uint8Array(await blob.arrayBuffer())), games = [], rejects = [];
  const found = PSQ.test(text) ? [psq(text, name)] : text.trimStart().startsWith("(") ? trees(text, name) : null;
  if (!found) throw new Refusal(`${name}: not a record; this page reads SGF and Piskvorky's .psq, and the server more: zugwerk web.`);
  for (const [k, root] of found.entries()) {
    try { games.push({ number: k + 1, ...await grown(root) }); } catch (error) { rejects.push(`${name}${found.length > 1 ? `, game ${k + 1}` : ""}: ${error.message}`); }
  }
  if (!games.length) throw new Refusal(rejects[0]);
  let key = 0;
  for (const letter of name + text) key = (Math.imul(key, 31) + letter.codePointAt(0)) >>> 0;
  const source = `${UPLOAD}${key.toString(16)}-${text.length}`;
  files.set(source, { name, games, rejects });
  return { source, name, games: games.length };
}

const fileOf = (source) => files.get(source) ?? (() => { throw new Refusal("This page does not have this file any more; open it again."); })();
const headOf = ({ number, tree: { place: { game }, nodes, first_name, second_name, winner, resigned, event } }) => ({ number, game, first_name, second_name, winner, resigned, event, plies: nodes.findIndex((one, k) => one.parent !== k) < 0 ? nodes.length : nodes.findIndex((one, k) => one.parent !== k) });

/** A page of the list of a file's games. */
export function list({ source, first = 0, count = 50 }) {
  const { name, games, rejects } = fileOf(source);
  return { source, name, games: games.slice(Number(first), Number(first) + Number(count)).map(headOf), first: Number(first), games_in_all: games.length, rejects: rejects.slice(0, 20), rejects_in_all: rejects.length };
}

/** A game of a file, as the server sends it; `replay` makes a tree one. */
export async function game({ source, number }, replay) {
  const { name, games } = fileOf(source), one = games.find((some) => some.number === Number(number));
  if (!one) throw new Refusal(`${name}: no game ${number} there.`);
  return { ...await replay(one.tree), source, name, head: headOf(one), left_out: one.left };
}

function decoded(bytes) {
  try { return new TextDecoder("utf-8", { fatal: true }).decode(bytes); } catch { /* another charset, below */ }
  const text = new TextDecoder("windows-1252").decode(bytes), named = /CA\[([\w-]+)\]/.exec(text)?.[1];
  try { return named ? new TextDecoder(named).decode(bytes) : text; } catch { throw new Refusal(`This browser knows no charset ${named}; save the record as UTF-8.`); }
}

/** The first nodes of the games of SGF: {of: {property: [text]}, children}. */
function trees(text, name) {
  const roots = [], branches = [];
  let node = null, key = "", end = TOKEN.lastIndex = text.indexOf("(");
  for (let found; (found = TOKEN.exec(text)); end = TOKEN.lastIndex) {
    const [, sign, word, value] = found;
    if (sign === "(") branches.push(node);
    else if (sign === ")") { if (!branches.length) break; node = branches.pop(); }
    else if (sign) { const next = { of: {}, children: [] }; (node ? node.children : roots).push(next); node = next; }
    else if (!node) break;
    else if (word) key = word.replace(/[a-z]/g, "");
    else (node.of[key] ??= []).push(value.replace(/\\\r?\n/g, "").replace(/\\([^])/g, "$1"));
  }
  if (branches.length || text.slice(end).trim() || !roots.length) throw new Refusal(`${name}: not SGF, or cut off, at ${JSON.stringify(text.slice(end, end + 30).trim())}.`);
  return roots;
}

/** A record of Piskvorky as the same. */
function psq(text, name) {
  const lines = text.split(/\r\n?|\n/).map((line) => line.trim()).filter(Boolean), [, width, height, swapped] = PSQ.exec(lines[0]);
  const stones = lines.slice(1).findIndex((line) => !STONE.test(line)), end = stones < 0 ? lines.length : stones + 1, rest = lines.slice(end);
  const names = rest.filter((line) => !/^-?\d+(,|$)/.test(line)).slice(0, 2), [, won, rule] = /^(-?\d+), *(.+)$/.exec(rest.at(-1) ?? "") ?? [];
  const [first, second] = swapped === "1" ? names.toReversed() : names, winner = { 1: "BW", 2: "WB" }[won]?.[Number(swapped)];
  const root = { of: { GM: ["4"], SZ: [width === height ? width : `${width}:${height}`], PB: [first ?? ""], PW: [second ?? ""], RU: [rule ?? ""], RE: [winner ? `${winner}+` : won === "0" ? "0" : ""] }, children: [] };
  let node = root;
  for (const line of lines.slice(1, end)) {
    const [, x, y] = STONE.exec(line).map(Number), next = { of: { [node === root || node.of.W ? "B" : "W"]: [`${String.fromCharCode(96 + x)}${Number(height) + 1 - y}`] }, children: [] };
    node.children.push(next);
    node = next;
  }
  if (lines.length < 2) throw new Refusal(`${name}: it has no stones.`);
  return root;
}

/** The tree of a record, and what is left out of it. */
async function grown(root) {
  const { records } = await table(), { of } = root, text = (key) => (of[key]?.[0] ?? "").replace(/\s+/g, " ").trim();
  const firstMove = root.children[0]?.of, named = text("GM"), number = named || (TURN.test(firstMove?.W?.[0] ?? "") ? records.numbers.amazons : 1);
  const about = Object.entries(records.numbers).find(([, one]) => one === Number(number))?.[0];
  if (!about) throw new Refusal(`GM[${number}] is neither Gomoku nor the Amazons; records of Go need the server: zugwerk web.`);
  const [width, height = width] = (text("SZ") || (about === "amazons" ? "10" : "15")).split(":").map(Number), letters = records.letters[about];
  if (width !== height) throw new Refusal(`a board of ${width}x${height}; this page has square ones.`);
  const place = placeOf(about, width, of, text("RU"), records), rules = await at(place), board = () => rules.show({ ...place, moves: [] });
  board(); // its start is legal
  const side0 = rules.side, nodes = [], lines = [[]], children = [new Map()], left = [], notes = [""], todo = [[root, 0]], letterOf = (depth) => letters[(side0 + depth) % 2];
  let shown = 0, resigned = false;
  const play = (from, move) => {
    if (from === shown) rules.play(move); else rules.show({ ...place, moves: [...lines[from], move] });
    return rules.moves.at(-1);
  };
  const step = (one, from) => {
    const moves = ["B", "W"].flatMap((letter) => (one.of[letter] ?? []).map((value) => [letter, value.trim()])), depth = lines[from].length, where = `move ${depth + 1}`;
    const why = moves.length > 1 ? "two moves in one node" : one !== root && (nodes.length || one.of.AE) && ["AB", "AW", "AE", "AA"].some((key) => one.of[key]) ? "pieces are set up" : "";
    if (why) { left.push(`${where}: ${why}: left out with what follows`); return null; }
    if (!moves.length) return from;
    const [[letter, value]] = moves, pairs = /^([a-z]{2}){1,3}$/i.test(value);
    if (/^resign$/i.test(value)) { resigned = true; return from; }
    const move = pairs ? value.toLowerCase().replace(/(.)(.)/g, (_, x, y) => `${x}${height - (y.charCodeAt(0) - 97)}`) : value;
    if (letter !== letterOf(depth)) { left.push(`${where}, ${value}, is not of the side to move: left out with what follows`); return null; }
    try {
      const played = play(from, move), known = children[from].get(played);
      shown = known ?? nodes.length + 1;
      if (known) return known;
      children[from].set(played, shown);
      nodes.push({ parent: from, move: played, name: "" });
      lines.push([...lines[from], played]);
      children.push(new Map());
      notes.push("");
      return shown;
    } catch {
      shown = -1;
      const none = rules.action(move) < 0;
      left.push(`${where}, ${none ? value.slice(0, 20) : move}, is ${!none ? "not legal" : pairs ? "off the board" : "no move"}: left out with what follows`);
      return null;
    }
  };
  while (todo.length) {
    let [one, from] = todo.pop();
    for (;;) {
      const next = step(one, from);
      if (next === null) break;
      from = next;
      const name = (one.of.N?.[0] ?? "").trim(), comment = (one.of.C?.[0] ?? "").trim();
      if (from) nodes[from - 1].name ||= name.slice(0, 200);
      notes[from] = [notes[from], !from && name, comment].filter(Boolean).join("\n");
      if (one.children.length !== 1) { todo.push(...one.children.map((child) => [child, from]).reverse()); break; }
      [one] = one.children;
    }
  }
  const [color, how] = /^([BW])\+(\S*)/i.exec(text("RE"))?.slice(1) ?? [], said = color ? WINNERS[letters.indexOf(color.toUpperCase())] : /^(0|draw)$/i.test(text("RE")) ? "draw" : null;
  board();
  const player = (k) => text(`P${(TURN.test(firstMove?.W?.[0] ?? "") ? "BW" : letters)[k]}`).slice(0, 200);
  return { left, tree: { place: { ...place, moves: [] }, nodes: nodes.map((one, k) => ({ ...one, comment: notes[k + 1] })), comment: notes[0], first_name: player(0), second_name: player(1), event: text("EV"), winner: said, resigned: resigned || /^r/i.test(how ?? "") } };
}

/** The start of a record. */
function placeOf(about, size, of, rule, { words, numbers_of_rules: known, rule: pattern }) {
  const word = rule.toLowerCase(), [, match] = new RegExp(`^(?:${pattern})$`).exec(word) ?? [], variant = about === "amazons" ? word || "standard" : !word ? "freestyle" : words[match] ?? match ?? known[word] ?? word;
  if (rule.includes("/")) return { game: about, size, variant: "", fen: rule, moves: [] };
  const rows = Array.from({ length: size }, () => Array(size).fill(" "));
  let pieces = 0;
  for (const [key, piece] of Object.entries(PIECES[about])) for (const value of of[key] ?? []) {
    const [[left, top], [right, bottom]] = [0, -1].map((k) => [...value.trim().toLowerCase().split(":").at(k)].map((letter) => letter.charCodeAt(0) - 97));
    if (![left, top, right, bottom].every((one) => one >= 0 && one < size)) throw new Refusal(`no point that can be set up: ${value.slice(0, 20)}`);
    for (let y = top; y <= bottom; y++) for (let x = left; x <= right; x++) { rows[y][x] = piece; pieces += 1; }
  }
  if (!pieces) return { game: about, size, variant, fen: "", moves: [] };
  const count = (piece) => rows.flat().filter((one) => one === piece).length, usual = about === "amazons" || count("x") > count("o") ? "w" : "b";
  const fen = `${rows.map((row) => row.join("").replace(/ +/g, (run) => String(run.length))).join("/")} ${(of.PL?.[0] ?? usual).trim().toLowerCase()[0]}`;
  return { game: about, size, variant: "", fen: about === "amazons" || variant === "freestyle" ? fen : `${fen} ${variant}`, moves: [] };
}

/** A tree as SGF (FF 4, UTF-8). */
export async function written({ place, nodes = [], comment = "", judgements = [], ...head }) {
  const { records } = await table(), rules = await at({ ...place, moves: [] }), { game: about, size, side } = rules, letters = records.letters[about], [ranks, letter] = rules.fen.split(" ");
  const rows = ranks.split("/").map((row) => row.match(/\d+|./g).flatMap((part) => /\d/.test(part) ? Array(Number(part)).fill("") : [part]));
  const point = (x, y) => String.fromCharCode(97 + x, 97 + y), escaped = (text) => String(text).replace(/[\]\\]/g, "\\$&");
  const setup = Object.entries(PIECES[about]).map(([key, piece]) => [key, rows.flatMap((row, y) => row.flatMap((one, x) => one === piece ? [point(x, y)] : []))]).filter(([, points]) => points.length);
  const won = WINNERS.indexOf(head.winner), root = { FF: "4", CA: "UTF-8", GM: records.numbers[about], SZ: size, RU: rules.variant, [`P${letters[0]}`]: head.first_name, [`P${letters[1]}`]: head.second_name, EV: head.event, DT: head.date,
    RE: head.winner === "draw" ? "0" : won >= 0 ? `${letters[won]}+${head.resigned ? "R" : ""}` : "", AP: "Zugwerk" };
  const properties = (all) => Object.entries(all).filter(([, value]) => value !== undefined && value !== "").map(([key, value]) => `${key}[${escaped(value)}]`).join("");
  const notes = (name, said, judged) => {
    const lost = Math.max(0, ...judged.map((one) => one.lost ?? 0)), [, mark, value] = MARKS.find(([least]) => lost >= least) ?? [];
    const words = judged.map((one) => [`${one.player}: first side wins ${(100 * one.win_rate).toFixed(1)} %`, one.lost && `the move gave away ${(100 * one.lost).toFixed(1)} %`, one.line.length && `best ${one.line.slice(0, 6).join(" ")} (depth ${one.depth}, ${one.nodes} nodes)`].filter(Boolean).join("; "));
    return (mark ? `${mark}[${value}]` : "") + properties({ N: name, C: [said, ...words].filter(Boolean).join("\n") });
  };
  const line = (place.moves ?? []).map((move, parent) => ({ parent, move })), all = [...line, ...nodes.map((one) => ({ ...one, parent: one.parent + line.length }))];
  const children = Array.from({ length: all.length + 1 }, () => []), depths = [0];
  all.forEach(({ parent }, k) => { children[parent].push(k + 1); depths.push(depths[parent] + 1); });
  const cells = (move) => move.match(/[a-z]\d+/g).map((name) => point(name.charCodeAt(0) - 97, size - Number(name.slice(1)))).join("");
  const below = [], parts = [`(;${properties(root)}${setup.length || side !== 0 ? `${setup.map(([key, points]) => `${key}[${points.join("][")}]`).join("")}PL[${letter.toUpperCase()}]` : ""}${notes("", comment, judgements)}`];
  const follow = (at) => { const several = children[at].length > 1; for (const child of [...children[at]].reverse()) below.push(...(several ? [")", child, "("] : [child])); };
  for (follow(0); below.length;) {
    const next = below.pop();
    if (typeof next === "string") { parts.push(next); continue; }
    const one = all[next - 1];
    parts.push(`;${letters[(side + depths[one.parent]) % 2]}[${cells(one.move)}]${notes(one.name, one.comment, one.judgements ?? [])}`);
    follow(next);
  }
  return `${parts.join("")})`;
}
