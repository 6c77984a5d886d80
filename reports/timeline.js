// The timeline of a run: an overview with a brush, and lanes of clients, locks, registers and servers that can be
// zoomed, dragged, filtered and pinned. It reads the columns of #run-data (data.go) and makes no request.
(() => {
"use strict";
const $ = id => document.getElementById(id);
const box = $("timeline"), raw = $("run-data");
if (!box || !raw) return;
const d = JSON.parse(raw.textContent);

// ---- decode: columns of differences become columns of moments (us)
const G = d.g, E = d.e, nG = G.c.length, nE = E.t.length;
const gs = new Float64Array(nG), gf = new Float64Array(nG), gt = new Float64Array(nG), gd = new Float64Array(nG), gk = new Float64Array(nG);
for (let i = 0, t = 0; i < nG; i++) {
  t += G.s[i]; gs[i] = t;
  gf[i] = G.w[i] < 0 ? -1 : t + G.w[i];
  gt[i] = gf[i] + G.h[i]; gd[i] = G.d[i] < 0 ? -1 : t + G.d[i]; gk[i] = gt[i] + G.k[i];
}
const kinds = E.kinds.map(k => { const [f, type, reg, err] = k.split(" "); return {f, type, reg, err}; });
const et = new Float64Array(nE), eg = new Int32Array(nE), ev = new Int32Array(nE);
for (let i = 0, t = 0, v = 0, last = []; i < nE; i++) {
  t += E.t[i]; et[i] = t;
  const p = E.p[i]; last[p] = (last[p] || 0) + E.g[i]; eg[i] = last[p];
  const f = kinds[E.k[i]].f; ev[i] = -1;
  if (f === "read" || f === "write") { ev[i] = v; v += 2; }
}
const shared = new Set(G.shared || []), names = G.names || {}, tokens = G.t || {}, texts = E.m || {};
const gname = i => names[i] || d.clients[G.c[i]] + "-" + G.n[i];
const eindex = i => E.i ? E.i[i] : i;
const eat = new Map(); // index in the history -> place here
if (E.i) E.i.forEach((x, i) => eat.set(x, i));
const place = index => E.i ? eat.get(index) : (index < nE ? index : undefined);
const sec = t => (t / 1e6).toFixed(state.to - state.from < 2e4 ? 6 : 3) + " s";
const len = us => { const a = Math.abs(us); return a >= 999500 ? (us / 1e6).toPrecision(3) + " s" : a >= 1000 ? (us / 1e3).toPrecision(3) + " ms" : us + " us"; };
const byClient = d.clients.map(() => []), byLock = d.locks.map(() => []);
for (let i = 0; i < nG; i++) { byClient[G.c[i]].push(i); if (G.o[i] === 0) byLock[G.l[i]].push(i); }
const clientOf = new Map(d.clients.map((n, i) => [n, i])), regOf = new Map(d.registers.map((n, i) => [n, i]));
const evClient = d.clients.map(() => []), evReg = d.registers.map(() => []);
{
  const own = d.parties.map(p => clientOf.get(p)), logged = d.parties.indexOf("register") >= 0;
  for (let i = 0; i < nE; i++) {
    const k = kinds[E.k[i]], c = own[E.p[i]];
    if (c !== undefined && (k.type !== "invoke" || k.f === "write" || k.f === "read")) evClient[c].push(i);
    if (k.reg && k.f === "write" && k.type !== "invoke" && (logged ? d.parties[E.p[i]] === "register" : true)) evReg[regOf.get(k.reg)].push(i);
  }
}
// Who is inside each lock, by time: [from, to, holders...]. Two or fifty are one piece with a number.
const inside = byLock.map(list => {
  const steps = [];
  for (const g of list) if (gt[g] > gf[g]) steps.push([gf[g], 1, g], [gt[g], 0, g]);
  steps.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const out = [], now = new Set();
  let from = 0;
  for (const [t, come, g] of steps) {
    if (now.size && t > from) out.push({from, to: t, who: [...now]});
    come ? now.add(g) : now.delete(g);
    from = t;
  }
  return out;
});
const apart = who => who.length > 1 && !(who.every(g => shared.has(g))) && new Set(who.map(g => G.c[g])).size > 1;
let proven = new Set(); // indexes of the events of the proof of the incident at hand
const badEvents = new Map(); // place of an event -> incident
d.incidents.forEach((x, i) => x.steps.forEach(s => { if (s.bad) for (const list of evReg) for (let j = lower(list.length, n => et[list[n]], s.t); j < list.length && et[list[j]] === s.t; j++) badEvents.set(list[j], i); }));

// ---- state
const whole = [0, d.end];
const state = {from: 0, to: d.end, at: -1, pin: null, range: null, hits: [], lock: "", client: "", check: "", cls: "", fault: ""};
const kept = {}; // what others keep in the address: the moment of the stage, the search
const main = $("tl-main"), over = $("tl-over"), tip = $("tl-tip"), say = $("tl-say"), pinBox = $("tl-pin");
const left = 96, top = 22, row = 30;
let css = {}, lanes = [], hover = null, frame = 0, width = 0, listed = [], drawMS = 0;
const palette = ["#2a9063", "#b76ba3", "#c58a00", "#3d8fd1", "#7d6ad6", "#8a8f2a", "#5ab4e0", "#9c6b4e"];
const lockColour = l => palette[l % palette.length];

function colours() {
  const c = getComputedStyle(document.documentElement);
  for (const n of ["ink", "soft", "line", "card", "overlap", "fault", "waiting", "master", "replica", "down", "role", "server", "ring", "open", "use", "blue", "lease"]) css[n] = c.getPropertyValue("--" + n).trim();
}

// ---- filters
function matches(x) {
  if (state.check && !x.checks.includes(state.check)) return false;
  if (state.cls && x.class !== state.cls) return false;
  if (state.fault && String(x.fault || 0) !== state.fault) return false;
  if (state.lock && !x.g.some(g => d.locks[G.l[g]] === state.lock)) return false;
  if (state.client && !x.g.some(g => d.clients[G.c[g]] === state.client)) return false;
  if (state.range && (x.e < state.range[0] || x.b > state.range[1])) return false;
  return true;
}
function layLanes() {
  listed = d.incidents.map((_, i) => i).filter(i => matches(d.incidents[i]));
  const x = d.incidents[state.at], first = new Set(x ? x.g.map(g => G.c[g]) : []);
  const fault = x && d.faults.find(f => f.id === x.fault);
  if (fault) fault.c.forEach(c => first.add(c));
  const lockAt = state.lock ? d.locks.indexOf(state.lock) : -1;
  let clients = d.clients.map((_, i) => i).filter(i => (!state.client || d.clients[i] === state.client || first.has(i)) && (byClient[i].length || d.dead[i] !== undefined || evClient[i].length));
  if (lockAt >= 0) clients = clients.filter(i => byClient[i].some(g => G.l[g] === lockAt));
  clients.sort((a, b) => (first.has(b) - first.has(a)) || a - b);
  const shown = clients.slice(0, state.client ? clients.length : 24), rest = clients.slice(shown.length);
  lanes = [];
  const add = (kind, i, name, h = row) => lanes.push({kind, i, name, h, y: 0, first: kind === "client" && first.has(i)});
  const locks = d.locks.map((_, i) => i).filter(i => lockAt < 0 || i === lockAt);
  locks.slice(0, 12).forEach(i => add("lock", i, d.locks[i], 24));
  shown.forEach(i => add("client", i, d.clients[i]));
  if (rest.length) { add("others", -1, rest.length + " other clients", 24); lanes[lanes.length - 1].of = rest; }
  d.registers.forEach((n, i) => add("register", i, n, 24));
  d.servers.forEach((n, i) => add("server", i, n, 20));
  let y = top;
  for (const l of lanes) { l.y = y; y += l.h; }
  main.style.height = (y + 8) + "px";
}

// ---- drawing
const X = t => left + (t - state.from) / (state.to - state.from) * (width - left - 8);
const T = x => state.from + (x - left) / (width - left - 8) * (state.to - state.from);
// first place in a column at or after a moment
function lower(n, at, t) { let a = 0, b = n; while (a < b) { const m = (a + b) >> 1; at(m) < t ? a = m + 1 : b = m; } return a; }

function size(canvas) {
  const r = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * r) || canvas.height !== Math.round(h * r)) { canvas.width = Math.round(w * r); canvas.height = Math.round(h * r); }
  const c = canvas.getContext("2d"); c.setTransform(r, 0, 0, r, 0, 0); c.clearRect(0, 0, w, h);
  return [c, w, h];
}
function ticks(from, to, n) {
  const raw = (to - from) / n, p = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].map(m => m * p).find(s => s >= raw);
  const out = []; for (let t = Math.ceil(from / step) * step; t <= to && out.length < 40; t += step) out.push(t);
  return [out, step];
}
const tickText = (t, step) => (t / 1e6).toFixed(Math.max(0, Math.min(6, Math.ceil(6 - Math.log10(step))))) + " s";
function clipText(c, text, w) { if (c.measureText(text).width <= w) return text; while (text && c.measureText(text + "\u2026").width > w) text = text.slice(0, -1); return text ? text + "\u2026" : ""; }
function hatch(c, x, y, w, h, colour) {
  c.save(); c.beginPath(); c.rect(x, y, w, h); c.clip(); c.strokeStyle = colour; c.lineWidth = 1.5; c.beginPath();
  for (let i = x - h; i < x + w; i += 6) { c.moveTo(i, y + h); c.lineTo(i + h, y); }
  c.stroke(); c.restore();
}

function drawMain() {
  const begun = performance.now();
  const [c, w, h] = size(main); width = w;
  c.font = "12px system-ui, sans-serif"; c.textBaseline = "middle";
  const [tt, step] = ticks(state.from, state.to, Math.max(2, w / 130));
  c.fillStyle = css.soft; c.strokeStyle = css.line; c.textAlign = "center";
  for (const t of tt) { const x = X(t); c.beginPath(); c.moveTo(x, 16); c.lineTo(x, h); c.stroke(); if (x > left + 20 && x < w - 24) c.fillText(tickText(t, step), x, 8); }
  c.textAlign = "left";
  for (const l of lanes) {
    c.strokeStyle = css.line; c.beginPath(); c.moveTo(0, l.y - .5); c.lineTo(w, l.y - .5); c.stroke();
    c.fillStyle = l.first ? css.overlap : css.ink; c.font = (l.first ? "600 " : "") + "12px system-ui, sans-serif";
    c.fillText(clipText(c, l.name, left - 12), 6, l.y + l.h / 2);
  }
  c.font = "11px system-ui, sans-serif";
  c.save(); c.beginPath(); c.rect(left, 0, w - left, h); c.clip();
  drawFaults(c, h);
  for (const l of lanes) ({client: drawClient, lock: drawLock, server: drawServer, register: drawRegister, others: drawOthers})[l.kind](c, l);
  drawPin(c, h);
  c.restore();
  drawMS = performance.now() - begun;
  main.dataset.drawn = String((+main.dataset.drawn || 0) + 1); main.dataset.ms = drawMS.toFixed(1);
}
// A fault's beginning, proof and end are three marks; its band lies behind the lanes that it can hurt.
function drawFaults(c, h) {
  for (const f of d.faults) {
    if (!f.ok || (state.fault && String(f.id) !== state.fault)) continue;
    const to = f.e < 0 ? Math.max(f.p, f.b) : f.e;
    if (to < state.from || f.b > state.to) continue;
    const a = X(f.b), b = Math.max(X(to), a + 2), all = !f.c.length;
    for (const l of lanes) {
      const hit = (l.kind === "client" && f.c.includes(l.i)) || (l.kind === "server" && f.s.includes(l.i));
      if (!hit && !all) continue;
      c.globalAlpha = hit ? .22 : .05; c.fillStyle = css.fault; c.fillRect(a, l.y, b - a, l.h); c.globalAlpha = 1;
      if (!hit) continue;
      c.strokeStyle = css.fault; c.lineWidth = 1; c.strokeRect(a + .5, l.y + 1.5, b - a - 1, l.h - 3);
      c.fillStyle = css.fault;
      mark(c, a, l.y + 2, "begin"); if (f.p >= 0) mark(c, X(f.p), l.y + 2, "proof"); if (f.e >= 0) mark(c, X(f.e), l.y + 2, "end");
    }
  }
  for (const [from, to] of d.stalls) if (to >= state.from && from <= state.to) hatch(c, X(from), 15, Math.max(2, X(to) - X(from)), 5, css.soft);
}
function mark(c, x, y, what) {
  c.beginPath();
  if (what === "begin") { c.moveTo(x - 4, y); c.lineTo(x + 4, y); c.lineTo(x, y + 6); }
  else if (what === "end") { c.moveTo(x - 4, y + 6); c.lineTo(x + 4, y + 6); c.lineTo(x, y); }
  else { c.moveTo(x, y - 1); c.lineTo(x + 4, y + 3); c.lineTo(x, y + 7); c.lineTo(x - 4, y + 3); }
  c.fill();
}
const visibleOf = (list, start) => { const n = list.length, a = lower(n, i => start(list[i]), state.from), b = lower(n, i => start(list[i]), state.to); return [Math.max(0, a - 1), b]; };
function drawClient(c, l) {
  const list = byClient[l.i], y = l.y, lockAt = state.lock ? d.locks.indexOf(state.lock) : -1;
  const [a, b] = visibleOf(list, g => gs[g]);
  let column = -9, many = 0;
  for (let j = a; j < b; j++) {
    const g = list[j]; if (lockAt >= 0 && G.l[g] !== lockAt) continue;
    const x0 = X(gs[g]), end = gf[g] < 0 ? Math.min(d.end, d.ended[l.i]) : gf[g];
    const x1 = X(end);
    c.fillStyle = css.waiting; c.fillRect(x0, y + 14, Math.max(x1 - x0, .5), 1.5);
    if (G.o[g] !== 0) { if (G.o[g] === 2) cross(c, x0, y + 15, css.waiting); continue; }
    const x2 = X(gt[g]), pinned = state.pin && state.pin.g === g;
    if (x2 - x1 < 1 && Math.floor(x1) === column) { many++; continue; } // one pixel holds it already
    column = Math.floor(x1);
    c.fillStyle = lockColour(G.l[g]); c.fillRect(x1, y + 8, Math.max(x2 - x1, 1), 14);
    if (pinned) { c.strokeStyle = css.ring; c.lineWidth = 2; c.strokeRect(x1, y + 7, Math.max(x2 - x1, 2), 16); c.lineWidth = 1; }
    if (gd[g] >= 0) {
      const xs = X(gd[g]);
      c.fillStyle = css.lease; c.fillRect(x1, y + 24, Math.max(Math.min(xs, X(Math.max(gk[g], gt[g]))) - x1, 1), 3);
      if (gd[g] < gt[g]) hatch(c, Math.max(xs, x1), y + 8, x2 - Math.max(xs, x1), 14, css.card);
    }
    if (gk[g] > gt[g]) { const x3 = X(gk[g]); c.setLineDash([4, 3]); c.strokeStyle = lockColour(G.l[g]); c.strokeRect(x2, y + 9.5, x3 - x2, 11); c.setLineDash([]); if (x3 - x2 > 50) { c.fillStyle = css.soft; c.fillText("orphan", x2 + 5, y + 15); } }
    if (x2 - x1 > 44 && d.locks.length > 1) { c.fillStyle = "#fff"; c.fillText(clipText(c, d.locks[G.l[g]], x2 - x1 - 8), x1 + 4, y + 15); }
  }
  const dead = d.dead[l.i];
  if (dead !== undefined && dead <= state.to) {
    const x = X(dead); c.fillStyle = css.card; c.globalAlpha = .6; c.fillRect(x, y, width - x, l.h); c.globalAlpha = 1;
    cross(c, x, y + 15, css.overlap, 5); c.fillStyle = css.overlap; c.fillText("killed", x + 8, y + 15);
  }
  drawUses(c, evClient[l.i], y + 15);
  for (const i of listed) { const x = d.incidents[i]; if (x.e < state.from || x.b > state.to || !x.g.some(g => G.c[g] === l.i)) continue; c.fillStyle = css.overlap; c.fillRect(X(x.b), y + 3, Math.max(X(x.e) - X(x.b), 2), i === state.at ? 4 : 2); }
}
function cross(c, x, y, colour, r = 4) { c.strokeStyle = css.card; c.lineWidth = 5; for (const pass of [0, 1]) { if (pass) { c.strokeStyle = colour; c.lineWidth = 2.2; } c.beginPath(); c.moveTo(x - r, y - r); c.lineTo(x + r, y + r); c.moveTo(x - r, y + r); c.lineTo(x + r, y - r); c.stroke(); } c.lineWidth = 1; }
function drawUses(c, list, y) {
  const [a, b] = visibleOf(list, i => et[i]);
  let column = -9;
  const crowd = b - a > 3 * width;
  for (let j = a; j < b; j++) {
    const i = list[j], k = kinds[E.k[i]];
    if (et[i] < state.from) continue;
    const x = X(et[i]);
    if (proven.has(eindex(i))) { c.strokeStyle = css.blue; c.lineWidth = 2; c.strokeRect(x - 5, y - 9, 10, 18); c.lineWidth = 1; }
    if (k.type === "invoke" && (k.f === "read" || k.f === "write")) {
      if (crowd || Math.floor(x / 2) === column) continue;
      column = Math.floor(x / 2);
      c.beginPath(); c.arc(x, y, 3.2, 0, 7); c.fillStyle = k.f === "write" ? css.use : css.open; c.fill(); c.strokeStyle = css.ring; c.stroke();
    } else if (k.type === "fail" && k.err === "stale-token") cross(c, x, y, css.ink);
    else if (k.f === "lost") { c.fillStyle = css.overlap; c.fillRect(x - 1, y - 10, 2, 20); }
    if (state.pin && state.pin.e === i) { c.beginPath(); c.arc(x, y, 7, 0, 7); c.strokeStyle = css.blue; c.lineWidth = 2; c.stroke(); c.lineWidth = 1; }
  }
}
function drawLock(c, l) {
  const list = inside[l.i], y = l.y + 3, h = l.h - 6;
  if (!d.whole) drawDense(c, d.density.l[l.i], l, 1, css.overlap);
  const a = Math.max(0, lower(list.length, i => list[i].from, state.from) - 1);
  let end = -9;
  for (let i = a; i < list.length && list[i].from < state.to; i++) {
    const p = list[i], bad = apart(p.who), x0 = X(p.from), x1 = X(p.to);
    if (!bad && x1 - x0 < 1 && x0 < end) continue;
    end = Math.max(x1, x0 + 1);
    const w = Math.max(x1 - x0, bad ? 2 : 1);
    c.fillStyle = bad ? css.overlap : lockColour(l.i); c.fillRect(x0, y, w, h);
    if (w > 26) { c.fillStyle = "#fff"; c.fillText(clipText(c, p.who.length > 1 ? p.who.length + " holders" : d.clients[G.c[p.who[0]]], w - 6), x0 + 4, y + h / 2); }
    else if (bad && w > 9) { c.fillStyle = "#fff"; c.fillText(String(p.who.length), x0 + 2, y + h / 2); }
  }
}
function drawDense(c, bins, l, full, bad) {
  if (!bins) return;
  const n = bins.length;
  for (let x = left; x < width; x += 2) {
    const a = Math.max(0, Math.floor(T(x) / d.end * n)), b = Math.min(n - 1, Math.floor(T(x + 2) / d.end * n));
    let v = 0; for (let i = a; i <= b; i++) v = Math.max(v, bins[i]);
    if (!v) continue;
    c.globalAlpha = .45; c.fillStyle = v > 1 && full === 1 ? bad : css.soft; const h = (l.h - 8) * Math.min(1, v / full); c.fillRect(x, l.y + l.h - 4 - h, 2, h); c.globalAlpha = 1;
  }
}
function drawOthers(c, l) {
  const n = new Map();
  for (const i of l.of) { const list = byClient[i], [a, b] = visibleOf(list, g => gs[g]);
    for (let j = a; j < b; j++) { const g = list[j]; if (G.o[g]) continue; const x0 = Math.max(left, Math.floor(X(gf[g]))), x1 = Math.min(width, Math.ceil(X(gt[g]))); for (let x = x0; x <= x1; x++) n.set(x, (n.get(x) || 0) + 1); } }
  const most = Math.max(1, ...n.values());
  c.fillStyle = css.soft; for (const [x, v] of n) { const h = (l.h - 6) * v / most; c.fillRect(x, l.y + l.h - 3 - h, 1, h); }
  c.fillStyle = css.ink; c.fillText("up to " + most + " holders at once", left + 6, l.y + 8);
}
const roleColour = r => r === "master" || r === "leader" ? css.master : r === "replica" || r === "follower" ? css.replica : r === "down" ? css.down : css.role;
function drawServer(c, l) {
  const spans = d.roles.filter(r => r.s === l.i);
  if (!spans.length) { c.fillStyle = css.server; c.fillRect(left, l.y + 9, width - left, 2); return; }
  for (const r of spans) {
    const to = r.e < 0 ? d.end : r.e; if (to < state.from || r.b > state.to) continue;
    const a = Math.max(left, X(r.b)), w = Math.max(X(to) - a, 1);
    c.fillStyle = roleColour(r.r); c.fillRect(a, l.y + 3, w, l.h - 6); if (w > 40) { c.fillStyle = css.card; c.fillText(clipText(c, r.r, w - 8), a + 4, l.y + l.h / 2); }
  }
}
function drawRegister(c, l) {
  const list = evReg[l.i], [a, b] = visibleOf(list, i => et[i]);
  let lastText = -99;
  c.strokeStyle = css.soft; c.beginPath(); c.moveTo(left, l.y + l.h - 5); c.lineTo(width, l.y + l.h - 5); c.stroke();
  for (let j = a; j < b; j++) {
    const i = list[j], k = kinds[E.k[i]], x = X(et[i]); if (x < left) continue;
    const ok = k.type === "ok", bad = badEvents.has(i);
    c.fillStyle = bad ? css.overlap : ok ? css.ink : css.soft;
    if (ok) c.fillRect(x - .5, l.y + l.h - 10, bad ? 3 : 1.5, 8); else cross(c, x, l.y + l.h - 7, css.soft, 3);
    const text = ok ? E.v[ev[i]] + "\u2192" + E.v[ev[i] + 1] : "refused";
    const w = c.measureText(text).width, at = x + 3 + w > width ? x - w - 3 : x + 3; if (at > lastText + 4 || bad) { c.fillText(text, at, l.y + 7); lastText = at + w; }
  }
}
function drawPin(c, h) {
  const at = state.pin && state.pin.t !== undefined ? state.pin.t : hover && hover.t;
  if (at === undefined || at === null) return;
  c.strokeStyle = css.blue; c.setLineDash([3, 3]); c.beginPath(); c.moveTo(X(at), 16); c.lineTo(X(at), h); c.stroke(); c.setLineDash([]);
}
function drawOver() {
  const [c, w, h] = size(over), x = t => t / d.end * w;
  const bins = new Float64Array(Math.ceil(w / 2));
  if (d.whole) for (let i = 0; i < nE; i++) bins[Math.min(bins.length - 1, Math.floor(x(et[i]) / 2))]++;
  else d.density.e.forEach((n, i) => { bins[Math.min(bins.length - 1, Math.floor(i / d.density.n * bins.length))] += n; });
  const most = Math.max(1, ...bins);
  c.fillStyle = css.soft; c.globalAlpha = .5; bins.forEach((n, i) => { const hh = (h - 22) * n / most; c.fillRect(i * 2, h - 4 - hh, 1.6, hh); }); c.globalAlpha = 1;
  c.fillStyle = css.fault; for (const f of d.faults) if (f.ok) c.fillRect(x(f.b), 12, Math.max(3, x(f.e < 0 ? f.p : f.e) - x(f.b)), 4);
  d.incidents.forEach((i, n) => { if (!listed.includes(n)) return; c.fillStyle = css.overlap; c.fillRect(x(i.b), 2, Math.max(2.5, x(i.e) - x(i.b)), n === state.at ? 9 : 6); });
  c.fillStyle = css.blue; for (const i of state.hits) c.fillRect(x(et[i]), h - 16, 1.5, 12);
  const a = x(state.from), b = x(state.to);
  c.fillStyle = css.blue; c.globalAlpha = .12; c.fillRect(a, 0, b - a, h); c.globalAlpha = 1; c.strokeStyle = css.blue; c.lineWidth = 2; c.strokeRect(a + 1, 1, Math.max(b - a - 2, 3), h - 2); c.lineWidth = 1;
}
function draw() { if (frame) return; frame = requestAnimationFrame(() => { frame = 0; drawMain(); drawOver(); }); }

// ---- moving about
function view(from, to, keep) {
  const least = Math.min(20, d.end), w = Math.min(Math.max(to - from, least), d.end);
  from = Math.max(0, Math.min(from, d.end - w)); state.from = from; state.to = from + w;
  if (!keep) save();
  draw();
}
const zoom = (by, at) => { const t = at === undefined ? (state.from + state.to) / 2 : at; view(t - (t - state.from) * by, t + (state.to - t) * by); };
const pan = share => { const w = state.to - state.from; view(state.from + w * share, state.to + w * share); };
let saving = 0;
function save() { clearTimeout(saving); saving = setTimeout(write, 150); main.dataset.unsaved = "1"; }
function write() {
  const p = new URLSearchParams();
  p.set("v", Math.round(state.from) + "-" + Math.round(state.to));
  if (state.at >= 0) p.set("i", state.at + 1);
  if (state.range) p.set("r", state.range.map(Math.round).join("-"));
  for (const k of fields) if (state[k]) p.set(k, state[k]);
  for (const k in kept) if (kept[k]) p.set(k, kept[k]);
  if (state.pin && state.pin.g !== undefined) p.set("g", gname(state.pin.g));
  if (state.pin && state.pin.e !== undefined) p.set("e", eindex(state.pin.e));
  history.replaceState(null, "", "#" + p);
  delete main.dataset.unsaved;
}
const fields = ["lock", "client", "check", "cls", "fault"], span = text => { const m = /^(\d+)-(\d+)$/.exec(text || ""); return m && [+m[1], +m[2]]; };
// A chosen range is what every pane shows; without one they show the whole run.
function only(from, to) {
  state.range = from === undefined ? null : [from, to];
  layLanes(); box.dispatchEvent(new Event("range"));
}
function restore() {
  const hash = location.hash.slice(1);
  if (!/^(v|i|g|e)=/.test(hash)) { reveal(hash); return false; }
  const p = new URLSearchParams(hash);
  for (const k of fields) { state[k] = p.get(k) || ""; const el = box.querySelector(`[data-filter=${k}]`); if (el) el.value = state[k]; }
  for (const k of ["q", "m"]) kept[k] = p.get(k) || "";
  const r = span(p.get("r")); if (r) only(...r); else if (state.range) only();
  state.at = p.has("i") ? Math.min(d.incidents.length, Math.max(1, +p.get("i") || 1)) - 1 : -1;
  layLanes(); tellIncident();
  const m = span(p.get("v"));
  if (m) view(...m, true); else if (state.at >= 0) view(...d.incidents[state.at].w, true);
  if (p.has("g")) { for (let i = 0; i < nG; i++) if (gname(i) === p.get("g")) pinGrant(i); }
  else if (p.has("e")) { const i = place(+p.get("e")); if (i !== undefined) pinEvent(i, !m); }
  return true;
}
// An anchor inside of what is folded is shown.
function reveal(id) { const el = id && $(id); for (let e = el; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true; if (el) el.scrollIntoView({block: "nearest"}); }

function go(i, quiet) {
  if (!d.incidents.length || i < 0 || i >= d.incidents.length) return;
  state.at = i; state.pin = null;
  layLanes(); tellIncident(); view(...d.incidents[i].w, quiet); pinBox.hidden = true;
}
function next(by) {
  if (!listed.length) return;
  const k = listed.indexOf(state.at); go(listed[k < 0 ? (by > 0 ? 0 : listed.length - 1) : (k + by + listed.length) % listed.length]);
}
const el = (tag, text, attrs) => { const e = document.createElement(tag); if (text) e.textContent = text; for (const k in attrs || {}) e.setAttribute(k, attrs[k]); return e; };
function tellIncident() {
  const x = d.incidents[state.at], out = $("tl-story"), at = $("tl-at");
  proven = new Set(x && x.pr);
  out.replaceChildren();
  at.textContent = x ? `incident ${listed.indexOf(state.at) + 1} of ${listed.length}` : `${listed.length} incident${listed.length === 1 ? "" : "s"}`;
  if (!x) return;
  out.append(el("p", x.head, {class: "tl-head"}));
  if (state.at === 0 && $("s0-0")) { out.append(el("p", "The story of this incident is at the top of the page.", {class: "muted"})); say.textContent = at.textContent + ": " + x.head; return; }
  const ol = el("ol", "", {class: "tl-steps"});
  for (const s of x.steps) {
    const li = el("li", "", s.bad ? {class: "bad"} : {}), a = el("a", sec(s.t), {href: s.ev >= 0 ? "#e=" + s.ev : "#", class: "t"});
    a.addEventListener("click", e => { e.preventDefault(); const p = place(s.ev); if (p !== undefined) pinEvent(p); else view(s.t - (state.to - state.from) / 2, s.t + (state.to - state.from) / 2); });
    li.append(a, el("span", s.x)); ol.append(li);
  }
  out.append(ol, el("p", "Cause: " + x.cause + ".", {class: "muted"}));
  const links = el("p", "Findings: ");
  x.links.slice(0, 8).forEach(id => { if ($(id)) links.append(el("a", id.replace(/^f-(.*)-(\d+)$/, (_, c, n) => c + " " + (+n + 1)), {href: "#" + id}), " "); });
  out.append(links);
  say.textContent = at.textContent + ": " + x.head;
}

// ---- what is under the pointer
const about = g => {
  const state0 = ["granted", "refused", "of unknown outcome"][G.o[g]];
  const out = [`grant ${gname(g)}: client ${d.clients[G.c[g]]}, lock ${d.locks[G.l[g]]}${shared.has(g) ? ", shared" : ""}, ${state0}`, `requested at ${sec(gs[g])}` + (gf[g] >= 0 ? `, answered at ${sec(gf[g])}` : ", no answer")];
  if (G.o[g] === 0) out.push(`held from ${sec(gf[g])} to ${sec(gt[g])} (${len(gt[g] - gf[g])})`);
  if (gd[g] >= 0) out.push(`lease until ${sec(gd[g])}` + (gd[g] < gt[g] ? `, ${len(gt[g] - gd[g])} before the client stopped using the lock` : ""));
  if (gk[g] > gt[g]) out.push(`kept by the store until ${sec(gk[g])}, without a holder`);
  if (tokens[g]) out.push("token " + tokens[g]);
  return out;
};
const aboutEvent = i => {
  const k = kinds[E.k[i]], out = [`event ${eindex(i)} at ${(et[i] / 1e6).toFixed(6)} s: ${k.f} ${k.type}${k.err ? " (" + k.err + ")" : ""}`, "recorded by " + d.parties[E.p[i]]];
  if (k.reg) out.push("register " + k.reg + (ev[i] >= 0 ? (k.f === "write" ? `: ${E.v[ev[i]]} \u2192 ${E.v[ev[i] + 1]}` : `: ${E.v[ev[i]]}`) : ""));
  if (eg[i] >= 0) out.push("grant " + gname(eg[i]) + (tokens[eg[i]] ? ", token " + tokens[eg[i]] : "") + (gd[eg[i]] >= 0 ? `, lease left: ${len(gd[eg[i]] - et[i])}` : ""));
  if (texts[i]) out.push(texts[i]);
  return out;
};
function under(x, y) {
  const l = lanes.find(l => y >= l.y && y < l.y + l.h), t = T(x);
  if (!l) return null;
  if (x < left) return {lane: l, label: true, text: [l.name]}; // which may be cut
  const slack = (state.to - state.from) / (width - left) * 5, hit = {t, lane: l, text: []};
  const near = list => { const a = lower(list.length, i => et[list[i]], t - slack); let best, gap = Infinity; for (let j = a; j < list.length && et[list[j]] <= t + slack && j < a + 400; j++) { const g = Math.abs(et[list[j]] - t); if (g < gap) { gap = g; best = list[j]; } } return best; };
  if (l.kind === "client" || l.kind === "register") {
    const e = near(l.kind === "client" ? evClient[l.i] : evReg[l.i]);
    if (e !== undefined) { hit.e = e; hit.t = et[e]; hit.text = aboutEvent(e); }
  }
  if (l.kind === "client" && hit.e === undefined) {
    const list = byClient[l.i], a = lower(list.length, i => gs[list[i]], t + slack);
    for (let j = a - 1; j >= 0 && j > a - 40; j--) { const g = list[j]; if (Math.max(gk[g], gf[g]) >= t - slack) { hit.g = g; hit.text = about(g); break; } }
  }
  if (l.kind === "lock") { const p = inside[l.i].find(p => p.from <= t && t < p.to); if (p) { hit.text = [`${l.name}: ${p.who.length} holders from ${sec(p.from)} to ${sec(p.to)}`, p.who.map(gname).join(", ")]; hit.g = p.who[0]; } }
  if (l.kind === "server") { const r = d.roles.find(r => r.s === l.i && r.b <= t && (r.e < 0 || t < r.e)); if (r) hit.text = [`${l.name}: ${r.r} since ${sec(r.b)}`]; }
  for (const f of d.faults) if (f.ok && f.b <= t + slack && t - slack <= (f.e < 0 ? Math.max(f.p, f.b) : f.e) && ((l.kind === "client" && f.c.includes(l.i)) || (l.kind === "server" && f.s.includes(l.i)))) { hit.f = f; hit.text.push(`${f.name} #${f.id}: began at ${sec(f.b)}` + (f.p >= 0 ? `, effect observed at ${sec(f.p)}` : "") + (f.e >= 0 ? `, ended at ${sec(f.e)}` : ""), f.text); }
  const x0 = d.incidents[state.at];
  hit.text.push(sec(t) + (x0 ? `, ${len(Math.abs(t - x0.b))} ${t < x0.b ? "before" : "after"} the violation` : ""));
  return hit;
}
function showTip(hit, x, y) {
  hover = hit;
  tip.hidden = !hit; draw();
  if (!hit) return;
  tip.replaceChildren(...hit.text.map(t => el("div", t)));
  tip.style.left = Math.min(x + 14, width - tip.offsetWidth - 4) + "px"; tip.style.top = (main.offsetTop + y + 16) + "px";
}
function pinHit(hit) {
  if (!hit) return;
  if (hit.label) return;
  if (hit.e !== undefined) pinEvent(hit.e, false); else if (hit.g !== undefined) pinGrant(hit.g); else if (hit.f) pinFault(hit.f);
}
function pinEvent(i, move = true) {
  state.pin = {e: i, t: et[i]}; if (eg[i] >= 0) state.pin.g = eg[i];
  if (move && (et[i] < state.from || et[i] > state.to)) { const w = state.to - state.from; view(et[i] - w / 2, et[i] + w / 2); }
  panel(aboutEvent(i), eg[i]);
}
function pinGrant(g) { state.pin = {g}; panel(about(g), g); }
function pinFault(f) { state.pin = {t: f.b}; panel([`${f.name} #${f.id}`, f.text, f.tied ? "triggered " + f.tied : ""], -1, f); }
// The pinned grant, the fault that hurt it, and whom it met inside.
function panel(lines, g, fault) {
  pinBox.hidden = false; pinBox.replaceChildren(...lines.filter(Boolean).map(t => el("div", t)));
  if (g >= 0) {
    const met = byLock[G.l[g]].filter(o => o !== g && gf[o] < gt[g] && gf[g] < gt[o]);
    if (met.length) { const p = el("div", "other holders at that time: "); met.slice(0, 8).forEach(o => { const b = el("button", gname(o)); b.addEventListener("click", () => pinGrant(o)); p.append(b, " "); }); pinBox.append(p); }
    for (const f of d.faults) if (f.ok && f.c.includes(G.c[g]) && f.b < gt[g] && (f.e < 0 ? d.end : f.e) > gs[g]) { const b = el("button", f.name + " #" + f.id); b.addEventListener("click", () => pinFault(f)); const p = el("div", "affected by the fault "); p.append(b); pinBox.append(p); }
    const mine = evClient[G.c[g]].filter(i => eg[i] === g), p = el("div", "events: ");
    mine.slice(0, 24).forEach(i => { const b = el("button", String(eindex(i)), {title: aboutEvent(i)[0]}); b.addEventListener("click", () => pinEvent(i)); p.append(b, " "); }); pinBox.append(p);
    d.incidents.forEach((x, i) => { if (!x.g.includes(g)) return; const b = el("button", "incident " + (i + 1)); b.addEventListener("click", () => go(i)); const p = el("div", "in "); p.append(b, " "); x.links.slice(0, 4).forEach(id => { if ($(id)) p.append(el("a", id.replace(/^f-/, ""), {href: "#" + id}), " "); }); pinBox.append(p); });
  }
  const index = state.pin && state.pin.e !== undefined ? eindex(state.pin.e) : -1, line = index >= 0 && $("e" + index);
  if (line) { const p = el("div"); p.append(el("a", "event " + index + " in the evidence", {href: "#e" + index})); pinBox.append(p); }
  const close = el("button", "close (Esc)"); close.addEventListener("click", unpin); pinBox.append(close);
  say.textContent = lines.join("; "); save(); draw();
}
function unpin() { state.pin = null; pinBox.hidden = true; save(); draw(); }

// ---- input
const where = (canvas, e) => { const r = canvas.getBoundingClientRect(); return [e.clientX - r.left, e.clientY - r.top]; };
const fingers = new Map(); let drag = null;
main.addEventListener("wheel", e => { if (!e.ctrlKey && !e.shiftKey && document.activeElement !== main) return; e.preventDefault(); const [x] = where(main, e); e.shiftKey ? pan(Math.sign(e.deltaY) * .1) : zoom(Math.exp(e.deltaY * .0015), T(x)); }, {passive: false});
main.addEventListener("pointerdown", e => { main.setPointerCapture(e.pointerId); const [x, y] = where(main, e); fingers.set(e.pointerId, [x, y]); drag = {x, y, from: state.from, to: state.to, moved: false, gap: 0}; if (fingers.size === 2) { const [a, b] = [...fingers.values()]; drag.gap = Math.abs(a[0] - b[0]); } });
main.addEventListener("pointermove", e => {
  const [x, y] = where(main, e);
  if (!drag) { showTip(under(x, y), x, y); return; }
  fingers.set(e.pointerId, [x, y]);
  const per = (drag.to - drag.from) / (width - left);
  if (fingers.size === 2 && drag.gap > 0) { const [a, b] = [...fingers.values()], by = drag.gap / Math.max(8, Math.abs(a[0] - b[0])), t = (drag.from + drag.to) / 2; drag.moved = true; view(t - (t - drag.from) * by, t + (drag.to - t) * by); return; }
  if (Math.abs(x - drag.x) > 3) drag.moved = true;
  if (drag.moved) { tip.hidden = true; view(drag.from - (x - drag.x) * per, drag.to - (x - drag.x) * per); }
});
const up = e => { const [x, y] = where(main, e); fingers.delete(e.pointerId); if (drag && !drag.moved && e.type === "pointerup") pinHit(under(x, y)); if (!fingers.size) drag = null; };
main.addEventListener("pointerup", up); main.addEventListener("pointercancel", up);
main.addEventListener("pointerleave", () => { if (!drag) showTip(null); });
main.addEventListener("dblclick", e => { const [x] = where(main, e); zoom(.4, T(x)); });
let brush = null;
over.addEventListener("pointerdown", e => { over.setPointerCapture(e.pointerId); const [x] = where(over, e), t = x / over.clientWidth * d.end; brush = t >= state.from && t <= state.to && state.to - state.from < d.end * .98 ? {move: t, from: state.from, to: state.to} : {start: t}; });
over.addEventListener("pointermove", e => { if (!brush) return; const [x] = where(over, e), t = x / over.clientWidth * d.end; if (brush.move !== undefined) view(brush.from + t - brush.move, brush.to + t - brush.move); else { brush.moved = true; view(Math.min(t, brush.start), Math.max(t, brush.start)); } });
over.addEventListener("pointerup", e => { const b = brush; brush = null; if (b && b.start !== undefined && !b.moved) { const w = (state.to - state.from) / 2; view(b.start - w, b.start + w); } else if (b && (b.moved || state.range)) choose(); });
function choose() { only(state.from, state.to); filtered(); }
// All events of what is shown, by the keyboard: , and . go from one to the next.
function stepEvent(by) {
  let i = state.pin && state.pin.e !== undefined ? state.pin.e + by : lower(nE, i => et[i], by > 0 ? state.from : state.to) - (by > 0 ? 0 : 1);
  while (i >= 0 && i < nE && clientOf.get(d.parties[E.p[i]]) === undefined) i += by;
  if (i >= 0 && i < nE) pinEvent(i);
}
const keys = {
  n: () => next(1), p: () => next(-1), "+": () => zoom(.5), "=": () => zoom(.5), "-": () => zoom(2), ArrowLeft: () => pan(-.2), ArrowRight: () => pan(.2), PageUp: () => pan(-.9), PageDown: () => pan(.9),
  Home: () => { if (state.range) { only(); filtered(); } view(...whole); }, "0": () => keys.Home(), i: () => state.at >= 0 && view(...d.incidents[state.at].w), ".": () => stepEvent(1), ",": () => stepEvent(-1), Escape: unpin,
};
const global = new Set(["n", "p", "Escape"]);
document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  if (!keys[e.key] || !(global.has(e.key) || e.target === main || e.target === over)) return;
  e.preventDefault(); keys[e.key]();
});
box.addEventListener("click", e => { const what = e.target.dataset && e.target.dataset.do; if (what) ({next: () => next(1), prev: () => next(-1), in: () => zoom(.5), out: () => zoom(2), left: () => pan(-.4), right: () => pan(.4), all: () => keys.Home(), here: keys.i, only: choose, clear})[what](); });
function clear() { for (const f of box.querySelectorAll("[data-filter]")) f.value = ""; for (const k of fields) state[k] = ""; only(); filtered(); box.dispatchEvent(new Event("clear")); }
function filtered() { layLanes(); if (state.at >= 0 && !listed.includes(state.at)) state.at = -1; layLanes(); tellIncident(); save(); draw(); }
for (const f of box.querySelectorAll("[data-filter]")) f.addEventListener("input", () => { state[f.dataset.filter] = f.value; filtered(); });
// Links of the page into the picture.
document.addEventListener("click", e => {
  const a = e.target.closest && e.target.closest("[data-event],[data-incident]");
  if (!a) return;
  const i = a.dataset.incident !== undefined ? +a.dataset.incident : -1, p = a.dataset.event !== undefined ? place(+a.dataset.event) : undefined;
  if (i < 0 && p === undefined) return;
  e.preventDefault();
  if (i >= 0) go(i);
  if (p !== undefined) { if (i < 0 && (et[p] < state.from || et[p] > state.to)) { const w = Math.min(state.to - state.from, d.end / 4); view(et[p] - w / 2, et[p] + w / 2); } pinEvent(p); }
  box.scrollIntoView({block: "start"}); main.focus({preventScroll: true});
});
for (const b of document.querySelectorAll("[data-copy]:not([data-copy=markdown]):not([data-copy=svg])")) { b.hidden = false; b.addEventListener("click", () => { const text = $(b.dataset.copy).textContent, done = () => { b.textContent = "copied"; setTimeout(() => { b.textContent = "copy"; }, 1500); }; if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => pick(b)); else pick(b); }); }
function pick(b) { const r = document.createRange(); r.selectNodeContents($(b.dataset.copy)); const s = getSelection(); s.removeAllRanges(); s.addRange(r); }
let opened = [];
addEventListener("beforeprint", () => { opened = [...document.querySelectorAll("details:not([open])")]; opened.forEach(x => { x.open = true; }); });
addEventListener("afterprint", () => { opened.forEach(x => { x.open = false; }); });
addEventListener("hashchange", restore);
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours(); draw(); });

// ---- begin
const fill = (name, values) => { const s = box.querySelector(`[data-filter=${name}]`); if (!s) return; for (const [v, text] of values) s.append(el("option", text, {value: v})); s.closest("label").hidden = values.length < 2; };
fill("lock", d.locks.map(n => [n, n])); fill("client", d.clients.map(n => [n, n]));
fill("check", [...new Set(d.incidents.flatMap(x => x.checks))].map(n => [n, n])); fill("cls", [...new Set(d.incidents.map(x => x.class))].map(n => [n, n]));
fill("fault", d.faults.filter(f => f.ok).slice(0, 200).map(f => [String(f.id), f.name + " #" + f.id]));
if (d.left) $("tl-left").textContent = d.left;
box.hidden = false; document.documentElement.classList.add("scripted");
colours(); layLanes();
if (!restore()) { if (d.incidents.length) go(0, true); else { tellIncident(); view(0, d.end, true); } }
// What search.js and stage.js need.
const words = i => { const k = kinds[E.k[i]]; return [k.f, k.type, k.err, k.reg, d.parties[E.p[i]], eg[i] < 0 ? "" : gname(eg[i]), eindex(i), texts[i]].filter(Boolean).join(" ").toLowerCase(); };
box.timeline = {n: nE, at: i => et[i], words, state, kept, save, view, draw, pinEvent, show: keys.Home, sec};
drawMain(); drawOver(); main.dataset.ready = "1";
})();
