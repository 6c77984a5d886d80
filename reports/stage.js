// The stage: a cursor over the picture of an incident, and what is true at it. The picture itself is drawn by stage/paint.go. It
// runs before the rest of the page is read, so that a long page can be used at once.
(() => {
"use strict";
const $ = id => document.getElementById(id), box = $("stage"), raw = $("stage-data");
if (!box || !raw) return;
const d = JSON.parse(raw.textContent), pics = [...box.querySelectorAll("svg")], rail = [...document.querySelectorAll("#rail li")];
const {from, to} = d, at = $("moment"), pane = $("pane"), button = $("play"), beats = d.beats || [];
const sec = t => (t / 1e9).toFixed(3) + " s", ms = t => Math.round(t / 1e6) + " ms", seen = p => p.getClientRects().length > 0;
const edge = p => [+p.dataset.left, +p.dataset.right], x = (p, t) => { const [l, r] = edge(p); return l + (Math.min(Math.max(t, from), to) - from) / (to - from) * (r - l); };
let now = to, playing = 0, dim = false, low = from, high = to; // of the range

// What is true at a moment?
const owners = t => d.truth.filter(g => g.b <= t && t < g.e);
const value = (s, t) => s.w.reduce((v, w) => w.ok && w.t <= t ? w.n : v, s.v);
function belief(lane, t) {
  const h = lane.holds.find(h => h.b <= t && t < h.e), tok = h && h.token ? ` (token ${h.token})` : "";
  const w = lane.waits.find(w => w.b <= t && t < w.e && (!h || d.locks.length > 1 && w.lock !== h.lock));
  if (d.free) return ["", h ? "has read, has not written yet" : "does nothing"];
  if (h && w) return [d.ring && t >= d.ring ? "bad" : "", `owns ${d.locks[h.lock]}, waits for ${d.locks[w.lock]}`];
  if (h && t >= h.u) return ["bad", `“I own the lock”${tok}: wrong ${t - h.u < 5e5 ? "from now on" : "for " + ms(t - h.u)}`];
  if (h && h.o && t >= h.o) return ["", `“I own the lock”${tok}; its lease is over, and nobody else has it`];
  if (h) return ["", `“I own ${d.locks.length > 1 ? d.locks[h.lock] : "the lock"}”${tok}: right`];
  if (w) return ["", d.locks.length > 1 ? "waits for " + d.locks[w.lock] : "waits for the lock"];
  const own = owners(t).find(g => g.c === lane.c);
  return ["", !own ? "does not ask for it" : own.late ? "got it too late: its lease was over" : "has let go of it"];
}
function row(name, cls, text) {
  const tr = document.createElement("tr"), th = document.createElement("th"), td = document.createElement("td");
  th.scope = "row"; th.textContent = name; td.textContent = text; td.className = cls; tr.append(th, td); return tr;
}
function tell(t) {
  const own = owners(t), cap = document.createElement("caption"), small = document.createElement("small"), body = document.createElement("tbody");
  cap.textContent = "At " + sec(t) + " "; small.textContent = beats.length ? "← → steps through the story" : ""; cap.append(small);
  const period = (d.periods || []).find(p => p.b <= t && t < p.e);
  const by = period ? period.by.filter((_, i) => period.at[i] <= t) : [];
  if (period) body.append(row("the job", by.length > 1 ? "bad" : "", `period ${period.n}: ` + (by.length ? "done by " + by.join(", ") : "not done")));
  const names = own.slice(0, 4).map(g => g.c + (d.locks.length > 1 ? ` (${d.locks[g.lock]})` : "") + (g.reads ? " (reads)" : "") + (g.token ? `, token ${g.token}` : "") + (g.due && !g.renews ? `, ${ms(Math.max(g.due - t, 0))} left` : ""));
  if (!d.free) body.append(row("store", "", own.length ? names.join("; ") + (own.length > 4 ? ` and ${own.length - 4} more` : "") : "nobody owns the lock"));
  for (const s of d.stairs) body.append(row(s.r, "", String(value(s, t))));
  for (const l of d.lanes) body.append(row(l.c, ...belief(l, t)));
  const b = beats.findLast(b => b.t <= t && b.ev >= 0);
  if (b) {
    const tr = row("event", "", b.src ? " at " + b.src : ""), a = document.createElement("a");
    a.href = "#e" + b.ev; a.dataset.event = b.ev; a.textContent = b.ev; tr.lastChild.prepend(a); body.append(tr);
  }
  pane.replaceChildren(cap, body);
}
function show(t) {
  now = t = Math.min(Math.max(t, low), high); at.value = t;
  for (const p of pics) {
    const c = p.querySelector(".cursor"), f = p.querySelector(".future");
    c.removeAttribute("hidden"); c.setAttribute("transform", `translate(${x(p, t)})`);
    f.setAttribute("x", x(p, t) + 1); f.setAttribute("width", dim ? edge(p)[1] - x(p, t) + 4 : 0);
    p.classList.toggle("early", dim && beats.length > 0 && t < beats[beats.length - 1].t);
  }
  const i = beats.findLastIndex(b => b.t <= t);
  rail.forEach((li, j) => j === i ? li.setAttribute("aria-current", "step") : li.removeAttribute("aria-current"));
  tell(t);
}
const stop = () => { cancelAnimationFrame(playing); clearTimeout(playing); playing = 0; button.textContent = "▶ play"; };
let tl = null; // the timeline, once it is read: it keeps the address
const still = t => { stop(); dim = false; show(t); if (tl) { tl.kept.m = Math.round(t / 1000); tl.save(); } };
const step = by => { const i = beats.findLastIndex(b => b.t <= now); if (beats.length) still(beats[Math.min(Math.max(i + by, 0), beats.length - 1)].t); };
function play() {
  if (playing) return stop();
  dim = true; button.textContent = "❚❚ stop";
  const next = () => beats.find(b => b.t > now && b.t <= high), end = () => still(high);
  if (!next()) show(low);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    const hop = () => { const b = next(); if (!b) return end(); show(b.t); playing = setTimeout(hop, 2500); };
    playing = setTimeout(hop, 10);
    return;
  }
  let last, hold = 0;
  const rate = (to - from) / 9000; // ns of the run in a millisecond: nine seconds for all of it
  const tick = stamp => {
    const dt = Math.min(stamp - (last === undefined ? stamp : last), 50); last = stamp;
    if (hold > 0) hold -= dt;
    else {
      const b = next(); let t = now + dt * rate;
      if (b && t >= b.t) { t = b.t; hold = 1200; }
      if (t >= high) return end();
      show(t);
    }
    playing = requestAnimationFrame(tick);
  };
  playing = requestAnimationFrame(tick);
}
at.min = from; at.max = to; at.step = Math.max((to - from) / 2000, 1);
at.addEventListener("input", () => still(+at.value));
button.addEventListener("click", play);
document.addEventListener("click", e => { const b = e.target.closest("[data-beat]"); if (b) still(beats[+b.dataset.beat].t); });
const point = e => {
  if (e.type === "pointermove" && !(e.buttons & 1) || e.target.closest("[data-beat]")) return;
  const p = e.target.closest("svg"); if (!p) return;
  const r = p.getBoundingClientRect(), [l, right] = edge(p), u = (e.clientX - r.left) / r.width * p.viewBox.baseVal.width;
  if (u >= l) still(Math.min(from + (u - l) / (right - l) * (to - from), to));
};
box.addEventListener("pointerdown", point); box.addEventListener("pointermove", point);
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA|CANVAS)$/.test(e.target.tagName)) return;
  if (e.key === "ArrowLeft" || e.key === "ArrowRight") { step(e.key === "ArrowLeft" ? -1 : 1); e.preventDefault(); }
  if (e.key === " " && e.target.tagName !== "BUTTON") { play(); e.preventDefault(); }
});

// The step that is scrolled past moves the cursor: on a phone a beat, under the picture, which stays; else a step of the story,
// beside which the picture stands again.
const narrow = matchMedia("(max-width:900px)");
const passing = new IntersectionObserver(all => {
  const li = (all.findLast(e => e.isIntersecting) || {}).target, i = rail.indexOf(li);
  if (li && scrollY > 0 && narrow.matches === i >= 0) still(i >= 0 ? beats[i].t : li.dataset.at * 1000);
}, {rootMargin: "-60% 0px -38% 0px"});
rail.forEach(li => passing.observe(li));

// Of a chosen range the rest of the picture is shaded, and the cursor stays inside.
function ranged() {
  const r = tl.state.range;
  low = r ? Math.min(Math.max(r[0] * 1000, from), to) : from; high = r ? Math.min(Math.max(r[1] * 1000, low), to) : to;
  at.min = low; at.max = high;
  for (const p of pics) [[".before", edge(p)[0], x(p, low)], [".after", x(p, high), edge(p)[1]]].forEach(([q, l, right]) => {
    p.querySelector(q).setAttribute("x", l); p.querySelector(q).setAttribute("width", right - l);
  });
  show(now);
}

// What is copied for an issue.
const words = q => (document.querySelector(q) || {textContent: ""}).textContent.trim();
const made = {
  markdown: () => `**${words("h1")}** (${[...document.querySelectorAll(".what span")].map(s => s.textContent).join(", ")})\n\n` +
    rail.map((li, i) => `${i + 1}. ${words(`#rail li:nth-child(${i + 1}) time`)}: **${words(`#rail li:nth-child(${i + 1}) b`)}.** ${words(`#rail li:nth-child(${i + 1}) span`)}`).join("\n") +
    `\n\n${words(".cure")}\n\n    ${words("#again")}\n`,
  svg: () => {
    const s = pics[0].cloneNode(true), of = getComputedStyle(document.documentElement), [, , w, h] = s.getAttribute("viewBox").split(" ").map(Number);
    s.querySelectorAll(".cursor,.future,.range").forEach(n => n.remove());
    const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).filter(r => r.selectorText && /svg\.stage|\.hatching/.test(r.selectorText)).map(r => r.cssText).join("\n");
    s.setAttribute("xmlns", "http://www.w3.org/2000/svg"); s.setAttribute("width", w + 40); s.setAttribute("height", h + 86); s.setAttribute("viewBox", `-20 -50 ${w + 40} ${h + 86}`);
    const put = (name, attrs, text) => { const n = document.createElementNS("http://www.w3.org/2000/svg", name); for (const k in attrs) n.setAttribute(k, attrs[k]); n.textContent = text; return n; };
    s.prepend(put("style", {}, "svg.stage text{font:12px system-ui,sans-serif}\n" + rules), put("path", {d: `M-20 -50h${w + 40}v${h + 86}h${-w - 40}z`, fill: "var(--card)"}, ""));
    s.append(put("text", {x: 0, y: -22, style: "font-size:20px;font-weight:700"}, words("h1")), put("text", {x: 0, y: h + 20, class: "s"}, "lockstorm: " + [...document.querySelectorAll(".what span")].map(n => n.textContent).join(", ")));
    return new XMLSerializer().serializeToString(s).replace(/var\((--[\w-]+)\)/g, (_, v) => of.getPropertyValue(v).trim());
  },
};
for (const b of document.querySelectorAll("[data-copy=markdown],[data-copy=svg]")) {
  const name = b.textContent;
  b.addEventListener("click", async () => {
    const text = made[b.dataset.copy]();
    try { await navigator.clipboard.writeText(text); } catch { const a = document.body.appendChild(document.createElement("textarea")); a.value = text; a.select(); document.execCommand("copy"); a.remove(); }
    b.dataset.copied = text; b.textContent = "copied"; setTimeout(() => { b.textContent = name; }, 1500);
  });
  b.hidden = false;
}
document.querySelector(".scrub").hidden = false; pane.hidden = false;
const bad = beats.findIndex((b, i) => rail[i] && rail[i].classList.contains("bug"));
const wrong = d.lanes.filter(l => l.c === d.me).flatMap(l => l.holds).find(h => h.e > h.u && h.e > h.b), last = beats.length ? beats[beats.length - 1].t : to;
show(bad >= 0 ? beats[bad].t : wrong ? Math.round((Math.max(wrong.u, wrong.b) + Math.min(wrong.e, to)) / 2) : last);
box.dataset.ready = Math.round(performance.now());
document.addEventListener("DOMContentLoaded", () => {
  const again = $("beside"), timeline = $("timeline"), kept = () => { const t = tl.kept.m * 1000; return t > from && t <= to ? t : 0; };
  pics.push(again.appendChild(pics[0].cloneNode(true))); again.hidden = false;
  again.addEventListener("pointerdown", point); again.addEventListener("pointermove", point);
  document.querySelectorAll("#told li[data-at]").forEach(li => passing.observe(li));
  tl = timeline.timeline;
  timeline.addEventListener("range", ranged);
  addEventListener("hashchange", () => { if (kept()) { stop(); show(kept()); } });
  ranged();
  if (kept()) show(kept());
});
})();
