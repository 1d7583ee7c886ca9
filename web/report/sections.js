// The report: its sections in their order, each one question of its reader.
"use strict";

// `short` is for the navigation; a section whose build gives null is left out.
const SECTIONS = [
  {id: "summary", title: "Summary", build: buildSummary},
  {id: "validation", title: "Predicted and measured", short: "Validation",
    question: "Does the whole step run as predicted, and faster than the " +
        "usual strategies?", build: buildValidation},
  {id: "model", title: "Model", build: buildModel,
    question: "Which configuration does each segment of the model take?"},
  {id: "costs", title: "Time and memory", short: "Costs", build: buildCosts,
    question: "Where do time and memory go?"},
  {id: "choices", title: "Choices", build: buildChoices,
    question: "What does each choice save, compared with the next best plan?"},
  {id: "front", title: "Time against memory", short: "Front",
    question: "What would more or less memory give?", build: buildFront},
  {id: "stages", title: "Stages", build: buildStages,
    question: "Which part of the pipeline makes the step long?"},
  {id: "communication", title: "Communication", build: buildCommunication,
    question: "What do devices send each other?"},
  {id: "timeline", title: "Timeline", build: buildTimeline,
    question: "When do devices compute, and when do they communicate?"},
  {id: "quality", title: "Certainty", build: buildQuality,
    question: "How far can these figures be trusted?"},
  {id: "verdicts", title: "Not measured", build: buildVerdicts,
    question: "What was left out of the search, and why?"},
  {id: "programs", title: "Programs", build: buildPrograms,
    question: "What was compiled and timed for this plan?"},
  {id: "arguments", title: "Arguments", build: buildArguments,
    question: "How does a launcher split the step's arguments?"},
  {id: "notes", title: "Notes and facts", short: "Notes", build: buildNotes},
];

function drawMasthead(data) {
  document.getElementById("masthead").append(
    h("div", {class: "masthead__product"}, "Meshwright plan report"),
    h("h1", {}, data.model.name || "Plan"),
    h("ul", {class: "masthead__meta"}, [
      `mesh ${data.mesh.join("×")}`,
      data.device || "no device",
      data.limit_bytes && `limit ${formatBytes(data.limit_bytes)} per device`,
      data.pipeline && `${data.pipeline.stages.length} stages`,
      data.feasible ? ["measurements ", qualityBadge(data.quality)]
        : badge("infeasible", "failed"),
    ].filter(Boolean).map((it) => h("li", {}, it))));
}

function drawReport(data) {
  drawMasthead(data);
  for (const {id, title, short, question, build} of SECTIONS) {
    const parts = build(data);
    if (!parts) continue;
    document.getElementById("nav").append(
      h("li", {}, h("a", {href: `#${id}`}, short || title)));
    document.getElementById("report").append(h("section",
      {class: "panel", id, "aria-labelledby": `${id}-title`, tabindex: "-1"},
      h("div", {class: "panel__head"}, h("h2", {id: `${id}-title`}, title),
        question ? h("p", {class: "lede"}, question) : null),
      parts));
  }
  redrawCharts(false);
  markCurrentSection();
}

// Marks the link of the section at the top of the window.
function markCurrentSection() {
  const links = [...document.querySelectorAll(".nav a")];
  const mark = (entries) => {
    for (const {target} of entries.filter((it) => it.isIntersecting)) {
      for (const link of links) {
        if (link.hash === `#${target.id}`) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    }
  };
  const observer = new IntersectionObserver(mark,
    {rootMargin: "-15% 0px -75% 0px"});
  for (const section of document.querySelectorAll("section")) {
    observer.observe(section);
  }
}

drawReport(JSON.parse(document.getElementById("data").textContent));
document.documentElement.dataset.drawn = Math.round(performance.now());
