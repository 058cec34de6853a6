"use strict";
// Brings the report to life: closing branches, zoom, paths, the questionnaire. All it knows of the model is the JSON in the page.
(() => {
  const model = JSON.parse(document.getElementById("model-data").textContent);
  const nodes = model.nodes;
  const parent = new Map();
  nodes.forEach((node, i) => { if (node.left !== undefined) { parent.set(node.left, i); parent.set(node.right, i); } });
  const $ = (id) => document.getElementById(id);
  const isSplit = (i) => nodes[i].left !== undefined;

  // ---- prediction: the same rules as the model itself
  const goesLeft = (node, value) => {
    if (isMissing(value)) return node.missingLeft;
    if (node.categories !== undefined) return node.categories.includes(value);
    if (node.threshold === "nan") return false;
    return value <= (node.threshold === "inf" ? Infinity : node.threshold === "-inf" ? -Infinity : node.threshold);
  };
  const isMissing = (value) => value === null || value === undefined || (typeof value === "number" && Number.isNaN(value));
  // What a split is about: a column, or a sum of columns, which is missing where one of them is.
  const valueOf = (node, get) => {
    const values = node.columns.map(get);
    if (node.coefficients === undefined) return values[0];
    return values.some(isMissing) ? null : node.coefficients.map((times, i) => times * values[i]).reduce((sum, term) => sum + term);
  };
  const leafOf = (row) => { let i = 0; while (isSplit(i)) i = goesLeft(nodes[i], valueOf(nodes[i], (column) => row[column])) ? nodes[i].left : nodes[i].right; return i; };
  const wayTo = (i) => { const way = [i]; while (parent.has(i)) { i = parent.get(i); way.unshift(i); } return way; };
  // For tests and for the curious: predict({column: value}) in the console.
  const answerOf = (i) => nodes[i].answer === undefined ? model.labels[nodes[i].label] : nodes[i].answer;
  const shown = (i) => model.kind === "numbers" ? nodes[i].table.map((line) => line[2]).join(", ") : String(answerOf(i));
  window.provetree = { predict: (row) => answerOf(leafOf(row)), leafOf, model };

  // ---- theme
  const theme = $("theme");
  const dark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { theme.textContent = dark() ? "Light colours" : "Dark colours"; };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; nameTheme(); });
  nameTheme();

  // ---- the tree
  const svg = document.querySelector("#tree .pt-tree");
  const stage = $("stage");
  const groups = new Map([...svg.querySelectorAll(".node")].map((g) => [Number(g.dataset.node), g]));
  const edges = [...svg.querySelectorAll(".edge-group")].map((g) => ({ g, from: Number(g.dataset.from), to: Number(g.dataset.to) }));
  const boxWidth = Number(svg.dataset.boxWidth), boxHeight = Number(svg.dataset.boxHeight), gapX = Number(svg.dataset.gapX), margin = Number(svg.dataset.margin);
  const fullHeight = svg.viewBox.baseVal.height;
  const top = new Map([...groups].map(([i, g]) => [i, Number(g.getAttribute("transform").match(/[-\d.]+/g)[1])]));
  const closed = new Set();
  let picked = null, zoom = 1, shownWidth = svg.viewBox.baseVal.width;

  const visible = (i) => { while (parent.has(i)) { i = parent.get(i); if (closed.has(i)) return false; } return true; };
  const draw = () => {
    const x = new Map(); let next = margin + boxWidth / 2, deepest = 0;
    nodes.forEach((node, i) => { if (visible(i) && (!isSplit(i) || closed.has(i))) { x.set(i, next); next += boxWidth + gapX; deepest = Math.max(deepest, top.get(i)); } });
    for (let i = nodes.length - 1; i >= 0; i--) if (visible(i) && !x.has(i)) x.set(i, (x.get(nodes[i].left) + x.get(nodes[i].right)) / 2);
    shownWidth = next - boxWidth / 2 - gapX + margin;
    groups.forEach((g, i) => {
      g.classList.toggle("hidden", !visible(i));
      if (x.has(i)) g.setAttribute("transform", `translate(${x.get(i)} ${top.get(i)})`);
      if (isSplit(i)) { g.setAttribute("aria-expanded", String(!closed.has(i))); g.querySelector(".toggle-sign").textContent = closed.has(i) ? "+" : "−"; }
    });
    edges.forEach(({ g, from, to }) => {
      const show = visible(to); g.classList.toggle("hidden", !show); if (!show) return;
      const a = x.get(from), b = top.get(from) + boxHeight, c = x.get(to), d = top.get(to), half = (d - b) / 2;
      g.querySelector("path").setAttribute("d", `M${a} ${b}C${a} ${b + half} ${c} ${d - half} ${c} ${d}`);
      g.querySelector(".edge-label").setAttribute("transform", `translate(${(a + c) / 2} ${(b + d) / 2})`);
    });
    const shownHeight = closed.size ? deepest + boxHeight + margin + 12 : fullHeight;
    svg.setAttribute("viewBox", `0 0 ${shownWidth} ${shownHeight}`);
    svg.setAttribute("width", shownWidth * zoom); svg.setAttribute("height", shownHeight * zoom);
    const path = new Set(picked === null ? [] : wayTo(picked));
    svg.classList.toggle("picked", picked !== null);
    groups.forEach((g, i) => { g.classList.toggle("on-path", path.has(i)); g.setAttribute("aria-selected", String(i === picked)); });
    edges.forEach(({ g, from, to }) => g.classList.toggle("on-path", path.has(from) && path.has(to)));
  };
  const setZoom = (value) => { zoom = Math.min(4, Math.max(0.15, value)); draw(); };
  const fit = () => setZoom(Math.min(1.25, (stage.clientWidth - 4) / shownWidth));
  // A wide tree starts at a size that can be read, with its root in the middle.
  const start = () => { setZoom(Math.min(1.25, Math.max(0.55, (stage.clientWidth - 4) / shownWidth))); stage.scrollLeft = (stage.scrollWidth - stage.clientWidth) / 2; };
  const toggle = (i) => {
    if (!isSplit(i)) return;
    if (closed.has(i)) closed.delete(i); else closed.add(i);
    if (picked !== null && !visible(picked)) pick(i, false); else draw();
  };
  const shareTable = (node) => {
    const table = document.createElement("table"); table.className = "shares";
    const lines = node.table || model.labels.map((label, k) => [model.colours[k], String(label), node.percent[k], node.value[k]]);
    lines.forEach(([colour, label, ...figures]) => {
      const row = table.insertRow(); const name = row.insertCell();
      if (colour) { const swatch = document.createElement("span"); swatch.className = "swatch"; swatch.style.background = colour; name.append(swatch); }
      name.append(label); figures.forEach((figure) => { row.insertCell().textContent = figure; });
    });
    return table;
  };
  const describe = (i) => {
    const node = nodes[i], box = document.createElement("div"), head = document.createElement("b");
    head.textContent = isSplit(i) ? node.question : shown(i);
    const rows = document.createElement("div"); rows.textContent = node.rows + (node.rows === 1 ? " training row" : " training rows");
    box.append(head, rows, shareTable(node)); return box;
  };
  const pick = (i, andFocus = true) => {
    picked = i === picked ? null : i; draw();
    const told = $("picked"); told.replaceChildren();
    if (picked !== null) {
      const words = document.createElement("p");
      words.textContent = nodes[i].conditions.length ? "Rows here: " + nodes[i].conditions.join(" and ") + "." : "All rows are here.";
      told.append(words, describe(i));
    }
    if (andFocus) focusNode(i);
  };
  const focusNode = (i) => { groups.forEach((g, k) => g.setAttribute("tabindex", k === i ? "0" : "-1")); groups.get(i).focus({ preventScroll: false }); };
  const tip = $("tip");
  const showTip = (i, x, y) => {
    tip.replaceChildren(describe(i)); tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = Math.max(4, Math.min(y + 14, innerHeight - box.height - 8)) + "px";
  };
  groups.forEach((g, i) => {
    g.addEventListener("click", (event) => { if (event.target.closest(".toggle")) toggle(i); else pick(i); });
    g.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") showTip(i, event.clientX, event.clientY); });
    g.addEventListener("pointerleave", () => { tip.hidden = true; });
    g.addEventListener("keydown", (event) => {
      const up = parent.get(i);
      const step = { Enter: () => pick(i), " ": () => pick(i), "+": () => closed.has(i) && toggle(i), "-": () => isSplit(i) && !closed.has(i) && toggle(i),
        ArrowDown: () => isSplit(i) && (closed.has(i) ? toggle(i) : focusNode(nodes[i].left)), ArrowUp: () => up !== undefined && focusNode(up),
        ArrowLeft: () => up !== undefined && focusNode(nodes[up].left), ArrowRight: () => up !== undefined && focusNode(nodes[up].right),
        Home: () => focusNode(0), Escape: () => { if (picked !== null) pick(picked); } }[event.key];
      if (step) { event.preventDefault(); event.stopPropagation(); step(); focusKept(i); }
    });
  });
  // A branch that closes under the keyboard must not take the focus away.
  const focusKept = (i) => { if (document.activeElement === document.body && visible(i)) focusNode(i); };
  $("zoom-in").addEventListener("click", () => setZoom(zoom * 1.25));
  $("zoom-out").addEventListener("click", () => setZoom(zoom / 1.25));
  $("zoom-fit").addEventListener("click", fit);
  $("open-all").addEventListener("click", () => { closed.clear(); draw(); fit(); });
  $("close-all").addEventListener("click", () => { nodes.forEach((node, i) => { if (isSplit(i) && i !== 0) closed.add(i); }); if (picked !== null && !visible(picked)) pick(picked, false); draw(); fit(); });
  stage.addEventListener("wheel", (event) => { if (event.ctrlKey || event.metaKey) { event.preventDefault(); setZoom(zoom * (event.deltaY < 0 ? 1.1 : 1 / 1.1)); } }, { passive: false });
  let drag = null;
  stage.addEventListener("pointerdown", (event) => { if (event.pointerType === "mouse" && !event.target.closest(".node")) { drag = [event.clientX, event.clientY, stage.scrollLeft, stage.scrollTop]; stage.classList.add("dragging"); } });
  addEventListener("pointermove", (event) => { if (drag) { stage.scrollLeft = drag[2] + drag[0] - event.clientX; stage.scrollTop = drag[3] + drag[1] - event.clientY; } });
  addEventListener("pointerup", () => { drag = null; stage.classList.remove("dragging"); });
  addEventListener("beforeprint", () => { closed.clear(); draw(); });
  addEventListener("resize", start);
  start();

  // ---- the questionnaire
  const given = {};
  let asked = [];
  const area = $("question-area"), answers = $("answers");
  const ask = () => {
    let i = 0;
    while (isSplit(i) && nodes[i].columns.every((column) => Object.hasOwn(given, column))) i = goesLeft(nodes[i], valueOf(nodes[i], (column) => given[column].value)) ? nodes[i].left : nodes[i].right;
    answers.replaceChildren(...asked.map((column) => { const item = document.createElement("li"); item.textContent = `${column}: ${given[column].said}`; return item; }));
    area.replaceChildren();
    if (!isSplit(i)) return decide(i);
    const column = nodes[i].columns.find((name) => !Object.hasOwn(given, name));
    const info = model.columns[column], form = document.createElement("form");
    form.dataset.column = column; form.noValidate = true;
    const holder = document.createElement("div"), label = document.createElement("label");
    label.htmlFor = "answer"; label.textContent = `What is ${column}?`; holder.append(label);
    let field;
    if (info.categories) {
      field = document.createElement("select");
      const first = new Option("choose ...", ""); first.disabled = true; first.selected = true; field.append(first);
      info.categories.forEach((category, k) => field.append(new Option(String(category), "c" + k)));
      field.append(new Option("another value", "other"), new Option("missing or not known", "missing"));
    } else {
      field = document.createElement("input"); field.type = "text"; field.inputMode = "decimal"; field.autocomplete = "off";
      if (info.low !== undefined) { field.setAttribute("aria-describedby", "range"); }
    }
    field.id = "answer"; holder.append(field);
    if (info.low !== undefined) { const range = document.createElement("div"); range.id = "range"; range.className = "soft"; range.textContent = `in training from ${info.low} to ${info.high}`; holder.append(range); }
    const go = document.createElement("button"); go.className = "primary"; go.type = "submit"; go.textContent = "Next";
    form.append(holder, go);
    if (!info.categories) { const unknown = document.createElement("button"); unknown.type = "button"; unknown.id = "unknown"; unknown.textContent = "Missing or not known"; unknown.addEventListener("click", () => answer(column, null, "missing")); form.append(unknown); }
    const fault = document.createElement("p"); fault.id = "fault"; fault.setAttribute("role", "alert");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (info.categories) {
        if (field.value === "") { fault.textContent = "Choose an answer first."; return; }
        if (field.value === "missing") answer(column, null, "missing");
        else if (field.value === "other") answer(column, Symbol("another value"), "another value");
        else { const category = info.categories[Number(field.value.slice(1))]; answer(column, category, String(category)); }
        return;
      }
      const text = field.value.trim().replace(",", "."), words = { inf: Infinity, "-inf": -Infinity };
      const value = Object.hasOwn(words, text) ? words[text] : Number(text);
      if (text === "" || Number.isNaN(value)) { fault.textContent = `${column} is a number, such as ${info.low ?? 0}.`; field.focus(); return; }
      answer(column, value, String(value));
    });
    area.append(form, fault);
    if (asked.length) field.focus();
  };
  const answer = (column, value, said) => { given[column] = { value, said }; asked.push(column); ask(); };
  const decide = (i) => {
    const words = document.createElement("p"); words.className = "decision"; words.id = "decision"; words.dataset.label = JSON.stringify(answerOf(i)); words.dataset.leaf = i;
    words.append(`${model.target}: `); const strong = document.createElement("b"); strong.textContent = shown(i); words.append(strong);
    const like = document.createElement("p"); like.textContent = `Of the ${nodes[i].rows} training rows like this:`;
    area.append(words, like, shareTable(nodes[i]));
  };
  $("restart").addEventListener("click", () => { for (const column of Object.keys(given)) delete given[column]; asked = []; ask(); const field = $("answer"); if (field) field.focus(); });
  $("back").addEventListener("click", () => { const last = asked.pop(); if (last !== undefined) delete given[last]; ask(); });
  ask();
})();
