// Turns the colours of a terminal into styled segments. Everything else that a terminal would obey is dropped.

const PLAIN = Object.freeze({ key: "", fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, inverse: false });
const LONGEST_SEQUENCE = 512;
const CUBE = [0, 95, 135, 175, 215, 255];

/** Reads text in parts and keeps the style between them. */
export class AnsiReader {
  #style = PLAIN;
  #rest = "";

  /** Calls `text(text, style)`, `newline(end)` with the position after it in the input, and `carriageReturn()` in order. */
  read(input, sink) {
    const data = this.#rest + input;
    const before = this.#rest.length;
    this.#rest = "";
    let start = 0;
    let at = 0;
    const flush = (end) => {
      if (end > start) sink.text(data.slice(start, end), this.#style);
    };
    while (at < data.length) {
      const code = data.charCodeAt(at);
      if (code >= 0x20 && code !== 0x7f && !(code >= 0x80 && code <= 0x9f)) {
        at += 1;
        continue;
      }
      if (code === 9) {
        at += 1;
        continue;
      }
      flush(at);
      if (code === 0x1b) {
        const end = sequenceEnd(data, at);
        if (end === -1) {
          const rest = data.slice(at);
          // An endless sequence is no sequence.
          if (rest.length < LONGEST_SEQUENCE) this.#rest = rest;
          start = data.length;
          at = data.length;
          break;
        }
        if (data[at + 1] === "[" && data[end - 1] === "m") this.#apply(data.slice(at + 2, end - 1));
        at = end;
      } else {
        if (code === 10) sink.newline(at + 1 - before);
        else if (code === 13) sink.carriageReturn();
        else if (code === 8) sink.backspace?.();
        at += 1;
      }
      start = at;
    }
    flush(at);
  }

  #apply(text) {
    const codes = text.split(/[;:]/).slice(0, 32).map((part) => (part === "" ? 0 : Number(part)));
    const style = { ...this.#style };
    for (let at = 0; at < codes.length; at += 1) {
      const code = codes[at];
      if (code === 0) Object.assign(style, PLAIN);
      else if (code === 1) style.bold = true;
      else if (code === 2) style.dim = true;
      else if (code === 3) style.italic = true;
      else if (code === 4) style.underline = true;
      else if (code === 7) style.inverse = true;
      else if (code === 22) style.bold = style.dim = false;
      else if (code === 23) style.italic = false;
      else if (code === 24) style.underline = false;
      else if (code === 27) style.inverse = false;
      else if (code >= 30 && code <= 37) style.fg = code - 30;
      else if (code >= 90 && code <= 97) style.fg = code - 82;
      else if (code === 39) style.fg = null;
      else if (code >= 40 && code <= 47) style.bg = code - 40;
      else if (code >= 100 && code <= 107) style.bg = code - 92;
      else if (code === 49) style.bg = null;
      else if (code === 38 || code === 48) {
        const [colour, used] = extended(codes, at + 1);
        style[code === 38 ? "fg" : "bg"] = colour;
        at += used;
      }
    }
    style.key = `${style.fg?.css ?? style.fg}/${style.bg?.css ?? style.bg}/${[style.bold, style.dim, style.italic, style.underline, style.inverse].map(Number).join("")}`;
    this.#style = style.key === "null/null/00000" ? PLAIN : style;
  }
}

function extended(codes, at) {
  const part = (index) => Math.min(255, Math.max(0, codes[index] | 0));
  if (codes[at] === 5) return [palette(part(at + 1)), 2];
  if (codes[at] === 2) return [rgb(part(at + 1), part(at + 2), part(at + 3)), 4];
  return [null, 1];
}

function palette(index) {
  if (index < 16) return index;
  if (index >= 232) {
    const level = 8 + (index - 232) * 10;
    return rgb(level, level, level);
  }
  const cell = index - 16;
  return rgb(CUBE[Math.floor(cell / 36)], CUBE[Math.floor(cell / 6) % 6], CUBE[cell % 6]);
}

function rgb(red, green, blue) {
  return { css: `rgb(${red} ${green} ${blue})`, isLight: 0.3 * red + 0.59 * green + 0.11 * blue > 140 };
}

/** The position after an escape sequence; -1 if it is not complete. */
function sequenceEnd(data, at) {
  const kind = data[at + 1];
  if (kind === undefined) return -1;
  if (kind === "[") {
    for (let end = at + 2; end < data.length; end += 1) {
      const code = data.charCodeAt(end);
      if (code >= 0x40 && code <= 0x7e) return end + 1;
      if (code < 0x20 || code > 0x7e || end - at > LONGEST_SEQUENCE) return end;
    }
    return -1;
  }
  if (kind === "]" || kind === "P" || kind === "^" || kind === "_" || kind === "X") {
    for (let end = at + 2; end < data.length; end += 1) {
      if (data[end] === "\u0007") return end + 1;
      if (data[end] === "\u001b" && data[end + 1] === "\\") return end + 2;
      if (data[end] === "\n" || end - at > 8 * LONGEST_SEQUENCE) return end;
    }
    return -1;
  }
  // Others, such as the choice of a character set, have intermediate bytes and a final one.
  for (let end = at + 1; end < data.length; end += 1) {
    const code = data.charCodeAt(end);
    if (code >= 0x30 && code <= 0x7e) return end + 1;
    if (code < 0x20 || code > 0x7e || end - at > LONGEST_SEQUENCE) return end;
  }
  return -1;
}

/** Gives an element the style of a segment, so that it can be read on a light and on a dark page. */
export function paint(element, style) {
  const names = ["bold", "dim", "italic", "underline"].filter((name) => style[name]);
  const [front, back] = style.inverse ? [style.bg, style.fg ?? "text"] : [style.fg, style.bg];
  if (typeof back === "number") names.push(`bg${back}`);
  else if (back === "text") names.push("inverse");
  else if (back) Object.assign(element.style, { backgroundColor: back.css, color: front?.css ?? (back.isLight ? "#111" : "#fff") });
  else if (typeof front === "number") names.push(`fg${front}`);
  // The stylesheet has the lightness at which a colour differs enough from the page.
  else if (front) element.style.color = `oklch(from ${front.css} clamp(var(--darkest), l, var(--lightest)) c h)`;
  if (names.length) element.className = names.join(" ");
}
