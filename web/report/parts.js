// The parts that sections are built of: elements, tables, legends, tooltips.
"use strict";

// h("p", {class: "lede"}, "text", node): an element; null children are left out.
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat(9).filter((it) => it !== null && it !== undefined));
  return element;
}

// Columns of a table: of(row) gives a text or a node.
const text = (title, of) => ({title, of});
const num = (title, of) => ({title, of, num: true});
const wide = (title, of) => ({title, of, wide: true});
const head = (title, of) => ({title, of, head: true});  // names the row

function table(caption, columns, rows) {
  const cell = (row, column) => h(
      column.head ? "th" : "td",
      {class: column.num ? "num" : column.wide ? "wide" : null,
        scope: column.head ? "row" : null},
      column.of(row));
  return h("div", {class: "table-scroll", role: "region", tabindex: "0",
    "aria-label": caption},
  h("table", {class: "table"},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, columns.map((it) =>
      h("th", {scope: "col", class: it.num ? "num" : null}, it.title)))),
    h("tbody", {}, rows.map((row) =>
      h("tr", {id: row.id || null}, columns.map((it) => cell(row, it)))))));
}

// The first rows, and a fold with all of them where there are more.
function longTable(caption, columns, rows, shown) {
  if (rows.length <= shown) return table(caption, columns, rows);
  const rest = h("details", {class: "fold"},
    h("summary", {}, `Show all ${formatCount(rows.length)}`));
  rest.addEventListener("toggle", () => {
    if (rest.open && rest.children.length === 1) {
      rest.append(table(`${caption}: all`, columns, rows));
    }
  });
  return h("div", {}, table(`${caption}: the first ${shown}`, columns,
    rows.slice(0, shown)), rest);
}

// Items: [class, text].
function legend(items) {
  return h("ul", {class: "legend"}, items.map(([name, text]) =>
    h("li", {}, h("span", {class: `swatch ${name}`, "aria-hidden": "true"}),
      h("span", {}, text))));
}

const badge = (word, kind) =>
    h("span", {class: `badge badge--${kind || word}`}, word);

function qualityBadge(quality) {
  return quality ? badge(quality) : badge("not rated", "none");
}

const missing = (text, command) =>
    h("p", {class: "empty"}, text, command ? " " : null,
      command ? h("code", {}, command) : null);

// Else by roofline, or a baseline: no store has measurements of such a plan.
const isMeasured = (data) => data.device !== "symbolic";

function figure(title, value, note) {
  return h("div", {class: "figure"}, h("dt", {}, title), h("dd", {}, value),
    note ? h("dd", {class: "figure__note"}, note) : null);
}

function facts(pairs) {
  return h("dl", {class: "facts"}, pairs.filter(([, value]) => value)
    .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

// ---- tooltips, by pointer and by keys

function showTooltip(mark, text) {
  const tooltip = document.getElementById("tooltip");
  tooltip.textContent = text;
  tooltip.hidden = false;
  const at = mark.getBoundingClientRect();
  const own = tooltip.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const left = Math.min(Math.max(4, at.left + at.width / 2 - own.width / 2),
    width - own.width - 4);
  const above = at.top - own.height - 8;
  tooltip.style.left = `${left + window.scrollX}px`;
  tooltip.style.top =
      `${(above > 4 ? above : at.bottom + 8) + window.scrollY}px`;
}

function hideTooltip() {
  document.getElementById("tooltip").hidden = true;
}

// A chart's marks, each with the text that describes it: shown under the
// pointer, or one after the other with the arrow keys.
function describeMarks(svg, marks) {
  let at = -1;
  const show = (index) => {
    at = index;
    const [mark, text] = marks[at];
    showTooltip(mark, text);
    document.getElementById("spoken").textContent = text;
  };
  marks.forEach(([mark, text]) => {
    mark.addEventListener("pointerenter", () => showTooltip(mark, text));
    mark.addEventListener("pointerleave", hideTooltip);
  });
  if (!marks.length) return;
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("blur", hideTooltip);
  svg.addEventListener("keydown", (event) => {
    const steps = {ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1,
      ArrowUp: at - 1, Home: 0, End: marks.length - 1};
    if (event.key === "Escape") hideTooltip();
    if (!(event.key in steps)) return;
    event.preventDefault();
    show(Math.min(Math.max(0, steps[event.key]), marks.length - 1));
  });
}

// Of paper, about: A4 less its margins.
const PAPER_WIDTH = 690;

// A figure whose chart is drawn to the width that it has, and again when that
// changes. draw(svg, width) -> {height, marks}; `svg` is a selection of D3.
function chart(label, draw, caption, keys) {
  const canvas = h("div", {class: "chart__canvas"});
  const element = h("figure", {class: "chart"}, keys ? legend(keys) : null,
    canvas, caption ? h("figcaption", {}, caption) : null);
  let drawn = 0;
  element.redraw = (wanted) => {
    const width = wanted || Math.round(canvas.clientWidth);
    if (width === 0 || Math.abs(width - drawn) < 8) return;
    drawn = width;
    canvas.replaceChildren();
    const svg = d3.select(canvas).append("svg").attr("role", "img");
    const {height, marks} = draw(svg, width);
    svg.attr("viewBox", `0 0 ${width} ${height}`);
    svg.attr("aria-label", marks.length
      ? `${label}. The arrow keys read its ${marks.length} values.` : label);
    describeMarks(svg.node(), marks);
  };
  new ResizeObserver(() => {
    if (!matchMedia("print").matches) element.redraw();
  }).observe(canvas);
  return element;
}

// Draws all charts, for paper or for the window.
function redrawCharts(forPaper) {
  for (const element of document.querySelectorAll(".chart")) {
    const isHalf = element.parentElement.matches(".columns");
    element.redraw(forPaper ? PAPER_WIDTH / (isHalf ? 2 : 1) : 0);
  }
}
window.addEventListener("beforeprint", () => redrawCharts(true));
window.addEventListener("afterprint", () => redrawCharts(false));
