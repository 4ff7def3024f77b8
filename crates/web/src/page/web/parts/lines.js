// The lines of a part of a log, without the page. They can be extended and shortened at both ends, but only where a reply of the
// server began: the text is not what the task printed byte for byte, so no other offset is known exactly.

import { AnsiReader } from "./ansi.js";

const MOST_LINES = 100_000;
const MOST_CHARACTERS = 16 << 20;
const LONGEST_LINE = 16_384;
/** How many lines are compared to find one, because the offset of a line is not exact. */
const COMPARED = 400;

export class Lines {
  all = [];
  /** Where each reply begins: its offset, and the line and column of its first character. */
  #begins = [];
  #characters = 0;
  #reader = new AnsiReader();
  #current = null;
  #overwrites = false;

  /** Adds a reply of the server. */
  append(part) {
    if (this.#begins.at(-1)?.line === null) this.#begins.pop();
    this.#begins.push({ offset: part.offset, line: this.#current, column: this.#current?.length ?? 0 });
    const size = part.pieces.reduce((sum, piece) => sum + utf8Length(piece.text, 0, piece.text.length), 0);
    const scale = size ? (part.next - part.offset) / size : 1;
    let at = part.offset;
    for (const piece of part.pieces) at = this.add(piece.text, piece.stream, at, scale);
  }

  /** Adds text of a stream. A line has about the offset at which it begins. Returns the offset after the text. */
  add(text, stream, offset, scale = 1) {
    let begin = offset;
    let counted = 0;
    const count = (at) => {
      begin += utf8Length(text, counted, at) * scale;
      counted = at;
    };
    this.#reader.read(text, {
      text: (part, style) => this.#write(part, style, this.#open(stream, begin)),
      newline: (end) => {
        this.#open(stream, begin);
        count(end);
        this.#current = null;
        this.#overwrites = false;
      },
      carriageReturn: () => {
        if (this.#current) this.#overwrites = true;
      },
    });
    count(text.length);
    return begin;
  }

  #open(stream, offset) {
    if (!this.#current || (this.#current.stream !== stream && this.#current.length === 0)) {
      this.#current = { segments: [], length: 0, more: 0, stream, offset, element: null };
      this.all.push(this.#current);
      const begin = this.#begins.at(-1);
      if (begin?.line === null) begin.line = this.#current;
    }
    return this.#current;
  }

  #write(part, style, line) {
    if (this.#overwrites) {
      this.#characters -= line.length;
      Object.assign(line, { segments: [], length: 0, more: 0 });
      for (const begin of this.#begins) if (begin.line === line) begin.column = 0;
      this.#overwrites = false;
    }
    const kept = part.slice(0, Math.max(0, LONGEST_LINE - line.length));
    line.more += part.length - kept.length;
    line.length += kept.length;
    this.#characters += kept.length;
    const last = line.segments.at(-1);
    if (last?.style === style) last.text += kept;
    else if (kept) line.segments.push({ text: kept, style });
    line.element = null;
  }

  /** Puts a reply of the server before the first line. */
  prepend(part) {
    const before = new Lines();
    before.append(part);
    const first = this.all[0];
    // The first line may be the rest of one that begins in the reply. It stays the same object, because it may still grow.
    if (first && before.#current) {
      const begin = before.all.pop();
      for (const one of this.#begins) if (one.line === first) one.column += begin.length;
      for (const one of before.#begins) if (one.line === begin) one.line = first;
      Object.assign(first, { segments: [...begin.segments, ...first.segments], length: begin.length + first.length, more: begin.more + first.more, offset: begin.offset, element: null });
    }
    this.all = before.all.concat(this.all);
    this.#begins = before.#begins.filter((one) => one.line).concat(this.#begins);
    this.#characters += before.#characters;
  }

  get areTooMany() {
    return this.all.length > MOST_LINES || this.#characters > MOST_CHARACTERS;
  }

  /** Drops the first replies, so that there are not too many lines. Returns the offset at which the others begin. */
  dropFirst() {
    this.#begins = this.#begins.filter((one) => one.line);
    const at = this.#begins.length - this.#fitting(this.#begins.toReversed(), this.all.length);
    const { offset, line, column } = this.#begins[at];
    this.all.splice(0, this.all.indexOf(line));
    for (const one of this.#begins) if (one.line === line) one.column -= column;
    cut(line, column, Infinity);
    this.#begins.splice(0, at);
    this.#count();
    return offset;
  }

  /** Drops the last replies, so that there are not too many lines. Returns the offset from which they can be read again, or null. */
  dropLast() {
    this.#begins = this.#begins.filter((one) => one.line);
    const at = this.#fitting(this.#begins, 0);
    if (at === this.#begins.length) return null;
    const { offset, line, column } = this.#begins[at];
    this.all.length = this.all.indexOf(line) + (column > 0 ? 1 : 0);
    cut(line, 0, column);
    this.#begins.length = at;
    this.#reader = new AnsiReader();
    this.#current = column > 0 ? line : null;
    this.#overwrites = false;
    this.#count();
    return offset;
  }

  /** How many replies, in this order, are kept: at least one, and fewer than allowed, so that it is rarely necessary. */
  #fitting(begins, end) {
    const places = new Map(this.all.map((line, at) => [line, at]));
    const share = Math.min(MOST_LINES / this.all.length, MOST_CHARACTERS / Math.max(1, this.#characters));
    const most = 0.9 * share * this.all.length;
    const found = begins.findIndex((begin, at) => at > 0 && Math.abs(places.get(begin.line) - end) > most);
    return found === -1 ? begins.length : found;
  }

  #count() {
    this.#characters = this.all.reduce((sum, line) => sum + line.length, 0);
  }

  /** The index of the line with about this offset. */
  indexAt(offset) {
    return Math.max(0, lowerBound(this.all.length, (at) => this.all[at].offset > offset + 1) - 1);
  }

  /** The line with about this offset that begins with a text; null if there is none. */
  find({ offset, text }) {
    const { all } = this;
    const at = this.indexAt(offset);
    const wanted = text.slice(0, 60).trim();
    const is = (index) => all[index] && plain(all[index]).trim().startsWith(wanted);
    for (let distance = 0; distance < COMPARED; distance += 1) {
      const found = [at - distance, at + distance].find(is);
      if (found !== undefined) return all[found];
    }
    return null;
  }
}

/** Keeps the characters of a line between two columns. */
function cut(line, from, to) {
  let at = 0;
  line.segments = line.segments.map(({ text, style }) => {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += text.length;
    return { text: part, style };
  }).filter((segment) => segment.text);
  line.length = line.segments.reduce((sum, segment) => sum + segment.text.length, 0);
  line.element = null;
}

export const plain = (line) => line.segments.map((segment) => segment.text).join("");

/** The first number below `end` for which a test is true; `end` if there is none. */
export function lowerBound(end, test) {
  let [low, high] = [0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function utf8Length(text, from, to) {
  let length = to - from;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    // Both halves of a surrogate pair together have four bytes.
    if (code > 0x7ff && (code < 0xd800 || code > 0xdfff)) length += 2;
    else if (code > 0x7f) length += 1;
  }
  return length;
}
