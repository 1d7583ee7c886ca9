// How figures are written for people.
"use strict";

function scaled(value, units, base) {
  let unit = 0;
  while (Math.abs(value) >= base && unit < units.length - 1) {
    value /= base;
    unit += 1;
  }
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

function formatSeconds(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds === 0) return "0 s";
  if (Math.abs(seconds) >= 60) {
    const whole = Math.round(Math.abs(seconds));
    const sign = seconds < 0 ? "-" : "";
    return `${sign}${Math.floor(whole / 60)} min ${whole % 60} s`;
  }
  if (Math.abs(seconds) >= 1) return scaled(seconds, ["s"], 1000);
  return scaled(seconds * 1e6, ["µs", "ms"], 1000);
}

function formatBytes(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  if (bytes === 0) return "0 B";
  return scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
}

function formatShare(share) {
  if (share === null || share === undefined || !Number.isFinite(share)) {
    return "–";
  }
  const percent = 100 * share;
  return `${percent.toFixed(Math.abs(percent) < 10 ? 1 : 0)} %`;
}

const formatCount = (count) => count.toLocaleString("en");
const signed = (format, value) => value > 0 ? `+${format(value)}`
  : format(value).replace("-", "−");
const plural = (count, noun) =>
    `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

// "3" or "3–7"; of rising numbers "0, 3–7".
function formatRange(first, count) {
  return count === 1 ? `${first}` : `${first}–${first + count - 1}`;
}
function formatRanges(numbers) {
  const ranges = [];
  for (const it of numbers) {
    const last = ranges[ranges.length - 1];
    if (last && it === last[0] + last[1]) last[1] += 1;
    else ranges.push([it, 1]);
  }
  return ranges.map(([first, count]) => formatRange(first, count)).join(", ");
}

// "A", ..., "Z", "A2", ...
function letterOf(index) {
  const round = Math.floor(index / 26);
  return String.fromCharCode(65 + (index % 26)) + (round ? round + 1 : "");
}
