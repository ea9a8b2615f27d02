"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, of) => Array.from((of || document).querySelectorAll(selector));
  const make = (tag, text) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; return e; };

  // ---- sections, theme -------------------------------------------------------------------------
  const nav = document.querySelector("nav");
  for (const section of all("main > section")) {
    const link = make("a", section.querySelector("h2").textContent);
    link.href = "#" + section.id;
    nav.append(link);
  }
  const isDark = () => root.dataset.theme === "dark" ||
    (root.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
  const turn = () => { root.dataset.theme = isDark() ? "light" : "dark"; drawAll(); };
  document.getElementById("theme").addEventListener("click", turn);

  // ---- panels ----------------------------------------------------------------------------------
  const panels = all(".panel");
  const shown = make("div");
  shown.className = "shown";
  shown.setAttribute("role", "group");
  shown.setAttribute("aria-label", "panels");
  const hiddenAtFirst = new Set(["tileaa", "nvvm", "machine"]);
  const toggles = panels.map((panel, i) => {
    const button = make("button", (i + 1) + " " + panel.dataset.name);
    button.type = "button";
    const show = (on) => { panel.hidden = !on; button.setAttribute("aria-pressed", String(on)); };
    show(!hiddenAtFirst.has(panel.id) && panel.querySelector("li") !== null);
    button.addEventListener("click", () => show(panel.hidden));
    shown.append(button);
    return button;
  });
  if (panels.length) panels[0].parentElement.before(shown);

  // ---- related lines ---------------------------------------------------------------------------
  const byLine = new Map(), byExact = new Map();
  const put = (map, key, item) => { if (!map.has(key)) map.set(key, []); map.get(key).push(item); };
  for (const li of all(".panel li")) {
    if (li.dataset.line !== undefined) put(byLine, li.dataset.line, li);
    for (const key of (li.dataset.exact || "").split(" ")) if (key) put(byExact, key, li);
  }
  let lit = [], current = null, kept = false;
  const related = (li) => {
    const same = li.dataset.line === undefined ? [] : byLine.get(li.dataset.line);
    const exact = (li.dataset.exact || "").split(" ").flatMap((key) => byExact.get(key) || []);
    return { same, exact };
  };
  const dim = () => { for (const li of lit) li.classList.remove("same", "exact", "current"); lit = []; };
  const light = (li) => {
    dim();
    current = li;
    if (!li) return;
    const { same, exact } = related(li);
    for (const other of same) { other.classList.add("same"); lit.push(other); }
    for (const other of exact) { other.classList.add("exact"); lit.push(other); }
    li.classList.add("current");
    lit.push(li);
  };
  // Brings the first related line of every other panel into view, without moving the page.
  const follow = (li) => {
    const home = li.closest(".panel");
    const { same, exact } = related(li);
    for (const panel of panels) {
      if (panel === home || panel.hidden) continue;
      const target = exact.find((x) => panel.contains(x)) || same.find((x) => panel.contains(x));
      if (target) reveal(target);
    }
  };
  const reveal = (li) => {
    const list = li.parentElement;
    const top = li.offsetTop - list.offsetTop;
    if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 30) list.scrollTop = top - list.clientHeight / 3;
  };
  for (const panel of panels) {
    panel.addEventListener("mouseover", (event) => {
      const li = event.target.closest("li");
      if (li && !kept) light(li);
    });
    panel.addEventListener("click", (event) => {
      const li = event.target.closest("li");
      if (!li) return;
      kept = !(kept && li === current);
      light(li);
      follow(li);
    });
  }

  // ---- keyboard --------------------------------------------------------------------------------
  const visible = () => panels.filter((panel) => !panel.hidden && panel.querySelector("li"));
  const go = (li) => { if (!li) return; kept = true; light(li); reveal(li); follow(li); };
  const step = (by) => {
    if (!current) { const first = visible()[0]; return go(first && first.querySelector("li")); }
    const next = by > 0 ? current.nextElementSibling : current.previousElementSibling;
    go(next);
  };
  const aside = (by) => {
    const list = visible();
    if (!current) return step(1);
    const at = list.indexOf(current.closest(".panel"));
    const panel = list[(at + by + list.length) % list.length];
    const { same, exact } = related(current);
    go(exact.find((x) => panel.contains(x)) || same.find((x) => panel.contains(x)) || panel.querySelector("li"));
  };
  const nextRelated = () => {
    if (!current) return;
    const home = current.closest(".panel");
    const { same, exact } = related(current);
    const here = [...new Set([...exact, ...same])].filter((li) => home.contains(li));
    here.sort((a, b) => a.value - b.value);
    go(here[(here.indexOf(current) + 1) % here.length]);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const key = event.key;
    if (key === "j") step(1);
    else if (key === "k") step(-1);
    else if (key === "l") aside(1);
    else if (key === "h") aside(-1);
    else if (key === "n") nextRelated();
    else if (key === "t") turn();
    else if (key === "Escape") { kept = false; light(null); }
    else if (key === "Enter" && current && event.target.tagName !== "BUTTON" && event.target.tagName !== "A") { kept = !kept; follow(current); }
    else if (key >= "1" && key <= "9" && toggles[key - 1]) toggles[key - 1].click();
    else return;
    event.preventDefault();
  });

  // ---- layouts ---------------------------------------------------------------------------------
  const place = (bases, number, rank) => {
    const at = new Array(rank).fill(0);
    bases.forEach((base, bit) => { if (number >> bit & 1) base.forEach((c, d) => { at[d] ^= c; }); });
    return at;
  };
  // For every element, who holds it first: the lowest warp, lane and register, or the lowest offset.
  const holders = (map) => {
    const [rows, columns] = extents(map);
    const cells = new Array(rows * columns).fill(null);
    const set = (at, value) => {
      const row = at.slice(0, -1).reduce((sum, c, d) => sum * map.shape[d] + c, 0);
      const i = row * columns + (at.length ? at[at.length - 1] : 0);
      if (i < cells.length && cells[i] === null) cells[i] = value;
      else if (i < cells.length) cells[i].copies += 1;
    };
    const rank = map.shape.length;
    const join = (a, b) => a.map((c, d) => c ^ b[d]);
    if (map.offset.length) {
      for (let o = 0; o < 1 << map.offset.length; o++) set(place(map.offset, o, rank), { offset: o, copies: 1 });
      return cells;
    }
    for (let w = 0; w < 1 << map.warp.length; w++) {
      const warp = place(map.warp, w, rank);
      for (let l = 0; l < 1 << map.lane.length; l++) {
        const lane = join(warp, place(map.lane, l, rank));
        for (let r = 0; r < 1 << map.register.length; r++)
          set(join(lane, place(map.register, r, rank)), { warp: w, lane: l, register: r, copies: 1 });
      }
    }
    return cells;
  };
  const extents = (map) => {
    const columns = map.shape.length ? map.shape[map.shape.length - 1] : 1;
    return [map.shape.slice(0, -1).reduce((a, b) => a * b, 1), columns];
  };
  const colour = (value, of, dark) => "hsl(" + Math.round(value * 360 / Math.max(of, 1)) + " 60% " + (dark ? 38 : 74) + "%)";
  const banks = 32, word = 32;
  const views = {
    warp: (c) => c.warp, lane: (c) => c.lane, register: (c) => c.register,
    offset: (c) => c.offset, bank: (c, map) => Math.floor(c.offset * map.bits / word) % banks,
  };
  const drawings = [];
  for (const figure of all("figure.layout")) {
    const map = JSON.parse(figure.dataset.map);
    const memory = map.offset.length > 0;
    const names = memory ? (map.bits ? ["bank", "offset"] : ["offset"]) : ["lane", "warp", "register"];
    const canvas = figure.querySelector("canvas"), said = figure.querySelector("output");
    const choice = figure.querySelector(".choice");
    let chosen = names[0], cells = null;
    const draw = () => {
      cells = cells || holders(map);
      const [rows, columns] = extents(map);
      const size = Math.max(3, Math.min(18, Math.floor(1024 / Math.max(columns, rows / 2))));
      canvas.width = columns * size;
      canvas.height = rows * size;
      const pen = canvas.getContext("2d"), dark = isDark();
      const value = (c) => views[chosen](c, map);
      const most = cells.reduce((m, c) => c ? Math.max(m, value(c) + 1) : m, 1);
      pen.font = Math.floor(size * 0.55) + "px monospace";
      cells.forEach((c, i) => {
        const x = i % columns * size, y = Math.floor(i / columns) * size;
        pen.fillStyle = c ? colour(value(c), most, dark) : "transparent";
        pen.fillRect(x, y, size, size);
        if (c && size >= 14) { pen.fillStyle = dark ? "#fff" : "#000"; pen.fillText(value(c), x + 1, y + size * 0.7); }
      });
      canvas.dataset.size = size;
    };
    for (const name of names) {
      const button = make("button", name);
      button.type = "button";
      button.setAttribute("aria-pressed", String(name === chosen));
      button.addEventListener("click", () => {
        chosen = name;
        for (const other of all("button", choice)) other.setAttribute("aria-pressed", String(other === button));
        draw();
      });
      choice.append(button);
    }
    canvas.addEventListener("mousemove", (event) => {
      const size = Number(canvas.dataset.size), [, columns] = extents(map);
      const x = Math.floor(event.offsetX / size), y = Math.floor(event.offsetY / size);
      const c = cells && cells[y * columns + x];
      if (!c) return;
      const where = memory
        ? "offset " + c.offset + (map.bits ? ", bank " + views.bank(c, map) : "")
        : "warp " + c.warp + ", lane " + c.lane + ", register " + c.register;
      said.textContent = "(" + y + ", " + x + "): " + where + (c.copies > 1 ? ", and " + (c.copies - 1) + " more" : "");
    });
    drawings.push(draw);
  }
  const drawAll = () => drawings.forEach((draw) => draw());
  drawAll();
})();
