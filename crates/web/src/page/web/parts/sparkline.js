// A small chart of the last values.

import { h } from "../dom.js";

/** Makes a chart of values. Its highest value is at least `least`, so that noise looks small. */
export function sparkline(values, least, label) {
  const [width, height] = [56, 16];
  const svg = h("svg:svg", { class: "spark", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  if (values.length < 2) return svg;
  const top = Math.max(least, Math.max(...values) * 1.4);
  const at = (value, index) => [
    ((index / (values.length - 1)) * width).toFixed(1),
    (height - 1.5 - (value / top) * (height - 3)).toFixed(1),
  ];
  const points = values.map(at).map((point) => point.join(",")).join(" ");
  svg.append(
    h("svg:polygon", { points: `0,${height} ${points} ${width},${height}`, class: "spark-area" }),
    h("svg:polyline", { points, class: "spark-line" }),
  );
  return svg;
}
