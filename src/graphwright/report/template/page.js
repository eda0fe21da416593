"use strict";
(() => {
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = id => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

// -- themes

const theme = byId("theme");
theme.addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  theme.setAttribute("aria-pressed", String(!dark));
});

// -- tabs

function choose(tab) {
  for (const other of all(":scope > [role=tab]", tab.parentElement)) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    byId(other.getAttribute("aria-controls")).hidden = !chosen;
  }
  tab.scrollIntoView({block: "nearest", inline: "nearest"});
  for (const canvas of all(".canvas", byId(tab.getAttribute("aria-controls")))) start(canvas);
}
for (const tab of all("[role=tab]")) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", event => {
    const tabs = all(":scope > [role=tab]", tab.parentElement), at = tabs.indexOf(tab);
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  });
}
for (const select of all("select[data-shows]")) {
  select.addEventListener("change", () => {
    for (const option of select.options) byId(option.value).hidden = option.value !== select.value;
    for (const canvas of all(".canvas", byId(select.value))) start(canvas);
  });
}
for (const choices of all(".choices")) {
  choices.addEventListener("change", event => {
    byId(choices.dataset.for).className = "diff " + event.target.value;
  });
}

// -- links between lines, nodes and kernels. A key's first letter is its kind.

for (const node of all(".gw-node[data-k]")) {
  for (const [name, value] of [["role", "button"], ["tabindex", "-1"], ["aria-pressed", "false"]]) {
    node.setAttribute(name, value);
  }
}
const elements = new Map(), links = new Map(), edges = new Map();
const join = (a, b) => {
  if (!links.has(a)) links.set(a, new Set());
  links.get(a).add(b);
};
for (const element of all("[data-k]")) {
  const key = element.dataset.k;
  if (!elements.has(key)) elements.set(key, []);
  elements.get(key).push(element);
  for (const other of (element.dataset.l || "").split(" ")) {
    if (other) { join(key, other); join(other, key); }
  }
}
for (const path of all(".gw-edges path")) {
  const keys = path.closest("svg").dataset.keys;
  for (const number of path.dataset.e.split(" ")) {
    const key = keys + number;
    if (!edges.has(key)) edges.set(key, []);
    edges.get(key).push(path);
  }
}
function related(key) {
  const found = new Set(links.get(key) || []);
  if (key[0] === "n") {        // of a graph that kernels are not made from: those of its line
    if (![...found].some(near => near[0] === "k")) {
      for (const line of [...found]) {
        for (const node of links.get(line)) {
          for (const next of links.get(node) || []) if (next[0] === "k") found.add(next);
        }
      }
    }
    return found;
  }
  for (const near of [...found]) {
    for (const next of links.get(near) || []) if (next[0] !== key[0]) found.add(next);
  }
  return found;
}
let pinned = null, lit = [];
function paint(key) {
  for (const element of lit) element.classList.remove("on", "pin");
  lit = [];
  if (!key) return;
  for (const other of [key, ...related(key)]) {
    for (const element of elements.get(other) || []) {
      element.classList.add("on");
      if (other === pinned) element.classList.add("pin");
      lit.push(element);
    }
  }
  for (const path of edges.get(key) || []) { path.classList.add("on"); lit.push(path); }
}
const nouns = {L: ["source line", "source lines"], n: ["node", "nodes"], k: ["kernel", "kernels"],
               m: ["buffer", "buffers"]};
function say(key) {
  const counts = {};
  for (const other of related(key)) counts[other[0]] = (counts[other[0]] || 0) + 1;
  const parts = Object.entries(counts)
    .map(([kind, number]) => `${number} ${nouns[kind][number === 1 ? 0 : 1]}`);
  const text = `${title(elements.get(key)[0])}: ${parts.join(", ") || "linked to nothing else"}`;
  for (const status of all(".status")) status.textContent = text;
}
function title(element) {
  return element.dataset.t || element.querySelector("title").textContent;
}
function pin(key, origin) {
  pinned = key;
  paint(key);
  for (const state of ["aria-selected", "aria-pressed"]) {
    for (const element of all(`[${state}="true"][data-k]`)) element.setAttribute(state, "false");
    for (const element of elements.get(key) || []) {
      if (element.hasAttribute(state)) element.setAttribute(state, "true");
    }
  }
  if (!key) {
    for (const status of all(".status")) status.textContent = "Nothing is selected.";
    return;
  }
  say(key);
  const seen = new Set(origin ? [place(origin)] : []);
  for (const other of [key, ...related(key)]) {
    for (const element of elements.get(other) || []) {
      const where = place(element);
      if (!where || seen.has(where) || !element.getClientRects().length) continue;
      seen.add(where);
      show(element);
    }
  }
}
const place = element => element.closest(".canvas, .scroll, .code, .wide");
function show(element) {
  const canvas = element.closest(".canvas");
  if (canvas) return views.get(canvas)?.centre(element);
  const box = place(element);
  if (!box) return element.scrollIntoView({block: "center"});
  const delta = element.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTo({top: box.scrollTop + delta - box.clientHeight / 3,
                behavior: calm.matches ? "auto" : "smooth"});
}
function reveal(element) {
  const panels = [];
  for (let at = element; at; at = at.parentElement) {
    if (at.matches("[role=tabpanel]")) panels.unshift(at);
    if (at.matches("details")) at.open = true;
    if (at.matches("[data-shown-by]") && at.hidden) {
      const select = byId(at.dataset.shownBy);
      select.value = at.id;
      select.dispatchEvent(new Event("change"));
    }
  }
  for (const panel of panels) choose(byId(panel.getAttribute("aria-labelledby")));
  pin(element.dataset.k);
  show(element);
  element.focus({preventScroll: true});
}
const linked = event => event.target.closest?.("[data-k]");
document.addEventListener("pointerover", event => {
  const element = linked(event);
  if (element) paint(element.dataset.k);
  else if (lit.length) paint(pinned);
});
document.addEventListener("focusin", event => { if (linked(event)) paint(linked(event).dataset.k); });
document.addEventListener("click", event => {
  const element = linked(event);
  if (!element || dragged) return;
  pin(pinned === element.dataset.k ? null : element.dataset.k, element);
  rove(element);
});

// -- the keyboard: arrows move within a list or along edges, Enter selects, Escape clears

function rove(element) {
  const list = element.closest("[role=listbox], svg");
  if (!list) return element.focus();
  for (const other of all("[data-k][tabindex='0']", list)) other.tabIndex = -1;
  element.tabIndex = 0;
  element.focus({preventScroll: true});
  show(element);
}
for (const list of all("[role=listbox], svg")) {
  const first = list.querySelector("[data-k]");
  if (first) first.tabIndex = 0;
}
function neighbour(node, key) {
  const prefix = node.closest("svg").dataset.keys;
  const ends = (from, to) => (edges.get(node.dataset.k) || [])
    .map(path => path.dataset.e.split(" ").map(number => prefix + number))
    .filter(pair => pair[from] === node.dataset.k).map(pair => elements.get(pair[to])[0]);
  if (key === "ArrowUp") return ends(1, 0)[0];
  if (key === "ArrowDown") return ends(0, 1)[0];
  const step = key === "ArrowRight" ? 1 : -1, at = spot(node);
  let best = null;
  for (const other of all(".gw-node", node.closest("svg"))) {
    const [x, y] = spot(other), far = (x - at[0]) * step;
    if (y === at[1] && far > 0 && (!best || far < best[0])) best = [far, other];
  }
  return best && best[1];
}
document.addEventListener("keydown", event => {
  if (event.key === "Escape") {
    if (!byId("hits").hidden) return close();
    return pin(null);
  }
  if (event.key === "/" && !event.target.matches("input, select, textarea")) {
    event.preventDefault();
    return byId("q").focus();
  }
  const element = linked(event);
  if (!element || event.target !== element) return;
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    return pin(pinned === element.dataset.k ? null : element.dataset.k, element);
  }
  if (!event.key.startsWith("Arrow")) return;
  let next = null;
  if (element.matches(".gw-node")) next = neighbour(element, event.key);
  else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    const items = all("[data-k]", element.closest("[role=listbox], svg, .code"));
    next = items[items.indexOf(element) + (event.key === "ArrowDown" ? 1 : -1)];
  }
  if (next) { event.preventDefault(); rove(next); }
});

// -- drawings: wheel, drag, pinch, buttons, + - 0

const views = new Map();
let dragged = false;
const spot = node => node.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
function start(canvas) {
  if (views.has(canvas) || !canvas.clientWidth) return;
  const svg = canvas.querySelector("svg"), group = svg.querySelector(".gw-zoom");
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  for (const name of ["viewBox", "width", "height"]) svg.removeAttribute(name);
  canvas.classList.add("live");
  let scale = 1, x = 0, y = 0;
  const draw = () => {
    group.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    canvas.classList.toggle("far", scale < 0.3);
  };
  const zoom = (factor, px = canvas.clientWidth / 2, py = canvas.clientHeight / 2) => {
    const next = Math.min(4, Math.max(Math.min(0.05, least()), scale * factor));
    x = px - (px - x) * next / scale;
    y = py - (py - y) * next / scale;
    scale = next;
    draw();
  };
  const least = () => Math.min(canvas.clientWidth / width, canvas.clientHeight / height);
  const fit = lowest => {
    scale = Math.min(1.2, Math.max(least(), lowest));
    x = (canvas.clientWidth - width * scale) / 2;
    y = Math.max(0, (canvas.clientHeight - height * scale) / 2);
    draw();
  };
  const centre = node => {
    const [nx, ny] = spot(node);
    const sx = nx * scale + x, sy = ny * scale + y;
    if (scale < 0.5) scale = 0.8;
    else if (sx > 40 && sy > 20 && sx < canvas.clientWidth - 40 && sy < canvas.clientHeight - 20) return;
    x = canvas.clientWidth / 2 - nx * scale;
    y = canvas.clientHeight / 2 - ny * scale;
    draw();
  };
  const begin = () => {
    fit(0.8);
    if (width * scale > canvas.clientWidth) {
      const first = spot(group.querySelector(".gw-node"));
      x = canvas.clientWidth / 2 - first[0] * scale;
      draw();
    }
  };
  begin();
  views.set(canvas, {zoom, fit, centre});
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  const fingers = new Map();
  canvas.addEventListener("pointerdown", event => {
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    dragged = false;
  });
  canvas.addEventListener("pointermove", event => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const far = Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (!dragged && far < 4) return;
    if (!dragged) canvas.setPointerCapture(event.pointerId);
    dragged = true;
    canvas.classList.add("grabbed");
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const box = canvas.getBoundingClientRect();
      const size = at => Math.hypot(at[0] - other[0], at[1] - other[1]) || 1;
      zoom(size(now) / size(before), other[0] - box.left, other[1] - box.top);
    } else {
      x += now[0] - before[0];
      y += now[1] - before[1];
      draw();
    }
    fingers.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, event => {
      fingers.delete(event.pointerId);
      canvas.classList.remove("grabbed");
      setTimeout(() => { dragged = false; });
    });
  }
  canvas.addEventListener("keydown", event => {
    const key = {"+": 1.25, "=": 1.25, "-": 0.8}[event.key];
    if (key) zoom(key);
    else if (event.key === "0") fit(0);
  });
}
for (const button of all("[data-zoom]")) {
  button.addEventListener("click", () => {
    for (const canvas of all(".canvas", button.closest(".pane"))) {
      if (!canvas.clientWidth) continue;
      const view = views.get(canvas);
      if (button.dataset.zoom === "fit") view.fit(0); else view.zoom(Number(button.dataset.zoom));
    }
  });
}
for (const canvas of all(".canvas")) start(canvas);

// -- search

const box = byId("q"), hits = byId("hits");
const index = [];
for (const [key, found] of elements) {
  const kinds = {L: "source", n: "node", k: "kernel", m: "buffer"};
  const where = found[0].closest("[data-title]");
  index.push({element: found[0], text: title(found[0]),
              kind: kinds[key[0]] + (where ? ` in ${where.dataset.title}` : "")});
}
let at = -1;
function close() {
  hits.hidden = true;
  box.setAttribute("aria-expanded", "false");
  box.removeAttribute("aria-activedescendant");
}
function search() {
  const wanted = box.value.trim().toLowerCase();
  hits.replaceChildren();
  at = -1;
  if (!wanted) return close();
  const found = index.filter(entry => entry.text.toLowerCase().includes(wanted)).slice(0, 60);
  for (const [number, entry] of found.entries()) {
    const item = document.createElement("li"), kind = document.createElement("small");
    item.id = `hit${number}`;
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    kind.textContent = entry.kind;
    item.append(kind, entry.text.slice(0, 160));
    item.addEventListener("pointerdown", event => { event.preventDefault(); go(entry.element); });
    item.entry = entry;
    hits.append(item);
  }
  if (!found.length) {
    const item = document.createElement("li");
    item.textContent = "Nothing has this name.";
    hits.append(item);
  } else move(0);
  hits.hidden = false;
  box.setAttribute("aria-expanded", "true");
}
function move(to) {
  const items = all("[role=option]", hits);
  if (!items.length) return;
  items[at]?.setAttribute("aria-selected", "false");
  at = (to + items.length) % items.length;
  items[at].setAttribute("aria-selected", "true");
  items[at].scrollIntoView({block: "nearest"});
  box.setAttribute("aria-activedescendant", items[at].id);
}
function go(element) {
  close();
  reveal(element);
}
box.addEventListener("input", search);
box.addEventListener("blur", close);
box.addEventListener("keydown", event => {
  if (event.key === "ArrowDown") { event.preventDefault(); move(at + 1); }
  if (event.key === "ArrowUp") { event.preventDefault(); move(at - 1); }
  if (event.key === "Enter" && at >= 0 && !hits.hidden) go(hits.children[at].entry.element);
});
})();
