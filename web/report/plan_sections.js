// Sections of a report that a plan alone fills: summary, model, costs, stages,
// timeline, arguments, notes. Each gives its parts, or null to be left out.
"use strict";

// Of time: its key in the data, its name, its class.
const TIME_PARTS = [
  ["compute", "compute", "is-compute"],
  ["communication", "communication", "is-communication"],
  ["resharding", "resharding", "is-resharding"],
];

const listRuns = (data) => data.segments.flatMap((stage) =>
  stage.groups.flatMap((group) => group.runs.map((run) =>
    ({...run, repeat: group.repeat, stage: stage.stage, group}))));

const runNumbers = (run) => formatRange(run.first, run.count) +
    (run.repeat > 1 ? ` (×${run.repeat})` : "");
const secondsInAll = (run) => run.seconds + run.resharding_seconds;
const secondsEach = (run) => run.seconds / run.count / run.repeat;

// The configurations of a plan, by their words, each with a letter and colour.
function makeCategories(data) {
  const known = new Map();
  for (const {describe} of listRuns(data)) {
    if (known.has(describe)) continue;
    known.set(describe, {index: known.size, letter: letterOf(known.size),
      cls: `is-${known.size % 6 + 1}`});
  }
  return known;
}

// "A rows, columns", the letter in its colour.
const named = (categories, describe) => {
  const it = categories.get(describe);
  return h("span", {},
    it ? h("span", {class: `letter ${it.cls}`}, it.letter) : null,
    ` ${describe}`);
};

// ---- summary

// What a validation says of the plan itself: one in stages is about no other.
function validatedPlan(data) {
  const it = data.validation;
  return it && it.plans ? it.plans.find((plan) => plan.name === it.chosen) : it;
}

function measuredStep(data) {
  const own = validatedPlan(data);
  if (!own || own.measured_seconds === null) return null;
  return {seconds: own.measured_seconds, simulated: !data.validation.plans,
    error: own.predicted_seconds / own.measured_seconds - 1};
}

// Why nobody should train with this plan, or null.
function validationFault(data) {
  const own = validatedPlan(data);
  if (!own || !(own.failure || own.differs)) return null;
  return h("p", {class: "callout is-bad"}, own.failure
    ? `A validation could not run this plan: ${own.failure}.`
    : "A validation found that this plan's outputs differ from those of the " +
      `reference by more than ${data.validation.tolerance}.`);
}

function summarySentences(data) {
  const it = data.predicted;
  const devices = data.mesh.reduce((a, b) => a * b, 1);
  const strong = (seconds) => h("strong", {}, formatSeconds(seconds));
  const parts = ["One training step is predicted to take ",
    strong(it.step_seconds), ` on ${plural(devices, "device")}`];
  if (it.interval_seconds) {
    const [low, high] = it.interval_seconds.map(formatSeconds);
    parts.push(`, and ${low} to ${high} if everything is measured again`);
  }
  parts.push(".");
  if (it.gap > 0) {
    parts.push(` No plan of these ${basisOf(data)} is faster than `,
      strong(it.lower_bound_seconds), ".");
  } else if (it.lower_bound_seconds > 0) {
    parts.push(` No plan of these ${basisOf(data)} is faster.`);
  }
  if (data.tie) {
    parts.push(" It ties with the fastest plan, ",
      `${formatSeconds(data.tie.fastest_seconds)}: they differ by less than `,
      `the noise of ${formatSeconds(data.tie.noise_seconds)}.`);
  }
  const measured = measuredStep(data);
  if (measured) {
    parts.push(measured.simulated
      ? " With the measured passes of its stages it takes "
      : " A validation ran the whole step: it takes ",
    strong(measured.seconds),
    `. The prediction is ${formatShare(Math.abs(measured.error))} `,
    `${measured.error < 0 ? "below" : "above"} that.`);
  }
  return h("p", {class: "verdict"}, parts);
}

const basisOf = (data) => isMeasured(data) ? "measurements" : "estimates";

function summaryFigures(data) {
  const it = data.predicted;
  const measured = measuredStep(data);
  const usable = data.usable_bytes || data.limit_bytes;
  const sent = it.communication_seconds + it.resharding_seconds;
  const interval = it.interval_seconds &&
      it.interval_seconds.map(formatSeconds).join(" to ");
  return h("dl", {class: "figures"},
    figure("Predicted step", formatSeconds(it.step_seconds),
      interval || "no interval: nothing was measured"),
    measured ? figure(
      measured.simulated ? "Measured passes, simulated step" : "Measured step",
      formatSeconds(measured.seconds),
      `prediction ${signed(formatShare, measured.error)}`) : null,
    figure("Peak memory", formatBytes(it.peak_bytes), usable
      ? `${formatShare(it.peak_bytes / usable)} of ${formatBytes(usable)} usable`
      : "per device; no limit was set"),
    figure("Communication", formatShare(sent / it.step_seconds),
      `${formatSeconds(sent)} a step`),
    figure("Could be faster by", it.gap > 0 ? `≤ ${formatShare(it.gap)}` : "0 %",
      `proved, of these ${basisOf(data)}`),
    figure("Measurements", qualityBadge(data.quality),
      data.noise.join(", ") || "the worst row of this plan"));
}

function buildSummary(data) {
  if (!data.feasible) {
    return [h("p", {class: "verdict callout is-bad"},
      "No plan was found that fits ", h("strong", {}, formatBytes(data.limit_bytes)),
      " per device. The smallest one found needs ",
      h("strong", {}, formatBytes(data.least_memory_bytes)), ".")];
  }
  const it = data.predicted;
  if (!it) return [missing("This plan has no prediction.")];
  const times = TIME_PARTS.map(([key, name, cls]) =>
    ({name, cls, value: it[`${key}_seconds`]})).filter((part) => part.value > 0);
  // In stages, the parts are those of the busiest stage.
  const waiting = it.step_seconds - d3.sum(times, (part) => part.value);
  if (waiting > 0.005 * it.step_seconds) {
    times.push({name: "waiting", cls: "is-other", value: waiting});
  }
  const limits = [["usable", data.usable_bytes], ["limit", data.limit_bytes]]
    .filter(([, value]) => value > 0).slice(0, 1)
    .map(([name, value]) => ({name, value, cls: "is-limit"}));
  const memory = [{name: "peak memory", value: it.peak_bytes,
    cls: "is-persistent"}];
  return [
    summarySentences(data), validationFault(data), summaryFigures(data),
    h("div", {class: "columns"},
      chart("Time of one step by what it goes to",
        (svg, width) => drawStack(svg, width, times, [], formatSeconds),
        `Step time, ${formatSeconds(it.step_seconds)}.`,
        times.map((part) => [part.cls, part.name])),
      chart("Peak memory of one device",
        (svg, width) => drawStack(svg, width, memory, limits, formatBytes),
        "Peak memory per device.", [["is-persistent", "peak memory"]])),
  ];
}

// ---- the model

function buildModel(data) {
  if (!data.feasible) return null;
  const categories = makeCategories(data);
  const runs = listRuns(data);
  if (!runs.length) return [missing("This plan lists no segments.")];
  const total = d3.sum(runs, secondsInAll) || 1;
  const stages = new Map();
  const repeats = new Map();
  for (const run of runs) {
    if (run.stage) stages.set(run.stage, {label: `stage ${run.stage}`});
    if (run.repeat > 1) repeats.set(run.group, {label: `×${run.repeat}`});
  }
  const boxes = runs.map((run) => {
    const {index, letter} = categories.get(run.describe);
    return {seconds: secondsInAll(run), category: index, label: letter,
      count: run.count,
      brackets: [...(stages.size ? [stages.get(run.stage)] : []),
        ...(repeats.size ? [repeats.get(run.group)] : [])],
      text: `segments ${runNumbers(run)}, type ${run.type}\n` +
          `${letter}: ${run.describe}\n${formatSeconds(secondsInAll(run))} in all`};
  });
  const columns = [
    ...(data.pipeline ? [text("Stage", (run) => run.stage)] : []),
    head("Segments", runNumbers),
    wide("Configuration", (run) => [named(categories, run.describe),
      run.estimated ? " (estimated)" : null]),
    num("Type", (run) => run.type),
    num("Time each", (run) =>
      formatSeconds(secondsInAll(run) / run.count / run.repeat)),
    num("Time in all", (run) => formatSeconds(secondsInAll(run))),
    num("Share", (run) => formatShare(secondsInAll(run) / total)),
    num("Memory in all", (run) => formatBytes(run.memory_bytes)),
  ];
  return [
    chart("The model as a row of segments",
      (svg, width) => drawModel(svg, width, boxes),
      "A box is a run of equal segments, as wide as its time; its letter is " +
      "the configuration.",
      [...categories].slice(0, 12).map(([describe, it]) =>
        [it.cls, `${it.letter}: ${describe}`])),
    data.pipeline ? h("p", {class: "lede"}, "Times and memory are those of one " +
      "micro-batch, or of all where the model itself loops over them.") : null,
    longTable("Segments and their configurations", columns, runs, 16),
  ];
}

// ---- where time and memory go

const SUMMED = ["seconds", "communication_seconds", "resharding_seconds",
  "memory_bytes"];

// Runs of one type and configuration together.
function sumByConfiguration(data) {
  const sums = new Map();
  for (const run of listRuns(data)) {
    const key = `${run.type}/${run.describe}`;
    const sum = sums.get(key) || {describe: run.describe, count: 0,
      ...Object.fromEntries(SUMMED.map((name) => [name, 0]))};
    sum.count += run.count * run.repeat;
    for (const name of SUMMED) sum[name] += run[name];
    sums.set(key, sum);
  }
  return [...sums.values()].sort((a, b) => b.seconds - a.seconds).slice(0, 14);
}

// A stage's segments are timed by micro-batch, and its bytes are no other
// stage's: for plans in stages, buildStages says what a step costs.
function buildCosts(data) {
  if (!data.feasible || data.pipeline) return null;
  const categories = makeCategories(data);
  const sums = sumByConfiguration(data);
  if (!d3.sum(sums, (it) => it.seconds)) return null;
  const name = (it) =>
    `${categories.get(it.describe).letter} ×${it.count}: ${it.describe}`;
  const times = sums.map((it) => ({name: name(it), parts: TIME_PARTS
    .map(([key, part, cls]) => ({name: part, cls, value: key === "compute"
      ? it.seconds - it.communication_seconds : it[`${key}_seconds`]}))
    .filter((part) => part.value > 0)}));
  const memory = [...sums].sort((a, b) => b.memory_bytes - a.memory_bytes)
    .map((it) => ({name: name(it), parts: [{name: "persistent and saved",
      value: it.memory_bytes, cls: "is-persistent"}]}));
  const there = new Set(times.flatMap((it) => it.parts.map((part) => part.cls)));
  return [
    chart("Time of one step by configuration",
      (svg, width) => drawBars(svg, width, times, formatSeconds),
      "Time in all segments that have the configuration.",
      TIME_PARTS.filter(([, , cls]) => there.has(cls))
        .map(([, part, cls]) => [cls, part])),
    chart("Memory by configuration",
      (svg, width) => drawBars(svg, width, memory, formatBytes),
      "Bytes per device that live through the step, or from the forward to " +
      "the backward pass.", [["is-persistent", "persistent and saved"]]),
  ];
}

// ---- stages

function buildStages(data) {
  const it = data.pipeline;
  if (!it) return null;
  const rows = it.stages.map((stage, index) => ({...stage, number: index + 1}));
  const bars = rows.map((stage) => ({
    name: `stage ${stage.number}, mesh ${stage.mesh.join("×")}`,
    parts: [{name: "busy", value: stage.busy_seconds, cls: "is-compute"},
      {name: "idle", value: stage.idle_seconds, cls: "is-other"}]}));
  return [
    h("p", {class: "lede"}, `Schedule ${it.schedule}, ${it.micro_batches} ` +
        `micro-batches, bubble ${formatShare(it.bubble)}.`),
    chart("Busy and idle time of each stage",
      (svg, width) => drawBars(svg, width, bars, formatSeconds), null,
      [["is-compute", "busy"], ["is-other", "idle"]]),
    table("Stages", [
      head("Stage", (stage) => stage.number),
      text("Mesh", (stage) => stage.mesh.join("×")),
      text("Devices", (stage) => formatRanges(stage.devices)),
      text("Segments", (stage) => formatRange(stage.first_segment,
        stage.segments)),
      num("Forward", (stage) => formatSeconds(stage.forward_seconds)),
      num("Backward", (stage) => formatSeconds(stage.backward_seconds)),
      num("Update", (stage) => formatSeconds(stage.update_seconds)),
      num("Peak memory", (stage) => formatBytes(stage.peak_bytes)),
      num("A tenth less saves", (stage) =>
        formatSeconds(stage.tenth_saves_seconds)),
    ], rows),
    rows.some((stage) => stage.split_estimated) ? h("p", {class: "lede"},
      "Forward, backward and update of some stages are estimated from their " +
      "sum.") : null,
    it.tried.length ? table("Schedules that were tried", [
      head("Schedule", (tried) => tried.schedule),
      num("Step", (tried) => formatSeconds(tried.step_seconds)),
      num("Bubble", (tried) => formatShare(tried.bubble)),
      text("Fits the memory", (tried) => tried.feasible ? "yes" : "no"),
    ], it.tried) : null,
  ];
}

// ---- the timeline

function buildTimeline(data) {
  if (!data.timelines.some((it) => it.step_seconds > 0)) return null;
  return [
    chart("Timeline of one step",
      (svg, width) => drawTimelines(svg, width, data.timelines), null,
      timelineKeys(data.timelines)),
    h("ul", {class: "notes"}, data.timelines.map((it) =>
      h("li", {}, h("strong", {}, `${it.name}: `), it.basis))),
    data.validation ? null : missing("This report was made without a " +
      "validation. To see the measured step beside it, name the output of:",
    "meshwright validate MODEL PLAN --json"),
    h("p", {class: "lede"}, "To look closer, open the trace in Perfetto: ",
      h("code", {}, "meshwright trace PLAN -o plan.pftrace")),
  ];
}

// ---- arguments and outputs, notes

function buildArguments(data) {
  const columns = [
    wide("Name", (it) => [h("code", {}, it.name || "–"),
      it.count > 1 ? ` ×${formatCount(it.count)}` : null]),
    text("Role", (it) => it.role),
    text("Shape", (it) => h("code", {}, it.shape)),
    text("Sharding", (it) => h("code", {}, it.sharding)),
  ];
  if (!data.arguments.length && !data.outputs.length) return null;
  return [
    h("p", {class: "lede"}, "A sharding has one entry per dimension: the mesh " +
      "axes that cut it, or - for a dimension that is whole. A * stands for " +
      "numbers in names."),
    longTable("Arguments of the step", columns, data.arguments, 12),
    data.outputs.length
      ? longTable("Outputs of the step", columns, data.outputs, 12) : null,
  ];
}

function buildNotes(data) {
  const code = (value) => value && h("code", {}, value);
  return [
    data.notes.length ? h("ul", {class: "notes"},
      data.notes.map((note) => h("li", {}, note))) : null,
    facts([
      ["Model", data.model.name],
      ["Fingerprint", code(data.model.fingerprint)],
      ["Mesh", data.mesh.join("×")],
      ["Device", data.device],
      ["Plugin", data.platform_version],
      ["Compiler flags", code(data.xla_flags)],
      ["Memory limit", data.limit_bytes ? formatBytes(data.limit_bytes) : "none"],
      ["Searched beside the usual strategies", data.open.join(", ")],
    ]),
  ];
}
