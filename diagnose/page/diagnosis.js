// The page of a bundle of jtrace diagnose: what it shows is in the element #data (diagnose/bundle_page.cpp writes it).
const manifest = data.manifest, findings = data.findings.data || [], diagnosis = data.findings.diagnosis || {};
const rows = (view) => (data[view] && data[view].data) || [];

function head() {
  const target = manifest.target, sure = findings.filter((f) => f.confidence !== 'hint').length;
  document.querySelector('h1').textContent = sure ? `${several(sure, 'trouble')} found` :
    findings.length ? `${several(findings.length, 'hint')} found` : 'Nothing found';
  document.getElementById('summary').textContent = `JVM ${target.pid} on ${target.host}, HotSpot ${target.version}, ` +
    `${manifest.created}` + (manifest.when ? `; taken because: ${manifest.when}` : '');
}

function verdict() {
  const part = section('verdict', 'Verdict');
  for (const finding of findings) {
    const card = make('div', part, undefined, {className: 'finding ' + finding.confidence});
    make('b', card, finding.sentence);
    make('p', card, `${finding.rule}, ${finding.confidence}`, {className: 'note'});
    const list = make('ul', card);
    for (const line of finding.evidence) make('li', list, line);
    if (finding.next) make('code', make('p', card, 'next: '), finding.next);
  }
  const standing = diagnosis.standing;
  if (standing) {  // no finding
    make('p', part, standing.sentence);
    const list = make('ul', part);
    for (const line of standing.evidence) make('li', list, line);
    make('code', make('p', part, 'next: '), standing.next);
  }
  if (diagnosis.lookedFor) make('p', part, 'Looked for: ' + diagnosis.lookedFor.join(', ') + '.', {className: 'note'});
  for (const each of diagnosis.skipped || []) make('p', part, `Skipped: ${each.about}: ${each.why}`, {className: 'note'});
}

// Processor time between the first and the last sample.
function processor() {
  const samples = (data.samples && data.samples.samples) || [];
  if (samples.length < 2) return;
  const first = samples[0], last = samples[samples.length - 1], span = last.monotonicNanos - first.monotonicNanos;
  const before = new Map(first.threads.map((t) => [t.nativeId, t]));
  const busy = last.threads.filter((t) => t.nativeId && t.ranNanos !== undefined && before.has(t.nativeId)).map((t) => {
    const then = before.get(t.nativeId);
    return {name: t.name, ran: (t.ranNanos - then.ranNanos) / span, queued: ((t.queuedNanos || 0) - (then.queuedNanos || 0)) / span};
  }).filter((t) => t.ran + t.queued >= 0.001).sort((a, b) => b.ran + b.queued - a.ran - a.queued);
  const part = section('processor', 'Processor time', `Share of one processor in ${nanos(span)}, by thread: it ran, ` +
    'and it was ready without a processor (lighter).');
  if (!busy.length) make('p', part, 'No thread used a thousandth of a processor.');
  for (const thread of busy.slice(0, 40)) {
    const lane = make('div', part, undefined, {className: 'lane'});
    make('div', lane, thread.name, {title: thread.name});
    const meter = make('div', lane, undefined, {className: 'meter'});
    make('span', meter).style.cssText = `width:${Math.min(100, thread.ran * 100)}%;background:var(--accent)`;
    make('span', meter).style.cssText = `width:${Math.min(100, thread.queued * 100)}%;background:var(--sleeping)`;
    make('div', lane, (thread.ran * 100).toFixed(1) + ' %');
  }
}

// When each thread ran, or waited for a processor, between the samples, and its state at each: one lane for a thread.
const kStates = [['RUNNABLE', 'native'], ['BLOCKED', 'blocked'], ['WAITING', 'waiting'], ['TIMED_WAITING', 'sleeping']];
function timeline() {
  const samples = (data.samples && data.samples.samples) || [];
  if (samples.length < 2) return;
  const looks = samples.map((s) => new Map(s.threads.map((t) => [t.nativeId || t.threadId, t])));
  const ids = [...looks[looks.length - 1].keys()].filter((id) => looks.every((look) => look.has(id)));
  const gap = (id, i, key) => {
    const now = looks[i + 1].get(id)[key], then = looks[i].get(id)[key];
    return now === undefined || then === undefined ? 0 : (now - then) / (samples[i + 1].monotonicNanos - samples[i].monotonicNanos);
  };
  const states = (id) => looks.map((look) => look.get(id).state);
  const weight = (id) => looks.slice(1).reduce((sum, _, i) => sum + gap(id, i, 'ranNanos') + gap(id, i, 'queuedNanos'), 0) +
    (states(id).includes('BLOCKED') ? 0.01 : 0);
  const shown = ids.filter((id) => weight(id) >= 0.001).sort((a, b) => weight(b) - weight(a)).slice(0, 40);
  if (!shown.length) return;
  const span = samples[samples.length - 1].monotonicNanos - samples[0].monotonicNanos;
  const part = section('timeline', 'Threads over time', `${several(samples.length, 'sample')} in ${nanos(span)}. Between two: the height is the share of a ` +
    'processor that the thread used, lighter above it the share that it was ready without one. The marks are its states.');
  const kTall = 26, legend = make('div', part);
  for (const [state, name] of kStates) {
    const entry = make('span', legend, undefined, {className: 'entry'});
    make('span', entry, undefined, {className: 'key'}).style.background = `var(--${name})`;
    entry.append(state);
  }
  const x = (i, left, width) => left + (samples[i].monotonicNanos - samples[0].monotonicNanos) / span * (width - left - 8);
  const left_of = (width) => Math.min(220, width * 0.36);
  const {canvas} = drawing(part, () => shown.length * kTall + 4, (context, width) => {
    const left = left_of(width);
    shown.forEach((id, row) => {
      const base = row * kTall + kTall - 3, tall = kTall - 8;
      context.fillStyle = color('ink');
      context.save();
      context.beginPath();
      context.rect(0, row * kTall, left - 6, kTall);
      context.clip();
      context.fillText(looks[0].get(id).name, 4, row * kTall + kTall / 2);
      context.restore();
      for (let i = 0; i + 1 < samples.length; ++i) {
        const from = x(i, left, width), wide = x(i + 1, left, width) - from;
        const ran = Math.min(1, gap(id, i, 'ranNanos')) * tall, queued = Math.min(tall - ran, gap(id, i, 'queuedNanos') * tall);
        context.fillStyle = color('accent');
        context.fillRect(from, base - ran, wide, ran);
        context.fillStyle = color('sleeping');
        context.fillRect(from, base - ran - queued, wide, queued);
      }
      states(id).forEach((state, i) => {
        const known = kStates.find((each) => each[0] === state);
        if (!known) return;
        context.fillStyle = color(known[1]);
        context.fillRect(x(i, left, width) - 2, row * kTall + 3, 5, kTall - 5);
      });
      context.fillStyle = color('line');
      context.fillRect(left, base, width - left - 8, 1);
    });
  });
  canvas.onmousemove = (event) => {
    const id = shown[Math.floor(event.offsetY / kTall)];
    if (id === undefined) return show(event, '');
    const gaps = looks.slice(1).map((_, i) => `${(gap(id, i, 'ranNanos') * 100).toFixed(1)} % ran, ${(gap(id, i, 'queuedNanos') * 100).toFixed(1)} % ready`);
    show(event, [looks[0].get(id).name, 'states: ' + states(id).map((s) => s || 'of the VM').join(', '), ...gaps].join('\n'));
  };
}

// The JVM's counters over the time of the diagnosis; each has its own scale, from 0.
const kSeries = [['gcSeconds', 'collections, seconds', true, (n) => n.toFixed(3) + ' s'], ['collections', 'collections', true, count],
  ['fullCollections', 'full collections', true, count], ['safepoints', 'safepoints', true, count], ['oldUsed', 'old generation', false, bytes, 'oldMax'],
  ['metaspaceUsed', 'metaspace', false, bytes], ['threadsLive', 'threads', false, count], ['threadsStarted', 'threads started', true, count]];
function counters() {
  const samples = (data.counters && data.counters.samples) || [];
  const known = kSeries.filter(([key]) => samples.filter((s) => s[key] !== undefined).length > 1);
  if (samples.length < 2 || !known.length) return;
  const start = samples[0].monotonicNanos, span = samples[samples.length - 1].monotonicNanos - start;
  const part = section('counters', 'Counters over time', `${several(samples.length, 'sample')} in ${nanos(span)}. Counts are shown as what was ` +
    'added since the first sample.');
  const grid = make('div', part, undefined, {className: 'series'});
  for (const [key, title, grows, text, most] of known) {
    const points = samples.filter((s) => s[key] !== undefined);
    const values = points.map((s) => s[key] - (grows ? points[0][key] : 0)), last = values[values.length - 1];
    const top = Math.max(...values, most && points[0][most] > 0 ? points[0][most] : 0) || 1;
    const box = make('div', grid);
    make('div', box, `${title}: ${grows ? '+' : ''}${text(last)}` + (most && points[0][most] > 0 ? ` of ${text(points[0][most])}` : ''));
    const at = (s, width) => 2 + (s.monotonicNanos - start) / span * (width - 4);
    const {canvas} = drawing(box, 60, (context, width) => {
      context.strokeStyle = color('accent');
      context.lineWidth = 2;
      context.beginPath();
      points.forEach((s, i) => context.lineTo(at(s, width), 56 - values[i] / top * 50));
      context.stroke();
    });
    canvas.onmousemove = (event) => {
      const near = points.reduce((best, s) => Math.abs(at(s, canvas.clientWidth) - event.offsetX) < Math.abs(at(best, canvas.clientWidth) - event.offsetX) ? s : best);
      show(event, `${title} after ${nanos(near.monotonicNanos - start)}: ${text(near[key])}`);
    };
  }
}

const frameText = (f) => f.class ? `${f.class}.${f.method}` + (f.file ? `(${f.file}${f.line !== undefined ? ':' + f.line : ''})` : '') : f.name || f.module || f.pc;
function waitText(w) {
  return `${w.kind} ${w.object} (a ${w.class})` + (w.owner ? ` owned by "${w.owner}"` : '');
}

function threads() {
  const all = rows('threads');
  if (!all.length) return;
  const groups = new Map();
  for (const thread of all) {
    const key = thread.state + '\n' + (thread.frames || []).map(frameText).join('\n');
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(thread);
  }
  const sorted = [...groups.entries()].sort((a, b) => b[1].length - a[1].length);
  const part = section('threads', 'Threads', `${all.length} threads, ${sorted.length} different stacks; the most frequent first.`);
  const bar = make('div', part, undefined, {className: 'bar'});
  const search = make('input', bar, undefined, {placeholder: 'name, class or method'});
  const info = make('span', bar, '', {className: 'note'}), list = make('div', part);
  const entries = sorted.map(([key, members]) => {
    const entry = make('details', list), stack = key.split('\n').slice(1);
    const line = make('summary', entry);
    make('span', line, members.length, {className: 'badge'});
    const names = members.slice(0, 3).map((t) => t.name).join(', ') + (members.length > 3 ? ', …' : '');
    make('span', line, `${names}  ${members[0].state || 'of the VM'}`);
    if (stack[0]) make('div', line, stack[0], {className: 'note'});
    const waits = members.filter((t) => t.waitingOn).map((t) => `"${t.name}": ${waitText(t.waitingOn)}`);
    const names_all = members.map((t) => t.name).join(', ');
    make('pre', entry, [names_all, ...waits, '', ...stack.map((f) => 'at ' + f)].join('\n'));
    return {entry, text: (names_all + key).toLowerCase()};
  });
  search.oninput = () => {
    let shown = 0;
    for (const each of entries) {
      each.entry.hidden = !each.text.includes(search.value.toLowerCase());
      if (!each.entry.hidden) ++shown;
    }
    info.textContent = `${shown} of ${entries.length} stacks`;
  };
  search.oninput();
}

// The nodes of the lock graph: threads, those that only wait, for the same owner, as one; with the owner of each.
function lockNodes(waits) {
  const owner = new Map(waits.map((w) => [w.thread, w.owner])), nodes = new Map();
  const owners = new Set(owner.values()), crowds = new Map();
  for (const [thread, of] of owner) if (!owners.has(thread)) crowds.set(of, (crowds.get(of) || []).concat(thread));
  const add = (name) => nodes.has(name) || nodes.set(name, {name, title: name, owner: owner.get(name), children: [], circle: false});
  for (const thread of owners) add(thread);
  for (const [of, threads] of crowds) {
    if (threads.length < 3) threads.forEach(add);
    else nodes.set(of + '\n', {name: `${threads.length} threads: ${threads.join(', ')}`, title: threads.join('\n'), owner: of, children: [], circle: false});
  }
  for (const start of nodes.values()) {
    const seen = new Set();
    let at = start;
    for (; at && !seen.has(at); at = nodes.get(at.owner)) seen.add(at);
    if (at === start) start.circle = true;
  }
  for (const node of nodes.values()) if (node.owner && !node.circle) nodes.get(node.owner).children.push(node);
  return nodes;
}

// Owners on the left, those that wait for them on the right; circles in red.
function lockGraph(parent, waits) {
  const nodes = lockNodes(waits), roots = [], order = [];
  const circle = (node) => { if (!roots.includes(node)) { roots.push(node); circle(nodes.get(node.owner)); } };
  for (const node of nodes.values()) if (node.circle) circle(node);
  for (const node of nodes.values()) if (!node.owner) roots.push(node);
  let lines = 0, depth = 0;
  const place = (node, column) => {
    Object.assign(node, {column, line: lines});
    order.push(node);
    depth = Math.max(depth, column);
    node.children.forEach((child) => place(child, column + 1));
    if (!node.children.length) ++lines;
  };
  roots.forEach((root) => place(root, 0));
  const kTall = 34, kLeft = 24, kGap = 34, width = Math.max(300, parent.clientWidth);
  const wide = Math.min(280, (width - kLeft - 8 - depth * kGap) / (depth + 1));
  const svg = (tag, into, attributes) => {  // the name of the language is no address: nothing is fetched
    const element = document.createElementNS('ht' + 'tp://www.w3.org/2000/svg', tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    into.append(element);
    return element;
  };
  const picture = svg('svg', parent, {class: 'graph', width, height: lines * kTall + 6, viewBox: `0 0 ${width} ${lines * kTall + 6}`});
  const x = (node) => kLeft + node.column * (wide + kGap), y = (node) => node.line * kTall + kTall / 2;
  const arrow = (node, path, to, side) => {
    svg('path', picture, {d: path, class: node.circle ? 'circle' : ''});
    svg('path', picture, {d: `M${to.x + side * 7},${to.y - 4} L${to.x},${to.y} L${to.x + side * 7},${to.y + 4}`, class: node.circle ? 'circle' : ''});
  };
  for (const node of order) {
    const owner = nodes.get(node.owner);
    if (!owner) continue;
    if (node.circle) arrow(node, `M${x(node)},${y(node) + 5} C0,${y(node) + 5} 0,${y(owner) - 5} ${x(owner)},${y(owner) - 5}`, {x: x(owner), y: y(owner) - 5}, -1);
    else arrow(node, `M${x(node)},${y(node)} C${x(node) - kGap / 2},${y(node)} ${x(node) - kGap / 2},${y(owner)} ${x(owner) + wide},${y(owner)}`, {x: x(owner) + wide, y: y(owner)}, 1);
  }
  order.forEach((node) => {
    const box = svg('svg', picture, {x: x(node), y: y(node) - 12, width: wide, height: 24});
    svg('title', box, {}).textContent = node.title;
    svg('rect', box, {x: 1, y: 1, width: wide - 2, height: 22, rx: 4, class: node.circle ? 'circle' : ''});
    const room = Math.floor((wide - 14) / 6.6);
    svg('text', box, {x: 7, y: 16}).textContent = node.name.length > room ? node.name.slice(0, room - 1) + '…' : node.name;
  });
}

function locks() {
  const waits = rows('locks').filter((w) => w.thread && w.owner);
  if (!waits.length) return;
  const owners = new Map();
  for (const wait of waits) {
    if (!owners.has(wait.owner)) owners.set(wait.owner, []);
    owners.get(wait.owner).push(wait);
  }
  const part = section('locks', 'Locks', 'An owner, and the threads that wait for its locks.');
  lockGraph(make('div', part), waits);
  for (const [owner, waiting] of [...owners.entries()].sort((a, b) => b[1].length - a[1].length)) {
    const entry = make('details', part, undefined, {open: waiting.length < 20});
    const line = make('summary', entry);
    make('span', line, waiting.length, {className: 'badge'});
    make('span', line, `wait for "${owner}"`);
    make('pre', entry, waiting.map((w) => `"${w.thread}": ${waitText(w)}`).join('\n'));
  }
}

const kColors = ['--accent', '--waiting', '--native', '--gc', '--parked', '--sleeping', '--suspended', '--blocked'];
function memory() {
  const parts = rows('memory').filter((p) => p.resident > 0).sort((a, b) => b.resident - a.resident);
  if (!parts.length) return;
  const all = parts.reduce((sum, p) => sum + p.resident, 0), group = data.memory.memory && data.memory.memory.cgroup;
  const part = section('memory', 'Memory', `${bytes(all)} are resident` +
    (group && group.limit ? `; the control group may use ${bytes(group.limit)} and uses ${bytes(group.used)}.` : '.'));
  const meter = make('div', part, undefined, {className: 'meter picture'});
  parts.forEach((p, i) => {
    const bar = make('span', meter);
    bar.style.cssText = `width:${p.resident / all * 100}%;background:var(${kColors[i % kColors.length]})`;
    if (p.resident / all * part.clientWidth > 90) bar.textContent = `${p.part} ${bytes(p.resident)}`;
    bar.onmousemove = (event) => show(event, `${p.part}: ${bytes(p.resident)}`);
    bar.onmouseleave = (event) => show(event, '');
  });
  const legend = make('div', part);
  parts.slice(0, kColors.length).forEach((p, i) => {
    const entry = make('span', legend, undefined, {className: 'entry'});
    make('span', entry, undefined, {className: 'key'}).style.background = `var(${kColors[i]})`;
    entry.append(p.part);
  });
  table(part, [['part', (p) => p.part], ['resident', (p) => bytes(p.resident), true, (p) => p.resident],
    ['share', (p) => (p.resident / all * 100).toFixed(1) + ' %', true, (p) => p.resident],
    ['addresses', (p) => bytes(p.bytes), true, (p) => p.bytes]], parts);
}

function classes() {
  const all = rows('histogram');
  if (!all.length) return;
  table(section('classes', 'Heap by class', 'Counted while the JVM ran.'),
    [['class', (c) => c.class], ['instances', (c) => count(c.instances), true, (c) => c.instances],
      ['bytes', (c) => bytes(c.bytes), true, (c) => c.bytes]], all);
}

function steps() {
  const failed = manifest.steps.filter((s) => s.why);
  const part = section('read', 'What was read', `${manifest.pauses.stops} stops, ${micros(manifest.pauses.longestMicros)} at the ` +
    `longest; ${failed.length} of ${manifest.steps.length} steps failed.`);
  table(part, [['step', (s) => s.step], ['time', (s) => s.usedMillis + ' ms', true, (s) => s.usedMillis], ['', (s) => s.why || '']],
    failed.concat(manifest.steps.filter((s) => !s.why)));
}

head(); verdict(); processor(); timeline(); locks(); threads(); memory(); counters(); classes(); steps();
root.dataset.state = root.dataset.state || 'ready';
