// The page of jtrace report, after parts.js; trace/io/report_json.cpp writes its data.
// In the list of pauses: start, duration, used after it, used before it, kind, cause (places in gc.texts).
const kPauseFields = 6;
const pauseName = (gc, list, i) => [gc.texts[list[i + 4]], gc.texts[list[i + 5]] && `(${gc.texts[list[i + 5]]})`].filter(Boolean).join(' ');

// -- Timeline: a lane for each thread, pauses across all of them
// What was not seen waiting is not known to run.
const kStates = ['blocked', 'waiting', 'sleeping'];
const kNames = {alive: 'alive, not seen waiting', native: 'in native code', gc: 'GC pause', lost: 'events lost'};
function timeline(process) {
  const threads = (process.threads ? process.threads.rows : []).filter((t) => t.bars || t.start !== undefined);
  const gc = process.gc ? process.gc.pauses : [];
  if (!threads.length && !gc.length) return;
  const lanes = threads.slice().sort((a, b) => (a.start || 0) - (b.start || 0)).slice(0, 200);
  const more = process.threads ? process.threads.all - lanes.length : 0;
  const firsts = [...new Set(lanes.map((l) => l.first && l.first.state))].filter((s) => s && s !== 'runnable' && !kStates.includes(s));
  const lostOfAll = (process.threads && process.threads.lost) || [];
  const lossesOf = (lane) => [...lostOfAll, ...(lane.lost || [])];  // from, to, from, to...
  const loses = lostOfAll.length || lanes.some((l) => l.lost);
  const part = section('timeline', 'Timeline', 'Drag to zoom, double-click for all of it.' +
      (lanes.some((l) => l.first) ? ' Half a lane high: what a thread did when the trace began, until its first event.' : '') +
      (loses ? ' Where events were lost, what the thread did is not known.' : '') +
      (more > 0 ? ` ${more} more threads, with fewer events, are not shown.` : ''));
  const keys = make('div', part, undefined, {className: 'bar'});
  for (const name of ['alive', ...kStates, ...firsts, 'gc', ...(loses ? ['lost'] : [])]) {
    const label = make('span', keys);
    make('i', label, undefined, {className: 'key'}).style.background = `var(--${name})`;
    label.append(kNames[name] || name);
  }
  const left = 180, top = 22, row = 15, span = Math.max(process.span, 1);
  let from = 0, to = span, drag = null;
  let wideNow = 1;
  const width = () => wideNow;
  const x = (us) => left + (us - from) / (to - from) * width();
  const us = (px) => from + (px - left) / width() * (to - from);
  const view = drawing(make('div', part, undefined, {className: 'scroll'}), () => top + lanes.length * row + 8, (g, wide) => {
    wideNow = wide - left;
    g.fillStyle = color('dim');
    const steps = Math.max(1, Math.min(6, Math.floor((wide - left) / 110)));  // no time over the next one
    for (let i = 0; i <= steps; i++)
      g.fillText(micros(Math.round(from + i * (to - from) / steps)), left + (wide - left) * i / steps - (i === steps ? 60 : 0), 9);
    g.save();
    g.beginPath();
    g.rect(left, 0, wide - left, 1e6);
    g.clip();
    lanes.forEach((lane, i) => {
      const y = top + i * row, start = x(lane.start || 0), end = x(lane.end === undefined ? span : lane.end);
      g.fillStyle = color('alive');
      g.fillRect(start, y + 2, Math.max(end - start, 1), row - 4);
      if (lane.first && lane.first.state !== 'runnable') {
        g.fillStyle = color(lane.first.state);
        g.fillRect(x(lane.first.from), y + row / 4, Math.max(x(lane.first.until) - x(lane.first.from), 1), row / 2);
      }
      for (let b = 0; lane.bars && b < lane.bars.length; b += 5) bar(g, lane.bars, b, y);
      const losses = lossesOf(lane);
      g.fillStyle = color('lost');
      for (let n = 0; n < losses.length; n += 2) {
        const begin = Math.max(x(losses[n]), start), until = Math.min(x(losses[n + 1]), end);
        if (until >= begin) g.fillRect(begin, y + 2, Math.max(until - begin, 1), row - 4);
      }
    });
    g.fillStyle = color('gc');
    g.globalAlpha = 0.55;
    for (let i = 0; i < gc.length; i += kPauseFields) g.fillRect(x(gc[i]), top - 6, Math.max(x(gc[i] + gc[i + 1]) - x(gc[i]), 1), lanes.length * row + 8);
    g.globalAlpha = 0.25;
    if (drag) g.fillRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), lanes.length * row);
    g.restore();
    g.fillStyle = color('ink');
    lanes.forEach((lane, i) => g.fillText(lane.name.slice(0, 28), 4, top + i * row + row / 2, left - 8));
  });
  // A stretch with several states in it is divided by their shares; of what is left of it nothing is known.
  function bar(g, bars, at, y) {
    const begin = x(bars[at]), wide = Math.max(x(bars[at] + bars[at + 1]) - begin, 0.7), whole = Math.max(bars[at + 1], 1);
    let used = 0;
    kStates.forEach((state, i) => {
      const share = Math.min(bars[at + 2 + i] / whole, 1) * (row - 4);
      if (!share) return;
      g.fillStyle = color(state);
      g.fillRect(begin, y + 2 + used, wide, share);
      used += share;
    });
  }
  function describe(event) {
    const px = event.offsetX, time = us(px), lane = lanes[Math.floor((event.offsetY - top) / row)];
    for (let i = 0; i < gc.length; i += kPauseFields)
      if (px >= x(gc[i]) - 1 && px <= x(gc[i] + gc[i + 1]) + 1)
        return `GC pause of ${micros(gc[i + 1])} at ${micros(gc[i])}` + (gc[i + 5] || gc[i + 4] ? `\n${pauseName(process.gc, gc, i)}` : '') +
            (gc[i + 2] ? `\n${bytes(gc[i + 2])} used after it` : '');
    if (!lane || px < left) return lane ? `${lane.name} (thread ${lane.id}${lane.group ? ', group ' + lane.group : ''})` : '';
    const losses = lossesOf(lane);
    for (let i = 0; i < losses.length; i += 2)
      if (px >= x(losses[i]) - 1 && px <= x(losses[i + 1]) + 1)
        return `${lane.name}\nevents lost between ${micros(losses[i])} and ${micros(losses[i + 1])}: what it did is not known`;
    for (let b = 0; lane.bars && b < lane.bars.length; b += 5) {
      if (time < lane.bars[b] || time > lane.bars[b] + lane.bars[b + 1]) continue;
      const states = kStates.map((s, i) => [s, lane.bars[b + 2 + i]]).filter((s) => s[1]).map((s) => `${s[0]} ${micros(s[1])}`);
      return `${lane.name}\n${micros(lane.bars[b + 1])} from ${micros(lane.bars[b])}: ${states.join(', ')}`;
    }
    const first = lane.first && time >= lane.first.from && time < lane.first.until;
    return `${lane.name}\n` + (first ? `${kNames[lane.first.state] || lane.first.state} since before the trace, no event of it until ${micros(lane.first.until)}`
        : `${micros(Math.round(time))}: ${kNames.alive}`);
  }
  view.canvas.onmousedown = (event) => { drag = {from: event.offsetX, to: event.offsetX}; };
  view.canvas.onmousemove = (event) => {
    if (drag) { drag.to = event.offsetX; view.redraw(); } else show(event, describe(event));
  };
  view.canvas.onmouseup = () => {
    if (drag && Math.abs(drag.to - drag.from) > 4)
      [from, to] = [Math.max(us(Math.min(drag.from, drag.to)), 0), Math.min(us(Math.max(drag.from, drag.to)), span)];
    drag = null;
    view.redraw();
  };
  view.canvas.ondblclick = () => { from = 0; to = span; view.redraw(); };
}

// -- Flame graph of the merged calls
// The calls of all threads as one: without the nodes below the root.
function together(nodes, each) {
  const out = nodes.slice(0, each), places = [0], known = new Map();
  for (let i = 1; i < nodes.length / each; i++) {
    const parent = nodes[i * each], name = nodes[i * each + 1], key = `${places[parent]} ${name}`;
    if (parent === 0) { places[i] = 0; continue; }
    if (!known.has(key)) {
      known.set(key, out.length / each);
      out.push(places[parent], name, ...new Array(each - 2).fill(0));
    }
    places[i] = known.get(key);
    for (let k = 2; k < each; k++) out[places[i] * each + k] += nodes[i * each + k];
  }
  return out;
}
// Whether the nodes below the root are threads, several ones. Of several JVMs they are the JVMs, and threads below them.
function hasThreads({nodes, kinds}, each) {
  if (!kinds) return false;
  const isCode = (i) => kinds[nodes[i * each + 1]] !== 0, all = [...Array(nodes.length / each).keys()].slice(1);
  const first = all.filter((i) => nodes[i * each] === 0), second = all.filter((i) => first.includes(nodes[i * each]));
  return first.length > 1 && !first.some(isCode) && second.some(isCode);
}
function flame(process) {
  if (!process.flame) return;
  const {names} = process.flame, each = 7, withThreads = hasThreads(process.flame, each);
  const merged = withThreads ? together(process.flame.nodes, each) : process.flame.nodes;
  let nodes = merged, size, children, depth;
  const text = {ns: nanos, bytes, samples: count}[process.flame.diff];
  const weights = process.flame.diff ? [['width: before and after', 5, text], ['width: after', 3, text], ['width: before', 4, text]].filter((w) => nodes[w[1]] > 0)
    : [['wall', 3, nanos], ['cpu', 4, nanos], ['allocation', 5, bytes], ['samples', 6, count]].filter((w) => nodes[w[1]] > 0);
  if (!weights.length) return;
  const part = section('flame', 'Flame graph', `By ${process.flame.source}. ` + (process.flame.diff ? 'Red: more than before, blue: less. ' : '') + 'Click a frame to see it alone, "all" at the top for all.' +
      (process.flame.frames >= process.flame.nodes.length / each ? ` The ${count(process.flame.nodes.length / each - 1)} greatest of ${count(process.flame.frames)} frames.` : '') +
      (names.includes('[cut stack]') ? ' Below [cut stack] the outer frames are missing: those stacks were deeper than what was copied of them, damaged, or of a virtual thread whose outer frames are in the heap.' : ''));
  if (process.flame.note && weights.some((w) => w[0] === 'allocation')) make('p', part, `Allocation: ${process.flame.note}.`, {className: 'note'});
  const arrange = () => {
    size = nodes.length / each;
    children = Array.from({length: size}, () => []);
    depth = new Array(size).fill(0);
    for (let i = 1; i < size; i++) {
      children[nodes[i * each]].push(i);
      depth[i] = depth[nodes[i * each]] + 1;
    }
  };
  arrange();
  const bar = make('div', part, undefined, {className: 'bar'});
  const choose = make('select', bar), apart = withThreads ? make('select', bar) : null, search = make('input', bar, undefined, {placeholder: 'find a frame'}), info = make('span', bar);
  for (const w of weights) make('option', choose, w[0]);
  if (apart) ['all threads together', 'each thread'].forEach((label) => make('option', apart, label));
  // A profile has whose code a frame is.
  const kinds = process.flame.kinds, kindHues = [210, 100, 40, 0];
  if (kinds) ['threads', 'Java', 'native', 'kernel'].forEach((label, kind) =>
    make('i', bar, label, {className: 'kind'}).style.background = `hsl(${kindHues[kind] + 8} 60% 67%)`);
  const diff = process.flame.diff;
  let weight = weights[0], top = 0, boxes = [];
  // Red: it has more than before, blue: less; the stronger, the more of the whole.
  const grown = (i) => nodes[i * each + 3] - nodes[i * each + 4];
  let most = diff ? Math.max(nodes[3], nodes[4]) / 20 : 1;
  for (let i = 1; diff && i < size; i++) most = Math.max(most, Math.abs(grown(i)));
  const tint = (i) => `hsl(${grown(i) > 0 ? 4 : 214} 80% ${grown(i) ? 92 - 40 * Math.min(Math.sqrt(Math.abs(grown(i)) / most), 1) : 88}%)`;
  const row = 17, name = (i) => names[nodes[i * each + 1]], value = (i) => nodes[i * each + weight[1]];
  const tall = () => { let most = 0; const walk = [top]; while (walk.length) { const i = walk.pop(); most = Math.max(most, depth[i]); walk.push(...children[i]); } return Math.min(most - depth[top] + 1, 200) * row + 2; };
  const view = drawing(make('div', part, undefined, {className: 'scroll'}), tall, (g, wide) => {
    boxes = [];
    const word = search.value.toLowerCase(), walk = [[top, 0, wide]];
    let found = 0;
    while (walk.length) {
      const [i, left, width] = walk.pop(), y = (depth[i] - depth[top]) * row, hit = word && name(i).toLowerCase().includes(word);
      boxes.push([i, left, y, width]);
      if (hit) found += 1;
      let hue = 0;
      for (const c of name(i)) hue = (hue * 31 + c.charCodeAt(0)) % 50;
      g.fillStyle = hit ? '#c04ad0' : diff ? tint(i) : kinds ? `hsl(${kindHues[kinds[nodes[i * each + 1]]] + hue / 3} 60% ${64 + hue / 8}%)` : `hsl(${10 + hue} 75% 62%)`;
      g.fillRect(left, y, Math.max(width - 0.5, 0.5), row - 1);
      if (width > 40) {
        g.fillStyle = '#201510';
        const fits = Math.floor(width / 5.6);
        g.fillText(name(i).length > fits ? name(i).slice(0, fits - 1) + '…' : name(i), left + 3, y + row / 2, width - 5);
      }
      let at = left;
      for (const child of children[i].slice().sort((a, b) => (name(a) < name(b) ? -1 : 1))) {
        const share = width * value(child) / Math.max(value(i), 1);
        if (share >= 0.3) walk.push([child, at, share]);
        at += share;
      }
    }
    info.textContent = word ? several(found, 'frame') : '';
  });
  const hit = (event) => boxes.find((b) => event.offsetX >= b[1] && event.offsetX < b[1] + b[3] && event.offsetY >= b[2] && event.offsetY < b[2] + row);
  view.canvas.onmousemove = (event) => {
    const box = hit(event);
    if (!box) return show(event, '');
    const share = (100 * value(box[0]) / Math.max(value(0), 1)).toFixed(1);
    if (diff) {
      const before = nodes[box[0] * each + 4], after = nodes[box[0] * each + 3];
      return show(event, `${name(box[0])}\nbefore ${text(before)}, after ${text(after)}: ` +
          (before && after ? `${after >= before ? '+' : '-'}${text(Math.abs(after - before))} (x ${(after / before).toPrecision(3)})` : before ? 'gone' : 'new'));
    }
    show(event, `${name(box[0])}\n${weight[0]} ${weight[2](value(box[0]))} (${share} %)` + (nodes[box[0] * each + 2] ? `, ${several(nodes[box[0] * each + 2], 'call')}` : ''));
  };
  view.canvas.onclick = (event) => {
    const box = hit(event);
    if (!box) return;
    top = box[0] === top ? 0 : box[0];
    view.redraw();
  };
  choose.onchange = () => { weight = weights[choose.selectedIndex]; view.redraw(); };
  if (apart) apart.onchange = () => { nodes = apart.selectedIndex ? process.flame.nodes : merged; top = 0; arrange(); view.redraw(); };
  search.oninput = view.redraw;
}

// -- Tables
// UTC, to the millisecond.
const timeOfDay = (ms) => new Date(ms).toISOString().slice(11, 23);
// What was not recorded is not 0.
const known = (value, text, otherwise = '-') => (value === undefined || value === null ? otherwise : text(value));
function threads(process) {
  if (!process.threads) return;
  const part = section('threads', 'Threads', `By ${process.threads.source}; ${count(process.threads.all)} in all.`);
  table(part, [['thread', (t) => t.name], ['id', (t) => t.id, true, (t) => Number(t.id)], ['group', (t) => t.group || ''],
    ['events', (t) => count(t.events), true, (t) => t.events],
    ...['blocked', 'waiting', 'sleeping'].map((state) => [state, (t) => known(t[state], micros), true, (t) => known(t[state], Number, -1)]),
    [process.threads.estimated ? 'allocated (estimated)' : 'allocated', (t) => known(t.bytes, bytes), true, (t) => known(t.bytes, Number, -1)]], process.threads.rows);
}
function contention(process) {
  if (!process.monitors) return;
  const part = section('contention', 'Contention', `By ${process.monitors.source}: waits for a monitor, or (parks) a lock of java.util.concurrent, that another thread had.`);
  const waits = (n, verb = 'blocked') => [['times', (r) => count(r[n]), true, (r) => r[n]], [verb, (r) => micros(r[n + 1]), true, (r) => r[n + 1]],
    ['longest', (r) => micros(r[n + 2]), true, (r) => r[n + 2]]];
  const {pairs, classes, ownersNote} = process.monitors;
  if (pairs.length) {
    make('h3', part, 'Who waited for whom (the owner when the wait began)');
    if (ownersNote && pairs.some((r) => r[1] === '?')) make('p', part, `?: ${ownersNote}.`, {className: 'note'});
    table(part, [['thread', (r) => r[0]], ['waited for', (r) => r[1]], ...waits(2, 'waited')], pairs);
  }
  if (classes.length) {
    make('h3', part, 'For which class of monitor or lock');
    table(part, [['class', (r) => r[0]], ...waits(1)], classes);
  }
  if (!pairs.length && !classes.length) make('p', part, 'No wait for another thread was recorded.');
  if (process.monitors.waits.length) {
    make('h3', part, 'Other waits (Object.wait, parks), by the class of what they were on');
    table(part, [['class', (r) => r[0]], ...waits(1, 'waited')], process.monitors.waits);
  }
  if (!process.monitors.short.length) return;
  make('p', part, `${process.monitors.shortNote} (--min-contention), so they are in neither table:`);
  table(part, [['class', (r) => r[0] || '(others)'], ...waits(1).slice(0, 2)], process.monitors.short);
}
// Of a profile.
function offCpu(process) {
  if (!process.offCpu) return;
  const part = section('offCpu', 'Off-CPU', 'What threads waited for and where, with who had the lock and who ended the wait: shares of the time.' +
      (process.offCpu.note ? ` Who ended the waits is not known: ${process.offCpu.note}.` : ''));
  table(part, [['what and where', (r) => r[0]], ['times', (r) => count(r[1]), true, (r) => r[1]], ['waited', (r) => nanos(r[2]), true, (r) => r[2]],
    ['longest', (r) => nanos(r[3]), true, (r) => r[3]], ['owner', (r) => r[4]], ['woken by', (r) => r[5]]], process.offCpu.rows);
}
// Their times are without the calls that were too short to be recorded.
const recordedFrom = ({slowerThan, slowerNote}) => (slowerThan ? ` Only calls of ${nanos(slowerThan)} and more were recorded${slowerNote}.` : '');
function methods(process) {
  if (!process.calls) return;
  const part = section('methods', 'Methods', `By ${process.calls.source}; ${several(process.calls.all, 'method')}.` + recordedFrom(process.calls) +
      (process.calls.counted ? ` Coverage: ${count(process.calls.ran)} of ${count(process.calls.counted)} counted methods ran` +
        ` (${(100 * process.calls.ran / process.calls.counted).toFixed(1)} %).` : ''));
  const measured = process.calls.rows.some((r) => r[4] > 0) ? [['cpu', (r) => (r[4] ? nanos(r[4]) : '-'), true, (r) => r[4]]] : [];
  const timed = process.calls.timed ? [['calls', (r) => count(r[1]), true, (r) => r[1]], ['self', (r) => nanos(r[2]), true, (r) => r[2]],
    ['total', (r) => nanos(r[3]), true, (r) => r[3]]] : [];
  table(part, [['method', (r) => r[0]], ...timed, ...measured,
    ['counted', (r) => (r[5] === null ? '' : count(r[5])), true, (r) => (r[5] === null ? -1 : r[5])]], process.calls.rows);
  if (!process.calls.coverage.length) return;
  make('h3', part, 'Coverage by class');
  table(part, [['class', (r) => r[0]], ['methods that ran', (r) => count(r[1]), true, (r) => r[1]], ['methods', (r) => count(r[2]), true, (r) => r[2]],
    ['covered', (r) => (100 * r[1] / r[2]).toFixed(1) + ' %', true, (r) => r[1] / r[2]]], process.calls.coverage);
}
// A profile of a program whose threads hardly ran: as the page of jtrace profile, or as its trace.
function lacksSamples(process) {
  const isProfile = (p) => p.agent === 'jtrace profile' || (p.agent === 'jtrace inspect' && /^profile .* cpu/.test(p.parameters));
  const {producers, sampled: taken, offCpu: waits} = process;
  return producers.length > 0 && !waits && producers.every((p) => isProfile(p) && !p.dropped) &&
      (taken ? taken.samples === 0 : producers.every((p) => p.agent === 'jtrace inspect' && !p.traces));
}
function sampled(process) {
  if (lacksSamples(process)) {
    const pid = process.producers[0].pid || 'PID';
    section('sampled', 'Methods', `No sample was taken: the threads did not run, or for less than a sampling period. jtrace stack ${pid} shows where they wait, jtrace profile ${pid} --wall samples their waits too.`);
    return;
  }
  if (!process.sampled) return;
  const { samples, own } = process.sampled, share = shareOf(samples);
  if (!own || !own.length) return;
  table(section('sampled', 'Methods', `Methods of the program, with what they called of the JDK, and from where: of ${several(samples, 'sample')}.`),
    [['method', (r) => r[1]], ['from', (r) => r[0] || ''], ['samples', (r) => count(r[2]), true, (r) => r[2]], ['of all', (r) => share(r[2]), true, (r) => r[2]]], own);
}
const shareOf = (samples) => (n) => (samples ? (100 * n / samples).toFixed(1) + ' %' : '-');
function allFrames(process) {
  if (!process.sampled || lacksSamples(process)) return;
  const { samples, all, rows } = process.sampled, left = all - rows.length, share = shareOf(samples);
  const part = section('frames', 'All frames', `Of ${several(samples, 'sample')}: in how many each was the innermost frame (self), and in how many it was at all (total).` +
      (left ? ` ${several(left, 'frame')} with few samples not shown.` : ''));
  table(part, [['method or native frame', (r) => r[0]], ['self', (r) => count(r[1]), true, (r) => r[1]], ['of all', (r) => share(r[1]), true, (r) => r[1]],
    ['total', (r) => count(r[2]), true, (r) => r[2]], ['of all', (r) => share(r[2]), true, (r) => r[2]]], rows);
}

// Without parentheses where the trace has no arguments.
const callText = (call) => call.method + (call.arguments && `(${call.arguments})`);
const endText = (call) => (call.byException ? `, ended by ${call.exception || 'an exception'}` : '');

function slowest(process) {
  const calls = process.calls && process.calls.slowCalls, idle = process.calls && process.calls.idleCalls;
  if (!calls || !(calls.length || idle.length)) return;
  const part = section('slow', 'Slowest calls', `By ${process.calls.source}: each with what its thread waited for meanwhile, the owner of a lock when the wait began, and the callees that took half of it or more.`);
  // The many calls of one method do not hide the others.
  const firsts = new Set(process.calls.slowCallsFirst.map((i) => calls[i])), isFirst = (r) => firsts.has(r) || !r.ended;
  if (!calls.every(isFirst)) make('p', part, 'Of each method its longest calls, all on request.', {className: 'note'});
  const seconds = (s) => (s ? nanos(Math.round(s * 1e9)) : '');
  const time = (key, title) => [title, (r) => seconds(r[key]), true, (r) => r[key]];
  // Of the longest wait of a kind, which may be one of several.
  const lockOf = (r, kind) => {
    const longest = r.longestWaits.find((wait) => wait.kind === kind) || {};
    const lock = [longest.monitor && ` for ${longest.monitor}`, longest.owner && ` that ${longest.owner} had`].filter(Boolean).join('');
    return lock && longest.seconds < 0.99 * r[kind] ? ` (${seconds(longest.seconds)}${lock})` : lock;
  };
  // What a call's time went to, the longest first: in columns of their own these would leave no room for its arguments.
  const kinds = [['blocked', 'blocked'], ['waiting', 'waiting'], ['sleeping', 'sleeping'], ['socketIo', 'socket I/O'], ['fileIo', 'file I/O'],
    ['paused', 'pauses'], ['processStopped', 'while the process stood still'], ['onProcessor', 'on a processor'], ['other', 'other']];
  const spent = (r) => kinds.filter(([key]) => r[key]).sort((a, b) => r[b[0]] - r[a[0]])
    .map(([key, word]) => `${seconds(r[key])} ${word}${lockOf(r, key)}`).join(', ');
  const below = (r) => r.below.map((b) => `${callText(b)} ${seconds(b.seconds)}${endText(b)}${b.levels ? ` (called itself ${several(b.levels - 1, 'time')})` : ''}`).join(', ') + (r.belowLeftOut ? `, and ${count(r.belowLeftOut)} more` : '');
  table(part, [['time (UTC)', (r) => timeOfDay(r.start * 1e3), true, (r) => r.start],
    ['since the start', (r) => micros(Math.round((r.start - process.start / 1e9) * 1e6)), true, (r) => r.start],
    ['took', (r) => (r.ended ? '' : '> ') + seconds(r.seconds), true, (r) => r.seconds],
    ['call', (r) => callText(r) + endText(r)], ['thread', (r) => r.thread], ['spent', spent], time('heldUpOthers', 'others waited'), ['below it', below]], calls, 'cards', isFirst);
  if (idle.length) {
    make('h3', part, 'Idle calls, by method');
    make('p', part, `${process.calls.idleCallsMore ? 'More than ' : ''}${several(process.calls.idleCallsAll, 'call')} that slept or waited for work 95 % of the time and more.`, {className: 'note'});
    table(part, [['method', (r) => r.method], ['calls', (r) => count(r.calls), true, (r) => r.calls], ['threads', (r) => count(r.threads), true, (r) => r.threads],
      time('seconds', 'in all'), ['longest', (r) => (r.longest.ended ? '' : '> ') + seconds(r.longest.seconds), true, (r) => r.longest.seconds],
      ['the longest', (r) => callText(r.longest) + endText(r.longest)], ['thread', (r) => r.longest.thread], ['below it', (r) => below(r.longest)]], idle, 'cards');
  }
  make('h3', part, 'How the times of a method\'s calls are spread');
  const {slowMethods} = process.calls, counted = slowMethods.some((r) => r.allCalls !== undefined);
  make('p', part, '~: about, at most an eighth too high.' + recordedFrom(process.calls) +
      (slowMethods.some((r) => r.ofAllCalls) ? ' Percentiles are of all calls: < says that it is among those that were only counted, > and ? that calls which had not ended or were lost may decide it.' : ''), {className: 'note'});
  const precise = (s) => nanos(Math.round(s * 1e9));
  // Of all calls, where the trace has the number of those that were too short to be recorded.
  const of = (r, key) => (r.ofAllCalls ? r.ofAllCalls[key] : {seconds: r[key]});
  const spread = ({seconds, below, atLeast}) => (seconds !== undefined ? precise(seconds) : below !== undefined ? `<${precise(below)}` : atLeast !== undefined ? `>${precise(atLeast)}` : '?');
  const weight = ({seconds, below, atLeast}) => (below !== undefined ? 0 : seconds || atLeast || -1);
  const quantile = (key, title) => [title, (r) => spread(of(r, key)), true, (r) => weight(of(r, key))];
  table(part, [['method', (r) => r.method], [counted ? 'recorded' : 'calls', (r) => count(r.calls), true, (r) => r.calls],
    ...(counted ? [['all calls', (r) => known(r.allCalls, count), true, (r) => known(r.allCalls, Number, -1)]] : []),
    quantile('p50', '~50 %'), quantile('p90', '~90 %'), quantile('p99', '~99 %'), ['longest', (r) => precise(r.longest), true, (r) => r.longest]], slowMethods);
}
function exceptions(process) {
  if (!process.exceptions || !process.exceptions.exceptionsAll) return;
  const {exceptions: rows, exceptionsAll: all, exceptionsSwallowed: swallowed, exceptionsUsed: used, exceptionHandlersNotKnown: unknown, source} = process.exceptions;
  const part = section('exceptions', 'Exceptions', `By ${source}: ${several(all, 'exception')}, ${count(swallowed)} of them swallowed (caught and dropped), ${count(used)} caught and used.` +
      (unknown ? ` Of ${count(unknown)} of the swallowed the trace does not say whether the handler used them.` : ''));
  const site = (place) => (place ? place.method + (place.line ? ':' + place.line : '') : '');
  const end = (r) => r.end + (r.causeOf ? ': the cause of ' + r.causeOf : '') + (r.suppressedBy ? ' by ' + r.suppressedBy : '');
  const columns = [['times', (r) => count(r.count), true, (r) => r.count], ['class', (r) => r.class], ['end', end],
    ['thrown in', (r) => (r.thrownThere ? '' : 'or below: ') + site(r.thrown)],
    ['caught in', (r) => (r.caught ? site(r.caught) : 'last seen: ' + site(r.lastIn))],
    ['caught and thrown on before', (r) => (r.thrownOn ? count(r.thrownOn) : ''), true, (r) => r.thrownOn]];
  const threads = (r) => r.threads.slice(0, 3).map((t) => t.name).join(', ') + (r.threads.length > 3 ? ` and ${count(r.threads.length - 3 + (r.threadsLeftOut || 0))} more` : '');
  if (rows.some((r) => r.threads.some((t) => t.name))) columns.push(['threads', threads]);
  if (rows.some((r) => r.messages.length))
    columns.push(['messages', (r) => r.messages.slice(0, 5).map((m) => `${count(m.count)} × ${m.message}`).join('; ')]);
  table(part, columns, rows);
}
function classes(process, key, id, title, objects) {
  if (!process[key]) return;
  const {source, all, note, rows, sites} = process[key];
  const part = section(id, title, `By ${source}; ${several(all, 'class', 'classes')}` + (note ? `; ${note}.` : '.'));
  const columns = (what) => [[what, (r) => r[0]], [objects, (r) => count(r[1]), true, (r) => r[1]], ['bytes', (r) => count(r[2]), true, (r) => r[2]]];
  table(part, columns('class'), rows);
  if (!sites || !sites.rows.length) return;
  make('h3', part, 'Where they were allocated');
  table(part, columns('site and class'), sites.rows);
}
function pauses(process) {
  if (!process.gc) return;
  const {count: times, total, longest, missed, texts, causes, pauses: list, collections, heapNote, source} = process.gc;
  const part = section('gc', 'GC', `By ${source}: ` + (times ? `${several(times, 'pause')}, ${micros(total)} in all, the longest ${micros(longest)}.` : missed ? 'no pause was seen.' : 'no pauses.') +
      (missed ? ` ${count(missed)} more that were not seen: only their number is known.` : ''));
  const points = [], used = process.counters ? heapUse(process.counters.series) : [], rows = [], lengths = [];
  for (let i = 0; i < list.length; i += kPauseFields) {
    rows.push(list.slice(i, i + kPauseFields));
    lengths.push([list[i], list[i + 1], pauseName(process.gc, list, i)]);
    if (list[i + 3]) points.push(list[i], list[i + 3]);
    if (list[i + 2]) points.push(list[i] + list[i + 1], list[i + 2]);
  }
  for (const [begin, end, , before, after] of collections) {
    if (begin !== null && before !== null) points.push(begin, before);
    if (after !== null) points.push(end, after);
  }
  const heap = byTime([...(used.length > 2 ? used : []), ...points]), has_before = rows.some((r) => r[3]);
  if (rows.length) heapAndPauses(part, heap, used.length > 2 ? 'heap used' : has_before ? 'heap used before and after each pause' : 'heap used after each pause', lengths, process.span);
  if (rows.length && heapNote)
    make('p', part, (has_before ? '' : 'The line has the heap after each pause' + (used.length > 2 ? ' and at each look of the poll' : '') +
        ': what it had just before a pause is not recorded, so the heap rose higher than the line. ') + heapNote[0].toUpperCase() + heapNote.slice(1) + '.', {className: 'note'});
  if (causes.some((r) => r[0] || r[1])) {
    make('h3', part, 'By cause');
    table(part, [['cause', (r) => r[1] || '?'], ['kind', (r) => r[0] || '?'], ['times', (r) => count(r[2]), true, (r) => r[2]],
      ['in all', (r) => micros(r[3]), true, (r) => r[3]], ['longest', (r) => micros(r[4]), true, (r) => r[4]]], causes);
    if (causes.some((r) => r[1] === 'System.gc()'))
      make('p', part, 'Who calls System.gc(): jtrace profile PID --off-cpu --duration 30 -o - | grep Runtime.gc', {className: 'note'});
  }
  rows.sort((a, b) => b[1] - a[1]);
  const amount = (at) => (r) => (r[at] ? bytes(r[at]) : '?'), time = (us) => timeOfDay(Number(process.start) / 1e6 + us / 1e3);
  if (collections.length) {
    const moment = (c) => (c[0] === null ? c[1] : c[0]), took = (c) => (c[0] === null ? -1 : c[1] - c[0]);
    make('h3', part, process.gc.collectionsMore ? 'The longest collections, of more than one pause' : 'Collections of more than one pause, the longest first');
    table(part, [['time (UTC)', (c) => time(moment(c)), true, moment], ['lasted', (c) => (c[0] === null ? '-' : micros(took(c))), true, took],
      ['pauses', (c) => count(c[2]), true, (c) => c[2]], ['kind', (c) => c[5] || '?'], ['cause', (c) => c[6] || '?'],
      ['heap before', (c) => known(c[3], bytes, '?'), true, (c) => known(c[3], Number, -1)],
      ['heap after', (c) => known(c[4], bytes, '?'), true, (c) => known(c[4], Number, -1)]], collections);
  }
  if (!times) return;
  make('h3', part, rows.length < times ? 'The longest pauses' : 'Pauses, the longest first');
  table(part, [['time (UTC)', (r) => time(r[0]), true, (r) => r[0]], ['since the start', (r) => micros(r[0]), true, (r) => r[0]], ['took', (r) => micros(r[1]), true, (r) => r[1]],
    ['kind', (r) => texts[r[4]] || '?'], ['cause', (r) => texts[r[5]] || '?'], ['heap before', amount(3), true, (r) => r[3]], ['heap after', amount(2), true, (r) => r[2]]], rows);
}
function byTime(points) {
  const pairs = [];
  for (let i = 0; i < points.length; i += 2) pairs.push([points[i], points[i + 1]]);
  return pairs.sort((a, b) => a[0] - b[0]).flat();
}
// The used heap as a line, and below it each pause as a bar, on one axis of time. lengths: [us, duration, name].
function heapAndPauses(parent, heap, title, lengths, span) {
  const high = 190, floor = 120, left = 6, most = lengths.reduce((a, l) => Math.max(a, l[1]), 1);
  let greatest = 1;
  for (let i = 1; i < heap.length; i += 2) greatest = Math.max(greatest, heap[i]);
  const keys = make('div', parent, undefined, {className: 'bar'});
  for (const [name, text] of [['accent', title], ['gc', 'length of the pauses']]) {
    const label = make('span', keys);
    make('i', label, undefined, {className: 'key'}).style.background = `var(--${name})`;
    label.append(text);
  }
  const whole = Math.max(span, 1), at = (us, wide) => left + us / whole * (wide - 2 * left);
  const view = drawing(make('div', parent), high, (g, wide) => {
    g.strokeStyle = color('accent');
    g.beginPath();
    for (let i = 0; i < heap.length; i += 2) g.lineTo(at(heap[i], wide), floor - 8 - heap[i + 1] / greatest * (floor - 24));
    g.stroke();
    g.fillStyle = color('gc');
    for (const [us, length] of lengths) {
      const tall = Math.max(length / most * (high - floor - 26), 1);
      g.fillRect(at(us, wide), high - 14 - tall, Math.max(at(us + length, wide) - at(us, wide), 1.5), tall);
    }
    g.fillStyle = color('dim');
    if (heap.length) g.fillText(bytes(greatest), 4, 8);
    g.fillText(micros(most), 4, floor + 4);
    g.fillText(micros(0), 4, high - 6);
    const end = micros(span);
    g.fillText(end, wide - 6 - g.measureText(end).width, high - 6);
  });
  view.canvas.onmousemove = (event) => {
    const us = (event.offsetX - left) / Math.max(view.canvas.clientWidth - 2 * left, 1) * whole;
    let near = lengths[0], best = 0;
    for (const l of lengths) if (Math.abs(l[0] - us) < Math.abs(near[0] - us)) near = l;
    for (let i = 0; i < heap.length; i += 2) if (Math.abs(heap[i] - us) < Math.abs(heap[best] - us)) best = i;
    const pause = `pause of ${micros(near[1])} at ${micros(near[0])}` + (near[2] ? `\n${near[2]}` : '');
    show(event, heap.length && event.offsetY < floor ? `${bytes(heap[best + 1])} used at ${micros(heap[best])}\n${pause}` : pause);
  };
}

// -- Counters
// whole: {span}: the time axis is that of the trace, and the amounts begin at 0.
function chart(parent, title, points, text, whole) {
  const head = make('p', parent, title, {className: 'note'}), high = 120;
  let least = Infinity, greatest = -Infinity;
  for (let i = 1; i < points.length; i += 2) { least = Math.min(least, points[i]); greatest = Math.max(greatest, points[i]); }
  if (whole) least = 0;
  const start = whole ? 0 : points[0], span = Math.max(whole ? whole.span : points[points.length - 2] - start, 1), high_of = (v) => high - 8 - (v - least) / Math.max(greatest - least, 1) * (high - 16);
  const view = drawing(make('div', parent), high, (g, wide) => {
    g.strokeStyle = color('accent');
    g.beginPath();
    for (let i = 0; i < points.length; i += 2) {
      const x = (points[i] - start) / span * wide;
      g.lineTo(x, high_of(points[i + 1]));
    }
    g.stroke();
    g.fillStyle = color('dim');
    g.fillText(text(greatest), 4, 8);
    g.fillText(text(least), 4, high - 6);
    const ends = [micros(start), micros(start + span)], wideOf = (label) => g.measureText(label).width;
    const first = Math.max(90, 4 + wideOf(text(least)) + 16), last = wide - 6 - wideOf(ends[1]);  // none over another
    if (first + wideOf(ends[0]) + 8 < last) g.fillText(ends[0], first, high - 6);
    if (4 + wideOf(text(least)) + 8 < last) g.fillText(ends[1], last, high - 6);
  });
  view.canvas.onmousemove = (event) => {
    const time = start + event.offsetX / view.canvas.clientWidth * span;
    let best = 0;
    for (let i = 0; i < points.length; i += 2) if (Math.abs(points[i] - time) < Math.abs(points[best] - time)) best = i;
    show(event, `${text(points[best + 1])} at ${micros(points[best])}`);
  };
  return [head, view.canvas.parentElement];
}
// The used bytes of all spaces of the heap over time: [us, bytes, ...]. A counter has a point only where it changed.
function heapUse(series) {
  const spaces = series.filter((s) => /^sun\.gc\.generation\.\d+\.space\.\d+\.used$/.test(s.name) && s.text === undefined);
  const changes = [];
  spaces.forEach((space, number) => { for (let i = 0; space.points && i < space.points.length; i += 2) changes.push([space.points[i], number, space.points[i + 1]]); });
  changes.sort((a, b) => a[0] - b[0]);
  const now = spaces.map((space) => (space.points ? space.points[1] : space.last)), points = [];
  for (let i = 0; i < changes.length; i++) {
    now[changes[i][1]] = changes[i][2];
    if (i + 1 === changes.length || changes[i + 1][0] !== changes[i][0]) points.push(changes[i][0], now.reduce((a, b) => a + b, 0));
  }
  return points;
}
function counters(process) {
  if (!process.counters) return;
  const {series, all, source} = process.counters, curves = series.filter((s) => s.points);
  const part = section('counters', 'Counters', `By ${source}: ${several(all, 'counter')}, ${count(curves.length)} of them changed.`);
  const used = process.gc && process.gc.pauses.length ? [] : heapUse(series);
  if (used.length > 2) chart(part, 'heap used', used, bytes, {span: process.span});
  if (curves.length) {
    const bar = make('div', part, undefined, {className: 'bar'}), choose = make('select', bar), place = make('div', part);
    for (const s of curves) make('option', choose, s.name);
    choose.onchange = () => { place.replaceChildren(); chart(place, curves[choose.selectedIndex].name, curves[choose.selectedIndex].points, count); };
    choose.onchange();
  }
  const value = (s) => (s.text !== undefined ? s.text : count(s.last));
  table(part, [['counter', (s) => s.name], ['value', value, true, (s) => (s.text !== undefined ? -1 : s.last)],
    ['least', (s) => (s.text !== undefined ? '' : count(s.least)), true, (s) => s.least], ['greatest', (s) => (s.text !== undefined ? '' : count(s.greatest)), true, (s) => s.greatest]], series);
}

// -- The stacks of a snapshot
function stacks(process) {
  if (!process.stacks) return;
  const {rows, all, deadlocks, source} = process.stacks;
  const part = section('stacks', 'Stacks', `By ${source}: ${several(all, 'thread')} at one moment.`);
  for (const circle of deadlocks) make('p', part, 'Deadlock: ' + [...circle, circle[0]].join(' waits for '), {className: 'bad'});
  for (const thread of rows) {
    const box = make('details', part);
    make('summary', box, `${thread.name}: ${thread.state}` + (thread.monitor ? ' for ' + thread.monitor : '') +
        (thread.owner ? ', which ' + thread.owner + ' has' : '') + ` (${several(thread.frames.length, 'frame')})`);
    make('pre', box, thread.frames.join('\n') || 'no Java frames');
    if (deadlocks.some((circle) => circle.includes(thread.name))) box.open = true;
  }
}

// -- The whole
function overview(process) {
  const part = section('producers', 'Producers', process.start === '0' ? '' :
      `From ${new Date(Number(process.start.slice(0, -6))).toISOString()}, ${micros(process.span)}.`);
  table(part, [['agent', (p) => p.agent + (p.snapshot ? ' (snapshot)' : '')], ['process', (p) => p.process], ['pid', (p) => p.pid, true], ['host', (p) => p.host],
    ['command', (p) => p.command], ['events', (p) => count(p.events), true, (p) => p.events], ['lost', (p) => count(p.dropped), true, (p) => p.dropped],
    ['from', (p) => micros(p.from), true, (p) => p.from], ['to', (p) => micros(p.to), true, (p) => p.to]], process.producers);
  table(part, [['element', (r) => r[0]], ['count', (r) => count(r[1]), true, (r) => r[1]]], data.elements);
}
function frames(process) {
  if (!process.frames) return;
  const {unit, rows} = process.frames, amount = {ns: nanos, bytes, samples: count}[unit];
  rows.sort((a, b) => b[1] - a[1]);
  table(section('frames', 'Frames'), [['frame', (r) => r[0]], ['by itself', (r) => amount(r[1]), true, (r) => r[1]],
    ['with what it calls', (r) => amount(r[2]), true, (r) => r[2]]], rows);
}
function differences(process) {
  if (!process.diff) return;
  const part = section('diff', 'Differences', 'The greatest first; after is scaled where a note reports it.');
  for (const {table: title, unit, rows, same, comparable, note, usual, lostBefore, lostAfter} of process.diff) {
    make('h3', part, title + (rows.length ? '' : `: no difference in ${several(same, 'row')}`));
    if (note) make('p', part, `${note}.`, {className: 'bad'});
    if (usual && usual.note) make('p', part, `${usual.note}.`);
    if (!rows.length) continue;
    const amount = unit === 'ns' ? (v) => nanos(Math.round(v)) : unit === 'bytes' ? bytes : (v) => count(Math.round(v));
    const change = (r) => (r.change < 0 ? '-' : '+') + amount(Math.abs(r.change));
    // A row whose amount is 0 may have been there: that often.
    const isThere = (amount, times) => amount || times;
    const ratio = (r) => (!isThere(r.before, r.timesBefore) ? 'new' : !isThere(r.after, r.timesAfter) ? 'gone'
      : r.before && r.after ? (r.after / r.before).toPrecision(3) : '');
    const times = rows.some((r) => r.timesBefore || r.timesAfter) && unit !== 'times' ?
      [['times before', (r) => count(Math.round(r.timesBefore)), true, (r) => r.timesBefore], ['times after', (r) => count(Math.round(r.timesAfter)), true, (r) => r.timesAfter]] : [];
    const percent = (key, name) => [name, (r) => (r[key] === undefined ? '' : (100 * r[key]).toFixed(1) + ' %'), true, (r) => r[key]];
    const mean = (key, times, name) => [name, (r) => (r[times] ? amount(r[key] / r[times]) : ''), true, (r) => (r[times] ? r[key] / r[times] : 0)];
    // Where events were lost, shares and means can be compared, amounts not.
    const compared = comparable ? [['change', change, true, (r) => r.change], ['ratio', ratio, true, (r) => (r.before ? r.after / r.before : Infinity)]]
      : [percent('shareBefore', 'share before'), percent('shareAfter', 'share after'), ...(times.length ? [mean('before', 'timesBefore', 'mean before'), mean('after', 'timesAfter', 'mean after')] : [])];
    const callers = (r) => (r.callers || []).filter((c) => c.name).slice(0, 2).map((c) => `${c.name} ${amount(c.before)} → ${amount(c.after)}`).join(', ');
    table(part, [['what', (r) => (r.differs ? '* ' : '') + r.name], [lostBefore ? '≥ before' : 'before', (r) => amount(r.before), true, (r) => r.before],
      [lostAfter ? '≥ after' : 'after', (r) => amount(r.after), true, (r) => r.after], ...compared, ...times, ['called by', callers]], rows);
  }
}
function summary() {
  document.title = data.title + ' - jtrace report';
  document.querySelector('h1').textContent = data.title;
  const place = document.getElementById('summary');
  if (data.note) { place.textContent = `${data.note} jtrace ${data.version}.`; return; }
  place.textContent = `${several(data.events, 'event')}, jtrace ${data.version}. `;
  const losses = Object.entries(data.faults).map(([kind, times]) => `${count(times)} ${kind}`);
  const lost = data.processes.reduce((sum, p) => sum + p.producers.reduce((s, x) => s + x.dropped, 0), 0);
  if (lost) losses.push(`${several(lost, 'event')} lost while tracing (the JVM wrote faster than jtrace read: counts and times are too small)`);
  const unseen = data.processes.reduce((sum, p) => sum + (p.gc ? p.gc.missed : 0), 0);
  if (unseen) losses.push(`${several(unseen, 'pause')} of which only the number is known`);
  const breaks = data.processes.reduce((sum, p) => sum + p.producers.reduce((s, x) => s + x.pauses, 0), 0);
  if (breaks) losses.push(`what happened while the trace was paused (${several(breaks, 'time')})`);
  if (data.truncated) losses.push('the trace is cut off');
  if (data.lacksEnd) losses.push('events of the end, for which there was no room');
  const empty = data.processes.length > 0 && data.processes.every(lacksSamples) && !losses.length;
  if (empty) make('span', place, 'No sample was taken.', {className: 'bad'});
  else make('span', place, losses.length ? 'Not all is here: ' + losses.join(', ') + '.' : 'Nothing was lost.', {className: losses.length ? 'bad' : ''});
}
// Where figures are too small because of a loss, the section says so.
const kMeasured = ['slow', 'contention', 'gc', 'exceptions', 'allocations', 'methods', 'timeline', 'flame', 'threads'];
function markLosses(process) {
  const lost = process.producers.reduce((sum, p) => sum + p.dropped, 0);
  if (!lost) return;
  for (const id of kMeasured) {
    const part = document.getElementById(id);
    if (part) part.querySelector('h2').after(make('p', part, `${several(lost, 'event')} lost while tracing: there may be more than is here, and longer ones.`, {className: 'bad'}));
  }
}
function view(process) {
  main.replaceChildren();
  nav.replaceChildren();
  drawings = [];
  if (!process) return;
  // What was found first, then the views to look around in, the counts of what was recorded last.
  if (process.diff || process.frames) { for (const part of [differences, frames, flame]) part(process); drawings.forEach((redraw) => redraw()); return; }
  for (const part of [slowest, contention, pauses, exceptions]) part(process);
  classes(process, 'allocations', 'allocations', 'Allocations by class', 'objects');
  for (const part of [methods, sampled, offCpu, stacks, timeline, flame, allFrames, threads]) part(process);
  classes(process, 'heap', 'heap', 'Heap by class', 'instances');
  for (const part of [counters, overview]) part(process);
  markLosses(process);
  drawings.forEach((redraw) => redraw());  // a scroll bar may have come since
}
summary();
if (data.processes.length > 1) {
  const choose = make('select', make('div', document.querySelector('header'), 'process ', {className: 'bar'}));
  data.processes.forEach((p) => make('option', choose, p.producers.map((x) => `${x.process} ${x.pid}`)[0]));
  choose.onchange = () => view(data.processes[choose.selectedIndex]);
}
view(data.processes[0]);
root.dataset.state = 'ready';
