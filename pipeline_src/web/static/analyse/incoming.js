// Records and texts from outside: dropped or pasted on any page, uploaded, and kept in the browser in case the server forgets them.

import { here, post } from "../api.js";
import { number, put, toast } from "../dom.js";
import { isRecord, read } from "./read.js";

const LARGEST = 8 << 20, MOST = 20;
let waiting = null;

/** The view of what was dropped or pasted, and what it shows, once. */
export function taken() { const one = waiting; waiting = null; return one; }

/** Let the page Analyse open a file, or a text, that is dropped or pasted anywhere but into a field. */
export function listen() {
  const open = async (reading) => {
    try { waiting = await reading; location.hash = `#/analyse?open=${Date.now()}`; } catch (error) { refused(error.message); } // the page stays
  };
  const from = (data) => {
    const file = data.files[0], text = data.getData("text/plain");
    if (!file && !text.trim()) return false;
    open(file ? openFile(file.name, file) : openText(text));
    return true;
  };
  addEventListener("paste", (event) => { if (!event.target.closest?.("input, textarea") && from(event.clipboardData)) event.preventDefault(); });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { if (event.target.closest?.("input, textarea")) return; event.preventDefault(); from(event.dataTransfer); });
}

/** Say why something was not opened: where the page has a place for it, or else in the corner. */
export function refused(why) {
  const place = document.getElementById("refused");
  if (place) put(place, why); else toast(why, "bad");
}

/** Read a file: the view that shows its games, as `taken` has it. Why it cannot be read is thrown. */
export async function openFile(name, data) {
  if (data.size > LARGEST) throw new Error(`${name} has ${number(data.size / 2 ** 20)} MiB; a page opens ${LARGEST >> 20} MiB at most. Put it into a folder of the server (--folder) and open it there.`);
  const buffer = await data.arrayBuffer().catch(() => { throw new Error(`${name} cannot be read; is it a folder?`); }), start = [...new Uint8Array(buffer, 0, Math.min(4096, buffer.byteLength))];
  const known = [[0x50, 0x41, 0x52, 0x31], [0xff, 0xfe], [0xfe, 0xff]].some((magic) => magic.every((byte, k) => start[k] === byte)); // Parquet, UTF-16
  if (start.includes(0) && !known) throw new Error(`${name} is no record of a game: it holds no text. A page opens SGF and Piskvorky’s .psq${here ? "" : ", LittleGolem’s text, Parquet archives and journals of matches"}.`);
  const bytes = new Blob([buffer]), { source } = await sent(name, bytes);
  await keep(source, { name, bytes, at: Date.now() }).catch(() => {}); // no room: it is opened all the same
  return ["list", source, 0];
}

/** The same for a text: a record, a position or moves. */
export async function openText(text, hint) {
  if (isRecord(text)) return openFile("pasted", new Blob([text]));
  let wrong = null;
  for (const place of read(text, hint)) {
    try {
      return ["replay", await post("analyse/tree", { place })];
    } catch (error) { wrong ??= error; }
  }
  throw wrong;
}

const sent = (name, bytes) => post(`analyse/upload?name=${encodeURIComponent(name.slice(0, 200))}`, bytes);

/** The browser's store of records; `work` gets it, and the promise has the result of its request. */
function store(mode, work) {
  return new Promise((settle, fail) => {
    const opening = indexedDB.open("zugwerk", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("records");
    opening.onerror = () => fail(opening.error);
    opening.onsuccess = () => {
      const asked = work(opening.result.transaction("records", mode).objectStore("records"));
      asked.onsuccess = () => { settle(asked.result); opening.result.close(); };
      asked.onerror = () => fail(asked.error);
    };
  });
}

async function keep(source, record) {
  await store("readwrite", (records) => records.put(record, source));
  const keys = await store("readonly", (records) => records.getAllKeys());
  if (keys.length > MOST) for (const key of keys.slice(0, keys.length - MOST)) await store("readwrite", (records) => records.delete(key));
}

/** Give the server a record again that it has forgotten; whether the browser had it. */
export async function sentAgain(source) {
  const kept = source.startsWith("upload:") && await store("readonly", (records) => records.get(source)).catch(() => null);
  if (kept) await sent(kept.name, kept.bytes);
  return Boolean(kept);
}
