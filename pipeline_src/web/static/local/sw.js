// Keeps the exported page: what was loaded once needs no connection. A new export has another name, and replaces it.
const NAME = "zugwerk-VERSION", SHELL = "SHELL";

addEventListener("install", (event) => event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(SHELL)).then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith("zugwerk-") && name !== NAME).map((name) => caches.delete(name)))).then(() => clients.claim())));
addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(caches.open(NAME).then(async (cache) => {
    const kept = await cache.match(event.request);
    if (kept) return kept;
    const answer = await fetch(event.request);
    if (answer.ok) await cache.put(event.request, answer.clone());
    return answer;
  }));
});
