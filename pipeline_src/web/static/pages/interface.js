// The server's interface for programs, as /api/openapi.json has it. Nothing is loaded from elsewhere.

import { get } from "../api.js";
import { h, put } from "../dom.js";

export async function show(root) {
  const { paths, components: { schemas } } = await get("openapi.json"), shown = new Map();
  const show = (name) => { const one = shown.get(name); one.open = true; one.scrollIntoView(); one.querySelector("summary").focus(); };
  const link = (name) => h("button", { type: "button", class: "quiet", onclick: () => show(name) }, name);
  const joined = (list, word) => list.flatMap((one, k) => k ? [word, ...type(one)] : type(one));

  /** A schema in words, with links to those that have names. */
  function type(one = {}) {
    if (one.$ref) return [link(one.$ref.split("/").at(-1))];
    if (one.anyOf || one.oneOf) return joined(one.anyOf ?? one.oneOf, " or ");
    if (one.const !== undefined || one.enum) return [(one.enum ?? [one.const]).map((value) => JSON.stringify(value)).join(", ")];
    if (one.type === "array") return ["list of ", ...(one.prefixItems ? joined(one.prefixItems, ", ") : type(one.items))];
    if (one.additionalProperties) return ["names with ", ...type(one.additionalProperties)];
    const bounds = [[one.minimum, "from "], [one.maximum, "to "], [one.maxLength, "letters up to "]].filter(([bound]) => bound !== undefined).map(([bound, word]) => word + bound);
    return [[one.type ?? "anything", ...bounds].join(" ")];
  }

  const table = (rows) => h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Fields" }, h("table", {}, h("tbody", {}, rows.map(([name, about, needed, words = ""]) =>
    h("tr", {}, h("th", { scope: "row", class: "mono" }, name, needed ? "" : "?"), h("td", {}, type(about)), h("td", {}, words))))));
  const entry = (title, content) => h("details", { class: "card" }, h("summary", { class: "mono" }, title), h("div", { class: "stack" }, content));
  const body = (about) => about?.content && Object.values(about.content)[0].schema;

  function request(path, method, { description = "", parameters = [], requestBody, responses }) {
    const answer = body(Object.entries(responses).find(([status]) => status < 300)?.[1]);
    return entry(`${method.toUpperCase()} ${path}`, [h("p", {}, description), parameters.length ? table(parameters.map((one) => [one.name, one.schema, one.required, one.description])) : null,
      requestBody ? h("p", {}, "Body: ", type(body(requestBody))) : null, answer ? h("p", {}, "Answer: ", type(answer)) : null]);
  }

  for (const [name, { description = "", properties = {}, required = [], ...about }] of Object.entries(schemas).sort(([a], [b]) => a < b ? -1 : 1))
    shown.set(name, entry(name, [h("p", {}, description), Object.keys(properties).length ? table(Object.entries(properties).map(([key, one]) => [key, one, required.includes(key), one.description])) : h("p", {}, type(about))]));
  put(root, h("h1", {}, "Interface for programs"), h("p", { class: "note" }, "Requests and answers are JSON; ? marks what may be left out. ", h("a", { href: "/api/openapi.json" }, "The same as OpenAPI"), "."),
    h("h2", {}, "Requests"), h("div", { class: "stack" }, Object.entries(paths).flatMap(([path, some]) => Object.entries(some).map(([method, one]) => request(path, method, one)))),
    h("h2", {}, "Messages"), h("div", { class: "stack" }, [...shown.values()]));
  return null;
}
