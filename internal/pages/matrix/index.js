"use strict";
(() => {
  const table = document.getElementById("cells"), body = table.tBodies[0], rows = [...body.rows];
  const filter = document.getElementById("filter"), odd = document.getElementById("odd"), shown = document.getElementById("shown");
  const texts = rows.map(r => (r.id + " " + [...r.cells].slice(0, 5).map(c => c.textContent).join(" ")).toLowerCase());
  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let n = 0;
    rows.forEach((r, i) => {
      const ok = words.every(w => texts[i].includes(w)) && (!odd.checked || !["good", "off"].includes(r.dataset.kind));
      r.hidden = !ok;
      n += ok;
    });
    shown.textContent = n + " of " + rows.length;
  };
  filter.addEventListener("input", show);
  odd.addEventListener("change", show);
  show();
  const key = (row, i) => {
    const c = row.cells[i], v = c.dataset.v;
    if (v === undefined) return c.textContent.trim();
    return v === "" ? null : isNaN(v) ? v : +v;
  };
  [...table.tHead.rows[0].cells].forEach((th, i) => {
    const b = th.querySelector("button");
    if (!b) return;
    b.addEventListener("click", () => {
      const up = th.getAttribute("aria-sort") !== "ascending";
      [...table.tHead.rows[0].cells].forEach(o => o.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      const keyed = rows.map((r, n) => [key(r, i), n, r]);
      keyed.sort(([a, m], [b, n]) => {
        if (a === null || b === null) return (a === null) - (b === null) || m - n; // what was not measured comes last
        const c = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
        return (up ? c : -c) || m - n;
      });
      body.append(...keyed.map(k => k[2]));
    });
  });
  const reveal = () => { // a filtered row that a link leads to is shown again
    const r = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (r && r.hidden) { filter.value = ""; odd.checked = false; show(); r.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
