#include "cli/graph_view.h"

namespace cli {

namespace {

constexpr const char* kHead = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>@TITLE@</title>
<style>
  :root { color-scheme: light dark; --line: #8886; --soft: #8881; --mark: #e8a33d; }
  body { margin: 0; font: 14px/1.4 system-ui, sans-serif; display: flex; height: 100vh; }
  main { flex: 1; overflow: auto; } aside { width: 24em; overflow: auto; border-left: 1px solid var(--line); padding: 1em; }
  h1 { font-size: 1.1em; margin: 0 0 .5em; word-break: break-all; } dt { opacity: .7; } dd { margin: 0 0 .4em 1em; word-break: break-word; }
  input { width: 100%; box-sizing: border-box; font: inherit; padding: .3em; }
  svg text { font-size: 12px; fill: currentColor; } svg rect { fill: var(--soft); stroke: var(--line); }
  svg path { fill: none; stroke: var(--line); } g.node { cursor: pointer; }
  g.io rect { rx: 14px; } g.found rect { stroke: var(--mark); stroke-width: 3; } g.chosen rect { fill: #58f4; }
</style></head><body><main><svg id="picture" xmlns="http://www.w3.org/2000/svg"></svg></main>
<aside><h1>@TITLE@</h1><input id="search" type="search" placeholder="find a node, an op or a value">
<p id="count"></p><dl id="details"></dl></aside>
<script>
"use strict";
const model = )html";

// Ranks nodes by their longest path from an input, orders each rank by where its inputs stand, and draws.
constexpr const char* kTail = R"html(;
const svg = document.getElementById("picture"), details = document.getElementById("details");
const nodes = [], producer = new Map();
const add = (node) => { node.id = nodes.length; node.from = []; node.rank = 0; nodes.push(node); return node; };
for (const v of model.graph.inputs) producer.set(v.name, add({ kind: "input", title: v.name, text: v.type, io: true }));
for (const n of model.graph.nodes) {
  const node = add({ kind: n.op, title: n.op, text: n.name, source: n });
  const wanted = new Set(n.inputs);
  const visit = (body) => { for (const m of body.nodes) { m.inputs.forEach((v) => wanted.add(v)); (m.bodies || []).forEach(visit); } };
  (n.bodies || []).forEach(visit);
  for (const v of wanted) if (producer.has(v)) node.from.push(producer.get(v));
  for (const v of n.outputs) if (v) producer.set(v.name, node);
}
for (const v of model.graph.outputs) {
  const node = add({ kind: "output", title: v.name, text: v.type, io: true });
  if (producer.has(v.name)) node.from.push(producer.get(v.name));
}
const ranks = [];
for (const n of nodes) {
  n.rank = n.from.reduce((most, m) => Math.max(most, m.rank + 1), 0);
  (ranks[n.rank] = ranks[n.rank] || []).push(n);
}
const width = 170, height = 44, gapX = 24, gapY = 44;
for (const rank of ranks) {
  for (const n of rank) n.wish = n.from.length ? n.from.reduce((sum, m) => sum + m.x, 0) / n.from.length : 0;
  rank.sort((a, b) => a.wish - b.wish || a.id - b.id);
  let free = -Infinity;
  for (const n of rank) { n.x = Math.max(n.wish, free); free = n.x + width + gapX; n.y = n.rank * (height + gapY); }
}
const left = nodes.reduce((least, n) => Math.min(least, n.x), 0);
let right = 0;
for (const n of nodes) { n.x += 20 - left; n.y += 20; right = Math.max(right, n.x + width); }
svg.setAttribute("width", right + 20);
svg.setAttribute("height", ranks.length * (height + gapY) + 20);
const make = (name, attributes, parent, text) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
};
const short = (text) => text.length > 24 ? text.slice(0, 11) + "\u2026" + text.slice(-12) : text;
for (const n of nodes) for (const m of n.from) {
  const x1 = m.x + width / 2, y1 = m.y + height, x2 = n.x + width / 2, y2 = n.y;
  make("path", { d: `M${x1},${y1} C${x1},${y1 + 30} ${x2},${y2 - 30} ${x2},${y2}` }, svg);
}
for (const n of nodes) {
  n.group = make("g", { class: "node" + (n.io ? " io" : ""), transform: `translate(${n.x},${n.y})` }, svg);
  make("rect", { width, height, rx: 4 }, n.group);
  make("text", { x: width / 2, y: 18, "text-anchor": "middle", "font-weight": "bold" }, n.group, short(n.title));
  make("text", { x: width / 2, y: 34, "text-anchor": "middle", opacity: .7 }, n.group, short(n.text || ""));
  n.group.addEventListener("click", () => choose(n));
}
function show(rows) {
  details.replaceChildren();
  for (const [name, value] of rows) {
    details.appendChild(document.createElement("dt")).textContent = name;
    details.appendChild(document.createElement("dd")).textContent = value;
  }
}
function choose(n) {
  for (const m of nodes) m.group.classList.toggle("chosen", m === n);
  const rows = [["kind", n.kind], ["name", n.io ? n.title : n.text]];
  if (n.io) rows.push(["type", n.text]);
  if (n.source) {
    if (n.source.params) rows.push(["parameters", n.source.params]);
    n.source.inputs.forEach((v, i) => rows.push([`input ${i}`, v || "(absent)"]));
    n.source.outputs.forEach((v, i) => rows.push([`output ${i}`, v ? `${v.name}: ${v.type}` : "(unused)"]));
    (n.source.bodies || []).forEach((b, i) => rows.push([`body ${i}`, b.nodes.map((m) => m.op).join(", ")]));
  }
  show(rows);
}
document.getElementById("search").addEventListener("input", (event) => {
  const word = event.target.value.toLowerCase();
  let found = 0;
  for (const n of nodes) {
    const hit = word && (n.title + " " + n.text + " " + JSON.stringify(n.source || "")).toLowerCase().includes(word);
    n.group.classList.toggle("found", Boolean(hit));
    if (hit && ++found === 1) n.group.scrollIntoView({ block: "center", inline: "center" });
  }
  document.getElementById("count").textContent = word ? `${found} found` : "";
});
const s = model.summary;
show([["nodes", s.nodes], ["weights", `${s.weights.count}, ${s.weights.bytes} bytes`],
      ["opsets", Object.entries(s.opsets).map(([k, v]) => k + " " + v).join(", ")], ["made by", s.producer || "-"]]);
</script></body></html>
)html";

std::string escape_html(const std::string& text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

std::string graph_as_html(const std::string& title, const Json& summary, const Json& graph) {
  std::string head = kHead;
  const std::string mark = "@TITLE@", shown = escape_html(title);
  for (size_t at = head.find(mark); at != std::string::npos; at = head.find(mark, at + shown.size()))
    head.replace(at, mark.size(), shown);
  std::string data;
  // A '<' in a name must not end the script.
  for (char c : Json(Json::Object{{"summary", summary}, {"graph", graph}}).dump())
    c == '<' ? data += "\\u003c" : data += c;
  return head + data + kTail;
}

}  // namespace cli
