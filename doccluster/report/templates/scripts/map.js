// the map on a canvas: colours, labels, zoom, hover, click and lasso
const hue = (cluster) => (cluster * 137.508 + 200) % 360;
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const clusterColour = (cluster) => `hsl(${hue(cluster).toFixed(0)} ${cluster % 3 === 1 ? 45 : 70}% ${(isDark() ? 62 : 38) + (cluster % 4) * 4}%)`;
// where there are sections, each has one hue, and its clusters are shades of it
const SHADES = 6;
const shadesOf = ({ of, labels }) => {
  const seen = labels.map(() => 0);
  const ranks = of.map((section) => seen[section]++ % SHADES);
  return (cluster) => {
    if (!(cluster < of.length)) return `hsl(0 0% ${isDark() ? 50 : 65}%)`;  // Other
    const turn = (of[cluster] * 360) / labels.length + (of[cluster] % 2) * 8;
    return `hsl(${turn.toFixed(0)} ${70 - ranks[cluster] * 5}% ${(isDark() ? 48 : 30) + ranks[cluster] * 5}%)`;
  };
};
const ZOOM_OF_SECTIONS = 2;  // up to here labels are those of sections
const shareColour = (share) => `hsl(${(215 - 190 * share).toFixed(0)} 65% ${isDark() ? 60 : 42}%)`;

const makeMap = (data, canvas, tip, act) => {
  const pen = canvas.getContext("2d");
  const view = { x: data.grid / 2, y: data.grid / 2, zoom: 1 };
  let mask = null, mode = "move", drawn = [], drag = null;
  const colourOfCluster = data.sections ? shadesOf(data.sections) : clusterColour;

  const side = () => Math.min(canvas.clientWidth, canvas.clientHeight) - 24;
  const scale = () => (side() / data.grid) * view.zoom;
  const toScreen = (x, y) => [(x - view.x) * scale() + canvas.clientWidth / 2, (y - view.y) * scale() + canvas.clientHeight / 2];
  const toMap = (x, y) => [(x - canvas.clientWidth / 2) / scale() + view.x, (y - canvas.clientHeight / 2) / scale() + view.y];

  // documents by colour, so that the pen changes its colour once for each
  const groupOf = () => {
    if (choice.colour === "date") {
      const span = dayNumber(data, data.last);
      return (doc) => (data.days[doc] ? Math.round(((data.days[doc] - 1) / Math.max(1, span - 1)) * 23) : -1);
    }
    if (choice.colour.startsWith("truth-")) {
      const codes = data.truths[Number(choice.colour.slice(6))].codes;
      return (doc) => codes[doc] - 1;
    }
    return (doc) => data.clusters[doc];
  };
  const colourOf = (group) => {
    if (group < 0) return getComputedStyle(canvas).getPropertyValue("--muted");
    return choice.colour === "date" ? shareColour(group / 23) : choice.colour === "cluster" ? colourOfCluster(group) : clusterColour(group);
  };
  const grouped = (wanted) => {
    const group = groupOf(), found = new Map();
    for (let doc = 0; doc < data.n; doc++) {
      if (mask[doc] !== wanted) continue;
      const key = wanted ? group(doc) : 0;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(doc);
    }
    return found;
  };
  const dots = (documents, colour, size) => {
    pen.fillStyle = colour;
    for (const doc of documents) {
      const [x, y] = toScreen(data.x[doc], data.y[doc]);
      if (x > -size && y > -size && x < canvas.clientWidth + size && y < canvas.clientHeight + size) {
        if (size < 4) pen.fillRect(x - size / 2, y - size / 2, size, size);
        else { pen.beginPath(); pen.arc(x, y, size / 2, 0, 7); pen.fill(); }
      }
    }
  };
  const labels = (style, size) => {
    pen.font = `${data.sections && view.zoom < ZOOM_OF_SECTIONS ? "600 13px" : "12px"} system-ui, sans-serif`;
    pen.textBaseline = "middle";
    pen.lineJoin = "round";
    const ofClusters = countsByCluster(data, mask), wanted = [];
    const far = data.sections && view.zoom < ZOOM_OF_SECTIONS ? data.sections : null;
    const { medoids, labels: names } = far || data;
    const counts = far ? names.map(() => 0) : ofClusters;
    if (far) far.of.forEach((section, cluster) => { counts[section] += ofClusters[cluster] || 0; });
    medoids.forEach((doc, number) => {
      if (doc < 0 || !counts[number]) return;
      const [x, y] = toScreen(data.x[doc], data.y[doc]);
      if (x < 0 || y < 0 || x > canvas.clientWidth || y > canvas.clientHeight) return;
      const lines = inLines(names[number]);
      wanted.push({ x, y, lines, n: counts[number], width: Math.max(...lines.map((line) => pen.measureText(line).width)) });
    });
    wanted.sort((one, other) => other.n - one.n);
    const room = makeRoom(canvas.clientWidth, canvas.clientHeight);
    if (!far) for (let doc = 0; doc < data.n; doc++) room.fill(...toScreen(data.x[doc], data.y[doc]), size / 2 + 1);
    drawn = wanted.map((one) => ({ ...one, place: room.take(one.x, one.y, one.width, one.lines.length) })).filter((one) => one.place);
    for (const { x, y, lines, place } of drawn) {
      pen.strokeStyle = pen.fillStyle = style.getPropertyValue("--ink");
      pen.lineWidth = 0.75;
      pen.beginPath(); pen.moveTo(x, y); pen.lineTo(place.edge, place.middle); pen.stroke();
      pen.beginPath(); pen.arc(x, y, 3, 0, 7); pen.fill();
      pen.lineWidth = 3;
      pen.strokeStyle = style.getPropertyValue("--paper");
      lines.forEach((line, index) => {
        const level = place.middle + (index - (lines.length - 1) / 2) * LINE;
        pen.strokeText(line, place.left, level);
        pen.fillText(line, place.left, level);
      });
    }
  };
  const outline = (corners, style) => {
    if (corners.length < 2) return;
    pen.beginPath();
    corners.forEach(([x, y], index) => pen[index ? "lineTo" : "moveTo"](...toScreen(x, y)));
    pen.closePath();
    pen.strokeStyle = style.getPropertyValue("--accent");
    pen.lineWidth = 1.5;
    pen.stroke();
  };
  const draw = () => {
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !mask) return;
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const style = getComputedStyle(canvas);
    const size = Math.max(1.6, Math.min(9, (data.n > 20000 ? 1.6 : data.n > 2000 ? 2.4 : data.n > 500 ? 4 : 7) * Math.sqrt(view.zoom)));
    pen.globalAlpha = 0.5;
    for (const documents of grouped(0).values()) dots(documents, style.getPropertyValue("--rule"), size);
    pen.globalAlpha = data.n > 5000 ? 0.7 : 0.85;
    for (const [group, documents] of grouped(1)) dots(documents, colourOf(group), size);
    pen.globalAlpha = 1;
    labels(style, size);
    outline(drag && drag.corners ? drag.corners : choice.lasso, style);
  };
  let waiting = 0;
  const later = () => { if (!waiting) waiting = requestAnimationFrame(() => { waiting = 0; draw(); }); };

  const nearest = (left, top) => {
    const [x, y] = toMap(left, top);
    let best = -1, least = (12 / scale()) ** 2;
    for (let doc = 0; doc < data.n; doc++) {
      const apart = (data.x[doc] - x) ** 2 + (data.y[doc] - y) ** 2;
      if (apart < least) { least = apart; best = doc; }
    }
    return best;
  };
  const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const zoomAt = (factor, left = canvas.clientWidth / 2, top = canvas.clientHeight / 2) => {
    const [x, y] = toMap(left, top);
    view.zoom = Math.max(1, Math.min(60, view.zoom * factor));
    const [after, below] = toMap(left, top);
    view.x += x - after;
    view.y += y - below;
    if (view.zoom === 1) { view.x = data.grid / 2; view.y = data.grid / 2; }
    canvas.style.touchAction = view.zoom > 1 || mode === "lasso" ? "none" : "pan-y";
    later();
  };
  const hover = (left, top) => {
    const doc = nearest(left, top);
    tip.hidden = doc < 0;
    canvas.style.cursor = mode === "lasso" ? "crosshair" : doc < 0 ? "grab" : "pointer";
    if (doc < 0) return;
    const known = named(doc);
    tip.textContent = (known ? `${known.title} ${[known.source, known.date].filter(Boolean).join(" · ")}`.trim() : "a document that is not listed") + ` — ${data.clusters[doc]} ${labelOf(data, data.clusters[doc])}`;
    tip.style.left = Math.min(left + 12, canvas.clientWidth - Math.min(280, canvas.clientWidth)) + "px";
    tip.style.top = top + 14 + "px";
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const [left, top] = place(event);
    drag = { left, top, from: [view.x, view.y], moved: false, corners: mode === "lasso" ? [toMap(left, top)] : null };
  });
  canvas.addEventListener("pointermove", (event) => {
    const [left, top] = place(event);
    if (!drag) return hover(left, top);
    if (Math.hypot(left - drag.left, top - drag.top) > 4) drag.moved = true;
    if (!drag.moved) return;
    tip.hidden = true;
    if (drag.corners) drag.corners.push(toMap(left, top));
    else { view.x = drag.from[0] - (left - drag.left) / scale(); view.y = drag.from[1] - (top - drag.top) / scale(); }
    later();
  });
  canvas.addEventListener("pointerup", () => {
    const done = drag;
    drag = null;
    if (!done) return;
    if (done.corners && done.moved) {
      const step = Math.ceil(done.corners.length / 60);
      const whole = (value) => Math.max(0, Math.min(data.grid, Math.round(value)));
      act.lasso(done.corners.filter((_, index) => index % step === 0).map(([x, y]) => [whole(x), whole(y)]));
    } else if (!done.moved) {
      const doc = nearest(done.left, done.top);
      if (doc >= 0) act.cluster(data.clusters[doc]);
    }
    later();
  });
  canvas.addEventListener("pointercancel", () => { drag = null; later(); });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", (event) => zoomAt(2, ...place(event)));
  // the wheel scrolls the page; with control (as pinching on a touch pad sends it) it zooms
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomAt(Math.exp(-event.deltaY / 200), ...place(event));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const step = 60 / scale();
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) { view.x += moves[event.key][0]; view.y += moves[event.key][1]; later(); }
    else if (event.key === "+" || event.key === "=") zoomAt(1.5);
    else if (event.key === "-") zoomAt(1 / 1.5);
    else if (event.key === "0") zoomAt(1e-3);
    else return;
    event.preventDefault();
  });
  byId("zoom-in").addEventListener("click", () => zoomAt(1.5));
  byId("zoom-out").addEventListener("click", () => zoomAt(1 / 1.5));
  byId("zoom-all").addEventListener("click", () => zoomAt(1e-3));
  const setMode = (wanted) => {
    mode = wanted;
    byId("move").setAttribute("aria-pressed", String(mode === "move"));
    byId("lasso").setAttribute("aria-pressed", String(mode === "lasso"));
    zoomAt(1);
  };
  byId("move").addEventListener("click", () => setMode("move"));
  byId("lasso").addEventListener("click", () => setMode("lasso"));
  new ResizeObserver(later).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
  return { show: (found) => { mask = found; later(); }, labels: () => drawn, view };
};
