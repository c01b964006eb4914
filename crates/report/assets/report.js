"use strict";
// Replaces each drawing by a zoomable chart when it becomes visible. Without this script, the drawings remain.
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const css = getComputedStyle(document.documentElement);
  const colour = (name) => css.getPropertyValue(name).trim();
  const LIMIT = colour("--limit"), SOFT = colour("--soft"), GRID = colour("--grid");
  // The colours of lines, by the CSS class of the drawing.
  const LOOKS = { max: "--deep", p99: "--mid", p50: "--low", only: "--mid" };
  const stroke = (look) => colour(LOOKS[look] || "--" + look);
  const FONT = "11px " + getComputedStyle(document.body).fontFamily;
  const HEIGHT = 150, FLOOR = 0.7;
  document.documentElement.classList.add("js");

  function trim(value) { return String(Number(value.toPrecision(3))); }
  function duration(ns) {
    if (ns == null) return "–";
    const a = Math.abs(ns);
    if (a < 999.5) return trim(ns) + " ns";
    if (a < 999500) return trim(ns / 1e3) + " µs";
    if (a < 999500000) return trim(ns / 1e6) + " ms";
    return trim(ns / 1e9) + " s";
  }
  function instant(seconds, span) {
    if (seconds == null) return "–";
    const digits = span < 1 ? 3 : span < 20 ? 1 : 0;
    if (seconds < 180) return seconds.toFixed(digits) + " s";
    const h = Math.floor(seconds / 3600), m = Math.floor(seconds / 60) % 60, s = seconds % 60;
    const tail = String(m).padStart(2, "0") + ":" + s.toFixed(digits).padStart(digits ? 3 + digits : 2, "0");
    return h < 48 ? h + ":" + tail : Math.floor(h / 24) + " d " + String(h % 24).padStart(2, "0") + ":" + tail;
  }
  function many(count) {
    if (count == null) return "–";
    return count >= 1e9 ? count / 1e9 + "G" : count >= 1e6 ? count / 1e6 + "M" : count >= 1e3 ? count / 1e3 + "k" : String(count);
  }
  function grouped(count) { return count == null ? "–" : String(count).replace(/\B(?=(\d{3})+$)/g, " "); }

  // Ends of a logarithmic axis: 1, 2 or 5 times a power of ten.
  function roundDown(v) { const p = 10 ** Math.floor(Math.log10(v)); return (v >= 5 * p ? 5 : v >= 2 * p ? 2 : 1) * p; }
  function roundUp(v) { const p = 10 ** Math.floor(Math.log10(v)); return (v <= p * 1.000001 ? 1 : v <= 2 * p ? 2 : v <= 5 * p ? 5 : 10) * p; }
  function logSplits(u, axis, min, max) {
    const decades = Math.log10(max / min);
    const steps = decades <= 1.7 ? [1, 2, 5] : decades <= 3.2 ? [1, 3] : [1];
    const out = [];
    for (let p = Math.floor(Math.log10(min)); p <= Math.ceil(Math.log10(max)); p++)
      for (const s of steps) { const v = s * 10 ** p; if (v >= min * 0.999 && v <= max * 1.001) out.push(v); }
    if (out.length > 1) return out;
    const step = (max - min) / 4;
    return [0, 1, 2, 3, 4].map((n) => min + n * step);
  }
  function logAxis(label) {
    return { splits: logSplits, filter: (u, splits) => splits, values: (u, splits) => splits.map(label) };
  }
  function axis(side, more) {
    return Object.assign({ side, stroke: SOFT, font: FONT, grid: { stroke: GRID, width: 1 }, ticks: { show: false }, gap: 5, size: side === 3 ? 56 : 26 }, more);
  }
  function limitLine(limit, scale) {
    return (u) => {
      if (limit == null) return;
      const { ctx, bbox } = u, along = scale === "x";
      const at = Math.round(u.valToPos(limit, scale, true));
      const [from, to] = along ? [bbox.left, bbox.left + bbox.width] : [bbox.top, bbox.top + bbox.height];
      if (at < from - 1 || at > to + 1) return;
      const ratio = devicePixelRatio || 1;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = LIMIT;
      ctx.lineWidth = 2 * ratio;
      ctx.setLineDash([6 * ratio, 3 * ratio]);
      ctx.beginPath();
      if (along) { ctx.moveTo(at, bbox.top); ctx.lineTo(at, bbox.top + bbox.height); }
      else { ctx.moveTo(bbox.left, at); ctx.lineTo(bbox.left + bbox.width, at); }
      ctx.stroke();
      ctx.font = "600 " + 11 * ratio + "px " + getComputedStyle(document.body).fontFamily;
      const text = "limit " + duration(limit);
      const wide = ctx.measureText(text).width;
      ctx.textAlign = "left";
      ctx.textBaseline = "alphabetic";
      if (along) ctx.fillText(text, Math.min(at - wide / 2, bbox.left + bbox.width - wide), bbox.top - 5 * ratio);
      else ctx.fillText(text, bbox.left + bbox.width - wide, at - 5 * ratio);
      ctx.restore();
    };
  }
  function eventMarks(u) {
    const { ctx, bbox } = u, ratio = devicePixelRatio || 1;
    ctx.save();
    for (const [at, trouble] of data.events) {
      const x = Math.round(u.valToPos(at, "x", true));
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.strokeStyle = ctx.fillStyle = colour(trouble ? "--doubt" : "--faint");
      ctx.setLineDash([2 * ratio, 3 * ratio]);
      ctx.lineWidth = ratio;
      ctx.beginPath(); ctx.moveTo(x, bbox.top); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
      ctx.beginPath(); ctx.moveTo(x - 4 * ratio, bbox.top - 6 * ratio); ctx.lineTo(x + 4 * ratio, bbox.top - 6 * ratio); ctx.lineTo(x, bbox.top); ctx.fill();
    }
    ctx.restore();
  }
  // A drag selects its own range; a wider range shows everything, including the limit.
  function whole(low, high, from, to) {
    return (u, min, max) => (min == null || (min <= low && max >= high) ? [from, to] : [min, max]);
  }
  function base(figure) {
    return {
      width: figure.clientWidth, height: HEIGHT, padding: [18, 24, 0, 0],
      cursor: { drag: { x: true, y: false }, points: { size: 6 } },
      legend: { live: true },
      hooks: { setScale: [(u, key) => {
        if (key !== "x") return;
        figure.dataset.min = u.scales.x.min;
        figure.dataset.max = u.scales.x.max;
      }] },
    };
  }

  // The bars of the histograms as columns: lower edges, and counts.
  function barTable(one) {
    const bars = one.bars.filter((bar) => bar.edges.length > 1);
    if (bars.length === 0) return null;
    // A bar that exists only in another histogram is empty.
    const [edges, ...counts] = uPlot.join(bars.map((bar) => [bar.edges, bar.counts]));
    return { names: bars.map((bar) => bar.name), looks: bars.map((bar) => bar.look), rows: [edges, ...counts.map((row) => row.map((n) => n ?? 0))] };
  }
  function timeTable(one) {
    let at = [];
    const tables = one.lines.map((line) => { at = line.at || at; return [at, line.ns]; });
    if (at.length === 0) return null;
    return { names: one.lines.map((line) => line.name), looks: one.lines.map((line) => line.look), rows: uPlot.join(tables) };
  }

  function bars(figure, one) {
    const table = barTable(one);
    if (table === null) return null;
    // A logarithmic axis has no zero: it is drawn at the lower end.
    const [edges, ...counts] = table.rows.map((row, at) => (at === 0 ? row : row.map((n) => n || FLOOR)));
    const low = edges[0], high = edges[edges.length - 1];
    const from = roundDown(Math.min(low, one.limit || low) / 1.05), to = roundUp(Math.max(high, one.limit || high) * 1.05);
    const top = 10 ** Math.ceil(Math.log10(Math.max(10, ...counts.flat())));
    const options = base(figure);
    options.scales = {
      x: { time: false, distr: 3, range: whole(low, high, from, to) },
      y: { distr: 3, range: () => [FLOOR, top] },
    };
    options.axes = [axis(2, logAxis(duration)), axis(3, logAxis(many))];
    const stepped = uPlot.paths.stepped({ align: 1 });
    const outline = (name, at) => ({
      label: name, stroke: stroke(table.looks[at]), width: 1.5, paths: stepped, points: { show: false }, value: (u, v) => grouped(v === FLOOR ? 0 : v),
      fill: counts.length === 1 ? colour("--pale") : undefined, fillTo: FLOOR,
    });
    options.series = [{ label: "from", value: (u, v) => duration(v) }, ...table.names.map(outline)];
    options.hooks.draw = [limitLine(one.limit, "x")];
    return new uPlot(options, [edges, ...counts], figure.querySelector(".plot"));
  }

  function time(figure, one) {
    const table = timeTable(one);
    if (table === null) return null;
    const at = table.rows[0];
    const options = base(figure);
    // The cursor shows the same instant in all charts over time.
    options.cursor.sync = { key: "time", scales: ["x", null] };
    options.scales = {
      x: { time: false, range: whole(at[0], at[at.length - 1], one.span[0], one.span[1] || 1) },
      y: { distr: 3, range: (u, low, high) => {
        low = low > 0 ? low : 1; high = high > 0 ? high : 10;
        return [roundDown(Math.min(low, one.limit || low) / 1.05), roundUp(Math.max(high, one.limit || high) * 1.05)];
      } },
    };
    const span = (u) => u.scales.x.max - u.scales.x.min;
    options.axes = [
      axis(2, { incrs: [0.001, 0.01, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400], space: 64,
        values: (u, splits) => splits.map((s) => instant(s, span(u))) }),
      axis(3, logAxis(duration)),
    ];
    const line = (name, place) => ({
      label: name, stroke: stroke(table.looks[place]), width: table.looks[place] === "max" ? 2 : 1.5, points: { show: at.length < 40, size: at.length === 1 ? 7 : 4 }, value: (u, v) => duration(v),
    });
    options.series = [{ label: "at", value: (u, v) => instant(v, 1) + localTime(v) }, ...table.names.map(line)];
    options.hooks.drawAxes = [eventMarks];
    options.hooks.draw = [limitLine(one.limit, "y"), singles(table)];
    return new uPlot(options, table.rows, figure.querySelector(".plot"));
  }
  // The value of each line of one point: without it, the chart of a run with one window shows dots only.
  function singles(table) {
    const lines = table.names.map((name, at) => ({ name, at, there: table.rows[at + 1].flatMap((v, i) => (v == null ? [] : [i])) }));
    const alone = lines.filter((line) => line.there.length === 1);
    return (u) => {
      const { ctx } = u, ratio = devicePixelRatio || 1;
      const texts = alone.map(({ name, at, there: [i] }) => {
        const v = table.rows[at + 1][i];
        return { x: u.valToPos(table.rows[0][i], "x", true), y: u.valToPos(v, "y", true), text: name + " " + duration(v), look: table.looks[at] };
      }).sort((a, b) => a.y - b.y);
      ctx.save();
      ctx.font = 11 * ratio + "px " + getComputedStyle(document.body).fontFamily;
      ctx.textAlign = "left";
      ctx.textBaseline = "middle";
      let free = -Infinity;
      for (const one of texts) {
        const y = Math.max(one.y, free);
        free = y + 12 * ratio;
        ctx.fillStyle = stroke(one.look);
        ctx.fillText(one.text, one.x + 8 * ratio, y);
      }
      ctx.restore();
    };
  }

  // An instant of the run in the local time of the reader.
  function localTime(seconds) {
    return seconds == null ? "" : " (" + new Date(data.started_ms + seconds * 1e3).toLocaleTimeString() + ")";
  }
  const started = document.getElementById("started");
  const onClock = { month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" };
  started.append(" = " + new Date(data.started_ms).toLocaleString(undefined, onClock) + " in your time zone");

  // The contents of a chart as CSV (RFC 4180).
  function csv(figure) {
    const one = data.panels[Number(figure.dataset.panel)], kind = figure.dataset.chart;
    const table = kind === "bars" ? barTable(one) : timeTable(one);
    if (table === null) return "";
    const cell = (value) => (value == null ? "" : /[",\r\n]/.test(value) ? '"' + value.replace(/"/g, '""') + '"' : String(value));
    const head = [kind === "bars" ? "from_ns" : "at_s", ...table.names];
    const rows = table.rows[0].map((_, at) => table.rows.map((row) => row[at]));
    return [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
  }
  for (const link of document.querySelectorAll("[data-csv]")) {
    link.addEventListener("click", () => {
      const figure = link.closest("figure");
      link.download = data.run + "-" + data.panels[Number(figure.dataset.panel)].id + "-" + link.dataset.csv + ".csv";
      link.href = URL.createObjectURL(new Blob([csv(figure)], { type: "text/csv" }));
    });
  }

  const charts = new Map();
  function show(figure) {
    if (charts.has(figure) || figure.clientWidth === 0) return;
    const plot = document.createElement("div");
    plot.className = "plot";
    figure.append(plot);
    const one = data.panels[Number(figure.dataset.panel)];
    const chart = figure.dataset.chart === "bars" ? bars(figure, one) : time(figure, one);
    if (chart === null) { plot.remove(); return; }
    charts.set(figure, chart);
    figure.classList.add("live");
    new ResizeObserver(() => {
      if (figure.clientWidth > 0 && figure.clientWidth !== chart.width) chart.setSize({ width: figure.clientWidth, height: HEIGHT });
    }).observe(figure);
  }
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { watch.unobserve(entry.target); show(entry.target); }
  }, { rootMargin: "400px" });
  for (const figure of document.querySelectorAll(".chart[data-panel]")) watch.observe(figure);

})();
