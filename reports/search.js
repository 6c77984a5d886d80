// The search over all events, and the range that every table of the page keeps to. timeline.js draws both.
(() => {
"use strict";
const $ = id => document.getElementById(id), box = $("timeline"), tl = box && box.timeline;
if (!tl) return;
const field = $("tl-q"), said = $("tl-hits"), count = (n, what) => n + " " + what + (n === 1 ? "" : "s");
let texts = null, found = [], at = -1;

// "A before B" finds each A with the first B after it: chains of events, in order.
function chains(query) {
  const parts = query.toLowerCase().split(/\s+before\s+/).map(p => p.split(/\s+/).filter(Boolean)).filter(p => p.length);
  if (!parts.length) return [];
  texts = texts || Array.from({length: tl.n}, (_, i) => tl.words(i));
  const is = (i, part) => part.every(w => texts[i].includes(w)), ends = parts.length - 1, open = [], out = [];
  for (let i = 0; i < tl.n; i++) {
    for (let k = ends; k >= 0; k--) { // open[k] is the latest chain of so many parts
      if (!is(i, parts[k]) || k > 0 && !open[k - 1]) continue;
      const chain = [...(k > 0 ? open[k - 1] : []), i];
      if (k > 0) open[k - 1] = null;
      if (k === ends) out.push(chain); else open[k] = chain;
      break;
    }
  }
  return out;
}
function search() {
  const query = field.value.trim();
  found = chains(query); at = -1;
  tl.kept.q = query; tl.state.hits = found.flat();
  const what = found.length && found[0].length > 1 ? "place" : "event";
  said.textContent = query ? count(found.length, what) : "";
  tl.save(); tl.draw();
}
function next(by) {
  if (!found.length) return;
  at = (at + by + found.length) % found.length;
  const chain = found[at], from = tl.at(chain[0]), to = tl.at(chain[chain.length - 1]), room = Math.max((to - from) / 4, 2000);
  if (chain.length > 1) tl.view(from - room, to + room);
  tl.pinEvent(chain[chain.length - 1]);
  said.textContent = `${at + 1} of ${count(found.length, chain.length > 1 ? "place" : "event")}`;
}
field.addEventListener("input", search);
field.addEventListener("keydown", e => { if (e.key === "Enter") { e.preventDefault(); next(e.shiftKey ? -1 : 1); } });
$("tl-hit").addEventListener("click", () => next(1));
box.addEventListener("clear", () => { field.value = ""; search(); });

// Rows of other times are hidden, and counted.
const bar = $("ranged"), rows = [...document.querySelectorAll("[data-at]")];
function ranged() {
  const r = tl.state.range;
  let left = 0;
  for (const row of rows) {
    row.hidden = !!r && (+(row.dataset.to || row.dataset.at) < r[0] && row.dataset.to !== "-1" || +row.dataset.at > r[1]);
    left += row.hidden;
  }
  bar.hidden = !r;
  if (r) bar.firstElementChild.textContent = `Only ${tl.sec(r[0])} to ${tl.sec(r[1])}: ${count(left, "row")} of steps, faults, findings and events hidden.`;
}
box.addEventListener("range", ranged);
bar.querySelector("button").addEventListener("click", () => tl.show());
const again = () => { if (field.value !== (tl.kept.q || "")) { field.value = tl.kept.q || ""; search(); } ranged(); };
addEventListener("hashchange", again);
again();
})();
