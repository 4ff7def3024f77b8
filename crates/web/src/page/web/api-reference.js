// The reference of the API, made from its own description.

import { h, withCode } from "./dom.js";

const main = document.getElementById("main");
const description = await (await fetch("/api/v1/openapi.json")).json();
const schemas = description.components.schemas;

const nameOf = (schema) => schema?.$ref?.split("/").at(-1);

function typeOf(schema) {
  if (!schema) return "";
  if (schema.$ref) return nameOf(schema);
  if (schema.oneOf) return schema.oneOf.map(typeOf).filter((type) => type !== "null").join(" or ");
  const type = [schema.type].flat().filter((one) => one && one !== "null").join(" or ");
  return type === "array" ? `list of ${typeOf(schema.items)}` : type || "any";
}

function fields(schema) {
  const named = schema?.$ref ? schemas[nameOf(schema)] : schema;
  if (named?.enum || named?.oneOf?.every((one) => one.enum)) {
    return h("p", {}, "one of ", (named.enum ?? named.oneOf.flatMap((one) => one.enum)).map((value) => h("code", {}, `${value} `)));
  }
  if (!named?.properties) return h("p", { class: "muted" }, typeOf(named));
  const row = ([name, property]) => h("tr", {}, h("td", {}, h("code", {}, name)), h("td", { class: "muted" }, typeOf(property)), h("td", {}, property.description ?? schemas[nameOf(property)]?.description ?? ""));
  return h("table", {}, h("tbody", {}, Object.entries(named.properties).map(row)));
}

function operation(path, method, about) {
  const parameters = (about.parameters ?? []).map((one) => h("tr", {}, h("td", {}, h("code", {}, one.name)), h("td", { class: "muted" }, `${typeOf(one.schema)}${one.required ? "" : ", optional"}`), h("td", {}, one.description ?? "")));
  const body = about.requestBody?.content?.["application/json"]?.schema;
  const replies = Object.entries(about.responses).map(([status, reply]) => {
    const [kind, content] = Object.entries(reply.content ?? {})[0] ?? [];
    return h("div", {}, h("h4", {}, `${status} ${reply.description}`), content && !status.startsWith("4") && !status.startsWith("5") ? [h("p", { class: "muted mono" }, kind), fields(content.schema)] : null);
  });
  return h("details", { class: "operation" },
    h("summary", {}, h("span", { class: `method ${method}` }, method.toUpperCase()), h("code", {}, path), h("span", { class: "muted" }, about.summary ?? "")),
    h("div", {}, about.description ? prose(about.description) : null, parameters.length ? [h("h4", {}, "Parameters"), h("table", {}, h("tbody", {}, parameters))] : null,
      body ? [h("h4", {}, "Body"), fields(body)] : null, replies));
}

const prose = (text) => h("p", {}, withCode(text));

main.append(...description.info.description.split("\n\n").map(prose));
for (const tag of description.tags) {
  main.append(h("h2", {}, tag.name), h("p", { class: "muted" }, tag.description));
  for (const [path, methods] of Object.entries(description.paths)) {
    for (const [method, about] of Object.entries(methods)) if (about.tags?.includes(tag.name)) main.append(operation(path, method, about));
  }
}
