// The charts of the dashboard, drawn with D3. Colours are classes alone.
/* global d3, formatCount, formatSeconds, formatShare */

import {formatTime, make} from "./parts.js";

const HEIGHT = 220;
const MARGIN = {top: 8, right: 8, bottom: 26, left: 44};
const DAY = 86400;
const QUALITIES = [["good", "is-good"], ["noisy", "is-warn"],
  ["suspect", "is-bad"], ["unknown", "is-other"]];
const FEWEST_DAYS = 7;

function say(figure, text) {
  figure.querySelector("figcaption").textContent = text;
}

function sayEmpty(figure, text) {
  figure.querySelector(".chart__place")
    .replaceChildren(make("p", {class: "empty"}, text));
  say(figure, "");
}

// Of a page that is hidden there is none, and no window is as narrow as that.
const hasRoom = (figure) =>
  figure.querySelector(".chart__place").clientWidth > 100;

function open(figure, label) {
  const place = figure.querySelector(".chart__place");
  const width = place.clientWidth;
  place.replaceChildren();
  const svg = d3.select(place).append("svg").attr("role", "img")
    .attr("aria-label", label).attr("width", width).attr("height", HEIGHT)
    .attr("viewBox", `0 0 ${width} ${HEIGHT}`);
  return {place, svg, width};
}

function axes(svg, x, y, width, formatX, formatY) {
  const axis = d3.axisBottom(x).tickFormat(formatX).tickSizeOuter(0);
  const room = Math.max(2, Math.floor(width / 90));
  const [first, last] = x.domain();
  const days = d3.utcDay.count(first, last);
  // Whole days, none of them twice, and as far from each other as they say.
  if (days > 2) {
    axis.tickValues(d3.utcDay.range(d3.utcDay.ceil(first), last,
        Math.ceil(days / room)));
  } else {
    axis.ticks(room);
  }
  svg.append("g").attr("class", "axis")
    .attr("transform", `translate(0,${HEIGHT - MARGIN.bottom})`)
    .call(axis);
  svg.append("g").attr("class", "axis")
    .attr("transform", `translate(${MARGIN.left},0)`)
    .call(d3.axisLeft(y).ticks(5).tickFormat(formatY).tickSizeOuter(0));
}

const DAYS_LABEL = "%-d %b";

function legend(place, entries) {
  place.append(make("ul", {class: "legend"}, entries.map(([name, kind]) =>
    make("li", {}, [make("span", {class: `swatch ${kind}`}), name]))));
}

// What a mark says to a pointer that is on it.
function explain(node, text) {
  d3.select(node).append("title").text(text);
}

const formatDay = (date) => d3.utcFormat(DAYS_LABEL)(date);

export function drawDays(figure, view) {
  const days = view.days;
  if (!days.length) {
    return sayEmpty(figure, view.counted === null ? "Counting the rows."
      : "The store has no measured row.");
  }
  if (!hasRoom(figure)) return;
  const totals = QUALITIES.map(([name, kind]) =>
    [name, kind, d3.sum(days, (it) => it[name] ?? 0)])
    .filter(([, , total]) => total);
  const {place, svg, width} = open(figure, totals.map(([name, , total]) =>
    `${name}: ${total} rows`).join(", "));
  const last = days[days.length - 1].day;
  const first = Math.min(days[0].day, last - (FEWEST_DAYS - 1) * DAY);
  const room = [MARGIN.left, width - MARGIN.right];
  const x = d3.scaleUtc([1000 * first, 1000 * (last + DAY)], room);
  const most = d3.max(days, (it) => d3.sum(totals, ([name]) => it[name] ?? 0));
  const y = d3.scaleLinear([0, most], [HEIGHT - MARGIN.bottom, MARGIN.top])
    .nice(5);
  const bar = (room[1] - room[0]) * DAY / (last + DAY - first);
  for (const it of days) {
    let from = 0;
    for (const [name, kind] of totals) {
      const count = it[name] ?? 0;
      if (!count) continue;
      const rect = svg.append("rect").attr("class", `fill ${kind}`)
        .attr("x", x(1000 * it.day) + bar * 0.1).attr("width", bar * 0.8)
        .attr("y", y(from + count))
        .attr("height", Math.max(1, y(from) - y(from + count)));
      explain(rect.node(),
          `${formatDay(new Date(1000 * it.day))}: ${formatCount(count)} ${name}`);
      from += count;
    }
  }
  axes(svg, x, y, width, formatDay, d3.format("~s"));
  legend(place, totals.map(([name, kind, total]) =>
    [`${name} ${formatCount(total)}`, kind]));
  say(figure, "Each row counts on the day of the measurement whose times it has.");
}

export function drawErrors(figure, view) {
  const predictions = view.predictions;
  if (!predictions.length) {
    return sayEmpty(figure, "No plan was validated since this coordinator " +
        "started. \"meshwright plans validate ID\" compares one.");
  }
  if (!hasRoom(figure)) return;
  const devices = [...new Set(predictions.map((it) => it.device))];
  const errors = predictions.map((it) => Math.abs(it.error));
  const {place, svg, width} = open(figure,
      `${predictions.length} predicted steps; the largest error is ` +
      formatShare(d3.max(errors)));
  const times = d3.extent(predictions, (it) => 1000 * it.when);
  const spread = Math.max(60000, 0.04 * (times[1] - times[0]));
  const x = d3.scaleTime([times[0] - spread, times[1] + spread],
      [MARGIN.left, width - MARGIN.right]);
  // A wild one is drawn at the rim: the others stay readable.
  const rim = Math.max(0.06, 1.3 * d3.quantile(errors, 0.95));
  const y = d3.scaleLinear([-rim, rim], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  svg.append("rect").attr("class", "band").attr("x", MARGIN.left)
    .attr("width", width - MARGIN.right - MARGIN.left).attr("y", y(0.05))
    .attr("height", y(-0.05) - y(0.05));
  svg.append("line").attr("class", "zero").attr("x1", MARGIN.left)
    .attr("x2", width - MARGIN.right).attr("y1", y(0)).attr("y2", y(0));
  for (const it of predictions) {
    const at = Math.max(-rim, Math.min(rim, it.error));
    const kind = `is-${1 + devices.indexOf(it.device) % 6}`;
    const point = svg.append("circle").attr("class", `point ${kind}`)
      .attr("cx", x(1000 * it.when)).attr("cy", y(at)).attr("r", 4);
    explain(point.node(), `${it.device}, ${formatTime(it.when)}: predicted ` +
        `${formatSeconds(it.predicted_seconds)}, measured ` +
        `${formatSeconds(it.measured_seconds)}, ${formatShare(it.error)}`);
  }
  const isLong = times[1] - times[0] > 2 * DAY * 1000;
  axes(svg, x, y, width, isLong ? d3.utcFormat(DAYS_LABEL) : d3.timeFormat("%H:%M"),
      (value) => `${d3.format(value ? "+.0f" : ".0f")(100 * value)} %`);
  legend(place, devices.map((name, index) =>
    [name || "unknown device", `is-${1 + index % 6}`]));
  const within = errors.filter((it) => it <= 0.05).length;
  say(figure, `Predicted against measured since this coordinator started: ` +
      `${formatShare(within / errors.length)} of ${formatCount(errors.length)} ` +
      `steps lie in the band of 5 %.`);
}
