// What a page is held to, by width, theme and medium. Each function gives the
// faults that it finds, as texts; none is good.

const parseColour = (text) => {
  const numbers = text.match(/[\d.]+/g).map(Number);
  const scale = text.startsWith("color(") ? 255 : 1;
  return {rgb: numbers.slice(0, 3).map((it) => it * scale),
    alpha: numbers.length > 3 ? numbers[3] : 1};
};

const luminance = (rgb) => rgb.map((it) => it / 255)
    .map((it) => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4)
    .reduce((sum, it, index) => sum + it * [0.2126, 0.7152, 0.0722][index], 0);

const contrast = (a, b) => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

// The first opaque background behind an element.
const backgroundOf = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const {rgb, alpha} = parseColour(getComputedStyle(at).backgroundColor);
    if (alpha === 1) return rgb;
  }
  return [255, 255, 255];
};

const centerOf = (box) => [box.left + box.width / 2, box.top + box.height / 2];

// The last shape before a text of a chart that is under its middle.
const shapeBehind = (text) => {
  const [x, y] = centerOf(text.getBoundingClientRect());
  const shapes = [...text.ownerSVGElement.querySelectorAll("rect, circle")];
  return shapes.filter((it) => {
    const box = it.getBoundingClientRect();
    const before = it.compareDocumentPosition(text) &
        Node.DOCUMENT_POSITION_FOLLOWING;
    return before && !getComputedStyle(it).fill.startsWith("url") &&
        box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
  }).pop();
};

const isVisible = (element) => element.checkVisibility({
  visibilityProperty: true, opacityProperty: true}) &&
    !element.closest(".visually-hidden, .skip-link");

function findLowContrast() {
  const faults = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !isVisible(element)) continue;
    if (["SCRIPT", "STYLE", "NOSCRIPT", "title"].includes(element.tagName)) {
      continue;
    }
    const style = getComputedStyle(element);
    const svg = element.ownerSVGElement;
    const shape = svg && shapeBehind(element);
    const behind = shape ? parseColour(getComputedStyle(shape).fill).rgb
      : backgroundOf(svg ? svg.parentElement : element);
    const own = parseColour(svg ? style.fill : style.color).rgb;
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
    const ratio = contrast(own, behind);
    if (ratio < (isLarge ? 3 : 4.5)) {
      faults.add(`${ratio.toFixed(2)}: "${walker.currentNode.data.trim()
        .slice(0, 40)}" (${element.className.baseVal || element.className})`);
    }
  }
  return [...faults];
}

// Colours of marks against what they are drawn on.
function findFaintMarks() {
  const faults = new Set();
  const shapes = "svg .fill, svg .edge, svg .hollow, svg .stroke, svg .guide, .swatch";
  for (const mark of document.querySelectorAll(shapes)) {
    if (!isVisible(mark)) continue;
    const style = getComputedStyle(mark);
    const colour = mark.matches(".swatch") ? style.backgroundColor
      : mark.matches(".hollow, .stroke, .guide") ? style.stroke : style.fill;
    const behind = backgroundOf(mark.closest("figure, .legend, section"));
    const ratio = contrast(parseColour(colour).rgb, behind);
    if (ratio < 3) {
      faults.add(`${ratio.toFixed(2)}: ${mark.getAttribute("class")}`);
    }
  }
  return [...faults];
}

// What makes the page wider than its window. A part that scrolls by itself may.
function findOverflow() {
  const width = document.documentElement.clientWidth;
  const faults = [];
  if (document.documentElement.scrollWidth > width) {
    faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  }
  for (const element of document.body.querySelectorAll("*")) {
    if (!isVisible(element) || element.closest(".table-scroll, .nav ul")) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > width + 1 || box.left < -1)) {
      faults.push(`${element.tagName} ${element.getAttribute("class") || ""} ` +
          `"${(element.textContent || "").slice(0, 30)}" from ` +
          `${Math.round(box.left)} to ${Math.round(box.right)}`);
    }
  }
  return faults;
}

// Tables whose last columns lie behind the right edge of their box.
function findHiddenColumns() {
  return [...document.querySelectorAll(".table-scroll")]
    .filter((it) => it.scrollWidth > it.clientWidth + 1)
    .map((it) => `${it.getAttribute("aria-label")}: ${it.scrollWidth} in ` +
        `${it.clientWidth}`);
}

// Texts of a chart that lie on one another.
function findOverlaps() {
  const faults = [];
  for (const svg of document.querySelectorAll("svg")) {
    const texts = [...svg.querySelectorAll("text")]
      .filter((it) => it.textContent.trim())
      .map((it) => [it.textContent, it.getBoundingClientRect()]);
    texts.forEach(([a, first], index) => {
      for (const [b, second] of texts.slice(index + 1)) {
        const wide = Math.min(first.right, second.right) -
            Math.max(first.left, second.left);
        const high = Math.min(first.bottom, second.bottom) -
            Math.max(first.top, second.top);
        if (wide > 2 && high > 4) faults.push(`"${a}" and "${b}"`);
      }
    });
  }
  return faults;
}

function findMissingLabels() {
  const faults = [];
  const need = (condition, text) => condition || faults.push(text);
  need(document.documentElement.lang, "the page has no language");
  need(document.title.trim(), "the page has no title");
  need(document.querySelectorAll("h1").length === 1, "there is not one h1");
  need(document.querySelector("main"), "there is no main part");
  let level = 1;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4")) {
    const own = Number(heading.tagName[1]);
    need(own <= level + 1, `"${heading.textContent}" skips a level`);
    level = own;
  }
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  need(new Set(ids).size === ids.length, "an id stands twice");
  for (const svg of document.querySelectorAll("svg")) {
    need(svg.getAttribute("role") === "img" && svg.getAttribute("aria-label"),
      "a chart has no label");
  }
  for (const table of document.querySelectorAll("table")) {
    need(table.caption && table.caption.textContent.trim(), "a table has no caption");
  }
  for (const cell of document.querySelectorAll("th")) {
    need(cell.scope, `the heading "${cell.textContent}" has no scope`);
  }
  for (const element of document.querySelectorAll("a, button, summary")) {
    need(element.textContent.trim() || element.getAttribute("aria-label"),
      `${element.outerHTML.slice(0, 60)} has no name`);
  }
  for (const field of document.querySelectorAll("input, select, textarea")) {
    need(field.labels.length || field.getAttribute("aria-label"),
      `${field.outerHTML.slice(0, 60)} has no label`);
  }
  for (const element of document.querySelectorAll("[aria-labelledby]")) {
    need(document.getElementById(element.getAttribute("aria-labelledby")),
      `${element.id} is labelled by nothing`);
  }
  for (const link of document.querySelectorAll("a[href^='#']")) {
    need(document.getElementById(link.hash.slice(1)), `${link.hash} leads nowhere`);
  }
  for (const region of document.querySelectorAll("[tabindex='0']")) {
    need(region.getAttribute("aria-label"), "something that takes the focus has no label");
  }
  return faults;
}
