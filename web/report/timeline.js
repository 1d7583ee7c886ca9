// The timelines of a step: a row per lane, the memory below each group.
"use strict";

const SLICE_CLASSES = {
  "forward": "is-1",
  "backward": "is-4",
  "backward of weights": "is-5",
  "update": "is-6",
  "segment": "is-1",
  "step": "is-other",
};

const sliceClass = (lane, kind) =>
    kind === "resharding" ? "is-resharding"
      : lane.communication ? "is-communication"
        : SLICE_CLASSES[kind] || "is-other";

// What the colours of these timelines mean, as a legend wants it.
function timelineKeys(timelines) {
  const keys = new Map();
  for (const timeline of timelines) {
    for (const group of timeline.groups) {
      for (const lane of group.lanes) {
        for (const [, , , kind] of lane.slices) {
          const name = sliceClass(lane, kind);
          const text = name === "is-communication" ? "communication"
            : name === "is-other" ? "whole step, measured" : kind;
          if (!keys.has(name)) keys.set(name, text);
        }
      }
    }
    if (timeline.groups.some((it) => it.memory.length)) {
      keys.set("is-persistent", "memory");
    }
  }
  return [...keys];
}

function drawTimelines(svg, width, timelines) {
  const narrow = width < 520;
  const left = narrow ? 0 : 190;
  const most = d3.max(timelines, (it) => it.step_seconds) || 1;
  // Half of the last value of the axis stands beyond its end.
  const x = d3.scaleLinear([0, most], [left, width - 28]);
  const marks = [];
  let y = 0;
  const title = (text, cls) => {
    svg.append("text").attr("class", cls).attr("x", 0)
      .attr("y", narrow ? y + 12 : y + 15).text(clip(text, narrow ? width : left - 8));
    if (narrow) y += 16;
  };
  for (const timeline of timelines) {
    svg.append("text").attr("class", "strong").attr("x", 0).attr("y", y + 14)
      .text(`${timeline.name}: ${formatSeconds(timeline.step_seconds)}`);
    y += 22;
    for (const group of timeline.groups) {
      for (const lane of group.lanes) {
        title(timeline.groups.length > 1
          ? `${group.name}: ${lane.name.replace("transfers ", "")}`
          : lane.name, null);
        svg.append("rect").attr("class", "track").attr("x", left).attr("y", y)
          .attr("width", width - left).attr("height", 20).attr("rx", 3);
        for (const [start, seconds, name, kind, detail] of lane.slices) {
          const rect = svg.append("rect")
            .attr("class", `fill ${sliceClass(lane, kind)}`)
            .attr("x", x(start)).attr("y", y + 1).attr("height", 18)
            .attr("width", Math.max(0.6, x(start + seconds) - x(start) - 0.4));
          marks.push([rect.node(), `${name}\n${formatSeconds(seconds)}, from ` +
              `${formatSeconds(start)}${detail ? `\n${detail}` : ""}`]);
        }
        y += 24;
      }
      if (group.memory.length) {
        y = drawMemory(svg, x, y, group, timeline.step_seconds, marks);
      }
      y += 6;
    }
    y += 8;
  }
  bottomAxis(svg, x, y, formatSeconds, width - left);
  return {height: y + 26, marks};
}

// Below the lanes of a group; where the next row begins.
function drawMemory(svg, x, y, group, end, marks) {
  const peak = d3.max(group.memory, (it) => it[1]);
  const height = 44;
  svg.append("text").attr("class", "quiet").attr("x", 0).attr("y", y + 15)
    .text(`memory, up to ${formatBytes(peak)}`);
  if (x(0) === 0) y += 18;
  const scale = d3.scaleLinear([0, peak], [y + height, y]);
  const last = group.memory[group.memory.length - 1];
  const levels = [...group.memory, [end, last[1]]];
  const [at, to] = [(it) => x(it[0]), (it) => scale(it[1])];
  const area = d3.area().x(at).y0(y + height).y1(to).curve(d3.curveStepAfter);
  const outline = d3.line().x(at).y(to).curve(d3.curveStepAfter);
  svg.append("path").attr("class", "area is-persistent").attr("d", area(levels));
  const line = svg.append("path").attr("class", "stroke is-persistent")
    .attr("d", outline(levels));
  marks.push([line.node(), `${group.name}: memory, up to ${formatBytes(peak)}`]);
  return y + height + 4;
}
