// Spans of a trace as bars below each other.

import { h } from "../dom.js";
import { clock, duration } from "../format.js";

export function waterfall(trace) {
  const now = Date.now();
  const spans = trace.spans.map((span) => ({
    ...span,
    from: Date.parse(span.started_at),
    to: span.ended_at ? Date.parse(span.ended_at) : now,
  }));
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to), from + 1);
  const depth = (span) => {
    let level = 0;
    let parent = span.parent_span_id;
    while (parent && level < 12) {
      const above = spans.find((other) => other.span_id === parent);
      if (!above) break;
      level += 1;
      parent = above.parent_span_id;
    }
    return level;
  };
  const rows = spans.map((span) => {
    const bar = h("span", { class: `span-bar ${span.error ? "bad" : span.ended_at ? "ok" : "run"}` });
    bar.style.left = `${((span.from - from) / (to - from)) * 100}%`;
    bar.style.width = `max(2px, ${((span.to - span.from) / (to - from)) * 100}%)`;
    const name = h("span", { class: "span-name" }, span.name, span.run > 1 ? ` (run ${span.run})` : "");
    name.style.paddingLeft = `${depth(span) * 14}px`;
    const words = [clock(span.started_at), span.error ?? ""].filter(Boolean).join(" \u00b7 ");
    return h("li", { class: "span-row", title: words }, name, h("span", { class: "span-track" }, bar),
      h("span", { class: "span-time" }, duration(span.to - span.from)));
  });
  return h("div", { class: "waterfall" },
    h("p", { class: "muted mono" }, `trace ${trace.trace_id}`),
    h("ol", { class: "plain-list" }, rows));
}
