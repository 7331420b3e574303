// The beginning of a page that is one file: its parts become addresses, and the modules name each other by these.
(async () => {
  const files = globalThis.zugwerkFiles = {}, types = { js: "text/javascript", json: "application/json" };
  const named = (name, path) => new URL(path, `http://page/${name}`).pathname.slice(1);
  for (const part of document.querySelectorAll("script[data-file]")) {
    const name = part.dataset.file, type = types[name.split(".").at(-1)] ?? "application/octet-stream";
    let content = await (await fetch(`data:${type};base64,${part.textContent}`)).blob();
    if (type === types.js && name !== "vega.js") {
      const text = (await content.text()).replace(/(from |import\()"(\.[^"]+)"/g, (_, how, path) => `${how}"${files[named(name, path)]}"`);
      content = new Blob([text], { type });
    }
    files[name] = URL.createObjectURL(content);
    part.remove();
  }
  await import(files["app.js"]);
})().catch((error) => { document.getElementById("main").textContent = `This page could not begin: ${error.message}. A current Firefox, Chrome or Safari can show it.`; });
