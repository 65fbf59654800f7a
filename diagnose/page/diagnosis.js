// The page of a bundle of jtrace diagnose: what it shows is in the element #data (diagnose/bundle_page.cpp writes it).
const manifest = data.manifest, findings = data.findings.data || [], diagnosis = data.findings.diagnosis || {};
const rows = (view) => (data[view] && data[view].data) || [];

function head() {
  const target = manifest.target, sure = findings.filter((f) => f.confidence !== 'hint').length;
  document.querySelector('h1').textContent = sure ? `${sure} ${sure === 1 ? 'trouble' : 'troubles'} found` : 'Nothing found';
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

function locks() {
  const waits = rows('locks').filter((w) => w.thread && w.owner);
  if (!waits.length) return;
  const owners = new Map();
  for (const wait of waits) {
    if (!owners.has(wait.owner)) owners.set(wait.owner, []);
    owners.get(wait.owner).push(wait);
  }
  const part = section('locks', 'Locks', 'An owner, and the threads that wait for its locks.');
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
  const meter = make('div', part, undefined, {className: 'meter'});
  parts.forEach((p, i) => {
    const bar = make('span', meter);
    bar.style.cssText = `width:${p.resident / all * 100}%;background:var(${kColors[i % kColors.length]})`;
    bar.onmousemove = (event) => show(event, `${p.part}: ${bytes(p.resident)}`);
    bar.onmouseleave = (event) => show(event, '');
  });
  const legend = make('div', part);
  parts.slice(0, kColors.length).forEach((p, i) => {
    make('span', legend, undefined, {className: 'key'}).style.background = `var(${kColors[i]})`;
    make('span', legend, p.part);
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

head(); verdict(); processor(); locks(); threads(); memory(); classes(); steps();
root.dataset.state = root.dataset.state || 'ready';
