// Text of a model with the few marks of Markdown that matter for reading. Everything is set as text.

import { h, withCode } from "../dom.js";

/** Shows a text: blocks of code, headings, and paragraphs with their line breaks. */
export function prose(text) {
  const parts = text.trim().split(/^```.*$/m);
  return h("div", { class: "prose" }, parts.map((part, at) => (at % 2 ? h("pre", { class: "mono", tabindex: "0" }, part.replace(/^\n|\n$/g, "")) : part.split(/\n{2,}/).map(paragraph))));
}

function paragraph(text) {
  const heading = text.match(/^#{1,6} (.*)$/);
  if (heading) return h("p", { class: "heading" }, heading[1]);
  return text.trim() ? h("p", {}, strong(text.replace(/^\n+|\n+$/g, ""))) : null;
}

const strong = (text) => text.split("**").map((part, at) => (at % 2 ? h("strong", {}, withCode(part)) : withCode(part)));
