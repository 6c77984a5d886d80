// The list goes on while runs are made: new rows come first, known ones change. Without it the page is as it was when it was asked for.
"use strict";
(() => {
  const rows = document.getElementById("rows"), news = document.getElementById("news");
  const cell = (parent, text, name) => { const td = document.createElement("td"); if (name) td.className = name; td.textContent = text; parent.append(td); return td; };
  const make = (e) => {
    const tr = document.createElement("tr");
    tr.dataset.path = e.path;
    tr.className = "new";
    const tag = document.createElement("span");
    tag.className = "tag " + e.verdict;
    tag.textContent = e.verdict;
    cell(tr, "").append(tag);
    const a = document.createElement("a");
    a.href = e.href;
    a.textContent = e.name;
    cell(tr, e.kind === "suite" ? "suite " : "").append(a);
    cell(tr, e.faults || "");
    cell(tr, e.what);
    cell(tr, "", "cause");
    cell(tr, e.took || "");
    cell(tr, "now");
    cell(tr, e.path, "path");
    return tr;
  };
  const source = new EventSource("/-/events");
  source.addEventListener("entry", (event) => {
    const e = JSON.parse(event.data);
    const old = [...rows.children].find((r) => r.dataset.path === e.path), tr = make(e);
    if (old) old.replaceWith(tr); else if (location.search === "") rows.prepend(tr);
    document.getElementById("live").hidden = false;
    news.textContent = [e.verdict + ":", e.name, e.faults, e.what].join(" ");
  });
  addEventListener("pagehide", () => source.close());
})();
