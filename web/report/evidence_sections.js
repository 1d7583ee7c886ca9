// Sections of a report that rest on measurements: validation, choices, front,
// communication, certainty, verdicts, programs. Each gives its parts, or null to
// be left out. Where the measurements are not there, it says how to get them.
"use strict";

const noStore = (data) => [isMeasured(data) ? missing(
  "The measurements behind this plan were not at hand. Name the store that it " +
  "was planned with:", "meshwright report PLAN --store FILE -o plan.html")
  : missing("Nothing was measured for this plan. To measure, plan without " +
    "--symbolic and --baseline:", "meshwright plan MODEL --mesh MESH -o PLAN")];

// ---- validation

const outputsBadge = (differs) => differs ? badge("differ", "failed")
  : badge("equal", "good");

function buildStagedValidation(it) {
  const reference = it.reference === "model" ? "the step on one device"
    : "the step as one stage";
  return [
    facts([
      ["Predicted step", formatSeconds(it.predicted_seconds)],
      ["With the measured passes", it.measured_seconds &&
        formatSeconds(it.measured_seconds)],
      ["Error now", signed(formatShare, it.error_now)],
      ["Failure", it.failure && [badge("failed"), ` ${it.failure}`]],
      ["Outputs", it.differs !== null && outputsBadge(it.differs)],
    ]),
    h("p", {class: "lede"}, `Outputs are compared with ${reference}, within ` +
      `${it.tolerance}. The stages ran one after the other: the step is the ` +
      "schedule with the times of their passes."),
  ];
}

function buildValidation(data) {
  const it = data.validation;
  if (!it) return null;
  if (!it.plans) return buildStagedValidation(it);
  const bars = it.plans.flatMap((plan) => [
    ["measured", plan.measured_seconds, "is-6"],
    ["predicted", plan.predicted_seconds, "is-1"]]
    .filter(([, value]) => value !== null).map(([name, value, cls]) =>
      ({name: `${plan.name}: ${name}`, parts: [{name, value, cls}]})));
  return [
    chart("Predicted and measured step of the plan and of baselines",
      (svg, width) => drawBars(svg, width, bars, formatSeconds),
      "The whole step, timed in turns.",
      [["is-6", "measured"], ["is-1", "predicted"]]),
    table("Validated plans", [
      head("Plan", (plan) => plan.name === it.chosen
        ? `${plan.name} (this plan)` : plan.name),
      num("Predicted", (plan) => formatSeconds(plan.predicted_seconds)),
      num("Measured", (plan) => plan.failure ? badge("failed")
        : formatSeconds(plan.measured_seconds)),
      num("Error now", (plan) => signed(formatShare, plan.error_now)),
      num("Predicted memory", (plan) => formatBytes(plan.predicted_peak_bytes)),
      num("Measured memory", (plan) => formatBytes(plan.measured_peak_bytes)),
      text("Outputs", (plan) => plan.differs === null ? "–"
        : outputsBadge(plan.differs)),
    ], it.plans),
    h("p", {class: "lede"}, `Outputs are compared with ${it.reference}, ` +
      `within ${it.tolerance}. The error now is corrected for the machine's ` +
      "speed while validating."),
  ];
}

// ---- what each choice saves

function verdictOf(next) {
  if (next.within_noise) return ["within noise", "is-other", "none"];
  return next.more_seconds > 0 ? ["saves", "is-good", "good"]
    : ["costs", "is-bad", "failed"];
}

function buildChoices(data) {
  if (!data.feasible) return null;
  if (!data.choices) return noStore(data);
  const categories = makeCategories(data);
  const compared = data.choices.filter((it) => it.next_best)
    .map((it) => ({...it, next: it.next_best, verdict: verdictOf(it.next_best)}))
    .sort((a, b) => b.next.more_seconds - a.next.more_seconds);
  const only = data.choices.filter((it) => !it.next_best);
  const letter = (it) => categories.has(it.describe)
    ? `${categories.get(it.describe).letter} ` : "";
  const bars = compared.slice(0, 14).map((it) => ({
    name: `${letter(it)}${formatRanges(it.segments)}: ${it.describe}`,
    parts: [{name: it.verdict[0], value: it.next.more_seconds,
      cls: it.verdict[1]}],
    low: it.next.more_seconds - it.next.noise_seconds,
    high: it.next.more_seconds + it.next.noise_seconds}));
  const columns = [
    head("Choice", (it) => named(categories, it.describe)),
    text("Segments", (it) => formatRanges(it.segments)),
    num("Saves", (it) => `${signed(formatSeconds, it.next.more_seconds)} ± ` +
        formatSeconds(it.next.noise_seconds)),
    num("Of the step", (it) => signed(formatShare, it.next.more_share)),
    text("Verdict", (it) => badge(it.verdict[0], it.verdict[2])),
    wide("Next best plan", (it) => it.next.changes.slice(0, 3).map((change) =>
      h("div", {}, `${formatRanges(change.segments)}: ${change.to}`))),
    num("Its memory", (it) => signed(formatBytes, it.next.peak_bytes)),
  ];
  return [
    compared.length ? [
      chart("Time that each choice saves",
        (svg, width) => drawBars(svg, width, bars, formatSeconds),
        "A choice is compared with the best plan in which its segments may not " +
        "have it. Whiskers are the noise.",
        [["is-good", "saves time"], ["is-other", "within the noise"],
          ["is-bad", "costs time"]]),
      longTable("What each choice saves", columns, compared, 10)] : null,
    only.length ? h("p", {class: "lede"}, "No plan is allowed and fits " +
      `without ${only.map((it) => it.describe).join("; ")}.`) : null,
  ];
}

// ---- time against memory

function buildFront(data) {
  if (!data.feasible || data.pipeline) return null;
  if (!data.basis) return noStore(data);
  const points = data.basis.front;
  const now = data.basis.step_seconds;
  if (!points.length) return [missing("There is no other plan to compare with.")];
  const change = now / data.predicted.step_seconds - 1;
  return [
    Math.abs(change) > 0.01 ? h("p", {class: "callout is-warn"},
      "The store holds newer measurements. By these the plan takes " +
      `${formatSeconds(now)}, ${formatShare(Math.abs(change))} ` +
      `${change > 0 ? "more" : "less"} than its file says. Plan again to ` +
      "search with them.") : null,
    chart("Step time against peak memory", (svg, width) => drawFront(svg, width,
      points, data.basis, data.usable_bytes || data.limit_bytes),
    "Circles are plans that no other plan beats in both. More memory to the " +
    "right, slower steps above."),
    table("Plans of the front", [
      head("Peak memory", (it) => formatBytes(it.peak_bytes)),
      num("Step", (it) => formatSeconds(it.step_seconds)),
      num("Against this plan", (it) =>
        signed(formatShare, it.step_seconds / now - 1)),
    ], points),
  ];
}

// ---- communication

function buildCommunication(data) {
  if (!data.feasible) return null;
  const parts = [];
  if (data.basis) {
    const sums = data.basis.collectives;
    if (!sums.length) {
      return [missing("The programs of this plan have no collectives.")];
    }
    const bars = sums.map((it) => ({name: `${it.kind}, ${it.axis}`,
      parts: [{name: "bytes of results", value: it.bytes,
        cls: "is-communication"}]}));
    parts.push(
      chart("Bytes of collectives by kind and axis",
        (svg, width) => drawBars(svg, width, bars, formatBytes),
        "Bytes of the results on one device, of all collectives of one step."),
      table("Collectives of one step", [
        head("Kind", (it) => it.kind),
        text("Over", (it) => it.axis),
        num("Devices of a group", (it) => it.devices),
        num("Calls", (it) => formatCount(Math.round(it.count))),
        num("Bytes", (it) => formatBytes(it.bytes)),
      ], sums));
  }
  if (data.pipeline && data.pipeline.boundaries.length) {
    const inTime = (bytes, seconds) =>
      bytes ? `${formatBytes(bytes)} in ${formatSeconds(seconds)}` : "nothing";
    parts.push(table("Transfers between stages, of one micro-batch", [
      head("Boundary", (it) => `${it.number}–${it.number + 1}`),
      text("Within a host", (it) => it.within_host ? "yes" : "no"),
      num("Forward", (it) => inTime(it.forward_bytes, it.forward_seconds)),
      num("Backward", (it) => inTime(it.backward_bytes, it.backward_seconds)),
      num("Adds to the step", (it) => formatSeconds(it.adds_seconds)),
    ], data.pipeline.boundaries.map((it, index) =>
      ({...it, number: index + 1}))));
  }
  return parts.length ? parts : noStore(data);
}

// ---- how sure the figures are

const QUALITIES = {good: "is-good", noisy: "is-warn", suspect: "is-bad"};

function buildQuality(data) {
  if (!data.feasible) return null;
  const parts = [h("p", {class: "lede"}, "The worst row that this plan uses: ",
    qualityBadge(data.quality), data.noise.length ? ` ${data.noise.join(", ")}`
      : null)];
  if (data.basis && data.basis.programs.length) {
    const bars = data.basis.programs.slice(0, 12).map((it) => ({
      name: it.label,
      parts: [{name: `${it.quality || "not rated"}, ` +
          `${formatCount(Math.round(it.runs))} × ${formatSeconds(it.seconds)}`,
      value: it.runs * it.seconds, cls: QUALITIES[it.quality] || "is-other"}],
      low: it.runs * (it.seconds - it.spread_seconds),
      high: it.runs * (it.seconds + it.spread_seconds)}));
    parts.push(chart("Contribution of each program to the step",
      (svg, width) => drawBars(svg, width, bars, formatSeconds),
      "Time of all runs of a program in one step. Whiskers: how far the " +
      "measurements of its row disagree.",
      [["is-good", "good"], ["is-warn", "noisy"], ["is-bad", "suspect"],
        ["is-other", "not rated"]]));
  } else if (!data.pipeline) {
    parts.push(noStore(data));
  }
  if (data.estimates.length) {
    parts.push(table("Estimates, where they were compared with measurements", [
      head("Segment type", (it) => it.type),
      num("Estimated configurations", (it) => it.configurations),
      num("Compared", (it) => it.compared),
      num("Measured / estimated", (it) => it.scale.toFixed(3)),
      num("Four of five within", (it) => formatShare(it.deviation)),
      num("Margin", (it) => formatShare(it.margin)),
    ], data.estimates));
  }
  return parts;
}

// ---- what was not measured

function drawVerdicts(data, types) {
  const {excluded, not_reached: notReached} = data.verdicts;
  const runs = listRuns(data);
  const dots = (list, type, word, cls) => list.filter((it) => it.type === type)
    .map((it) => ({hollow: true, cls, value: it.estimate_seconds,
      text: `${word}: ${it.describe}\n` +
          `estimated ${formatSeconds(it.estimate_seconds)}`}));
  const own = (type) => runs.filter((run) => run.type === type).slice(0, 3)
    .map((run) => ({cls: "is-communication", shape: d3.symbolDiamond,
      value: secondsEach(run), text: `this plan: ${run.describe}\n` +
          `${formatSeconds(secondsEach(run))} each`}));
  const rows = types.map((type) => ({name: `type ${type}`, dots: [
    ...dots(excluded, type, "excluded", "is-other"),
    ...dots(notReached, type, "not reached", "is-warn"), ...own(type)]}));
  return chart("Configurations that were not measured, by their estimates",
    (svg, width) => drawStrips(svg, width, rows), "Time of one segment.",
    [["is-other", "excluded"], ["is-warn", "not reached"],
      ["is-communication", "this plan"]]);
}

function buildVerdicts(data) {
  const {excluded, not_reached: notReached, failed} = data.verdicts;
  const types = [...new Set([...excluded, ...notReached].map((it) => it.type))]
    .sort((a, b) => a - b);
  const parts = types.length ? [drawVerdicts(data, types)] : [];
  const byEstimate = (list) => [...list].sort((a, b) =>
    a.estimate_seconds - b.estimate_seconds);
  const add = (title, why, columns, rows) => rows.length && parts.push(
    h("h3", {}, `${title}: ${formatCount(rows.length)}`),
    h("p", {class: "lede"}, why),
    longTable(title, [head("Configuration", (it) => it.describe),
      num("Type", (it) => it.type), ...columns], rows, 8));
  add("Not reached", "These may be part of a faster plan: the number of " +
    "programs was used up before them. The lower bound takes each at its " +
    "estimate less its margin.", [
    num("Estimate", (it) => formatSeconds(it.estimate_seconds)),
    num("Margin", (it) => formatShare(it.margin)),
  ], byEstimate(notReached));
  add("Excluded", "No plan gains by these: even at the lower end of its " +
    "estimate each is no better than a measured rival, whatever its " +
    "neighbours are.", [
    num("Estimate", (it) => `${formatSeconds(it.estimate_seconds)} − ` +
        formatShare(it.margin)),
    wide("Rival", (it) => it.rival),
    num("Rival's time", (it) => formatSeconds(it.rival_seconds)),
  ], byEstimate(excluded));
  add("Failed", "These hold a program that could not be measured.",
    [wide("Reason", (it) => it.reason)], failed);
  return parts.length ? parts : isMeasured(data)
    ? [missing("Every configuration of this plan's space was measured.")]
    : noStore(data);
}

// ---- programs

// What became of a program; where planning spent its time.
const FATES = [["profiled", "measured now", "is-1"],
  ["cached", "known before", "is-3"], ["excluded", "excluded", "is-6"],
  ["not_reached", "not reached", "is-5"], ["failed", "failed", "is-bad"]];
const PHASES = [["analyze", "analyze", "is-6"], ["compile", "compile", "is-2"],
  ["profile", "profile", "is-1"], ["search", "search", "is-3"]];

function stackOf(label, figures, parts, format, caption) {
  const there = parts.filter(([key]) => figures[key] > 0);
  if (!there.length) return null;
  return chart(label, (svg, width) => drawStack(svg, width, there.map(
    ([key, name, cls]) => ({name, cls, value: figures[key]})), [], format),
  caption, there.map(([key, name, cls]) =>
    [cls, `${name}: ${format(figures[key])}`]));
}

function buildPrograms(data) {
  const {counts, seconds} = data;
  const parts = [h("div", {class: "columns"},
    stackOf("Programs by what became of them", counts, FATES, formatCount,
      `${formatCount(counts.distinct)} distinct programs of ` +
      `${formatCount(counts.total)}, and ${formatCount(counts.halves)} halves` +
      `${counts.remeasured ? `; ${formatCount(counts.remeasured)} measured again`
        : ""}.`),
    stackOf("Time that planning took", seconds, PHASES, formatSeconds,
      `Planning took ${formatSeconds(seconds.total)}.`))];
  if (!data.basis) {
    if (!data.pipeline) parts.push(noStore(data));
    return parts;
  }
  parts.push(longTable("Programs that this plan is made of", [
    {...head("Program", (it) => it.label), wide: true},
    num("Runs a step", (it) => formatCount(Math.round(it.runs * 100) / 100)),
    num("Time", (it) => `${formatSeconds(it.seconds)} ± ` +
        formatSeconds(it.spread_seconds)),
    num("Communication", (it) => formatSeconds(it.communication_seconds)),
    num("Peak memory", (it) => formatBytes(it.peak_bytes)),
    text("Quality", (it) => qualityBadge(it.quality)),
    num("Samples", (it) => it.samples),
    text("Key", (it) => h("code", {title: it.key}, it.key.slice(0, 12))),
  ], data.basis.programs, 12));
  return parts;
}
