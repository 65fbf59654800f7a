'use strict';
// What the pages of jtrace share. Everything a page shows is in its element #data.
const root = document.documentElement;
window.onerror = (message) => { root.dataset.state = 'failed'; document.getElementById('summary').textContent = message; };

// Characters that are not seen, and may change how the text around them looks, are shown as their codes (base/strings.cpp, is_hidden).
const kHidden = /[\u0080-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
const codes = (text) => Array.from(text.split(''), (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join('');
const visible = (key, value) => (typeof value === 'string' ? value.replace(kHidden, codes) : value);
const data = JSON.parse(document.getElementById('data').textContent, visible);
const main = document.querySelector('main'), nav = document.querySelector('nav'), tip = document.getElementById('tip');

// -- Small helpers
function make(tag, parent, text, attributes) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  Object.assign(element, attributes || {});
  if (parent) parent.append(element);
  return element;
}
const color = (name) => getComputedStyle(root).getPropertyValue('--' + name).trim();
const count = (n) => n.toLocaleString('en');
const several = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
function micros(us) {  // a duration
  if (us >= 1e6) return (us / 1e6).toFixed(3) + ' s';
  return us >= 1e3 ? (us / 1e3).toFixed(3) + ' ms' : us + ' µs';
}
const nanos = (ns) => ns < 1e3 ? ns + ' ns' : micros(Math.round(ns / 1e3));
function bytes(n) {
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (Math.abs(n) < 1024) return (unit === 'B' ? n : n.toFixed(1)) + ' ' + unit;
    n /= 1024;
  }
  return n.toFixed(1) + ' TiB';
}
function show(event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + 'px';
}
function section(id, title, note) {
  const element = make('section', main, undefined, {id});
  make('h2', element, title);
  if (note) make('p', element, note, {className: 'note'});
  make('a', nav, title, {href: '#' + id});
  return element;
}

// A canvas as wide as its parent; draw(context, width) whenever that changes.
let drawings = [];
window.onresize = () => drawings.forEach((redraw) => redraw());
// Paper is white: a picture in the colors of a dark screen could not be read.
function prints(now) {
  root.classList.toggle('printing', now);
  drawings.forEach((redraw) => redraw());
}
window.onbeforeprint = () => prints(true);
window.onafterprint = () => prints(false);
function drawing(parent, height, draw) {
  const canvas = make('canvas', parent);
  const redraw = () => {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, tall = typeof height === 'function' ? height() : height;
    canvas.style.height = tall + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    draw(context, width);
  };
  drawings.push(redraw);
  redraw();
  canvas.onmouseleave = (event) => show(event, '');
  return {canvas, redraw};
}

// columns: [title, function of the row that gives the text, is it a number, function that gives what to sort by]
// A column that is empty in all rows is left out. On paper: the first rows only.
const kPrintedRows = 30;
// `name`: a class for the element around the table: 'cards', a narrow screen has each row as a list of its cells. So it
// has those of tables that would be wider than the screen. `isFirst`: whether a row is shown before others are asked for, by
// the button or by a search.
function table(parent, all_columns, rows, name = '', isFirst = null) {
  const columns = all_columns.filter((c) => !rows.length || rows.some((row) => String(c[1](row)) !== ''));
  const texts = columns.filter((c) => !c[2]).length;
  const kind = name || (columns.length > 4 || (texts > 1 && columns.length > 2) ? 'cards' : '');
  let order = -1, down = true, word = '', all = false;
  const bar = make('div', parent, undefined, {className: 'bar'});
  const search = make('input', bar, undefined, {placeholder: 'filter'});
  const info = make('span', bar, '', {className: 'note'});
  const body = make('div', parent, undefined, {className: `scroll ${kind}`});
  const element = make('table', body), head = make('tr', make('thead', element)), list = make('tbody', element);
  const left = make('p', parent, '', {className: 'note printed'});
  const first = 100;
  function fill() {
    let found = rows.filter((row) => !word || columns.some((c) => !c[2] && String(c[1](row)).toLowerCase().includes(word)));
    if (order >= 0) {
      const key = columns[order][3] || columns[order][1];
      const less = (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
      found = found.slice().sort((a, b) => (down ? less(b, a) : less(a, b)));
    }
    const shown = all ? found : isFirst && !word && order < 0 ? found.filter(isFirst) : found.slice(0, first);
    list.replaceChildren(...shown.map((row) => {
      const line = make('tr');
      for (const c of columns) {
        const cell = make('td', line, c[1](row), {className: c[2] ? 'n' : ''});
        if (kind) cell.dataset.title = c[0];
      }
      return line;
    }));
    info.textContent = shown.length < found.length ? `${count(shown.length)} of ${several(found.length, 'row')}` : several(found.length, 'row');
    left.textContent = found.length > kPrintedRows ? `and ${several(found.length - kPrintedRows, 'row')} more` : '';
  }
  columns.forEach((c, i) => {
    make('th', head, c[0], {className: c[2] ? 'n' : ''}).onclick = () => {
      down = order === i ? !down : Boolean(c[2]);
      order = i;
      fill();
    };
  });
  if (rows.length > first || (isFirst && !rows.every(isFirst))) make('button', bar, 'all').onclick = () => { all = !all; fill(); };
  search.oninput = () => { word = search.value.toLowerCase(); fill(); };
  fill();
}
