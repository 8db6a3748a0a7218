// Draws a chart page: what the page's JSON holds, which core/answers/chart_page.cpp writes and whose form is all that is known here of Heddle.
// A bar is [op, iteration, row, lane, begin, end, end of latency, flags]. The page carries what follows the first empty line.

'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const canvas = document.getElementById('chart'), pen = canvas.getContext('2d'), tip = document.getElementById('tip');
const root = document.documentElement, buttons = [...document.querySelectorAll('button[data-view]')];
const kLane = 26, kPad = 6, kGroupLeast = 42, kRuler = 24, kMarks = 20, kUsage = 34, kBarrier = 26, kLabels = 210, kRight = 12, kFont = "'DejaVu Sans', Verdana, sans-serif";
const Op = 0, Iteration = 1, Row = 2, Lane = 3, Begin = 4, End = 5, Ready = 6, Flags = 7;
const Critical = 1, Violating = 2, WrapsLeft = 4, WrapsRight = 8, Once = 16;

let view, from = 0, to = 1, hovered = null, chosen = -1, pinned = null, width = 800, height = 400, asked = false, drag = null, pointer = null;
let color = {};

const grouped = n => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
const key = (op, iteration) => op + ':' + iteration;
const x = at => kLabels + (width - kRight - kLabels) * (at - from) / (to - from);
const cycle = px => from + (px - kLabels) * (to - from) / (width - kRight - kLabels);

function readColors() {
  const style = getComputedStyle(root);
  for (const name of ['back', 'row', 'row2', 'grid', 'text', 'dim', 'ii', 'bad', 'warn', 'outline', 'mark']) color[name] = style.getPropertyValue('--' + name).trim();
}

// Where rows and lanes go, and which bars each lane of a row holds.
function prepare(v) {
  v.top = kRuler + kMarks * (v.phases.length ? 2 : 1);
  v.rowTop = [];
  v.groupBox = [];
  let y = v.top;
  for (const group of v.groups) {
    const top = y;
    y += kPad;
    for (let r = group.first; r < group.first + group.rows; ++r) { v.rowTop[r] = y; y += kLane * v.rows[r].lanes; }
    y = Math.max(y + kPad, top + kGroupLeast);
    v.groupBox.push([top, y]);
    y += 2;
  }
  v.barrierTop = y + 8;
  v.usageTop = v.barrierTop + kBarrier * v.barriers.length;
  v.height = v.usageTop + kUsage * v.usage.length + 4;
  v.lanes = new Map();
  v.index = new Map();
  v.bars.forEach((bar, i) => {
    const at = bar[Row] * 4096 + bar[Lane];
    if (!v.lanes.has(at)) v.lanes.set(at, []);
    v.lanes.get(at).push(bar);
    const name = key(bar[Op], bar[Iteration]);
    if (!v.index.has(name)) v.index.set(name, { first: bar, last: bar });
    const ends = v.index.get(name);
    if (!(bar[Flags] & WrapsLeft)) ends.first = bar;
    if (!(bar[Flags] & WrapsRight)) ends.last = bar;
  });
}

function firstEndingAfter(bars, at) {
  let low = 0, high = bars.length;
  while (low < high) { const middle = (low + high) >> 1; if (bars[middle][End] < at) low = middle + 1; else high = middle; }
  return low;
}
const barTop = bar => view.rowTop[bar[Row]] + bar[Lane] * kLane;

function fitted(text, room) {
  if (room < 14) return '';
  if (pen.measureText(text).width <= room) return text;
  let low = 0, high = text.length;
  while (low < high) { const middle = (low + high + 1) >> 1; if (pen.measureText(text.slice(0, middle) + '…').width <= room) low = middle; else high = middle - 1; }
  return low > 1 ? text.slice(0, low) + '…' : '';
}
function write(text, at, y, ink, font = '12px', align = 'left') {
  pen.font = font + ' ' + kFont; pen.fillStyle = ink; pen.textAlign = align; pen.textBaseline = 'middle';
  pen.fillText(text, at, y);
}
function line(x0, y0, x1, y1, ink, dash = []) {
  pen.strokeStyle = ink; pen.lineWidth = 1; pen.setLineDash(dash);
  pen.beginPath(); pen.moveTo(x0, y0); pen.lineTo(x1, y1); pen.stroke(); pen.setLineDash([]);
}

// A label that does not fit stands to the right of its bar where nothing else is until `free`.
function drawBar(bar, shared, free) {
  const role = data.roles[view.rows[bar[Row]].role], y = barTop(bar) + 3, high = kLane - 6;
  const x0 = x(bar[Begin]), x1 = Math.max(x(bar[End]), x0 + 1.5), l = Math.max(x0, kLabels - 4), r = Math.min(x1, width - kRight + 4);
  const faded = chosen >= 0 && bar[Op] !== chosen && !shared.has(bar);
  pen.globalAlpha = faded ? 0.45 : 1;
  if (bar[Ready] > bar[End] && !(bar[Flags] & WrapsRight) && x1 - x0 > 3)
    line(x1, y + high - 2.5, Math.min(x(Math.min(bar[Ready], view.end)), width), y + high - 2.5, role.fill);
  pen.fillStyle = role.fill;
  const once = bar[Flags] & Once;  // of prologue or epilogue: pale and dashed, no part of the schedule
  if (once) pen.globalAlpha = 0.35;
  pen.fillRect(l, y, r - l, high);
  if (once) { pen.globalAlpha = 1; pen.strokeStyle = role.fill; pen.lineWidth = 1; pen.setLineDash([3, 2]); pen.strokeRect(l + 0.5, y + 0.5, r - l - 1, high - 1); pen.setLineDash([]); }
  // Iterations are told apart by the direction of a hatch, as in the window.
  const hatch = Math.abs(bar[Iteration]) % 4;
  if (hatch && r - l > 6) {
    pen.save(); pen.beginPath(); pen.rect(l, y, r - l, high); pen.clip();
    pen.strokeStyle = 'rgba(0,0,0,.28)'; pen.lineWidth = 2; pen.beginPath();
    const start = Math.floor((l - high) / 9) * 9;
    for (let s = start; s < r + high && hatch < 3; s += 9) { pen.moveTo(s, hatch === 1 ? y + high : y); pen.lineTo(s + high, hatch === 1 ? y : y + high); }
    if (hatch === 3) for (let s = y + 4; s < y + high; s += 8) { pen.moveTo(l, s); pen.lineTo(r, s); }
    pen.stroke(); pen.restore();
  }
  if (bar[Flags] & Violating) { pen.strokeStyle = color.bad; pen.lineWidth = 3; pen.strokeRect(l + 1.5, y + 1.5, r - l - 3, high - 3); }
  else if ((bar[Flags] & Critical) && r - l > 4) { pen.strokeStyle = color.outline; pen.lineWidth = 2; pen.strokeRect(l + 1, y + 1, r - l - 2, high - 2); }
  pen.font = 'bold 11px ' + kFont;
  const name = data.ops[bar[Op]].name, wide = pen.measureText(name).width, beside = wide > r - l - 8 && r - l > 3 && x1 + wide + 10 < free;
  const label = beside ? '' : fitted(name, r - l - 8);
  if (beside) write(name, x1 + 5, y + high / 2 - 2, color.text, 'bold 11px');
  if (label) {
    if (hatch) { const half = pen.measureText(label).width / 2 + 3; pen.fillStyle = role.fill; pen.fillRect((l + r) / 2 - half, y + 3, 2 * half, high - 6); }
    write(label, (l + r) / 2, y + high / 2, once ? color.text : role.text, 'bold 11px', 'center');
  }
  if (bar === hovered || bar[Op] === chosen) { pen.strokeStyle = color.ii; pen.lineWidth = 2; pen.strokeRect(l - 1, y - 1, r - l + 2, high + 2); }
  pen.globalAlpha = 1;
}

// What is too narrow to be told apart becomes one stroke of its colour.
function drawBars(shared) {
  for (const bars of view.lanes.values()) {
    let drawn = -10;
    for (let i = firstEndingAfter(bars, from); i < bars.length && bars[i][Begin] <= to; ++i) {
      const bar = bars[i], x0 = x(bar[Begin]), x1 = x(bar[End]);
      if (x1 - x0 < 2 && bar !== hovered) {
        if (x0 < drawn + 0.5) continue;
        pen.fillStyle = data.roles[view.rows[bar[Row]].role].fill;
        pen.fillRect(x0, barTop(bar) + 3, 1.5, kLane - 6);
        drawn = x0 + 1;
      } else { drawBar(bar, shared, i + 1 < bars.length ? x(bars[i + 1][Begin]) : Math.min(x(view.end), width - kRight)); drawn = x1; }
    }
  }
}

// Dependences of one op in one iteration; in the steady window each op stands there once.
function neighbours(bar) {
  const found = [];
  for (const edge of data.edges) {
    if (edge[0] !== bar[Op] && edge[1] !== bar[Op]) continue;
    const other = edge[0] === bar[Op] ? edge[1] : edge[0], sign = edge[0] === bar[Op] ? 1 : -1;
    const ends = view.steady ? view.index.get(view.where[other]) : view.index.get(key(other, bar[Iteration] + sign * edge[2]));
    if (ends && edge[0] !== edge[1]) found.push(sign > 0 ? [view.index.get(key(bar[Op], bar[Iteration])).last, ends.first, edge] : [ends.last, view.index.get(key(bar[Op], bar[Iteration])).first, edge]);
  }
  return found;
}
function drawArrow(a, b, edge) {
  const x0 = x(a[End]), y0 = barTop(a) + kLane / 2, x1 = x(b[Begin]), y1 = barTop(b) + kLane / 2, bend = Math.max(18, Math.min(80, Math.abs(x1 - x0) / 2));
  pen.strokeStyle = color.text; pen.fillStyle = color.text; pen.lineWidth = 1.5; pen.setLineDash(edge[2] > 0 ? [5, 4] : []);
  pen.beginPath(); pen.moveTo(x0, y0); pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 5, y1); pen.stroke(); pen.setLineDash([]);
  pen.beginPath(); pen.moveTo(x1, y1); pen.lineTo(x1 - 7, y1 - 4); pen.lineTo(x1 - 7, y1 + 4); pen.fill();
}

function tickStep(least) {
  const ii = data.ii;
  if (ii % 64 === 0) for (let step = 1; step < 1e15; step *= 2) if (step >= least && (ii % step === 0 || step % ii === 0)) return step;
  for (let decade = 1; decade < 1e15; decade *= 10) for (const digit of [1, 2, 5]) if (digit * decade >= least) return digit * decade;
  return 1e15;
}

function drawRuler() {
  const step = tickStep(90 * (to - from) / (width - kRight - kLabels));
  write('cycles', 6, kRuler / 2, color.dim);
  for (let at = Math.floor(from / step) * step; at <= to; at += step) {
    if (at < from) continue;
    line(x(at) + 0.5, kRuler - 12, x(at) + 0.5, kRuler, color.dim);
    const text = grouped(at), right = x(at) + 6 + text.length * 7 > width;
    write(text, x(at) + (right ? -4 : 4), kRuler - 13, color.dim, '11px', right ? 'right' : 'left');
  }
  line(kLabels, kRuler + 0.5, width - kRight, kRuler + 0.5, color.grid);
  view.phases.forEach(([at, label], i) => {
    const end = i + 1 < view.phases.length ? view.phases[i + 1][0] : view.end, l = Math.max(x(at), kLabels), r = Math.min(x(end), width - kRight);
    if (r <= l) return;
    pen.fillStyle = color.mark; pen.fillRect(l + 1, kRuler + 2, r - l - 2, kMarks - 3);
    pen.font = '11px ' + kFont;
    const shown = fitted(label, r - l - 8);
    if (shown) write(shown, (l + r) / 2, kRuler + kMarks / 2 + 1, color.text, '11px', 'center');
  });
  const apart = x(data.ii) - x(0), y = view.top - kMarks / 2;
  let free = kLabels;
  for (const [at, label] of view.marks) {
    const here = x(at);
    if (here < kLabels - apart || here > width) continue;
    pen.globalAlpha = Math.min(1, Math.max(0, apart - 5) / 60);  // boundaries that come close step back
    if (here >= kLabels) line(here + 0.5, view.top - kMarks, here + 0.5, view.height, color.ii, [4, 4]);
    pen.globalAlpha = 1;
    pen.font = '11px ' + kFont;
    const left = Math.max(here, kLabels) + 5;
    if (!label || left < free || left + pen.measureText(label).width > Math.min(here + apart, width)) continue;
    write(label, left, y, color.ii, '11px');
    free = left + pen.measureText(label).width + 8;
  }
}

function drawUsage() {
  const cycles = pointer && pointer.inside ? Math.floor(cycle(pointer.x)) : -1;
  view.usage.forEach((lane, i) => {
    const y0 = view.usageTop + i * kUsage + 2, y1 = y0 + kUsage - 6, role = data.roles[lane.role];
    pen.fillStyle = color.row; pen.fillRect(kLabels, y0, width - kRight - kLabels, y1 - y0);
    const high = value => y1 - (y1 - y0 - 3) * value / lane.full, steps = lane.steps;
    pen.fillStyle = role.fill; pen.globalAlpha = 0.55;
    let step = 0, last = steps.length / 2 - 1;
    { let low = 0, top = last; while (low < top) { const middle = (low + top + 1) >> 1; if (steps[2 * middle] <= from) low = middle; else top = middle - 1; } step = low; }
    for (; step <= last && steps[2 * step] < to; ++step) {
      let end = step < last ? steps[2 * step + 2] : view.end, value = steps[2 * step + 1];
      const l = Math.max(x(steps[2 * step]), kLabels);
      while (step < last && x(end) - l < 1) { ++step; value = Math.max(value, steps[2 * step + 1]); end = step < last ? steps[2 * step + 2] : view.end; }
      const r = Math.min(x(end), width - kRight);
      if (r > l && value > 0) pen.fillRect(l, high(value), r - l, y1 - high(value));
    }
    pen.globalAlpha = 1;
    if (lane.allocated > 0) line(kLabels, high(lane.allocated), width - kRight, high(lane.allocated), color.dim);
    if (lane.capacity > 0) line(kLabels, high(lane.capacity) + 0.5, width - kRight, high(lane.capacity) + 0.5, color.warn, [4, 4]);
    let detail = lane.detail;
    if (cycles >= 0 && cycles < view.end) {
      let now = 0;
      for (let s = 0; s <= last && steps[2 * s] <= cycles; ++s) now = steps[2 * s + 1];
      detail = 'now ' + (lane.unit === '%' ? Math.round(100 * now / Math.max(1, lane.capacity)) + ' %' : grouped(now) + lane.unit);
    }
    pen.font = '11px ' + kFont;
    const taken = pen.measureText(detail).width;
    write(detail, kLabels - 8, (y0 + y1) / 2, color.dim, '11px', 'right');
    pen.font = '12px ' + kFont;
    write(fitted(lane.label, kLabels - 24 - taken), 6, (y0 + y1) / 2, color.text);
  });
}

// A strip for every slot; the words stand on it where there is room.
const Slot = 0, From = 1, Until = 2, Strength = 3, Word = 4, Sentence = 5;
function drawBarriers() {
  view.barriers.forEach((lane, i) => {
    const y0 = view.barrierTop + i * kBarrier + 2, high = kBarrier - 5, strip = high / lane.slots, role = data.roles[lane.role];
    pen.fillStyle = color.row; pen.fillRect(kLabels, y0, width - kRight - kLabels, high);
    for (const span of lane.spans) {
      const l = Math.max(x(span[From]), kLabels), r = Math.min(Math.max(x(span[Until]), x(span[From]) + 1.5), width - kRight);
      if (r <= l) continue;
      pen.globalAlpha = span[Strength]; pen.fillStyle = role.fill;
      pen.fillRect(l, y0 + span[Slot] * strip, r - l, Math.max(strip - 1, 1));
      pen.globalAlpha = 1;
      pen.font = '11px ' + kFont;
      if (strip >= 13 && span[Strength] > 0.15 && pen.measureText(span[Word]).width < r - l - 8) write(span[Word], (l + r) / 2, y0 + (span[Slot] + 0.5) * strip, color.text, '11px', 'center');
    }
    write(lane.detail, kLabels - 8, y0 + high / 2, color.dim, '11px', 'right');
    write(fitted(lane.label, kLabels - 24 - 7 * lane.detail.length), 6, y0 + high / 2, color.text);
  });
}
function barrierAt(px, py) {
  const lane = view.barriers[Math.floor((py - view.barrierTop) / kBarrier)];
  if (!lane || py < view.barrierTop || px < kLabels || px > width - kRight) return null;
  const slot = Math.floor(((py - view.barrierTop) % kBarrier - 2) / ((kBarrier - 5) / lane.slots)), at = cycle(px), slack = 2 * (to - from) / width;
  const span = lane.spans.find(s => s[Slot] === slot && at >= s[From] - slack && at < Math.max(s[Until], s[From] + slack));
  return span ? lane.label + ': ' + span[Sentence] : null;
}

function draw() {
  asked = false;
  const scale = window.devicePixelRatio || 1;
  width = Math.max(420, canvas.parentElement.clientWidth);
  height = view.height;
  const w = Math.round(width * scale), h = Math.round(height * scale);
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  canvas.style.height = height + 'px';
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.fillStyle = color.back; pen.fillRect(0, 0, width, height);
  view.groups.forEach((group, g) => {
    const [top, bottom] = view.groupBox[g];
    pen.fillStyle = g % 2 ? color.row2 : color.row; pen.fillRect(0, top, width - kRight, bottom - top);
  });
  pen.save(); pen.beginPath(); pen.rect(kLabels, 0, width - kRight - kLabels, height); pen.clip();
  const told = hovered || pinned, links = told ? neighbours(told) : [], shared = new Set(links.flatMap(([a, b]) => [a, b]));
  drawBars(shared);
  for (const [a, b, edge] of links) drawArrow(a, b, edge);
  pen.restore();
  drawRuler();
  view.groups.forEach((group, g) => {
    const [top] = view.groupBox[g];
    pen.font = 'bold 13px ' + kFont;
    write(fitted(group.label, 130), 6, top + 14, color.text, 'bold 13px');
    write(group.detail, 6, top + 31, color.dim, '11px');
    for (let r = group.first; r < group.first + group.rows; ++r) write(view.rows[r].label, kLabels - 8, view.rowTop[r] + kLane / 2, color.text, 'bold 11px', 'right');
  });
  drawBarriers();
  drawUsage();
  if (pointer && pointer.inside) {
    line(Math.round(pointer.x) + 0.5, kRuler, Math.round(pointer.x) + 0.5, height, color.dim);
    const text = grouped(cycle(pointer.x)), wide = text.length * 7 + 12, left = Math.min(pointer.x + 4, width - kRight - wide);
    pen.fillStyle = color.mark; pen.fillRect(left, 1, wide, 17);
    write(text, left + 6, 10, color.text, '11px');
  }
}

function redraw() { if (!asked) { asked = true; requestAnimationFrame(draw); } }

function show(begin, end) {
  const all = view.end - view.begin, margin = all * 0.01, least = Math.min(8, all), most = all + 2 * margin;
  let length = Math.min(most, Math.max(least, end - begin));
  const middle = (begin + end) / 2;
  from = Math.min(Math.max(middle - length / 2, view.begin - margin), view.end + margin - length);
  to = from + length;
  redraw();
}
const fit = () => show(view.begin - 1e15, view.end + 1e15);
function zoom(at, factor) { const length = (to - from) / factor; show(at - (at - from) / factor, at - (at - from) / factor + length); }
const pan = part => show(from + part * (to - from), to + part * (to - from));
function choose(index) {
  view = data.views[index];
  buttons.forEach((button, i) => button.setAttribute('aria-pressed', i === index));
  hovered = pinned = null; tip.style.display = 'none';
  fit();
}

function barAt(px, py) {
  if (px < kLabels || px > width - kRight) return null;
  for (const bars of view.lanes.values()) {
    const top = barTop(bars[0]);
    if (py < top || py >= top + kLane) continue;
    const slack = 3 * (to - from) / (width - kRight - kLabels), at = cycle(px);
    let best = null, near = slack;
    for (let i = firstEndingAfter(bars, at - slack); i < bars.length && bars[i][Begin] <= at + slack; ++i) {
      const off = at < bars[i][Begin] ? bars[i][Begin] - at : at > bars[i][End] ? at - bars[i][End] : 0;
      if (off < near || (off === 0 && near > 0)) { best = bars[i]; near = off; }
    }
    return best;
  }
  return null;
}

function placeTip(clientX, clientY) {
  tip.style.display = 'block';
  const box = tip.getBoundingClientRect(), below = clientY + 18 + box.height < innerHeight;
  tip.style.left = Math.max(4, Math.min(clientX + 14, innerWidth - box.width - 8)) + 'px';
  tip.style.top = Math.max(4, below ? clientY + 18 : clientY - box.height - 12) + 'px';
}

function tell(bar, clientX, clientY) {
  if (!bar) { tip.style.display = 'none'; return; }
  const op = data.ops[bar[Op]], row = view.rows[bar[Row]], add = (text, css) => { const p = document.createElement('div'); p.textContent = text; if (css) p.className = css; tip.append(p); };
  tip.textContent = '';
  const head = document.createElement('div'), name = document.createElement('b');
  name.textContent = op.name;
  const iteration = op.pause ? op.pause : op.once ? op.once + ', once per tile, predicted' : view.steady ? (bar[Iteration] ? 'iteration k' + bar[Iteration] : 'iteration k') : 'iteration ' + bar[Iteration];
  head.append(name, '  ' + row.label + '  ' + iteration);
  tip.append(head);
  let length = bar[End] - bar[Begin];
  if (bar[Flags] & (WrapsLeft | WrapsRight)) { length = 0; for (const piece of view.bars) if (piece[Op] === bar[Op]) length += piece[End] - piece[Begin]; }
  add(grouped(length) + ' cycles on ' + row.label + ' from ' + grouped(bar[Begin]) + (bar[Flags] & WrapsLeft ? ' (goes on from the right edge)' : bar[Flags] & WrapsRight ? ' (goes on at the left edge)' : ''));
  for (const [css, text] of op.facts) add(text, css);
  placeTip(clientX, clientY);
}

// Marks an op; its dependences at this bar stay drawn.
function select(op, bar) {
  chosen = chosen === op && (!bar || bar === pinned) ? -1 : op;
  pinned = chosen < 0 ? null : bar || view.bars.find(b => b[Op] === op && b[End] > from && b[Begin] < to) || view.bars.find(b => b[Op] === op);
  for (const row of document.querySelectorAll('#ops tbody tr')) row.classList.toggle('chosen', +row.dataset.op === chosen);
  if (pinned && (pinned[End] < from || pinned[Begin] > to)) { const half = (to - from) / 2, at = (pinned[Begin] + pinned[End]) / 2; show(at - half, at + half); }
  redraw();
}

const place = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
canvas.addEventListener('wheel', event => {
  const [px] = place(event), wholly = to - from >= (view.end - view.begin) * 1.0199;
  if (event.deltaY > 0 && wholly && !event.shiftKey && !event.deltaX) return;  // nothing more to see: the page scrolls
  event.preventDefault();
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan((event.deltaX || event.deltaY) / 800);
  else zoom(cycle(px), Math.exp(-event.deltaY / 400));
}, { passive: false });
canvas.addEventListener('pointerdown', event => {
  const [px, py] = place(event);
  drag = { x: px, from, to, moved: false, bar: barAt(px, py) };
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', event => {
  const [px, py] = place(event);
  pointer = { x: px, inside: px >= kLabels && px <= width - kRight };
  if (drag) {
    if (Math.abs(px - drag.x) > 3) { drag.moved = true; canvas.classList.add('panning'); hovered = null; tell(null); }
    if (drag.moved) { const by = (drag.x - px) * (drag.to - drag.from) / (width - kRight - kLabels); show(drag.from + by, drag.to + by); }
  } else {
    hovered = barAt(px, py);
    const barrier = hovered ? null : barrierAt(px, py);
    if (barrier) { tip.textContent = barrier; placeTip(event.clientX, event.clientY); } else tell(hovered, event.clientX, event.clientY);
  }
  redraw();
});
canvas.addEventListener('pointerup', () => {
  if (drag && !drag.moved) { if (drag.bar) select(drag.bar[Op], drag.bar); else if (chosen >= 0) select(chosen); }
  drag = null;
  canvas.classList.remove('panning');
});
canvas.addEventListener('pointercancel', () => { drag = null; canvas.classList.remove('panning'); });
canvas.addEventListener('pointerleave', () => { pointer = null; hovered = null; tell(null); redraw(); });
canvas.addEventListener('dblclick', event => { const bar = barAt(...place(event)); if (bar) { const more = (bar[End] - bar[Begin]) * 0.5 + 4; show(bar[Begin] - more, bar[End] + more); } else fit(); });
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const middle = (from + to) / 2, act = {
    w: () => zoom(middle, 1.3), s: () => zoom(middle, 1 / 1.3), '+': () => zoom(middle, 1.3), '-': () => zoom(middle, 1 / 1.3), a: () => pan(-0.15), d: () => pan(0.15),
    ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), 0: fit, Home: fit, u: () => choose((data.views.indexOf(view) + 1) % data.views.length), Escape: () => { if (chosen >= 0) select(chosen); }
  }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (act) { act(); if (event.key !== 'Escape') event.preventDefault(); }
});
buttons.forEach((button, i) => button.addEventListener('click', () => choose(i)));
document.getElementById('fit').addEventListener('click', fit);

// The table: a click on a title sorts by it, a click on a row shows the op in the chart.
const body = document.querySelector('#ops tbody');
const worth = (row, i) => { const text = row.cells[i].textContent.trim(), n = text.replace(/ /g, ''); return n !== '' && !isNaN(n) ? Number(n) : text.toLowerCase(); };
document.querySelectorAll('#ops th').forEach((title, i) => title.addEventListener('click', () => {
  const up = title.dataset.way !== 'up';
  document.querySelectorAll('#ops th').forEach(other => delete other.dataset.way);
  title.dataset.way = up ? 'up' : 'down';
  const order = (a, b) => { const p = worth(a, i), q = worth(b, i); return typeof p === typeof q ? (p < q ? -1 : p > q ? 1 : 0) : typeof p === 'number' ? -1 : 1; };
  body.append(...[...body.rows].sort((a, b) => up ? order(a, b) : order(b, a)));
}));
for (const row of body.rows) row.addEventListener('click', () => select(+row.dataset.op));

for (const v of data.views) {
  prepare(v);
  if (v.steady) { v.where = []; for (const bar of v.bars) v.where[bar[Op]] = key(bar[Op], bar[Iteration]); }
}
const recolor = () => { readColors(); redraw(); };
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolor);
addEventListener('beforeprint', () => { root.classList.add('printing'); readColors(); pointer = hovered = null; tell(null); draw(); });
addEventListener('afterprint', () => { root.classList.remove('printing'); recolor(); });
addEventListener('resize', redraw);
readColors();
choose(data.first);
draw();
