// The matrix, as a table whose cells take the focus one at a time and tell their value and their walk.

class MatrixView {
  constructor(table, picked) {
    this.table = table;
    this.short = NAMES.every(name => [...name].length <= 2);
    this.heads = {row: [], column: []};
    const top = element("tr", {}, element("td", {class: "corner"}));
    NAMES.forEach((name, j) => {
      this.heads.column.push(element("th", {scope: "col", title: name}, cut(name, 8)));
      top.append(this.heads.column[j]);
    });
    this.cells = NAMES.map((_, i) => NAMES.map((_, j) => element("td", {
      tabindex: i + j ? -1 : 0, "data-i": i, "data-j": j,
      onfocus: () => { this.rove(i, j); picked([i, j]); }, onblur: () => picked(null),
      onmouseenter: () => picked([i, j]), onmouseleave: () => picked(null)})));
    const body = element("tbody", {}, ...this.cells.map((row, i) => {
      this.heads.row.push(element("th", {scope: "row", title: NAMES[i]}, cut(NAMES[i], 8)));
      return element("tr", {}, this.heads.row[i], ...row);
    }));
    table.append(element("thead", {}, top), body);
    table.addEventListener("keydown", event => this.key(event));
  }

  rove(i, j) {
    this.cells.flat().forEach(cell => put(cell, "tabindex", "-1"));
    put(this.cells[i][j], "tabindex", "0");
  }

  key(event) {
    const way = {ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0]}[event.key];
    if (!way || event.target.tagName !== "TD") return;
    const i = +event.target.dataset.i + way[0], j = +event.target.dataset.j + way[1];
    event.preventDefault();
    event.stopPropagation();
    this.cells[i]?.[j]?.focus();
  }

  // One width for all steps, so that nothing moves between them.
  width(texts) {
    this.longest = Math.max(...texts.map(text => [...text].length), 2);
    this.fit();
  }

  get room() {
    return this.table.parentElement.clientWidth - 8;
  }

  // A wide table takes more than half of the page. Where that is not enough headings are cut, then the letters become smaller, and then the cells, whose texts the equation has in full.
  fit() {
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize), n = NAMES.length;
    const name = Math.min(8, Math.max(...NAMES.map(name => [...name].length)));
    const heads = this.short ? 2.2 : name * 0.62 + 0.9, stage = this.table.closest(".stage");
    const cellFor = letters => Math.min(letters * 0.66 + 0.9, 11), needed = cellFor(this.longest);
    let cell = Math.max(needed, cellFor(name)), size = 1.06;
    const wide = () => (n * (cell + 0.4 / size) + heads) * size * rem;
    stage.classList.remove("wide");
    if (wide() > this.room) stage.classList.add("wide");
    const room = this.room;
    if (wide() > room) cell = Math.max(needed, cell - (wide() - room) / (n * size * rem));
    if (wide() > room) size = Math.max(0.86, size * room / wide());
    if (wide() > room) cell = Math.max(3.1, cell - (wide() - room) / (n * size * rem));
    this.table.style.fontSize = `${size}rem`;
    this.table.style.setProperty("--cell", `${cell}em`);
    this.scrolls = null;
  }

  draw({values, walks, zero, classes, pivots, tell}) {
    this.heads.row.forEach((head, i) => put(head, "class", pivots.includes(i) ? "pivot" : ""));
    this.heads.column.forEach((head, i) => put(head, "class", pivots.includes(i) ? "pivot" : ""));
    this.cells.forEach((row, i) => row.forEach((cell, j) => {
      const none = same(values[i][j], zero), text = none ? "·" : shown(values[i][j]);
      const all = none ? text : exact(values[i][j]), title = text.length > 8 || all !== text ? all : "";
      if (cell.textContent !== text) cell.textContent = text;
      if (cell.title !== title) cell.title = title;
      put(cell, "class", [...classes[i][j], none ? "none" : ""].join(" ").trim());
      put(cell, "aria-label", tell(i, j, values[i][j], walks[i][j], classes[i][j]));
    }));
  }

  // What is written is scrolled into a table that does not fit, and on a phone out from under the controls.
  show() {
    const cell = this.table.querySelector(".target");
    if (!cell) return;
    const box = cell.getBoundingClientRect(), end = Math.min(innerHeight, $("dock").getBoundingClientRect().top);
    if (innerWidth <= 760 && (box.bottom > end || box.top < 0)) scrollBy(0, box.bottom > end ? box.bottom - end + 8 : box.top - 8);
    const frame = this.table.parentElement;
    this.scrolls ??= frame.scrollWidth > frame.clientWidth;
    if (!this.scrolls) return;
    const left = cell.offsetLeft - this.table.offsetLeft;
    if (left < frame.scrollLeft || left + cell.offsetWidth > frame.scrollLeft + frame.clientWidth)
      frame.scrollLeft = left - (frame.clientWidth - cell.offsetWidth) / 2;
  }
}
