// The lines of a part of a log, without the page. Each line knows its offset in the log, so that the part can be extended and
// shortened at both ends.

import { AnsiReader } from "./ansi.js";

const MOST_LINES = 100_000;
const MOST_CHARACTERS = 16 << 20;
const LONGEST_LINE = 16_384;

export class Lines {
  all = [];
  #characters = 0;
  #reader = new AnsiReader();
  #current = null;
  #overwrites = false;

  /** Adds text of a stream that begins at an offset. Returns the offset after it. */
  add(text, stream, offset) {
    let begin = offset;
    let counted = 0;
    const offsetOf = (at) => {
      begin += utf8Length(text, counted, at);
      counted = at;
      return begin;
    };
    this.#reader.read(text, {
      text: (part, style) => {
        const line = this.#open(stream, begin);
        if (this.#overwrites) {
          this.#characters -= line.length;
          Object.assign(line, { segments: [], length: 0, more: 0 });
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
      },
      newline: (end) => {
        this.#open(stream, begin);
        offsetOf(end);
        this.#current = null;
        this.#overwrites = false;
      },
      carriageReturn: () => {
        if (this.#current) this.#overwrites = true;
      },
    });
    return offsetOf(text.length);
  }

  #open(stream, offset) {
    if (!this.#current || (this.#current.stream !== stream && this.#current.length === 0)) {
      this.#current = { segments: [], length: 0, more: 0, stream, offset, element: null };
      this.all.push(this.#current);
    }
    return this.#current;
  }

  /** Adds the pieces of a part of the log. */
  append(part) {
    let at = part.offset;
    for (const piece of part.pieces) at = this.add(piece.text, piece.stream, at);
  }

  /** Puts a part of the log before the first line. */
  prepend(part) {
    const before = new Lines();
    before.append(part);
    const first = this.all[0];
    // The first line may be the rest of one that begins in the part. It stays the same object, because it may still grow.
    if (first && before.#current) {
      const begin = before.all.pop();
      const last = begin.segments.at(-1);
      if (last && last.style === first.segments[0]?.style) first.segments[0] = { ...last, text: begin.segments.pop().text + first.segments[0].text };
      first.segments.unshift(...begin.segments);
      first.length += begin.length;
      first.more += begin.more;
      first.offset = begin.offset;
      first.element = null;
    }
    this.all = before.all.concat(this.all);
    this.#characters += before.#characters;
  }

  get areTooMany() {
    return this.all.length > MOST_LINES || this.#characters > MOST_CHARACTERS;
  }

  /** Drops the first lines, so that there are not too many. */
  dropFirst() {
    this.all.splice(0, this.all.length - this.#fitting(1));
  }

  /** Drops the last lines, so that there are not too many. Returns the offset from which they can be read again. */
  dropLast() {
    const [first] = this.all.splice(this.#fitting(-1));
    this.#reader = new AnsiReader();
    this.#current = null;
    this.#overwrites = false;
    return first.offset;
  }

  /** How many lines are kept, counted from the end or from the beginning. Some fewer than allowed, so that this is rare. */
  #fitting(fromEnd) {
    let [kept, characters] = [0, 0];
    const most = Math.min(MOST_LINES * 0.9, this.all.length - 1);
    while (kept < most) {
      const line = this.all[fromEnd === 1 ? this.all.length - 1 - kept : kept];
      if (kept > 0 && characters + line.length > MOST_CHARACTERS * 0.9) break;
      characters += line.length;
      kept += 1;
    }
    this.#characters = characters;
    return kept;
  }

  /** The index of the line with an offset. */
  indexAt(offset) {
    return Math.max(0, lowerBound(this.all.length, (at) => this.all[at].offset > offset) - 1);
  }
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
