// The sections of a report, each one question of its reader. A section is
// {id, title, question, build(data) -> nodes}; one whose build gives null is
// left out.
"use strict";

const STORE_HINT = "The measurements behind this plan were not at hand. Name the store that it was planned with:";
const STORE_COMMAND = "meshwright report PLAN --store FILE -o plan.html";

// The configurations of a plan, by their words, each with a letter and colour.
function makeCategories(data) {
  const known = new Map();
  for (const run of listRuns(data)) {
    if (!known.has(run.describe)) {
      known.set(run.describe, {index: known.size, letter: letterOf(known.size)});
    }
  }
  return known;
}

const listRuns = (data) => data.segments.flatMap((stage) =>
  stage.groups.flatMap((group) => group.runs.map((run) =>
    ({...run, repeat: group.repeat, stage: stage.stage, group}))));

const runNumbers = (run) => formatRange(run.first, run.count) +
    (run.repeat > 1 ? ` (×${run.repeat})` : "");

const letterMark = (category) => h("span",
  {class: `letter is-${category.index % 6 + 1}`}, category.letter);

const timeParts = (it, names) => names.map(([key, name, cls]) => ({name, cls,
  value: key === "compute" ? it.seconds - it.communication_seconds
    : it[`${key}_seconds`]})).filter((part) => part.value > 0);

// ---- summary

function summarySentences(data) {
  const it = data.predicted;
  const devices = data.mesh.reduce((a, b) => a * b, 1);
  const interval = it.interval_seconds;
  const sentences = [["One training step is predicted to take ",
    h("strong", {}, formatSeconds(it.step_seconds)),
    ` on ${plural(devices, "device")}`,
    interval ? `, and ${formatSeconds(interval[0])} to ${formatSeconds(interval[1])} if everything is measured again` : "", "."]];
  if (it.gap > 0) {
    sentences.push([" No plan of these measurements is faster than ",
      h("strong", {}, formatSeconds(it.lower_bound_seconds)), "."]);
  } else if (it.lower_bound_seconds > 0) {
    sentences.push([" No plan of these measurements is faster."]);
  }
  if (data.tie) {
    sentences.push([` It ties with the fastest plan, ${formatSeconds(data.tie.fastest_seconds)}: they differ by less than the noise of ${formatSeconds(data.tie.noise_seconds)}.`]);
  }
  const measured = measuredStep(data);
  if (measured) {
    sentences.push([measured.simulated ? " With the measured passes of its stages it takes " : " A validation ran the whole step: it takes ",
      h("strong", {}, formatSeconds(measured.seconds)),
      `. The prediction is ${formatShare(Math.abs(measured.error))} ${measured.error < 0 ? "below" : "above"} that.`]);
  }
  return h("p", {class: "verdict"}, sentences);
}

// Of a validation: the plan's own step.
function measuredStep(data) {
  const it = data.validation;
  if (!it) return null;
  const own = it.plans ? it.plans.find((plan) => plan.name === it.chosen) : it.step;
  if (!own || own.measured_seconds === null) return null;
  return {seconds: own.measured_seconds,
    error: own.predicted_seconds / own.measured_seconds - 1,
    now: own.error_now, simulated: !it.plans};
}

function buildSummary(data) {
  if (!data.feasible) {
    return [h("p", {class: "verdict callout is-bad"},
      "No plan fits ", h("strong", {}, formatBytes(data.limit_bytes)),
      " per device. The plan of minimum memory needs ",
      h("strong", {}, formatBytes(data.least_memory_bytes)), ".")];
  }
  const it = data.predicted;
  if (!it) return [missing("This plan has no prediction.")];
  const measured = measuredStep(data);
  const share = (it.communication_seconds + it.resharding_seconds) / it.step_seconds;
  const usable = data.usable_bytes || data.limit_bytes;
  return [
    summarySentences(data),
    h("dl", {class: "figures"},
      figure("Predicted step", formatSeconds(it.step_seconds),
        it.interval_seconds ? `${formatSeconds(it.interval_seconds[0])} to ${formatSeconds(it.interval_seconds[1])}` : "no interval: nothing was measured"),
      measured ? figure(measured.simulated ? "Measured passes, simulated step" : "Measured step",
        formatSeconds(measured.seconds),
        `prediction ${withSign(formatShare(measured.error), measured.error)}`) : null,
      figure("Peak memory", formatBytes(it.peak_bytes),
        usable ? `${formatShare(it.peak_bytes / usable)} of ${formatBytes(usable)} usable` : "per device; no limit was set"),
      figure("Communication", formatShare(share),
        `${formatSeconds(it.communication_seconds + it.resharding_seconds)} a step`),
      figure("Could be faster by", it.gap > 0 ? `≤ ${formatShare(it.gap)}` : "0 %",
        "proved, of these measurements"),
      figure("Measurements", qualityBadge(data.quality),
        data.noise.length ? data.noise.join(", ") : "the worst row of this plan")),
    h("div", {class: "columns"},
      chart("Time of one step by what it goes to", (svg, width) => drawStack(svg, width,
        TIME_PARTS.map(([key, name, cls]) => ({name, cls, value: it[`${key}_seconds`]})),
        [], formatSeconds), `Step time, ${formatSeconds(it.step_seconds)}.`,
      TIME_PARTS.filter(([key]) => it[`${key}_seconds`] > 0).map(([, name, cls]) => [cls, name])),
      chart("Peak memory of one device", (svg, width) => drawStack(svg, width,
        [{name: "peak memory", value: it.peak_bytes, cls: "is-persistent"}],
        [[data.usable_bytes, "usable"], [data.limit_bytes, "limit"]]
          .filter(([bytes]) => bytes > 0).slice(0, 1)
          .map(([value, name]) => ({name, value, cls: "is-limit"})), formatBytes),
      "Peak memory per device.", [["is-persistent", "peak memory"]])),
  ];
}

// ---- the model

function buildModel(data) {
  if (!data.feasible) return null;
  const categories = makeCategories(data);
  const runs = listRuns(data);
  if (!runs.length) return [missing("This plan lists no segments.")];
  const total = d3.sum(runs, (it) => it.seconds + it.resharding_seconds) || 1;
  const stages = new Map();
  const repeats = new Map();
  for (const run of runs) {
    if (run.stage) stages.set(run.stage, {label: `stage ${run.stage}`});
    if (run.repeat > 1) repeats.set(run.group, {label: `×${run.repeat}`});
  }
  const bracketsOf = (run) => [
    ...(stages.size ? [stages.get(run.stage)] : []),
    ...(repeats.size ? [repeats.get(run.group)] : [])];
  const boxes = runs.map((run) => ({
    seconds: run.seconds + run.resharding_seconds,
    category: categories.get(run.describe).index,
    label: categories.get(run.describe).letter,
    count: run.count,
    brackets: bracketsOf(run),
    text: `segments ${runNumbers(run)}, type ${run.type}\n${categories.get(run.describe).letter}: ${run.describe}\n${formatSeconds(run.seconds)} in all`}));
  const columns = [
    {title: "Segments", head: true, of: runNumbers},
    {title: "Configuration", wide: true, of: (run) => h("span", {},
      letterMark(categories.get(run.describe)), ` ${run.describe}`,
      run.estimated ? " (estimated)" : null)},
    {title: "Type", num: true, of: (run) => run.type},
    {title: "Time each", num: true, of: (run) => formatSeconds(run.seconds / run.count / run.repeat)},
    {title: "Time in all", num: true, of: (run) => formatSeconds(run.seconds + run.resharding_seconds)},
    {title: "Share", num: true, of: (run) => formatShare((run.seconds + run.resharding_seconds) / total)},
    {title: "Memory in all", num: true, of: (run) => formatBytes(run.memory_bytes)},
  ];
  if (data.pipeline) columns.unshift({title: "Stage", of: (run) => run.stage});
  return [
    chart("The model as a row of segments", (svg, width) => drawModel(svg, width, boxes),
      "A box is a run of equal segments, as wide as its time; its letter is the configuration.",
      [...categories].slice(0, 12).map(([describe, it]) => [`is-${it.index % 6 + 1}`, `${it.letter}: ${describe}`])),
    longTable("Segments and their configurations", columns, runs, 16),
  ];
}

// ---- where time and memory go

function buildCosts(data) {
  if (!data.feasible) return null;
  const categories = makeCategories(data);
  const sums = new Map();
  for (const run of listRuns(data)) {
    const key = `${run.type}/${run.describe}`;
    const sum = sums.get(key) || {type: run.type, describe: run.describe, count: 0,
      seconds: 0, communication_seconds: 0, resharding_seconds: 0, memory_bytes: 0};
    sum.count += run.count * run.repeat;
    for (const name of ["seconds", "communication_seconds", "resharding_seconds", "memory_bytes"]) sum[name] += run[name];
    sums.set(key, sum);
  }
  const rows = [...sums.values()].sort((a, b) => b.seconds - a.seconds).slice(0, 14);
  if (!d3.sum(rows, (it) => it.seconds)) return null;
  const name = (it) => `${categories.get(it.describe).letter} ×${it.count}: ${it.describe}`;
  const byMemory = [...rows].sort((a, b) => b.memory_bytes - a.memory_bytes);
  return [
    chart("Time of one step by configuration", (svg, width) => drawBars(svg, width,
      rows.map((it) => ({name: name(it), parts: timeParts(it, TIME_PARTS)})), formatSeconds),
    "Time in all segments that have the configuration.",
    TIME_PARTS.filter(([key]) => data.predicted[`${key}_seconds`] > 0).map(([, text, cls]) => [cls, text])),
    chart("Memory by configuration", (svg, width) => drawBars(svg, width,
      byMemory.map((it) => ({name: name(it), parts: [{name: "persistent and saved",
        value: it.memory_bytes, cls: "is-persistent"}]})), formatBytes),
    "Bytes per device that live through the step, or from the forward to the backward pass.",
    [["is-persistent", "persistent and saved"]]),
  ];
}

// ---- what each choice saves

function buildChoices(data) {
  if (!data.feasible) return null;
  if (!data.choices) return [missing(STORE_HINT, STORE_COMMAND)];
  const categories = makeCategories(data);
  const compared = data.choices.filter((it) => it.next_best)
    .sort((a, b) => b.next_best.more_seconds - a.next_best.more_seconds);
  const only = data.choices.filter((it) => !it.next_best);
  const cls = (next) => next.within_noise ? "is-other"
    : next.more_seconds > 0 ? "is-good" : "is-bad";
  const word = (next) => next.within_noise ? "within noise"
    : next.more_seconds > 0 ? "saves" : "costs";
  const columns = [
    {title: "Choice", head: true, of: (it) => h("span", {},
      categories.has(it.describe) ? letterMark(categories.get(it.describe)) : null, ` ${it.describe}`)},
    {title: "Segments", of: (it) => formatRanges(it.segments)},
    {title: "Saves", num: true, of: (it) => `${formatSeconds(it.next_best.more_seconds)} ± ${formatSeconds(it.next_best.noise_seconds)}`},
    {title: "Of the step", num: true, of: (it) => formatShare(it.next_best.more_share)},
    {title: "Verdict", of: (it) => badge(word(it.next_best), it.next_best.within_noise ? "none" : it.next_best.more_seconds > 0 ? "good" : "failed")},
    {title: "Next best plan", wide: true, of: (it) => it.next_best.changes.slice(0, 3)
      .map((change) => h("div", {}, `${formatRanges(change.segments)}: ${change.to}`))},
    {title: "Its memory", num: true, of: (it) => withSign(formatBytes(it.next_best.peak_bytes), it.next_best.peak_bytes)},
  ];
  return [
    compared.length ? chart("Time that each choice saves", (svg, width) => drawBars(svg, width,
      compared.slice(0, 14).map((it) => ({
        name: `${categories.has(it.describe) ? categories.get(it.describe).letter : ""} ${formatRanges(it.segments)}: ${it.describe}`,
        parts: [{name: "saves", value: it.next_best.more_seconds, cls: cls(it.next_best)}],
        low: it.next_best.more_seconds - it.next_best.noise_seconds,
        high: it.next_best.more_seconds + it.next_best.noise_seconds})), formatSeconds),
    "A choice is compared with the best plan in which its segments may not have it. Whiskers are the noise.",
    [["is-good", "saves time"], ["is-other", "within the noise"], ["is-bad", "costs time"]]) : null,
    compared.length ? longTable("What each choice saves", columns, compared, 10) : null,
    only.length ? h("p", {class: "lede"}, `Without ${only.map((it) => it.describe).join("; ")} no plan is allowed and fits.`) : null,
  ];
}

// ---- time against memory

function buildFront(data) {
  if (!data.feasible || data.pipeline) return null;
  if (!data.basis) return [missing(STORE_HINT, STORE_COMMAND)];
  const points = data.basis.front;
  if (!points.length) return [missing("There is no front: one plan is the fastest and takes the least memory.")];
  return [
    chart("Step time against peak memory", (svg, width) => drawFront(svg, width, points,
      data.predicted, data.usable_bytes || data.limit_bytes),
    "Circles are plans that no other plan beats in both. More memory to the right, slower steps above."),
    table("Plans of the front", [
      {title: "Peak memory", head: true, of: (it) => formatBytes(it.peak_bytes)},
      {title: "Step", num: true, of: (it) => formatSeconds(it.step_seconds)},
      {title: "Against this plan", num: true, of: (it) => withSign(formatShare(it.step_seconds / data.predicted.step_seconds - 1), it.step_seconds - data.predicted.step_seconds)},
    ], points),
  ];
}

// ---- communication

function buildCommunication(data) {
  if (!data.feasible) return null;
  const parts = [];
  if (data.basis) {
    const sums = data.basis.collectives;
    if (!sums.length) return [missing("The programs of this plan have no collectives.")];
    parts.push(
      chart("Bytes of collectives by kind and axis", (svg, width) => drawBars(svg, width,
        sums.map((it) => ({name: `${it.kind}, ${it.axis}`, parts: [{name: "result bytes per device", value: it.bytes, cls: "is-communication"}]})), formatBytes),
      "Bytes of the results on one device, of all collectives of one step."),
      table("Collectives of one step", [
        {title: "Kind", head: true, of: (it) => it.kind},
        {title: "Over", of: (it) => it.axis},
        {title: "Devices of a group", num: true, of: (it) => it.devices},
        {title: "Calls", num: true, of: (it) => formatCount(Math.round(it.count))},
        {title: "Bytes", num: true, of: (it) => formatBytes(it.bytes)},
      ], sums));
  }
  if (data.pipeline && data.pipeline.boundaries.length) {
    parts.push(table("Transfers between stages, of one micro-batch", [
      {title: "Boundary", head: true, of: (it) => `${it.number}–${it.number + 1}`},
      {title: "Within a host", of: (it) => it.within_host ? "yes" : "no"},
      {title: "Forward", num: true, of: (it) => `${formatBytes(it.forward_bytes)} in ${formatSeconds(it.forward_seconds)}`},
      {title: "Backward", num: true, of: (it) => `${formatBytes(it.backward_bytes)} in ${formatSeconds(it.backward_seconds)}`},
      {title: "Adds to the step", num: true, of: (it) => formatSeconds(it.adds_seconds)},
    ], data.pipeline.boundaries.map((it, index) => ({...it, number: index + 1}))));
  }
  return parts.length ? parts : [missing(STORE_HINT, STORE_COMMAND)];
}

// ---- stages

function buildStages(data) {
  const it = data.pipeline;
  if (!it) return null;
  const rows = it.stages.map((stage, index) => ({...stage, number: index + 1}));
  return [
    h("p", {class: "lede"}, `Schedule ${it.schedule}, ${plural(it.micro_batches, "micro-batch").replace("batchs", "batches")}, bubble ${formatShare(it.bubble)}.`),
    chart("Busy and idle time of each stage", (svg, width) => drawBars(svg, width,
      rows.map((stage) => ({name: `stage ${stage.number}, mesh ${stage.mesh.join("×")}`,
        parts: [{name: "busy", value: stage.busy_seconds, cls: "is-compute"},
          {name: "idle", value: stage.idle_seconds, cls: "is-other"}]})), formatSeconds),
    null, [["is-compute", "busy"], ["is-other", "idle"]]),
    table("Stages", [
      {title: "Stage", head: true, of: (stage) => stage.number},
      {title: "Mesh", of: (stage) => stage.mesh.join("×")},
      {title: "Devices", of: (stage) => formatRanges(stage.devices)},
      {title: "Segments", of: (stage) => formatRange(stage.first_segment, stage.segments)},
      {title: "Forward", num: true, of: (stage) => formatSeconds(stage.forward_seconds)},
      {title: "Backward", num: true, of: (stage) => formatSeconds(stage.backward_seconds)},
      {title: "Update", num: true, of: (stage) => formatSeconds(stage.update_seconds)},
      {title: "Peak memory", num: true, of: (stage) => formatBytes(stage.peak_bytes)},
      {title: "A tenth less saves", num: true, of: (stage) => formatSeconds(stage.tenth_saves_seconds)},
    ], rows),
    it.tried.length ? table("Schedules that were tried", [
      {title: "Schedule", head: true, of: (tried) => tried.schedule},
      {title: "Step", num: true, of: (tried) => formatSeconds(tried.step_seconds)},
      {title: "Bubble", num: true, of: (tried) => formatShare(tried.bubble)},
      {title: "Fits the memory", of: (tried) => tried.feasible ? "yes" : "no"},
    ], it.tried) : null,
  ];
}

// ---- the timeline

function buildTimeline(data) {
  if (!data.timelines.length) return null;
  return [
    chart("Timeline of one step", (svg, width) => drawTimelines(svg, width, data.timelines),
      null, timelineKeys(data.timelines)),
    h("ul", {class: "notes"}, data.timelines.map((it) => h("li", {}, h("strong", {}, `${it.name}: `), it.basis))),
    data.validation ? null : missing("Nothing was measured yet. To see the measured step beside it:", "meshwright validate MODEL PLAN --json > validation.json"),
    h("p", {class: "lede"}, "To look closer, write it as a trace and open that in Perfetto: ", h("code", {}, "meshwright trace PLAN -o plan.pftrace")),
  ];
}

// ---- validation

function buildValidation(data) {
  const it = data.validation;
  if (!it || !it.plans) return null;
  const rows = it.plans.filter((plan) => plan.measured_seconds !== null);
  return [
    chart("Predicted and measured step of the plan and of baselines", (svg, width) => drawBars(svg, width,
      rows.flatMap((plan) => [
        {name: `${plan.name}: measured`, parts: [{name: "measured", value: plan.measured_seconds, cls: "is-6"}]},
        plan.predicted_seconds === null ? null : {name: `${plan.name}: predicted`, parts: [{name: "predicted", value: plan.predicted_seconds, cls: "is-1"}]},
      ].filter(Boolean)), formatSeconds), "The whole step, timed in turns.",
    [["is-6", "measured"], ["is-1", "predicted"]]),
    table("Validated plans", [
      {title: "Plan", head: true, of: (plan) => plan.name === it.chosen ? h("strong", {}, `${plan.name} (this plan)`) : plan.name},
      {title: "Predicted", num: true, of: (plan) => formatSeconds(plan.predicted_seconds)},
      {title: "Measured", num: true, of: (plan) => plan.failure ? badge("failed") : formatSeconds(plan.measured_seconds)},
      {title: "Error now", num: true, of: (plan) => withSign(formatShare(plan.error_now), plan.error_now)},
      {title: "Predicted memory", num: true, of: (plan) => formatBytes(plan.predicted_peak_bytes)},
      {title: "Measured memory", num: true, of: (plan) => formatBytes(plan.measured_peak_bytes)},
      {title: "Outputs", of: (plan) => plan.difference === null ? "–" : badge(plan.difference <= it.tolerance ? "equal" : "differ", plan.difference <= it.tolerance ? "good" : "failed")},
    ], it.plans),
    h("p", {class: "lede"}, `Outputs are compared with ${it.reference}, within ${it.tolerance}.`),
  ];
}

// ---- how sure the figures are

function buildQuality(data) {
  if (!data.feasible) return null;
  const parts = [h("p", {class: "lede"}, "The worst row that this plan uses: ", qualityBadge(data.quality),
    data.noise.length ? ` ${data.noise.join(", ")}` : null)];
  if (data.basis && data.basis.programs.length) {
    const kinds = {good: "is-good", noisy: "is-warn", suspect: "is-bad"};
    parts.push(chart("Contribution of each program to the step, with its interval", (svg, width) => drawBars(svg, width,
      data.basis.programs.slice(0, 12).map((it) => ({
        name: it.label,
        parts: [{name: `${it.quality || "not rated"}, ${formatCount(Math.round(it.runs))} runs of ${formatSeconds(it.seconds)}`, value: it.runs * it.seconds, cls: kinds[it.quality] || "is-other"}],
        low: it.runs * (it.seconds - it.spread_seconds),
        high: it.runs * (it.seconds + it.spread_seconds)})), formatSeconds),
    "Time of all runs of a program in one step. Whiskers: how far the measurements of its row disagree.",
    [["is-good", "good"], ["is-warn", "noisy"], ["is-bad", "suspect"], ["is-other", "not rated"]]));
  } else {
    parts.push(missing(STORE_HINT, STORE_COMMAND));
  }
  if (data.estimates.length) {
    parts.push(table("Estimates, where they were compared with measurements", [
      {title: "Segment type", head: true, of: (it) => it.type},
      {title: "Estimated configurations", num: true, of: (it) => it.configurations},
      {title: "Compared", num: true, of: (it) => it.compared},
      {title: "Measured / estimated", num: true, of: (it) => it.scale.toFixed(3)},
      {title: "Four of five within", num: true, of: (it) => formatShare(it.deviation)},
      {title: "Margin", num: true, of: (it) => formatShare(it.margin)},
    ], data.estimates));
  }
  return parts;
}

// ---- what was not measured

function buildVerdicts(data) {
  const {excluded, not_reached: notReached, failed} = data.verdicts;
  const parts = [];
  const types = [...new Set([...excluded, ...notReached].map((it) => it.type))].sort((a, b) => a - b);
  if (types.length) {
    const chosen = listRuns(data);
    parts.push(chart("Configurations that were not measured, by their estimates", (svg, width) => drawStrips(svg, width,
      types.map((type) => ({name: `type ${type}`, dots: [
        ...excluded.filter((it) => it.type === type).map((it) => ({hollow: true, cls: "is-other", value: it.estimate_seconds, low: it.estimate_seconds, text: `excluded: ${it.describe}\nestimated ${formatSeconds(it.estimate_seconds)}`})),
        ...notReached.filter((it) => it.type === type).map((it) => ({hollow: true, cls: "is-warn", value: it.estimate_seconds, low: it.estimate_seconds, text: `not reached: ${it.describe}\nestimated ${formatSeconds(it.estimate_seconds)}`})),
        ...chosen.filter((run) => run.type === type).slice(0, 3).map((run) => ({cls: "is-communication", shape: d3.symbolDiamond, value: run.seconds / run.count / run.repeat, low: run.seconds / run.count / run.repeat, text: `this plan: ${run.describe}\n${formatSeconds(run.seconds / run.count / run.repeat)} each`})),
      ]}))), "Time of one segment.",
    [["is-other", "excluded"], ["is-warn", "not reached"], ["is-communication", "this plan"]]));
  }
  if (notReached.length) {
    parts.push(h("h3", {}, `Not reached: ${notReached.length}`),
      h("p", {class: "lede"}, "These may be part of a faster plan: the number of programs was used up before them. The lower bound takes each at its estimate less its margin."),
      longTable("Not reached", [
        {title: "Configuration", head: true, of: (it) => it.describe},
        {title: "Type", num: true, of: (it) => it.type},
        {title: "Estimate", num: true, of: (it) => formatSeconds(it.estimate_seconds)},
        {title: "Margin", num: true, of: (it) => formatShare(it.margin)},
      ], [...notReached].sort((a, b) => a.estimate_seconds - b.estimate_seconds), 8));
  }
  if (excluded.length) {
    parts.push(h("h3", {}, `Excluded: ${excluded.length}`),
      h("p", {class: "lede"}, "No plan gains by these: even at the lower end of its estimate each is no better than a measured rival, whatever its neighbours are."),
      longTable("Excluded", [
        {title: "Configuration", head: true, of: (it) => it.describe},
        {title: "Type", num: true, of: (it) => it.type},
        {title: "Estimate", num: true, of: (it) => `${formatSeconds(it.estimate_seconds)} − ${formatShare(it.margin)}`},
        {title: "Rival", wide: true, of: (it) => it.rival},
        {title: "Rival's time", num: true, of: (it) => formatSeconds(it.rival_seconds)},
      ], [...excluded].sort((a, b) => a.estimate_seconds - b.estimate_seconds), 8));
  }
  if (failed.length) {
    parts.push(h("h3", {}, `Failed: ${failed.length}`), longTable("Failed", [
      {title: "Configuration", head: true, of: (it) => it.describe},
      {title: "Type", num: true, of: (it) => it.type},
      {title: "Reason", wide: true, of: (it) => it.reason},
    ], failed, 8));
  }
  return parts.length ? parts : [missing("Every configuration of this plan's space was measured.")];
}

// ---- programs

function buildPrograms(data) {
  const counts = data.counts;
  const kinds = [["profiled", "measured now", "is-1"], ["cached", "known before", "is-3"],
    ["excluded", "excluded", "is-6"], ["not_reached", "not reached", "is-5"], ["failed", "failed", "is-bad"]];
  const phases = [["analyze", "is-6"], ["compile", "is-2"], ["profile", "is-1"], ["search", "is-3"]];
  const parts = [h("div", {class: "columns"},
    d3.sum(kinds, ([key]) => counts[key]) ? chart("Programs by what became of them", (svg, width) => drawStack(svg, width,
      kinds.map(([key, name, cls]) => ({name, cls, value: counts[key]})), [], formatCount),
    `${formatCount(counts.distinct)} distinct programs of ${formatCount(counts.total)}, and ${plural(counts.halves, "half").replace("halfs", "halves")}${counts.remeasured ? `; ${formatCount(counts.remeasured)} measured again` : ""}.`,
    kinds.filter(([key]) => counts[key]).map(([key, name, cls]) => [cls, `${name}: ${formatCount(counts[key])}`])) : null,
    data.seconds.total > 0 ? chart("Time that planning took", (svg, width) => drawStack(svg, width,
      phases.map(([key, cls]) => ({name: key, cls, value: data.seconds[key]})), [], formatSeconds),
    `Planning took ${formatSeconds(data.seconds.total)}.`,
    phases.filter(([key]) => data.seconds[key] > 0).map(([key, cls]) => [cls, `${key}: ${formatSeconds(data.seconds[key])}`])) : null)];
  if (!data.basis) {
    parts.push(missing(STORE_HINT, STORE_COMMAND));
    return parts;
  }
  parts.push(longTable("Programs that this plan is made of", [
    {title: "Program", head: true, wide: true, of: (it) => it.label},
    {title: "Runs a step", num: true, of: (it) => formatCount(Math.round(it.runs * 100) / 100)},
    {title: "Minimum", num: true, of: (it) => formatSeconds(it.seconds)},
    {title: "Median", num: true, of: (it) => formatSeconds(it.median_seconds)},
    {title: "Spread", num: true, of: (it) => `± ${formatSeconds(it.spread_seconds)}`},
    {title: "Communication", num: true, of: (it) => formatSeconds(it.communication_seconds)},
    {title: "Peak memory", num: true, of: (it) => formatBytes(it.peak_bytes)},
    {title: "Compiled in", num: true, of: (it) => formatSeconds(it.compile_seconds)},
    {title: "Quality", of: (it) => qualityBadge(it.quality)},
    {title: "Samples", num: true, of: (it) => it.samples},
    {title: "Key", of: (it) => h("code", {title: it.key}, it.key.slice(0, 12))},
  ], data.basis.programs, 12));
  return parts;
}

// ---- arguments and outputs

function buildArguments(data) {
  const columns = [
    {title: "Name", head: true, wide: true, of: (it) => h("span", {}, h("code", {}, it.name || "–"), it.count > 1 ? ` ×${it.count}` : null)},
    {title: "Role", of: (it) => it.role},
    {title: "Shape", of: (it) => h("code", {}, it.shape)},
    {title: "Sharding", of: (it) => h("code", {}, it.sharding)},
  ];
  const parts = [
    data.arguments.length ? longTable("Arguments of the step", columns, data.arguments, 12) : null,
    data.outputs.length ? longTable("Outputs of the step", columns, data.outputs, 12) : null,
  ].filter(Boolean);
  if (!parts.length) return null;
  return [h("p", {class: "lede"}, "A sharding has one entry per dimension: the mesh axes that cut it, or - for a dimension that is whole. A * stands for numbers in names."), ...parts];
}

function buildNotes(data) {
  return [
    data.notes.length ? h("ul", {class: "notes"}, data.notes.map((note) => h("li", {}, note))) : null,
    facts([
      ["Model", data.model.name],
      ["Fingerprint", data.model.fingerprint && h("code", {}, data.model.fingerprint)],
      ["Mesh", data.mesh.join("×")],
      ["Device", data.device],
      ["Plugin", data.platform_version],
      ["Compiler flags", data.xla_flags && h("code", {}, data.xla_flags)],
      ["Memory limit", data.limit_bytes ? formatBytes(data.limit_bytes) : "none"],
      ["Searched beside the usual strategies", data.open.join(", ")],
    ]),
  ];
}

const SECTIONS = [
  {id: "summary", title: "Summary", build: buildSummary},
  {id: "validation", title: "Predicted and measured", short: "Validation", question: "Does the whole step run as predicted, and faster than the usual strategies?", build: buildValidation},
  {id: "model", title: "Model", question: "Which configuration does each segment of the model take?", build: buildModel},
  {id: "costs", title: "Time and memory", short: "Costs", question: "Where do time and memory go?", build: buildCosts},
  {id: "choices", title: "Choices", question: "What does each choice save, compared with the next best plan?", build: buildChoices},
  {id: "front", title: "Time against memory", short: "Front", question: "What would more or less memory give?", build: buildFront},
  {id: "stages", title: "Stages", question: "Which part of the pipeline makes the step long?", build: buildStages},
  {id: "communication", title: "Communication", question: "What do devices send each other?", build: buildCommunication},
  {id: "timeline", title: "Timeline", question: "When do devices compute, and when do they communicate?", build: buildTimeline},
  {id: "quality", title: "Certainty", question: "How far can these figures be trusted?", build: buildQuality},
  {id: "verdicts", title: "Not measured", question: "What was left out of the search, and why?", build: buildVerdicts},
  {id: "programs", title: "Programs", question: "What was compiled and timed for this plan?", build: buildPrograms},
  {id: "arguments", title: "Arguments", question: "How does a launcher split the step's arguments?", build: buildArguments},
  {id: "notes", title: "Notes and facts", short: "Notes", build: buildNotes},
];

function drawReport(data) {
  document.getElementById("masthead").append(
    h("div", {class: "masthead__product"}, "Meshwright plan report"),
    h("h1", {}, data.model.name || "Plan"),
    h("ul", {class: "masthead__meta"},
      h("li", {}, `mesh ${data.mesh.join("×")}`),
      h("li", {}, data.device || "no device"),
      data.limit_bytes ? h("li", {}, `limit ${formatBytes(data.limit_bytes)} per device`) : null,
      data.pipeline ? h("li", {}, plural(data.pipeline.stages.length, "stage")) : null,
      data.feasible ? h("li", {}, "measurements ", qualityBadge(data.quality))
        : h("li", {}, badge("infeasible", "failed"))));
  for (const section of SECTIONS) {
    const parts = section.build(data);
    if (!parts) continue;
    document.getElementById("nav").append(h("li", {}, h("a", {href: `#${section.id}`}, section.short || section.title)));
    document.getElementById("report").append(h("section",
      {class: "panel", id: section.id, "aria-labelledby": `${section.id}-title`, tabindex: "-1"},
      h("div", {class: "panel__head"}, h("h2", {id: `${section.id}-title`}, section.title),
        section.question ? h("p", {class: "lede"}, section.question) : null),
      parts));
  }
  for (const element of document.querySelectorAll(".chart")) element.redraw();
  markCurrentSection();
}

// The link of the section at the top of the window.
function markCurrentSection() {
  const links = [...document.querySelectorAll(".nav a")];
  const mark = (entries) => {
    for (const entry of entries.filter((it) => it.isIntersecting)) {
      for (const link of links) {
        if (link.hash === `#${entry.target.id}`) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }
  };
  const observer = new IntersectionObserver(mark, {rootMargin: "-15% 0px -75% 0px"});
  for (const section of document.querySelectorAll("section")) observer.observe(section);
}

drawReport(JSON.parse(document.getElementById("data").textContent));
document.documentElement.dataset.drawn = Math.round(performance.now());
