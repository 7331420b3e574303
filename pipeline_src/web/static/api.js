// Requests to the server, and a WebSocket that comes back by itself; in a page that `zugwerk export --web` wrote, to local/end.js.

/** What the server, or the way to it, says is wrong; `status` is 0 where no answer came. */
export class ApiError extends Error {
  constructor(text, status) { super(text); this.status = status; }
}

/** Whether this page has its engine with it, and the address of one of its files. */
export const here = document.documentElement.dataset.engine === "page";
export const fileAt = (name) => globalThis.zugwerkFiles?.[name] ?? new URL(name, document.baseURI).href;
const end = here ? import(fileAt("local/end.js")) : null;

async function ask(method, path, body, options = {}) {
  if (end) return (await end).ask(path, body, options);
  let answer;
  try {
    answer = await fetch(`/api/${path}`, {
      method,
      headers: body === undefined || body instanceof Blob ? {} : { "content-type": "application/json" },
      body: body === undefined || body instanceof Blob ? body : JSON.stringify(body),
      signal: options.signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError("The server does not answer. Is `zugwerk web` still running?", 0);
  }
  if (answer.status === 204) return null;
  let value = null;
  try { value = await answer.json(); } catch { /* told below */ }
  if (!answer.ok) throw new ApiError((value && value.error) || `The server answered ${answer.status}.`, answer.status);
  return value;
}

/** The value of GET /api/PATH; `options.signal` gives it up. */
export const get = (path, options) => ask("GET", path, undefined, options);
/** The answer to POST /api/PATH of a value as JSON, or of a Blob as it is. */
export const post = (path, body, options) => ask("POST", path, body === undefined ? {} : body, options);
/** The answer to DELETE /api/PATH. */
export const remove = (path, options) => ask("DELETE", path, undefined, options);

/**
 * A WebSocket at /api/PATH that carries JSON and connects again after a break, after 0.3 s at first and 5 s at most.
 *
 * handlers: message(value), state("open" | "lost"), refused(text, code): the server does not want it, and it stays closed.
 */
export function socket(path, handlers) {
  if (end) {
    let wire = null, closed = false;
    end.then(({ open }) => { if (!closed) wire = open(path, handlers); }, () => handlers.refused?.("the engine of this page could not be loaded"));
    return { send: (value) => Boolean(wire?.send(value)), close() { closed = true; wire?.close(); } };
  }
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/${path}`;
  let wire = null, closed = false, wait = 300, timer = 0;
  function open() {
    wire = new WebSocket(address);
    wire.onopen = () => { wait = 300; handlers.state?.("open"); };
    wire.onmessage = (event) => handlers.message(JSON.parse(event.data));
    wire.onclose = (event) => {
      if (closed) return;
      if (event.code === 1008 || event.code >= 4000) { closed = true; handlers.refused?.(event.reason || "the server closed the connection", event.code); return; }
      handlers.state?.("lost");
      timer = setTimeout(open, wait);
      wait = Math.min(5000, wait * 2);
    };
  }
  open();
  return {
    /** Whether it could be sent; nothing is kept for later. */
    send(value) {
      if (!wire || wire.readyState !== WebSocket.OPEN) return false;
      wire.send(JSON.stringify(value));
      return true;
    },
    close() {
      closed = true;
      clearTimeout(timer);
      // Browsers complain of a socket that is closed while it connects: it closes once it is open.
      if (wire.readyState === WebSocket.CONNECTING) wire.onopen = () => wire.close();
      else wire.close();
    },
  };
}
