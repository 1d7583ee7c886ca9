// How the dashboard writes times, and makes elements and tables. Other figures are written
// as in a report (format.js, which defines formatSeconds and its like).
/* global formatSeconds */

export function make(tag, attributes = {}, children = []) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== "") element.setAttribute(name, value);
  }
  element.append(...Array.isArray(children) ? children : [children]);
  return element;
}

// Of what may take days; formatSeconds() is for what takes minutes at most.
export function formatLong(seconds) {
  if (seconds === null || seconds === undefined || seconds < 3600) {
    return formatSeconds(seconds);
  }
  if (seconds >= 86400) return `${(seconds / 86400).toFixed(1)} d`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

// Seconds since 1970, in the reader's own time.
export function formatTime(when) {
  if (!when) return "";
  return new Date(1000 * when).toLocaleString("en", {
    day: "numeric", month: "short", hour: "2-digit", minute: "2-digit",
    hour12: false});
}

// "12 s", "3 min", "5 h", "12 d": as much as says something.
export function formatAge(when) {
  if (!when) return "–";
  const seconds = Math.max(0, Date.now() / 1000 - when);
  for (const [unit, name] of [[86400, "d"], [3600, "h"], [60, "min"]]) {
    if (seconds >= unit) return `${Math.floor(seconds / unit)} ${name}`;
  }
  return `${Math.floor(seconds)} s`;
}

// The rows of a table by key: one that is as before is left alone, so that the
// focus and a selection stay.
export function drawRows(section, items, keyOf, cells) {
  const body = document.querySelector(`#${section} tbody`);
  const heads = document.querySelectorAll(`#${section} thead th`);
  const before = new Map([...body.rows].map((row) => [row.dataset.key, row]));
  const rows = items.map((item) => {
    const key = keyOf(item);
    const text = JSON.stringify(item);
    const row = before.get(key) ?? make("tr", {"data-key": key});
    if (row.text === text) return row;
    const hadFocus = row.contains(document.activeElement);
    row.text = text;
    row.replaceChildren(...cells(item));
    // A narrow window shows a row as a card, with the headings within.
    [...row.cells].forEach((it, index) => {
      it.dataset.label = heads[index].textContent;
      it.classList.toggle("optional", heads[index].matches(".optional"));
    });
    if (hadFocus) row.querySelector("button")?.focus({preventScroll: true});
    return row;
  });
  const isSame = rows.length === body.rows.length &&
      rows.every((row, index) => row === body.rows[index]);
  if (!isSame) {
    const focused = document.activeElement;
    body.replaceChildren(...rows);
    if (body.contains(focused)) focused.focus({preventScroll: true});
  }
  document.querySelector(`#${section} .table-scroll`).hidden = !items.length;
}

const KINDS = {
  done: "done", idle: "good", busy: "running", running: "running",
  analysing: "running", measuring: "running", searching: "running",
  waiting: "waiting", away: "waiting", draining: "waiting", drained: "waiting",
  failed: "failed", set_aside: "failed", unhealthy: "failed",
  quarantined: "failed",
};
export const badge = (state) => make("span",
    {class: `badge badge--${KINDS[state] ?? "other"}`},
    state.replace("_", " "));
export const why = (text) => text ? [make("span", {class: "why"}, text)] : [];
export const cell = (content, kind = "") => make("td", {class: kind}, content);
export const quiet = (text) => text || "–";

// A time that grows while one looks at it.
export const since = (when) => make("time",
    {"data-since": when ?? "", title: formatTime(when)}, formatAge(when));
export const ago = (when) => [since(when), " ago"];

export function meter(done, total, label) {
  const bar = make("span");
  bar.style.width = `${total ? 100 * Math.min(1, done / total) : 0}%`;
  return make("div", {class: "meter", role: "progressbar", "aria-label": label,
    "aria-valuemin": 0, "aria-valuemax": total, "aria-valuenow": done}, bar);
}

// In place of those before; the one with the focus keeps it.
export function replaceButtons(place, buttons) {
  const at = [...place.children].indexOf(document.activeElement);
  place.replaceChildren(...buttons);
  if (at >= 0) buttons[at]?.focus({preventScroll: true});
}
