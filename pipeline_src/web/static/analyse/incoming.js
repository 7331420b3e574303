// Records and texts from outside: dropped or pasted on any page, uploaded, and kept in the browser in case the server forgets them.

import { post } from "../api.js";
import { number, toast } from "../dom.js";
import { isRecord, read } from "./read.js";

const LARGEST = 8 << 20, MOST = 20;
let waiting = null;

/** What was dropped or pasted on another page, once. */
export function taken() { const one = waiting; waiting = null; return one; }

/** Let the page Analyse open a file, or a text, that is dropped or pasted anywhere but into a field. */
export function listen() {
  const open = (one) => { waiting = one; location.hash = `#/analyse?open=${Date.now()}`; };
  const from = (data) => {
    const file = data.files[0], text = data.getData("text/plain");
    if (!file && !text.trim()) return false;
    try { if (!file && !isRecord(text)) read(text); } catch (error) { toast(error.message, "bad"); return true; } // the page stays
    open(file ? { name: file.name, data: file } : { text });
    return true;
  };
  addEventListener("paste", (event) => { if (!event.target.closest?.("input, textarea") && from(event.clipboardData)) event.preventDefault(); });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { if (event.target.closest?.("input, textarea")) return; event.preventDefault(); from(event.dataTransfer); });
}

/** Open a file: the list of its games, or its only game. */
export async function openFile(begin, views, name, data) {
  if (data.size > LARGEST) { toast(`${name} has ${number(data.size / 2 ** 20)} MiB; a page opens ${LARGEST >> 20} MiB at most. Put it into a folder of the server (--folder) and open it there.`, "bad"); return; }
  try {
    const bytes = new Blob([await data.arrayBuffer()]), { source } = await sent(name, bytes);
    await keep(source, { name, bytes, at: Date.now() }).catch(() => {}); // no room: it is opened all the same
    begin(views.list, source, 0);
  } catch (error) { toast(error.message, "bad"); }
}

/** Open a text: a record, a position or moves. Why it cannot be opened is thrown. */
export async function openText(begin, views, text, hint) {
  if (isRecord(text)) { await openFile(begin, views, "pasted", new Blob([text])); return; }
  let wrong = null;
  for (const place of read(text, hint)) {
    try {
      const replay = await post("analyse/tree", { place });
      begin(views.replay, replay);
      return;
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
