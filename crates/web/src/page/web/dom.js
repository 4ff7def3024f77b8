// Makes elements. All text is set as text, never as markup.

/** Makes an element. Properties that begin with "on" are listeners; `class`, `data-*` and `aria-*` are attributes. */
export function h(tag, properties, ...children) {
  const element = tag.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4))
    : document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "css") Object.assign(element.style, value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  add(element, children);
  return element;
}

/** Returns a text in which what is between backticks is code. */
export const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

/** Returns a text without characters that are not seen or that change the order of others. */
export const visible = (text) =>
  text.replace(/[^\P{C}\n\t]|[\u115f\u1160\u2028\u2029\u3164\uffa0]/gu, (character) => `\\u{${character.codePointAt(0).toString(16)}}`);

/** Replaces the children of an element. */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
}

function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child);
  }
}

/** Makes a link to a server of a task. Not to the name of this page on loopback: the browser would send it the cookie of this page. */
export const portLink = (port) => {
  const host = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname) ? "localhost" : location.hostname;
  return h("a", { class: "port", href: `http://${host}:${port}/`, target: "_blank", rel: "noreferrer", "aria-label": `open port ${port}` }, `:${port}`);
};

/** Sets the text of an element if it differs, so that nothing is laid out again without need. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Shows a message for some seconds. */
export function toast(text, kind = "note") {
  const toasts = document.getElementById("toasts");
  const shown = h("div", { class: `toast ${kind}` }, text);
  toasts.append(shown);
  while (toasts.children.length > 4) toasts.firstChild.remove();
  setTimeout(() => shown.remove(), kind === "error" ? 12000 : 6000);
}

/** Calls a function at most once in a time, and once more if it was called meanwhile. */
export function throttled(ms, work) {
  let timer = null;
  let again = false;
  const run = async () => {
    again = false;
    timer = setTimeout(() => {
      timer = null;
      if (again) run();
    }, ms);
    await work();
  };
  return () => {
    if (timer === null) run();
    else again = true;
  };
}
