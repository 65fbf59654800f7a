// The page of a heap, after parts.js; coreinspect/tools/heap_page_view.cpp writes data.heap and says what its rows are.
const heap = data.heap, word = (i) => (i < 0 ? '' : heap.texts[i]);
const share = (n) => (heap.reachable ? (100 * n / heap.reachable).toFixed(1) : '0.0') + ' %';
const exact = (n) => `${count(n)} ${n === 1 ? 'byte' : 'bytes'}`;
const amount = (n) => (n < 1024 ? exact(n) : `${bytes(n)} (${count(n)} bytes)`);

// -- The two trees: what each object keeps, and the same with the objects of a class merged
function treeOf(rows, title, nodeOf) {
  const top = {name: title, edge: '', objects: 0, shallow: 0, retained: heap.reachable, up: null, below: [], others: 0, step: -1};
  const nodes = rows.map((row) => ({below: [], others: 0, step: -1, edge: '', ...nodeOf(row)}));
  nodes.forEach((node, i) => {
    node.up = rows[i][0] < 0 ? top : nodes[rows[i][0]];
    node.up.below.push(node);
  });
  for (const node of [top, ...nodes]) {
    node.below.sort((a, b) => b.retained - a.retained);
    node.rest = Math.max(node.retained - node.shallow - node.below.reduce((sum, each) => sum + each.retained, 0), 0);
  }
  return {top, nodes};
}
const byObject = treeOf(heap.byObject.nodes, 'all that is reachable', ([, name, edge, objects, shallow, retained, others, address, step]) =>
  ({name: word(name), edge: word(edge), objects, shallow, retained, others, address, step}));
byObject.top.others = heap.byObject.rest;
const byClass = treeOf(heap.byClass.nodes, 'all that is reachable', ([, name, objects, shallow, retained]) => ({name: word(name), objects, shallow, retained, merged: true}));

const called = (node) => (node.objects > 1 ? `${count(node.objects)} ${node.merged ? '' : 'in a list: '}` : '') + node.name;
const othersText = (node) => (node.others ? several(node.others, 'other object') : 'others') + ` below ${called(node)}`;

// -- Colors: one for a class; those of own bytes and of what is not shown are gray
const dark = matchMedia('(prefers-color-scheme: dark)');
const tintOf = (node) => (node.up ? tint(node.name) : '#b9c2cf');
function tint(name) {
  let hue = 0;
  for (const c of name) hue = (hue * 31 + c.charCodeAt(0)) % 360;
  return dark.matches && !root.classList.contains('printing') ? `hsl(${hue} 34% 60%)` : `hsl(${hue} 58% 76%)`;
}

// -- Pictures
// Squarified: rows of rectangles that are as near to squares as this order of sizes allows.
function squares(items, x, y, w, h, place) {
  let sum = items.reduce((all, item) => all + item.size, 0), i = 0;
  while (i < items.length && sum > 0 && w > 0.5 && h > 0.5) {
    const side = Math.min(w, h), scale = w * h / sum;
    let row = 0, end = i, worst = Infinity;
    for (; end < items.length; end++) {
      const more = row + items[end].size, long = more * scale / side;
      const ratio = Math.max(long / (items[end].size * scale / long), items[i].size * scale / long / long);
      if (ratio > worst) break;
      worst = ratio;
      row = more;
    }
    const thick = row * scale / side;
    for (let at = 0; i < end; i++) {
      const length = items[i].size / row * side;
      if (w >= h) place(items[i], x, y + at, thick, length);
      else place(items[i], x + at, y, length, thick);
      at += length;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    sum -= row;
  }
}
function label(g, text, x, y, width) {
  const fits = Math.floor((width - 6) / 5.8);
  if (fits < 3) return;
  if (text.length > fits) text = text.replace(/\b[a-z_][\w.]*\.(?=[A-Za-z_$])/g, '');  // without packages
  g.fillStyle = '#201510';
  g.fillText(text.length > fits ? text.slice(0, fits - 1) + '…' : text, x + 3, y, width - 4);
}
// A box: [node, kind ('', 'own' or 'others'), x, y, width, height].
const kLevels = 8, kHead = 15, kSmallest = 2500;  // square pixels: what is smaller has no boxes inside
function treemap(view, g, width, height) {
  const boxes = [];
  const put = (node, kind, x, y, w, h, level) => {
    boxes.push([node, kind, x, y, w, h]);
    g.fillStyle = kind ? color(kind === 'own' ? 'alive' : 'line') : view.matches(node) ? '#c04ad0' : tintOf(node);
    g.fillRect(x, y, Math.max(w - 1, 0.5), Math.max(h - 1, 0.5));
    if (kind) return;
    if (h > 12) label(g, `${called(node)} ${bytes(node.retained)}`, x, y + 8, w);
    if (level >= kLevels || w < 24 || h < 34 || (level > 2 && w * h < kSmallest)) return;
    const items = node.below.map((each) => ({node: each, kind: '', size: each.retained}));
    if (node.shallow) items.push({node, kind: 'own', size: node.shallow});
    if (node.rest) items.push({node, kind: 'others', size: node.rest});
    items.sort((a, b) => b.size - a.size);
    squares(items, x + 2, y + kHead, w - 5, h - kHead - 3, (item, a, b, c, d) => put(item.node, item.kind, a, b, c, d, level + 1));
  };
  put(view.top, '', 0, 0, width, height, 0);
  return boxes;
}
const kRow = 17, kDeepest = 60;
function deepest(node) {
  let level = [node], depth = 0;
  for (; level.length && depth < kDeepest; depth++) level = level.flatMap((each) => each.below.filter((b) => b.retained >= node.retained / 1000));
  return depth;
}
function icicle(view, g, width) {
  const boxes = [], walk = [[view.top, 0, width, 0]];
  while (walk.length) {
    const [node, x, w, depth] = walk.pop(), y = depth * kRow;
    boxes.push([node, '', x, y, w, kRow]);
    g.fillStyle = view.matches(node) ? '#c04ad0' : tintOf(node);
    g.fillRect(x, y, Math.max(w - 0.5, 0.5), kRow - 1);
    if (w > 30) label(g, called(node), x, y + kRow / 2, w);
    let at = x;
    for (const each of node.below) {
      const wide = w * each.retained / Math.max(node.retained, 1);
      if (wide >= 0.4 && depth + 1 < kDeepest) walk.push([each, at, wide, depth + 1]);
      at += wide;
    }
    const rest = w * node.rest / Math.max(node.retained, 1);
    if (rest < 0.4 || depth + 1 >= kDeepest) continue;
    boxes.push([node, 'others', at, y + kRow, rest, kRow]);
    g.fillStyle = color('line');
    g.fillRect(at, y + kRow, Math.max(rest - 0.5, 0.5), kRow - 1);
  }
  return boxes;
}
function tipOf([node, kind]) {
  if (kind === 'own') return `${called(node)}\n${amount(node.shallow)} of its own (${share(node.shallow)})`;
  if (kind === 'others') return `${othersText(node)}\n${amount(node.rest)} (${share(node.rest)})`;
  return (node.edge && node.up && node.up.up ? node.edge + ' ' : '') + called(node) + (node.address ? ' @' + node.address : '') +
      `\nkeeps ${amount(node.retained)}, ${share(node.retained)}` + (node.shallow ? `\nof its own ${amount(node.shallow)}` : '');
}

// -- What keeps the memory: both pictures, the way from a root, and the table, all of one node
function keepers() {
  const part = section('keepers', 'What keeps the memory', 'An area, and the width of a bar, is what would be free without the object: itself and what only it holds. ' +
      'Click to go in; the line above the picture leads back. Gray without a name: own bytes, or what is too small to be shown by itself.');
  const bar = make('div', part, undefined, {className: 'bar'});
  const choose = make('select', bar, undefined, {ariaLabel: 'one by one or by class'}), find = make('input', bar, undefined, {placeholder: 'find a class'}), info = make('span', bar, '', {className: 'note'});
  for (const title of ['objects, one by one', 'objects of a class merged']) make('option', choose, title);
  const crumbs = make('nav', part, undefined, {className: 'crumbs', ariaLabel: 'where the pictures are'});
  const view = {tree: byObject, top: byObject.top, search: '', matches: (node) => Boolean(view.search) && node.name.toLowerCase().includes(view.search)};
  const pictures = [];
  const picture = (title, height, draw) => {
    make('h3', part, title);
    let boxes = [];
    const shown = drawing(make('div', part, undefined, {className: 'picture'}), height, (g, width) => { boxes = draw(view, g, width, height instanceof Function ? height() : height); });
    const hit = (event) => boxes.filter((b) => event.offsetX >= b[2] && event.offsetX < b[2] + b[4] && event.offsetY >= b[3] && event.offsetY < b[3] + b[5]).pop();
    shown.canvas.onmousemove = (event) => { const box = hit(event); show(event, box ? tipOf(box) : ''); };
    shown.canvas.onclick = (event) => { const box = hit(event); if (box) go(box[0] === view.top ? view.top.up || view.top : box[0]); };
    pictures.push(shown);
  };
  picture('Treemap', 420, treemap);
  picture('Icicle: each row is kept by the one above', () => Math.max(deepest(view.top), 2) * kRow + 2, icicle);
  make('h3', part, 'Table');
  const box = make('div', part, undefined, {className: 'scroll'}), table_ = make('table', box, undefined, {className: 'tree'});
  const head = make('tr', make('thead', table_)), list = make('tbody', table_);
  for (const [title, kind] of [['keeps', 'n'], ['share', 'n'], ['own bytes', 'n wide'], ['what', '']]) make('th', head, title, {className: kind});
  make('h3', part, 'The way to it from a root');
  const way = make('div', part, undefined, {id: 'way'});

  function line(node, depth) {
    const row = make('tr');
    make('td', row, count(node.retained), {className: 'n'});
    const bar = make('td', row, share(node.retained), {className: 'n'});
    bar.style.background = `linear-gradient(to right, ${color('alive')} ${100 * node.retained / Math.max(heap.reachable, 1)}%, transparent 0)`;
    make('td', row, count(node.shallow), {className: 'n wide'});
    const what = make('td', row);
    what.style.paddingLeft = 8 + 12 * Math.min(depth, 12) + 'px';
    let open = null;
    const more = make('button', what, node.below.length ? '▸' : '·', {className: 'fold', disabled: !node.below.length, ariaLabel: 'what it keeps'});
    more.onclick = () => {
      if (open) { open.forEach((each) => each.close()); open = null; } else {
        open = node.below.map((each) => line(each, depth + 1));
        if (node.rest) open.push(rest(node, depth + 1));
        row.after(...open.map((each) => each.row));
      }
      more.textContent = open ? '▾' : '▸';
    };
    if (node.edge) make('span', what, (node.up.up ? node.edge : `(${node.edge})`) + ' ', {className: 'note'});
    make('button', what, called(node), {className: 'link'}).onclick = () => go(node);
    if (node.address) make('span', what, ' @' + node.address, {className: 'note'});
    return {row, close: () => { if (open) open.forEach((each) => each.close()); row.remove(); }};
  }
  function rest(node, depth) {
    const row = make('tr');
    make('td', row, count(node.rest), {className: 'n'});
    make('td', row, share(node.rest), {className: 'n'});
    make('td', row, '', {className: 'n wide'});
    make('td', row, node.others ? several(node.others, 'other object') : 'others', {className: 'note'}).style.paddingLeft = 8 + 12 * Math.min(depth, 12) + 'px';
    return {row, close: () => row.remove()};
  }
  function go(node) {
    view.top = node;
    const line_ = [];
    for (let each = node; each; each = each.up) line_.unshift(each);
    crumbs.replaceChildren(...line_.map((each, i) => {
      const crumb = make('button', null, called(each) + (i ? '' : ` ${bytes(each.retained)}`), {className: 'link', disabled: each === node});
      crumb.onclick = () => go(each);
      return crumb;
    }));
    list.replaceChildren(...(node.up ? [line(node, 0).row] : []), ...node.below.map((each) => line(each, node.up ? 1 : 0).row), ...(node.rest ? [rest(node, node.up ? 1 : 0).row] : []));
    wayTo(node);
    pictures.forEach((each) => each.redraw());
  }
  function wayTo(node) {
    if (node.step < 0) {
      way.replaceChildren(make('p', null, !node.up || node.merged ? 'Of a single object: choose one.' : `jtrace paths ${node.address} has it.`, {className: 'note'}));
      return;
    }
    const steps = [];
    for (let i = node.step; i >= 0; i = heap.steps[i][0]) steps.unshift(heap.steps[i]);
    const path = make('ol', null);
    for (const [before, name, edge, address] of steps) {
      const item = make('li', path);
      if (name < 0) { make('span', item, `… ${count(address)} more`, {className: 'note'}); continue; }
      if (edge >= 0 && word(edge)) make('span', item, (before < 0 ? `(${word(edge)})` : word(edge)) + ' ', {className: 'note'});
      item.append(word(name));
      make('span', item, ' @' + address, {className: 'note'});
    }
    way.replaceChildren(path);
  }
  choose.onchange = () => { view.tree = choose.selectedIndex ? byClass : byObject; go(view.tree.top); find.oninput(); };
  find.oninput = () => {
    view.search = find.value.toLowerCase();
    info.textContent = view.search ? several(view.tree.nodes.filter(view.matches).length, 'node') : '';
    pictures.forEach((each) => each.redraw());
  };
  dark.onchange = () => pictures.forEach((each) => each.redraw());
  // Where most is kept by objects that are too small to be shown, merged ones show more.
  const unseen = [byObject.top, ...byObject.nodes].reduce((sum, node) => sum + node.rest, 0);
  choose.selectedIndex = unseen > heap.reachable / 2 && byClass.nodes.length ? 1 : 0;
  choose.onchange();
  return (address) => {
    const node = byObject.nodes.find((each) => each.address === address);
    if (!node) return false;
    choose.selectedIndex = 0;
    view.tree = byObject;
    go(node);
    part.scrollIntoView();
    return true;
  };
}

// -- Suspects, classes, waste
function suspects(part, goTo) {
  heap.suspects.forEach((each, i) => {
    const box = make('details', part, undefined, {open: i < 3});
    make('summary', box, `${each.kind}: ${each.sentence}`);
    const list = make('ul', box);
    for (const text of each.evidence) make('li', list, text);
    if (each.address && byObject.nodes.some((node) => node.address === each.address)) make('button', box, 'show it', {className: 'link'}).onclick = () => goTo(each.address);
  });
  const box = make('details', part);
  make('summary', box, 'What was looked at');
  const list = make('ul', box);
  for (const text of heap.lookedAt) make('li', list, text);
}
function classes() {
  const part = section('classes', 'Classes', `${several(heap.classesAll, 'class', 'classes')}. What several objects of a class keep counts once; what objects of different classes keep overlaps.`);
  table(part, [['class', (r) => word(r[0])], ['objects', (r) => count(r[1]), true, (r) => r[1]], ['their bytes', (r) => count(r[2]), true, (r) => r[2]],
    ['keep', (r) => count(r[3]), true, (r) => r[3]], ['share', (r) => share(r[3]), true, (r) => r[3]]], heap.classes);
}
function waste() {
  const part = section('waste', 'What could be saved', 'A byte may count in several rows. ' + (heap.wasteNote || ''));
  if (!heap.waste.length) return make('p', part, 'Nothing was found.');
  table(part, [['waste', (r) => word(r[0])], ['class', (r) => word(r[1])], ['bytes', (r) => count(r[3]), true, (r) => r[3]], ['share', (r) => share(r[3]), true, (r) => r[3]],
    ['objects', (r) => count(r[2]), true, (r) => r[2]], ['most of it by which field', (r) => `${word(r[4])} (${count(r[5])} bytes)`]], heap.waste);
}
function summary() {
  document.title = data.title + ' - jtrace heap';
  document.querySelector('h1').textContent = data.title;
  const place = document.getElementById('summary');
  place.textContent = `${amount(heap.reachable)} are reachable: ` + heap.held.map(([name, objects, sum]) => `${name} ${bytes(sum)} (${several(objects, 'object')})`).join(', ') + `. ${heap.sizes || ''} jtrace ${data.version}. `;
  if (data.missing.length) make('span', place, `Not all is here: ${data.missing.join('; ')}.`, {className: 'bad'});
}
summary();
const suspected = section('suspects', 'Suspects', heap.suspectsAll ? `${several(heap.suspectsAll, 'part')} of the heap may be a leak, by size: one look cannot know what grows.` : 'Nothing looks like a leak.');
suspects(suspected, keepers());
classes();
waste();
drawings.forEach((redraw) => redraw());  // a scroll bar may have come since
root.dataset.state = 'ready';
