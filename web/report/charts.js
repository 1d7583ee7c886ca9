// The charts of a report, drawn with D3. Each returns what chart() of parts.js
// wants: its height and its marks with their texts. Colours are classes alone.
"use strict";

// The values of an axis: round ones in the unit that they are written in.
function ticksOf(scale, format, count) {
  const [low, high] = scale.domain();
  if (format !== formatBytes) return scale.ticks(count);
  const unit = 1024 ** Math.floor(Math.log2(Math.max(1, high)) / 10);
  return d3.ticks(low / unit, high / unit, count).map((it) => it * unit);
}

// "20 ms" rather than "20.0 ms".
const shortly = (format) => (value) => format(value).replace(/\.0+ /, " ");

function bottomAxis(svg, scale, y, format, width) {
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${y})`)
    .call(d3.axisBottom(scale).tickFormat(shortly(format)).tickSizeOuter(0)
      .tickValues(ticksOf(scale, format, Math.max(2, Math.floor(width / 100)))));
}

// As much of a text as has room, by the width of an average letter.
function clip(text, room) {
  const letters = Math.floor(room / 6.8);
  if (text.length <= letters) return text;
  return letters < 3 ? "" : `${text.slice(0, letters - 1)}…`;
}

// One bar of parts: {name, value, cls}; and marks on it: {name, value, cls}.
function drawStack(svg, width, parts, lines, format) {
  const total = d3.sum(parts, (it) => it.value);
  const most = d3.max([total, ...lines.map((it) => it.value)]) || 1;
  const x = d3.scaleLinear([0, most], [0, width - 2]);
  const marks = [];
  svg.append("rect").attr("class", "track").attr("y", 16).attr("height", 30)
    .attr("width", width).attr("rx", 4);
  let from = 0;
  for (const it of parts) {
    const room = x(it.value);
    const text = `${it.name}: ${format(it.value)}, ${formatShare(it.value / total)}`;
    const rect = svg.append("rect").attr("class", `edge ${it.cls}`)
      .attr("x", x(from)).attr("y", 16).attr("height", 30)
      .attr("width", Math.max(room, it.value > 0 ? 1.5 : 0));
    marks.push([rect.node(), text]);
    if (room > 70) {
      svg.append("text").attr("class", "on-mark").attr("x", x(from) + 8)
        .attr("y", 36).text(clip(format(it.value), room - 12));
    }
    from += it.value;
  }
  for (const it of lines) {
    const at = Math.min(x(it.value), width - 1);
    const line = svg.append("line").attr("class", `guide ${it.cls}`)
      .attr("x1", at).attr("x2", at).attr("y1", 10).attr("y2", 52);
    const right = at > width / 2;
    svg.append("text").attr("class", "quiet").attr("x", at + (right ? -4 : 4))
      .attr("y", 9).attr("text-anchor", right ? "end" : "start")
      .text(`${it.name} ${format(it.value)}`);
    marks.push([line.node(), `${it.name}: ${format(it.value)}`]);
  }
  return {height: 52, marks};
}

function addHatch(svg) {
  const id = `hatch-${addHatch.count = (addHatch.count || 0) + 1}`;
  const pattern = svg.append("defs").append("pattern").attr("id", id)
    .attr("class", "hatch").attr("width", 6).attr("height", 6)
    .attr("patternUnits", "userSpaceOnUse")
    .attr("patternTransform", "rotate(45)");
  pattern.append("line").attr("y2", 6);
  return `url(#${id})`;
}

// The model as a row: boxes {seconds, category, label, count, brackets: [{label}],
// text}; the outermost bracket first, null for none. Widths follow time, but each
// box can be seen.
function drawModel(svg, width, boxes) {
  const slot = width / boxes.length;
  const gap = Math.min(3, 0.3 * slot);
  const least = Math.min(26, slot - gap);
  const total = d3.sum(boxes, (it) => it.seconds) || 1;
  const free = Math.max(0, width - boxes.length * (least + gap));
  const levels = d3.max(boxes, (it) => it.brackets.length);
  const top = 4 + 20 * levels;
  const hatch = addHatch(svg);
  const marks = [];
  const spans = new Map();  // of brackets
  let x = 0;
  for (const it of boxes) {
    const room = least + free * it.seconds / total;
    const rect = svg.append("rect").attr("class", `edge is-${it.category % 6 + 1}`)
      .attr("x", x).attr("y", top).attr("width", room).attr("height", 46)
      .attr("rx", 3);
    if (it.category >= 6) {
      svg.append("rect").attr("x", x).attr("y", top).attr("width", room)
        .attr("height", 46).attr("fill", hatch).attr("pointer-events", "none");
    }
    const middle = x + room / 2;
    if (room >= 14) {
      svg.append("text").attr("class", "on-mark").attr("x", middle)
        .attr("y", top + 28).attr("text-anchor", "middle")
        .text(clip(it.label, room));
    }
    if (it.count > 1 && room >= 20) {
      svg.append("text").attr("class", "quiet").attr("x", middle)
        .attr("y", top + 62).attr("text-anchor", "middle").text(`×${it.count}`);
    }
    marks.push([rect.node(), it.text]);
    it.brackets.forEach((bracket, level) => {
      if (!bracket) return;
      const span = spans.get(bracket) || {level, from: x};
      spans.set(bracket, {...span, to: x + room});
    });
    x += room + gap;
  }
  for (const [bracket, {level, from, to}] of spans) {
    const y = 20 * level;
    svg.append("path").attr("class", "stroke is-other")
      .attr("d", `M${from + 1},${y + 19}V${y + 14}H${to - 1}V${y + 19}`);
    svg.append("text").attr("class", "quiet").attr("x", (from + to) / 2)
      .attr("y", y + 10).attr("text-anchor", "middle")
      .text(clip(bracket.label, to - from));
  }
  return {height: top + 68, marks};
}

// Rows of bars of parts: {name, cls, note, parts: [{name, value, cls}], low,
// high, text}; whiskers from low to high.
function drawBars(svg, width, rows, format) {
  const narrow = width < 520;
  const longest = d3.max(rows, (it) => it.name.length);
  const left = narrow ? 0 : Math.min(longest * 6.8 + 14, width * 0.36);
  const right = 78;
  const step = narrow ? 42 : 30;
  const most = d3.max(rows, (it) => Math.max(it.high || 0,
    d3.sum(it.parts, (part) => Math.max(0, part.value)))) || 1;
  const least = Math.min(0, d3.min(rows, (it) => Math.min(
    it.low === undefined ? 0 : it.low, d3.sum(it.parts, (part) => part.value))));
  const x = d3.scaleLinear([least, most], [left, width - right]).nice(4);
  const marks = [];
  rows.forEach((row, index) => {
    const y = index * step;
    const bar = y + (narrow ? 20 : 6);
    svg.append("text").attr("x", 0).attr("y", y + (narrow ? 14 : 20))
      .text(clip(row.name, narrow ? width : left - 10))
      .append("title").text(row.name);
    let from = 0;
    for (const part of row.parts) {
      const [a, b] = [x(from), x(from + part.value)];
      const rect = svg.append("rect").attr("class", `edge ${part.cls}`)
        .attr("x", Math.min(a, b)).attr("y", bar).attr("height", 18)
        .attr("width", Math.max(1.5, Math.abs(b - a)));
      marks.push([rect.node(), part.text ||
          `${row.name}\n${part.name}: ${format(part.value)}`]);
      from += part.value;
    }
    if (row.high !== undefined) {
      const y1 = bar + 9;
      const path = `M${x(row.low)},${y1 - 4}v8m0,-4H${x(row.high)}m0,-4v8`;
      svg.append("path").attr("class", "whisker halo").attr("d", path);
      svg.append("path").attr("class", "whisker").attr("d", path);
    }
    svg.append("text").attr("class", "strong")
      .attr("x", Math.max(x(from), x(row.high || 0), x(0)) + 6)
      .attr("y", bar + 14).text(row.note || format(from));
  });
  const end = rows.length * step + 4;
  bottomAxis(svg, x, end, format, width - left - right);
  return {height: end + 26, marks};
}

// Time against memory: the front as steps, the plan on it, the limit.
function drawFront(svg, width, points, plan, limit) {
  const height = Math.max(230, Math.min(340, width * 0.5));
  const left = 62;
  const bottom = height - 44;
  const all = [...points, plan];
  const bytes = [...all.map((it) => it.peak_bytes), limit || all[0].peak_bytes];
  const seconds = all.map((it) => it.step_seconds);
  const pad = (values) => {
    const [low, high] = d3.extent(values);
    const more = (high - low || high || 1) * 0.12;
    return [Math.max(0, low - more), high + more];
  };
  const x = d3.scaleLinear(pad(bytes), [left, width - 16]);
  const y = d3.scaleLinear(pad(seconds), [bottom, 22]);
  const marks = [];
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(y).ticks(5).tickFormat(shortly(formatSeconds)).tickSizeOuter(0));
  bottomAxis(svg, x, bottom, formatBytes, width - left);
  svg.append("text").attr("class", "quiet").attr("x", 0).attr("y", 11)
    .text("step time");
  svg.append("text").attr("class", "quiet").attr("x", width - 16)
    .attr("y", height - 6).attr("text-anchor", "end")
    .text("peak memory per device");
  const line = d3.line().x((it) => x(it.peak_bytes))
    .y((it) => y(it.step_seconds)).curve(d3.curveStepAfter);
  const last = points[points.length - 1];
  svg.append("path").attr("class", "stroke is-compute").attr("d",
    line([...points, {...last, peak_bytes: x.domain()[1]}]));
  if (limit) {
    const at = x(limit);
    const text = `usable memory ${formatBytes(limit)}`;
    const guide = svg.append("line").attr("class", "guide is-limit")
      .attr("x1", at).attr("x2", at).attr("y1", 22).attr("y2", bottom);
    svg.append("text").attr("class", "quiet").attr("x", at - 5).attr("y", 32)
      .attr("text-anchor", "end").text(clip(text, at - left));
    marks.push([guide.node(), text]);
  }
  for (const it of points) {
    const dot = svg.append("circle").attr("class", "hollow is-compute")
      .attr("r", 4.5).attr("cx", x(it.peak_bytes)).attr("cy", y(it.step_seconds));
    marks.push([dot.node(), `${formatSeconds(it.step_seconds)} with ` +
        formatBytes(it.peak_bytes)]);
  }
  const own = svg.append("path").attr("class", "edge is-communication")
    .attr("transform", `translate(${x(plan.peak_bytes)},${y(plan.step_seconds)})`)
    .attr("d", d3.symbol().type(d3.symbolDiamond).size(130)());
  const right = x(plan.peak_bytes) > width - 110;
  svg.append("text").attr("class", "strong")
    .attr("text-anchor", right ? "end" : "start")
    .attr("x", x(plan.peak_bytes) + (right ? -10 : 10))
    .attr("y", y(plan.step_seconds) - 9).text("this plan");
  marks.push([own.node(), `this plan: ${formatSeconds(plan.step_seconds)} with ` +
      formatBytes(plan.peak_bytes)]);
  return {height, marks};
}

// Configurations of each type on an axis of time: rows of {name, dots: [{value,
// cls, hollow, shape, text}]}.
function drawStrips(svg, width, rows) {
  const narrow = width < 520;
  const left = narrow ? 0 : 110;
  const step = narrow ? 46 : 32;
  const values = rows.flatMap((row) => row.dots.map((it) => it.value));
  const [low, high] = d3.extent(values);
  const x = d3.scaleLinear([low - (high - low) * 0.02, high], [left + 8, width - 30])
    .nice();
  const marks = [];
  rows.forEach((row, index) => {
    const middle = index * step + (narrow ? 32 : 16);
    svg.append("text").attr("x", 0).attr("y", narrow ? middle - 16 : middle + 4)
      .text(row.name);
    svg.append("rect").attr("class", "track").attr("x", left)
      .attr("y", middle - 9).attr("width", width - left).attr("height", 18)
      .attr("rx", 4);
    for (const it of row.dots) {
      const dot = svg.append("path")
        .attr("class", `${it.hollow ? "hollow" : "edge"} ${it.cls}`)
        .attr("transform", `translate(${x(it.value)},${middle})`)
        .attr("d", d3.symbol().type(it.shape || d3.symbolCircle)
          .size(it.hollow ? 48 : 120)());
      marks.push([dot.node(), it.text]);
    }
  });
  const end = rows.length * step + 4;
  bottomAxis(svg, x, end, formatSeconds, width - left);
  return {height: end + 26, marks};
}
