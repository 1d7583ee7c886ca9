// The coordinator's dashboard: asks the API again and again, and draws what
// changed. Texts of the coordinator become text nodes alone, never markup.

import {drawDays, drawErrors} from "./charts.js";
import {Feeds, ask, hasToken, setToken} from "./feeds.js";
import {
  ago, badge, cell, drawRows, formatAge, formatLong, formatTime, make, meter,
  quiet, replaceButtons, since, why,
} from "./parts.js";
/* global formatBytes, formatCount, formatSeconds, formatShare, plural */

const AT_WORK = ["queued", "analysing", "measuring", "waiting", "searching"];
const FILTERS = [
  ["All", []], ["At work", AT_WORK], ["Done", ["done"]],
  ["Failed", ["failed"]], ["Cancelled", ["cancelled"]],
];
const PAGE_SIZE = 25;
const WORK_SIZE = 20;

const byId = (id) => document.getElementById(id);

// ---- what is known now

const known = {
  service: null, work: null, plans: null, tasks: null, workers: null,
  store: null, quality: null,
};
let filter = 0;
const pages = [""];  // tokens of the pages up to the one that is shown

const plansPath = () => {
  const parts = [`size=${PAGE_SIZE}`];
  const states = FILTERS[filter][1];
  if (states.length) parts.push(`states=${states.join(",")}`);
  const page = pages[pages.length - 1];
  if (page) parts.push(`page=${page}`);
  return `/api/plans?${parts.join("&")}`;
};

// name: path, how often in milliseconds, and what to draw.
const FEEDS = {
  work: {path: () => `/api/plans?size=${WORK_SIZE}&states=${AT_WORK.join(",")}`,
    every: 2000, draw: drawWork},
  plans: {path: plansPath, every: 4000, draw: drawPlans},
  tasks: {path: () => "/api/tasks", every: 2000, draw: drawTasks},
  workers: {path: () => "/api/workers", every: 2000, draw: drawWorkers},
  service: {path: () => "/api/service", every: 5000, draw: drawService},
  store: {path: () => "/api/store", every: 30000, draw: drawStore},
  quality: {path: () => "/api/quality", every: 30000, draw: drawQuality},
};
const FIRST = ["work", "plans", "tasks", "workers", "service"];

// ---- whether there are news

const feeds = new Feeds(FEEDS, {
  changed(name, view) {
    known[name] = view;
    FEEDS[name].draw(view);
    drawFigures();
  },
  linked: drawLink,
  locked: askForToken,
});

function showLink(word, kind, trouble) {
  byId("link").textContent = word;
  byId("link").className = `badge badge--${kind}`;
  byId("trouble").textContent = trouble;
  byId("trouble").hidden = !trouble;
}

function drawLink(errors) {
  if (!errors.length) return showLink("live", "good", "");
  if (errors.some((it) => it.status === undefined)) {
    return showLink("lost", "failed", "The coordinator does not answer. What " +
        "is shown is from before; this page goes on asking.");
  }
  showLink("partly", "waiting", errors[0].message);
}

function showSignIn(isShown) {
  byId("sign-in").hidden = !isShown;
  byId("board").hidden = isShown;
  byId("nav").hidden = isShown;
}

function askForToken(why) {
  showLink("locked", "waiting", "");
  byId("sign-in-why").textContent = hasToken() ? why
    : "Figures of plans and machines are for those who may read them.";
  showSignIn(true);
  markDrawn();
}

byId("sign-in").addEventListener("submit", (event) => {
  event.preventDefault();
  setToken(byId("token").value.trim());
  byId("token").value = "";
  showSignIn(false);
  feeds.refreshAll();
});

// ---- drawing

function planHead(plan) {
  const button = make("button", {class: "link", type: "button"}, plan.id);
  button.addEventListener("click", () => showPlan(plan.id));
  return make("th", {scope: "row"}, button);
}

// The other phases count no programs.
const PHASES = {
  analyze: "reads the model", search: "chooses the plan",
  wait: "waits",
};

function progressOf(plan) {
  const it = plan.progress;
  if (plan.state === "queued") return "waits for its turn";
  if (!it?.total || it.phase in PHASES) {
    const phase = plan.state === "waiting" ? "wait" : it?.phase;
    return quiet(it?.message || PHASES[phase]);
  }
  const stored = it.cached ? `, ${formatCount(it.cached)} from the store` : "";
  const what = it.phase === "compile" ? "compiled" : "measured";
  const text = `${what} ${formatCount(it.done)} of ${formatCount(it.total)} ` +
      `programs${stored}`;
  return [make("span", {}, text),
    meter(it.done, it.total, `${plan.id}: ${text}`)];
}

function drawWork(view) {
  drawRows("work", view.plans, (it) => it.id, (plan) => [
    planHead(plan),
    cell([quiet(plan.model), ...why(`mesh ${plan.mesh}, ${plan.platform}`)],
      "name"),
    cell([badge(plan.state), ...why(plan.reason)]),
    cell(progressOf(plan), "progress"),
    cell(formatSeconds(plan.progress?.best_seconds), "num"),
    cell(formatLong(plan.progress?.seconds_left), "num"),
    cell([quiet(plan.owner), ...why(plan.namespace)], "who"),
  ]);
  const count = view.plans.length;
  byId("work-lede").textContent = !count
    ? "Nothing is being planned. Submit a model with \"meshwright plans submit\"."
    : view.next ? `The newest ${count}; more are among the plans below.`
      : `${plural(count, "plan")} not ended, the newest first.`;
}

function drawPlans(view) {
  drawRows("plans", view.plans, (it) => it.id, (plan) => {
    const hasEnded = !AT_WORK.includes(plan.state);
    return [
      planHead(plan),
      cell(quiet(plan.model), "name"),
      cell([badge(plan.state), ...why(plan.reason)]),
      cell([plan.mesh, ...why(plan.device || plan.platform)]),
      cell(formatSeconds(plan.progress?.best_seconds), "num"),
      cell(quiet(plan.owner), "who"),
      cell(make("span", {}, ago(plan.submitted)), "keep"),
      cell(hasEnded ? formatLong(plan.updated - plan.submitted) : "–", "num"),
    ];
  });
  drawFilters(view.counts);
  drawPages(view);
}

function drawFilters(counts) {
  const buttons = FILTERS.map(([name, states], index) => {
    const all = states.length ? states : Object.keys(counts ?? {});
    const count = all.reduce((sum, it) => sum + (counts?.[it] ?? 0), 0);
    const button = make("button", {class: "button", type: "button",
      "aria-pressed": index === filter},
    counts ? `${name} ${formatCount(count)}` : name);
    button.addEventListener("click", () => {
      filter = index;
      pages.length = 1;
      feeds.refresh("plans");
    });
    return button;
  });
  replaceButtons(byId("filters"), buttons);
}

function drawPages(view) {
  const turn = (name, isPossible, change) => {
    const button = make("button", {class: "button", type: "button"}, name);
    button.disabled = !isPossible;
    button.addEventListener("click", () => {
      change();
      feeds.refresh("plans");
    });
    return button;
  };
  const buttons = pages.length === 1 && !view.next ? [] : [
    turn("Newer", pages.length > 1, () => pages.pop()),
    turn("Older", view.next !== null, () => pages.push(view.next)),
    make("span", {class: "empty"}, `page ${pages.length}`),
  ];
  replaceButtons(byId("pages"), buttons);
  if (!view.plans.length) {
    byId("pages").replaceChildren(
        make("p", {class: "empty"}, "There is no such plan."));
  }
}

function drawTasks(view) {
  drawRows("tasks", view.tasks, (it) => it.id, (task) => [
    make("th", {scope: "row", class: "keep"}, task.id),
    cell([quiet(task.model), ...why([task.plan, task.owner].filter(Boolean)
      .join(" · ") || "of another team")], "name"),
    cell([badge(task.state), ...why(task.reason)]),
    cell([make("span", {},
        `${formatCount(task.finished)} of ${formatCount(task.programs)}` +
          (task.failed ? `, ${formatCount(task.failed)} failed` : "")),
    meter(task.finished, task.programs, `${task.id}: programs done`)],
    "progress"),
    cell(quiet(task.worker), "who"),
    cell(task.submitted === null ? formatLong(task.took_seconds)
      : since(task.submitted), "num"),
  ]);
  byId("tasks-lede").textContent = !view.total
    ? "No plan has programs measured."
    : `${plural(view.programs_leased, "program")} with workers, ` +
      `${plural(view.programs_waiting, "program")} waiting.` +
      (view.total > view.tasks.length
        ? ` The first ${view.tasks.length} of ${view.total} tasks.` : "");
}

const heardOf = (seconds) => seconds < 5 ? "now"
  : `${seconds < 60 ? `${seconds} s` : formatLong(seconds)} ago`;

function drawWorkers(view) {
  drawRows("workers", view.workers, (it) => it.id, (worker) => [
    make("th", {scope: "row", class: "name"}, worker.id),
    cell(quiet(worker.host), "who"),
    cell([badge(worker.state), ...why(worker.reason)]),
    cell([`${worker.devices} × ${quiet(worker.device)}`,
      ...why(worker.platform)], "name"),
    cell(quiet(worker.task), "keep"),
    cell(formatCount(worker.programs), "num"),
    cell(heardOf(worker.seen_seconds_ago), "num"),
  ]);
  byId("workers-lede").textContent = !view.total
    ? "No worker is attached, so nothing can be measured. Start one with " +
      "\"meshwright-worker --coordinator HOST:PORT\"."
    : "The machines that measure; those that need someone first." +
      (view.total > view.workers.length
        ? ` The first ${view.workers.length} of ${view.total}.` : "");
}

function drawService(view) {
  const place = [`at ${view.address}`, `version ${view.version}`,
    view.leads ? "leads" : `follows the coordinator at ${quiet(view.leader)}`,
    view.caller ? `you: ${view.caller} (${view.roles})` : "asks for no token"];
  const items = place.map((text) => make("li", {}, text));
  items.splice(2, 0, make("li", {}, ["up for ", since(view.started)]));
  if (hasToken()) {
    const button = make("button", {class: "link", type: "button"}, "sign out");
    button.addEventListener("click", () => {
      setToken("");
      location.reload();
    });
    items.push(make("li", {}, button));
  }
  byId("meta").replaceChildren(...items);
  document.title = `${view.address} · Meshwright coordinator`;
}

const QUALITIES = [["good", "is-good"], ["noisy", "is-warn"],
  ["suspect", "is-bad"], ["unknown", "is-other"]];

function figure(name, value, note) {
  return make("div", {class: "figure"}, [make("dt", {}, name),
    make("dd", {}, value),
    ...note ? [make("dd", {class: "figure__note"}, note)] : []]);
}

function drawStore(view) {
  if (view.counted === null) return;
  byId("store-lede").replaceChildren("Counted ", ...ago(view.counted),
      ". Counting reads every row, so it is done seldom.");
  const outcomes = Object.entries(view.outcomes);
  const rows = outcomes.reduce((sum, [, count]) => sum + count, 0);
  const others = outcomes.filter(([name]) => name !== "measured")
    .map(([name, count]) => `${formatCount(count)} ${name.replace("_", " ")}`);
  byId("store-figures").replaceChildren(
      figure("Rows", formatCount(rows), others.join(", ") || "all measured"),
      figure("Their summaries", formatBytes(view.row_bytes), "of measured rows"),
      figure("Programs", formatCount(view.programs), "kept once each"),
      figure("Their HLO", formatBytes(view.compressed_program_bytes),
          `${formatBytes(view.program_bytes)} before compression`));
  const counts = QUALITIES.map(([name, kind]) =>
    [name, kind, view.qualities[name] ?? 0]).filter(([, , count]) => count);
  const all = counts.reduce((sum, [, , count]) => sum + count, 0);
  const place = byId("store-qualities");
  place.hidden = !all;
  place.querySelector(".share").replaceChildren(
      ...counts.map(([, kind, count]) => {
        const part = make("span", {class: kind});
        part.style.flexGrow = count;
        return part;
      }));
  const texts = counts.map(([name, , count]) =>
    `${name} ${formatCount(count)} (${formatShare(count / all)})`);
  place.querySelector(".share").setAttribute("aria-label", texts.join(", "));
  place.querySelector(".legend").replaceChildren(
      ...counts.map(([, kind], index) => make("li", {},
          [make("span", {class: `swatch ${kind}`}), texts[index]])));
}

// D3 is for the charts alone, and comes when the rest is there.
let charts = null;
function loadCharts() {
  charts ??= new Promise((resolve) => {
    const script = make("script", {src: "/d3.min.js"});
    script.addEventListener("load", resolve);
    document.head.append(script);
  });
  return charts;
}

async function drawQuality(view) {
  await loadCharts();
  drawDays(byId("days"), view);
  drawErrors(byId("errors"), view);
  document.documentElement.dataset.charted = "yes";
}

let width = innerWidth;
addEventListener("resize", () => {
  if (innerWidth === width || !known.quality) return;
  width = innerWidth;
  drawQuality(known.quality);
});

function medianError(predictions) {
  const errors = predictions.map((it) => Math.abs(it.error))
    .sort((a, b) => a - b);
  return errors.length ? errors[Math.floor(errors.length / 2)] : null;
}

// A note says nothing where its figure is not known.
function drawFigures() {
  const {work, plans, tasks, workers, store, quality} = known;
  const waiting = work?.plans.filter((it) => it.state === "waiting").length;
  const failed = plans?.counts?.failed;
  const error = medianError(quality?.predictions ?? []);
  const rows = store?.counted ? store.outcomes.measured ?? 0 : null;
  byId("figures").replaceChildren(
      figure("Plans at work",
          work ? `${formatCount(work.plans.length)}${work.next ? "+" : ""}` : "…",
          work && (waiting ? `${formatCount(waiting)} of them waiting`
            : "none waits")),
      figure("Plans done", plans?.counts
        ? formatCount(plans.counts.done ?? 0) : "–",
      plans?.counts && (failed ? `${formatCount(failed)} failed`
        : "none failed")),
      figure("Workers", workers ? formatCount(workers.total) : "…",
          workers && `${formatCount(workers.busy)} busy` + (workers.unwell
            ? `, ${formatCount(workers.unwell)} not well` : "")),
      figure("Programs waiting", tasks ? formatCount(tasks.programs_waiting)
        : "…", tasks && `${formatCount(tasks.programs_leased)} with workers`),
      figure("Measured rows", rows === null ? "…" : formatCount(rows),
          rows ? `${formatShare((store.qualities.good ?? 0) / rows)} good` : ""),
      figure("Error of predictions", error === null ? "–" : formatShare(error),
          error === null ? "no step validated" : "median, either way"));
}

// ---- one plan

async function showPlan(id) {
  let view;
  try {
    ({view} = await ask(`/api/plans/${id}`));
  } catch (error) {
    return showLink("partly", "waiting", error.message);
  }
  const plan = view.plan;
  byId("details-title").textContent = `${view.id}: ${quiet(view.model)}`;
  byId("details-lede").replaceChildren(badge(view.state),
      ` mesh ${view.mesh} of ${view.device || view.platform}, submitted ` +
      `${formatTime(view.submitted)} by ${quiet(view.owner)}. `, view.reason);
  byId("details-figures").replaceChildren(...!plan ? [] : [
    figure("Step, predicted", formatSeconds(plan.step_seconds),
        plan.feasible ? `rows are ${plan.quality}` : "fits no limit"),
    figure("Of this communication",
        formatShare(plan.communication_seconds / plan.step_seconds),
        `resharding ${formatShare(plan.resharding_seconds / plan.step_seconds)}`),
    figure("Peak memory", plan.feasible ? formatBytes(plan.peak_bytes) : "–",
        plan.limit_bytes ? `of ${formatBytes(plan.limit_bytes)} per device`
          : "per device, no limit"),
    figure("Planned in", formatLong(plan.total_seconds),
        `${formatCount(plan.programs.profiled)} programs measured, ` +
        `${formatCount(plan.programs.cached)} from the store`),
  ]);
  byId("details-notes").replaceChildren(
      ...(plan?.notes ?? []).map((note) => make("li", {}, note)));
  byId("details").showModal();
}

// ---- the course of time

setInterval(() => {
  for (const time of document.querySelectorAll("time[data-since]")) {
    const text = formatAge(Number(time.dataset.since) || null);
    if (time.textContent !== text) time.textContent = text;
  }
}, 1000);

// For tests and benches: the figures are on the screen.
function markDrawn() {
  requestAnimationFrame(() => requestAnimationFrame(() => {
    performance.mark("drawn");
    document.documentElement.dataset.drawn = "yes";
  }));
}

drawFigures();
await Promise.all(FIRST.map((it) => feeds.refresh(it)));
markDrawn();
if (!feeds.isLocked) {
  feeds.refresh("store");
  feeds.refresh("quality");
}
