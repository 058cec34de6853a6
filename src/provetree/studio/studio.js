"use strict";
// The page of the studio. It shows what the session on the server says and sends it wishes; all words of the table are set as text.
(() => {
  const $ = (id) => document.getElementById(id);
  const token = new URLSearchParams(location.search).get("token");
  let table = null, state = null, tree = null, chosen = null, comparing = null, naming = null, zoom = null, sliding = false, looking = null, said = "", drawn = false, mover = null;

  // ---- small helpers
  const make = (tag, props = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props)) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (name === "class") node.className = value;
      else node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  };
  const fill = (part, ...children) => part.replaceChildren(...children.filter((child) => child !== null));
  const percent = (share) => (100 * share).toFixed(1) + " %";
  const counted = (n, one, many = one + "s") => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
  const errors = (n) => counted(Math.round(n * 1000) / 1000, "error");
  const show = (node, words) => { node.textContent = words || ""; node.hidden = !words; };
  const say = (words) => { if (words && words !== said) { said = words; $("say").textContent = words; } };

  // ---- talking to the studio
  const ask = async (path, body, signal) => {
    const headers = { "X-Studio-Token": token };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : JSON.stringify(body), signal, cache: "no-store" });
    if (!answer.ok) {
      const words = await answer.text();
      let fault = words;
      try { fault = JSON.parse(words).fault; } catch { /* a plain sentence */ }
      throw new Error(fault);
    }
    return answer;
  };
  const tell = async (path, body) => {
    try { show($("fault"), ""); return await (await ask("/api/" + path, body)).json(); } catch (error) {
      show($("fault"), error instanceof TypeError ? "This was not sent, because the studio does not answer." : error.message);
      return null;
    }
  };
  const wish = (step) => tell("wish", { version: state.shown, ...step });
  const lines = async (answer, each) => {
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      parts.forEach(each);
    }
  };
  const listen = async () => {
    for (let wait = 250; ; wait = Math.min(2 * wait, 2000)) {
      try {
        table = await (await ask("/api/table")).json();
        showTable();
        const answer = await ask("/api/events");
        $("lost").hidden = true; wait = 250;
        await lines(answer, (line) => { if (line.startsWith("data: ")) take(JSON.parse(line.slice(6))); });
      } catch (error) { if (!(error instanceof TypeError)) console.info(error.message); }
      $("lost").hidden = false;
      await new Promise((done) => setTimeout(done, wait));
    }
  };

  // ---- news
  const take = (news) => {
    const before = state;
    state = news;
    if (news.tree) { tree = news.tree; drawTree(); }
    $("stage").classList.toggle("old", state.search !== null);
    showStand(); showSize(); showVersions(); showColumns(); showComparison(before);
    show($("changed"), news.fileChanged ? `${table.file} has changed since it was read. What you see is about the table as it was: stop the studio and start it again to read the file anew.` : "");
    show($("unkept"), news.keepFault);
    $("undo").disabled = current().parent === null;
    if ($("rules") && !$("rules").contains(document.activeElement)) $("rules").replaceWith(rulesPart());
    if (news.tree && !sliding) showNode();
  };
  const current = () => state.versions.find((version) => version.number === state.current);
  const version = (number) => state.versions.find((each) => each.number === number);

  const showTable = () => {
    $("title").textContent = "A tree for " + table.target;
    document.title = "Studio: " + table.target;
    const test = table.testRows ? `, ${table.testRows.toLocaleString("en")} to test it on` : "";
    $("about").textContent = (table.file ? table.file + ": " : "") + `${counted(table.rows, "row")} to learn from${test}`;
    $("classes").replaceChildren(...table.classes.map(([label, colour]) => {
      const swatch = make("span", { class: "swatch" }); swatch.style.background = colour;
      return make("li", {}, swatch, label);
    }));
    const depths = Array.from({ length: table.mostDepth + 1 }, (_, depth) => new Option(String(depth), String(depth)));
    $("depth").replaceChildren(...depths);
    $("find-part").hidden = table.columns.length <= 12;
  };

  // ---- where it stands
  const showStand = () => {
    const now = current(), search = state.search, badge = $("badge");
    badge.className = "badge " + (now.proven ? "proven" : "open");
    badge.textContent = search ? "Searching" : now.proven ? "Proven" : now.status === "failed" ? "Not possible" : "Not proven";
    let words = now.sentence;
    if (search) words = search.cost === null ? "Looking for a first tree." : `${errors(search.cost)} so far.`;
    $("sentence").textContent = words;
    $("search-on").hidden = Boolean(search) || now.proven || now.status === "failed";
    $("gap").hidden = !search;
    if (search) {
      const known = search.gap === null ? 0 : 1 - search.gap;
      $("gap-fill").style.width = `${Math.round(100 * known)}%`;
      $("gap-words").textContent = search.cost === null ? "" : `Proven so far: no tree makes fewer than ${errors(search.bound)}. Open: ${percent(search.gap)} of the errors.`;
      say("Searching");
    } else say([badge.textContent + ": " + words, now.rules].filter(Boolean).join(" "));
    $("tiles").replaceChildren(...tiles(now));
  };
  const tiles = (now) => {
    const { train, test, cv } = now.figures, found = [];
    const tile = (label, big, small, kind = "") => make("div", { class: "tile " + kind }, make("span", {}, label), make("b", {}, big), make("span", {}, small));
    const waits = state.search || now.status !== "failed" ? "…" : "–", right = (part) => percent(part.accuracy) + " right";
    found.push(train ? tile("Training rows", right(train), errors(train.errors)) : tile("Training rows", waits, ""));
    if (cv && cv.why) found.push(tile("Held out in turn", "–", cv.why));
    else if (cv) found.push(tile("Held out in turn", right(cv), `${cv.folds} parts${cv.error === null ? "" : ", give or take " + (100 * cv.error).toFixed(1)}`));
    else found.push(tile("Held out in turn", waits, ""));
    if (table.testRows) found.push(test ? tile("Test rows", right(test), `${errors(test.errors)} of ${test.rows.toLocaleString("en")}`) : tile("Test rows", waits, ""));
    if (now.extra !== null && !state.search) found.push(tile("Your rules cost", now.extra, "against the best tree of this size", "rules"));
    return found;
  };
  $("search-on").addEventListener("click", () => tell("search-on", { version: state.current }));

  // ---- size
  const showSize = () => {
    const leaves = $("leaves"), { depth, leaves: most, leastRows } = state.wishes;
    leaves.max = String(2 ** depth);
    if (movedLeaves === null) leaves.value = String(most);
    if (document.activeElement !== $("depth")) $("depth").value = String(depth);
    if (document.activeElement !== $("least")) $("least").value = String(leastRows);
    leavesWords();
    const top = Math.max(1, ...state.sizes.map((size) => size.errors));
    $("size-bars").replaceChildren(...state.sizes.map((size) => {
      const bar = make("span", { class: size.leaves === most ? "now" : "", title: `${size.leaves}: ${errors(size.errors)}` });
      bar.style.height = `${(100 * size.errors) / top}%`;
      return bar;
    }));
  };
  const leavesWords = () => {
    const wanted = Number($("leaves").value), size = state.sizes.find((each) => each.leaves === wanted);
    const words = counted(wanted, "leaf", "leaves");
    const best = size ? `best: ${errors(size.errors)}${size.proven ? "" : " so far"}` : "";
    $("leaves-out").textContent = size ? `${words}, ${best}` : words;
    $("leaves").setAttribute("aria-valuetext", [words, best].filter(Boolean).join(", "));
  };
  const onceIn = (milliseconds, act) => { let timer = null, args = null; return (...given) => { args = given; if (timer === null) timer = setTimeout(() => { timer = null; act(...args); }, milliseconds); }; };
  let gesture = "", gestures = 0;
  const newGesture = () => { gesture = `${Date.now()}.${gestures++}`; };
  let movedLeaves = null; // what the slider says and the studio does not know yet
  const wishLeaves = onceIn(120, async () => { const sent = movedLeaves; await wish({ do: "leaves", leaves: sent, gesture }); if (movedLeaves === sent) movedLeaves = null; });
  $("leaves").addEventListener("pointerdown", newGesture);
  $("leaves").addEventListener("focus", newGesture);
  $("leaves").addEventListener("input", () => { movedLeaves = Number($("leaves").value); leavesWords(); wishLeaves(); });
  $("depth").addEventListener("change", () => wish({ do: "depth", depth: Number($("depth").value) }));
  $("least").addEventListener("change", () => wish({ do: "least_rows", rows: Number($("least").value) }));
  $("size").addEventListener("submit", (event) => event.preventDefault());

  // ---- the tree
  const picture = (words) => document.importNode(new DOMParser().parseFromString(words, "image/svg+xml").documentElement, true);
  const svgPart = (tag, attributes, text) => {
    const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
    if (text !== undefined) part.textContent = text;
    return part;
  };
  const group = (i) => $("stage").querySelector(`.node[data-node="${i}"]`);
  const nodeAt = (path) => tree.nodes.findIndex((node) => node.path === path);
  const drawTree = () => {
    const stage = $("stage"), focused = document.activeElement?.closest?.("#stage .node"), path = focused ? focused.dataset.path : null;
    if (!tree.svg) { stage.replaceChildren(make("p", { class: "soft" }, "There is no tree yet.")); return; }
    const svg = picture(tree.svg);
    stage.replaceChildren(svg);
    tree.nodes.forEach((node, i) => {
      const g = svg.querySelector(`.node[data-node="${i}"]`);
      g.dataset.path = node.path; g.removeAttribute("aria-expanded");
      if (node.pinned || node.held) {
        g.classList.toggle("kept", node.pinned);
        const tag = svgPart("g", { class: "tag", transform: "translate(0 70)" });
        tag.append(svgPart("rect", { x: -20, y: 0, width: 40, height: 15, rx: 7 }), svgPart("text", { "text-anchor": "middle", y: 11.5 }, "kept"));
        if (node.pinned) g.append(tag);
        g.setAttribute("aria-label", g.getAttribute("aria-label") + ", kept");
      }
      g.addEventListener("click", () => choose(i));
      g.addEventListener("keydown", (event) => {
        const up = nodeAt(node.path.slice(0, -1)), step = {
          Enter: () => choose(i, true), " ": () => choose(i, true), ArrowUp: () => node.path && focusNode(up), ArrowDown: () => node.split && focusNode(nodeAt(node.path + "L")),
          ArrowLeft: () => node.path && focusNode(nodeAt(node.path.slice(0, -1) + "L")), ArrowRight: () => node.path && focusNode(nodeAt(node.path.slice(0, -1) + "R")),
          Home: () => focusNode(0), Escape: () => { chosen = null; mark(); showNode(); } }[event.key];
        if (step) { event.preventDefault(); step(); }
      });
    });
    if (chosen !== null && nodeAt(chosen) < 0) chosen = null;
    mark();
    const at = stage.scrollLeft, fresh = !drawn;
    resize(); drawn = true;
    stage.scrollLeft = fresh ? (stage.scrollWidth - stage.clientWidth) / 2 : at;
    tabStop(chosen === null ? 0 : nodeAt(chosen));
    if (path !== null) focusNode(Math.max(0, nodeAt(path)));
  };
  const tabStop = (i) => tree.nodes.forEach((_, k) => group(k).setAttribute("tabindex", k === i ? "0" : "-1"));
  const focusNode = (i) => { if (i < 0) return; tabStop(i); group(i).focus(); };
  const mark = () => tree.nodes.forEach((node, i) => { group(i).classList.toggle("chosen", node.path === chosen); group(i).setAttribute("aria-selected", String(node.path === chosen)); });
  const choose = (i, byKeys = false) => {
    chosen = tree.nodes[i].path; mark(); tabStop(i); sliding = false; showNode();
    if (byKeys) $("node").focus(); else if (matchMedia("(max-width: 1080px)").matches) $("node").scrollIntoView({ block: "start" });
  };
  const resize = () => {
    const svg = $("stage").querySelector("svg");
    if (!svg) return;
    const width = svg.viewBox.baseVal.width, height = svg.viewBox.baseVal.height, room = $("stage").clientWidth - 4;
    const scale = zoom ?? Math.min(1.2, Math.max(0.5, room / width));
    svg.setAttribute("width", width * scale); svg.setAttribute("height", height * scale);
    return scale;
  };
  const zoomBy = (factor) => { zoom = Math.min(3, Math.max(0.2, resize() * factor)); resize(); };
  $("zoom-in").addEventListener("click", () => zoomBy(1.25));
  $("zoom-out").addEventListener("click", () => zoomBy(1 / 1.25));
  $("zoom-fit").addEventListener("click", () => { const svg = $("stage").querySelector("svg"); zoom = svg ? Math.min(1.2, ($("stage").clientWidth - 4) / svg.viewBox.baseVal.width) : null; resize(); });
  addEventListener("resize", resize);

  // ---- one node
  const showNode = async () => {
    const part = $("node");
    if (looking) { looking.abort(); looking = null; }
    const i = chosen === null || !tree ? -1 : nodeAt(chosen);
    if (i < 0) {
      fill(part, make("h2", { id: "node-head" }, "Change a question"), make("p", { class: "soft" }, "Choose a box of the tree. You will see which other questions could stand there and what each would cost, proven."), rulesPart());
      return;
    }
    const node = tree.nodes[i], name = node.split ? table.columns[node.column].name : null;
    const inside = part.contains(document.activeElement) ? document.activeElement.id : null;
    const shares = make("table", { class: "shares" }, make("tbody", {}, ...table.classes.map(([label, colour], k) => {
      const swatch = make("span", { class: "swatch" }); swatch.style.background = colour;
      return make("tr", {}, make("td", {}, swatch, label), make("td", {}, node.shares[k]));
    })));
    const buttons = make("div", { class: "row" });
    if (node.pinned) buttons.append(make("button", { type: "button", id: "free", onclick: () => wish({ do: "free", path: node.path }) }, "Free it again"));
    else buttons.append(make("button", { type: "button", id: "keep", onclick: () => wish({ do: "keep", path: node.path }) }, node.split ? "Keep this question" : "Keep this leaf"));
    if (node.split) buttons.append(make("button", { type: "button", id: "forbid-here", onclick: () => wish({ do: "forbid", column: node.column }) }, `Never ask about ${name}`));
    // What moves the threshold stays as it is while the node asks about the same column.
    const key = [node.path, node.column, node.rows].join(" "), moving = mover && mover.dataset.key === key ? mover : make("div", { id: "moving", "data-key": key }), others = make("div", { id: "others" });
    mover = moving;
    fill(part, make("h2", { id: "node-head" }, (node.split ? "The question " : "The leaf ") + node.place), make("p", { class: "words" }, node.words),
      make("p", { class: "soft" }, `${counted(node.rows, "row")} here` + (node.conditions.length ? ": " + node.conditions.join(" and ") + "." : ".")), shares, moving, buttons, others, rulesPart());
    if (inside) $(inside)?.focus();
    looking = new AbortController();
    const signal = looking.signal, number = state.shown;
    try {
      if (node.split) {
        const facts = await (await ask(`/api/node?version=${number}&path=${node.path}`, undefined, signal)).json();
        if (!signal.aborted) { if (moving.again) moving.again(facts); else showMoving(moving, node, name, facts); if (inside) $(inside)?.focus(); }
      }
      if (node.room) await showOthers(others, node, number, signal);
    } catch (error) { if (error.name !== "AbortError" && !signal.aborted && !(error instanceof TypeError)) show($("fault"), error.message); }
  };
  const rulesPart = () => {
    if (state.wishes.free) return make("div", { id: "rules" });
    const items = state.wishes.fixed.map(({ path, words }) => make("li", {}, words + " ", make("button", { type: "button", class: "small", "aria-label": `Free again: ${words}`, onclick: () => wish({ do: "free", path }) }, "Free")));
    state.wishes.forbidden.forEach((c) => items.push(make("li", {}, `never ${table.columns[c].name} `, make("button", { type: "button", class: "small", "aria-label": `Allow ${table.columns[c].name}`, onclick: () => wish({ do: "allow", column: c }) }, "Allow"))));
    Object.entries(state.wishes.directions).forEach(([c, way]) => items.push(make("li", {}, `${table.columns[c].name}: ${directionWords(way)} `, make("button", { type: "button", class: "small", "aria-label": `No direction for ${table.columns[c].name}`, onclick: () => wish({ do: "direction", column: Number(c), way: 0 }) }, "Free"))));
    return make("div", { id: "rules" }, make("h3", {}, "Your rules"), make("ul", {}, ...items), make("button", { type: "button", class: "small", onclick: () => wish({ do: "clear" }) }, "Take all back"));
  };
  const shortNumber = (x) => Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(6)));
  const showMoving = (part, node, name, given) => {
    let facts = given;
    if (facts.levels) {
      if (facts.levels.length < 2) return;
      const pick = make("select", { id: "category" });
      part.again = (news) => {
        facts = news;
        pick.replaceChildren(...facts.levels.map(([level, rows], k) => { const option = new Option(`${level === null ? "missing" : level} (${counted(rows, "row")})`, String(k)); option.selected = level === facts.split.categories[0]; return option; }));
      };
      part.again(facts);
      pick.addEventListener("change", () => wish({ do: "take", path: node.path, split: { column: facts.column, categories: [facts.levels[Number(pick.value)][0]] } }));
      part.append(make("label", { for: "category" }, `Which ${name} goes to yes`), pick);
      return;
    }
    if (!facts.places || !facts.places.length) return;
    const slider = make("input", { id: "threshold", type: "range", min: 0, step: 1 }), told = make("p", { class: "soft", id: "threshold-words" });
    const exact = make("input", { id: "exact", type: "text", inputmode: "decimal", autocomplete: "off" });
    const words = () => {
      const k = Number(slider.value), yes = facts.below[k], rest = node.rows - facts.missing - yes;
      told.textContent = `${name} up to ${shortNumber(facts.places[k])}: ${counted(yes, "row")} yes, ${rest.toLocaleString("en")} no` + (facts.missing ? `, ${facts.missing.toLocaleString("en")} missing` : "");
      slider.setAttribute("aria-valuetext", told.textContent);
    };
    part.again = (news) => {
      if (sliding) return;
      facts = news; slider.max = String(facts.places.length - 1); slider.value = String(facts.at); words();
      if (document.activeElement !== exact) exact.value = typeof facts.split.threshold === "number" ? String(facts.split.threshold) : "";
    };
    part.again(facts);
    const move = (threshold) => wish({ do: "take", path: node.path, split: { column: facts.column, threshold }, gesture });
    // The slider is the person's until the studio has answered and the hand has rested for a moment.
    let unanswered = 0, rest = null;
    const rests = () => { clearTimeout(rest); rest = setTimeout(() => { if (unanswered) return; sliding = false; if (!state.search) showNode(); }, 400); };
    const moveSoon = onceIn(120, async () => { unanswered++; await move(facts.places[Number(slider.value)]); unanswered--; rests(); });
    slider.addEventListener("pointerdown", newGesture); slider.addEventListener("focus", () => { if (!sliding) newGesture(); });
    slider.addEventListener("input", () => { clearTimeout(rest); sliding = true; words(); moveSoon(); });
    const form = make("form", { class: "row" }, make("label", { for: "exact" }, "or exactly"), exact, make("button", { type: "submit" }, "Set"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const value = Number(exact.value.trim().replace(",", "."));
      if (exact.value.trim() === "" || Number.isNaN(value)) { show($("fault"), `${name} is a number, such as ${shortNumber(facts.places[facts.at])}.`); return; }
      newGesture(); move(value);
    });
    part.append(make("label", { for: "threshold" }, "Move the threshold"), slider, told, form);
  };
  const costWords = (other) => {
    if (other.floor) return `at least ${other.atLeast > 0 ? "+" : ""}${errors(Math.max(0, other.atLeast))}`;
    if (!other.proven && other.atLeast < other.extra) return `${other.atLeast > 0 ? "+" + shortNumber(other.atLeast) : shortNumber(other.atLeast)} to ${other.extra > 0 ? "+" : ""}${errors(other.extra)}`;
    if (other.extra === 0) return "costs nothing";
    return (other.extra > 0 ? "+" : "−") + errors(Math.abs(other.extra));
  };
  const FEW = 8;
  const showOthers = async (part, node, number, signal) => {
    const list = make("ul", { class: "plain others" }), told = make("p", { class: "soft", role: "status" }, "Looking …"), all = make("button", { type: "button", class: "small", hidden: true }, "");
    part.append(make("h3", {}, node.split ? "Other questions here" : "Questions that could stand here"), list, told, all);
    const answers = new Map(); let open = false;
    const mine = node.split ? node.column : -1;
    const refill = () => {
      const seen = [...answers.values()].filter((other) => !(other.column === mine && other.extra === 0) && !(other.column < 0 && !node.split)).sort((a, b) => a.extra - b.extra || a.column - b.column);
      list.replaceChildren(...(open ? seen : seen.slice(0, FEW)).map((other) => {
        const cost = costWords(other), kind = other.extra < 0 ? "better" : other.extra > 0 ? "worse" : "better";
        return make("li", {}, make("span", { class: "what" }, other.words), make("span", { class: "cost " + kind }, cost),
          make("button", { type: "button", class: "small", "aria-label": `Take ${other.words}: ${cost}${other.proven ? ", proven" : ""}`, onclick: () => wish({ do: "take", path: node.path, split: other.split }) }, "Take"));
      }));
      all.hidden = seen.length <= FEW; all.textContent = open ? "Show fewer" : `Show all ${seen.length}`;
      return seen.length;
    };
    all.addEventListener("click", () => { open = !open; refill(); });
    let whole = false;
    const soon = onceIn(80, () => { if (!signal.aborted && !whole) refill(); });
    await lines(await ask(`/api/others?version=${number}&path=${node.path}`, undefined, signal), (line) => {
      if (!line) return;
      const other = JSON.parse(line);
      if (other.fault) { told.textContent = other.fault; return; }
      answers.set(other.column, other); told.textContent = `Looking … ${counted(answers.size, "answer")} so far`; soon();
    });
    if (signal.aborted) return;
    whole = true;
    const n = refill(), unproven = [...answers.values()].some((other) => !other.proven);
    const floor = [...answers.values()].some((other) => other.floor);
    told.textContent = n > 0 && floor ? "Your directions may make each of these cost more." : n === 0 ? "No other question divides these rows." : unproven ? "Where there are two numbers, the cost is proven to lie between them." : "All costs are proven: what is below each is the best there is.";
  };

  // ---- versions
  const showVersions = () => {
    if (naming !== null && document.activeElement?.id === "name") return;
    const held = document.activeElement?.dataset?.focus;
    $("version-list").replaceChildren(...[...state.versions].sort((a, b) => b.number - a.number).map((each) => {
      const now = each.number === state.current;
      const facts = each.status === "searching" ? "searching …" : each.status === "failed" ? each.sentence : [errors(each.cost) + (each.proven ? "" : " (not proven)"), counted(each.leaves, "leaf", "leaves"), each.extra === null ? null : `rules cost ${each.extra}`].filter(Boolean).join(" · ");
      const tools = make("div", { class: "row" });
      if (naming === each.number) tools.append(nameForm(each));
      else {
        tools.append(make("button", { type: "button", class: "small", "data-focus": `name${each.number}`, "aria-label": `Name version ${each.number}`, onclick: () => { naming = each.number; showVersions(); $("name").focus(); } }, "Name"), " ");
        if (!now && each.leaves !== null) tools.append(make("button", { type: "button", class: "small", "data-focus": `compare${each.number}`, "aria-label": `Compare version ${each.number} with the current one`, onclick: () => { comparing = each.number; showComparison(null, true); } }, "Compare"));
      }
      const title = each.name ? `${each.number}: ${each.name}` : `${each.number}: ${each.step}`;
      return make("li", { class: now ? "now" : "", "aria-current": now ? "true" : null }, make("button", { type: "button", class: "go", "data-focus": `go${each.number}`, onclick: () => tell("go", { version: each.number }) }, title), make("p", { class: "facts" }, each.name ? each.step + " · " + facts : facts), tools);
    }));
    if (held) document.querySelector(`[data-focus="${held}"]`)?.focus();
  };
  const nameForm = (each) => {
    const field = make("input", { id: "name", type: "text", maxlength: 80, "aria-label": `Name of version ${each.number}`, value: each.name || "" });
    const done = () => { naming = null; showVersions(); };
    const form = make("form", {}, field, make("button", { type: "submit", class: "small primary" }, "Save name"));
    form.addEventListener("submit", async (event) => { event.preventDefault(); naming = null; await tell("rename", { version: each.number, name: field.value }); showVersions(); });
    field.addEventListener("keydown", (event) => { if (event.key === "Escape") { field.blur(); done(); } });
    return form;
  };
  $("undo").addEventListener("click", () => tell("undo", {}));
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.target.closest("input, textarea, select") && state && current().parent !== null) { event.preventDefault(); tell("undo", {}); }
  });

  // ---- two side by side
  let compared = "";
  const showComparison = async (before, andGo = false) => {
    const part = $("compare");
    if (comparing !== null && (!version(comparing) || comparing === state.current)) comparing = null;
    if (comparing === null) { part.hidden = true; part.replaceChildren(); compared = ""; return; }
    const key = `${comparing} ${state.shown} ${current().status} ${Object.keys(current().figures)}`;
    if (key === compared || state.search) return;
    compared = key;
    let found;
    try { found = await (await ask(`/api/compare?one=${comparing}&two=${state.shown}`)).json(); } catch { return; }
    const side = (each) => {
      const { train, cv, test } = each.figures;
      const rows = [["Training rows right", train && percent(train.accuracy)], ["Held-out parts right", cv && cv.accuracy ? percent(cv.accuracy) : "–"], table.testRows ? ["Test rows right", test && percent(test.accuracy)] : null, ["Errors in training", each.proven ? `${each.cost}, proven` : `${each.cost}, not proven`], ["Leaves", String(each.leaves)], ["Rules cost", each.extra ?? "–"]].filter(Boolean);
      const svg = picture(each.svg); svg.setAttribute("role", "img"); svg.setAttribute("aria-label", `The tree of version ${each.number}`);
      svg.querySelectorAll("[role], [tabindex], [aria-label]").forEach((g) => ["role", "tabindex", "aria-label", "aria-level", "aria-expanded"].forEach((name) => g.removeAttribute(name)));
      const stage = make("div", { class: "stage", tabindex: 0, role: "group", "aria-label": `Version ${each.number}` }); stage.append(svg);
      return make("div", {}, make("h3", {}, `Version ${each.number}: ${each.name || each.step}`), make("table", {}, make("tbody", {}, ...rows.map(([what, figure]) => make("tr", {}, make("th", { scope: "row" }, what), make("td", {}, figure || "–"))))), stage);
    };
    part.hidden = false;
    part.replaceChildren(make("h2", { id: "compare-head", tabindex: -1 }, "Two versions side by side"), make("p", {}, `They decide differently for ${counted(found.differ, "training row")}.`), make("div", { class: "pair" }, side(found.one), side(found.two)),
      make("p", {}, make("button", { type: "button", onclick: () => { comparing = null; showComparison(null); } }, "Close")));
    if (andGo) $("compare-head").focus();
  };

  // ---- columns
  const directionWords = (way) => (way > 0 ? `more of it, more ${table.classes[1][0]}` : `more of it, less ${table.classes[1][0]}`);
  const showColumns = () => {
    const held = document.activeElement?.dataset?.focus, wanted = $("find").value.trim().toLowerCase();
    if (document.activeElement?.tagName === "SELECT" && $("column-list").contains(document.activeElement) && state.search) return;
    const off = new Set(state.wishes.forbidden), used = new Set(tree ? tree.nodes.filter((node) => node.split).map((node) => node.column) : []);
    $("column-list").replaceChildren(...table.columns.map((column, c) => {
      if (wanted && !column.name.toLowerCase().includes(wanted)) return null;
      const line = make("li", { class: off.has(c) ? "off" : "" }, make("span", { class: "what" }, column.name, make("span", { class: "kind" }, used.has(c) ? " · in the tree" : "")));
      if (table.directions && column.kind !== "category" && !off.has(c)) {
        const pick = make("select", { "data-focus": `way${c}`, "aria-label": `Direction of ${column.name}` }, new Option("any direction", "0"), new Option(directionWords(1), "1"), new Option(directionWords(-1), "-1"));
        pick.value = String(state.wishes.directions[c] || 0);
        pick.addEventListener("change", () => wish({ do: "direction", column: c, way: Number(pick.value) }));
        line.append(pick);
      }
      line.append(make("button", { type: "button", class: "small", "data-focus": `column${c}`, "aria-label": `${off.has(c) ? "Allow" : "Forbid"} ${column.name}`, onclick: () => wish({ do: off.has(c) ? "allow" : "forbid", column: c }) }, off.has(c) ? "Allow" : "Forbid"));
      return line;
    }).filter(Boolean));
    if (held) document.querySelector(`[data-focus="${held}"]`)?.focus();
  };
  $("find").addEventListener("input", showColumns);

  // ---- saving
  const ENDS = { model: "json", report: "html", code: "py" };
  document.querySelectorAll("[data-save]").forEach((button) => button.addEventListener("click", async () => {
    const what = button.dataset.save;
    show($("fault"), "");
    try {
      const blob = await (await ask(`/api/save/${what}?version=${state.shown}`)).blob(), address = URL.createObjectURL(blob);
      const plain = table.target.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^-+|-+$/g, "") || "tree";
      make("a", { href: address, download: `${plain}-version-${state.shown}.${ENDS[what]}` }).click();
      setTimeout(() => URL.revokeObjectURL(address), 10000);
      say(`Saved: ${button.textContent}`);
    } catch (error) { show($("fault"), error.message); }
    $("save").open = false;
  }));
  addEventListener("keydown", (event) => { if (event.key === "Escape" && $("save").open) { $("save").open = false; $("save").querySelector("summary").focus(); } });

  // ---- colours
  const dark = () => document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const nameTheme = () => { $("theme").textContent = dark() ? "Light colours" : "Dark colours"; };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", nameTheme);
  $("theme").addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; nameTheme(); });
  nameTheme();
  window.studio = { state: () => state, tree: () => tree };
  listen();
})();
