// The beginning of a page that is one file: its parts become addresses, and the modules name each other by these.
(async () => {
  const files = globalThis.zugwerkFiles = {}, types = { js: "text/javascript", json: "application/json" }, inside = {};
  const named = (name, path) => new URL(path, `http://page/${name}`).pathname.slice(1);
  const joined = (text, name, addresses) => text.replace(/(from |import\()"(\.[^"]+)"/g, (_, how, path) => `${how}"${addresses[named(name, path)]}"`);
  for (const part of document.querySelectorAll("script[data-file]")) {
    const name = part.dataset.file, type = types[name.split(".").at(-1)] ?? "application/octet-stream";
    let content = await (await fetch(`data:${type};base64,${part.textContent}`)).blob();
    if (type === types.js && name !== "vega.js") {
      const text = await content.text();
      content = new Blob([joined(text, name, files)], { type });
      if (/^(kernels|local\/(rules|search|worker))\.js$/.test(name)) inside[name] = `data:${type},${encodeURIComponent(joined(text, name, inside))}`;
    }
    files[name] = name.startsWith("engine/") ? content : URL.createObjectURL(content); // a worker of a page from disk reads no address of the page
    part.remove();
  }
  files["local/worker.js"] = inside["local/worker.js"];
  await import(files["app.js"]);
})().catch((error) => { document.getElementById("main").textContent = `This page could not begin: ${error.message}. A current Firefox, Chrome or Safari can show it.`; });
