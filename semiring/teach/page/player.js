// Stepping through positions 0 … last: buttons, a slider, keys, and playing. `draw` draws a position, `tell` is announced.

class Player {
  constructor(draw, tell) {
    Object.assign(this, {draw, tell, at: 0, last: 0, timer: null});
    $("slider").oninput = event => { this.play(false); this.go(+event.target.value); };
    $("slider").onchange = () => this.say();
    for (const [id, to] of [["first", () => 0], ["back", () => this.at - 1], ["next", () => this.at + 1], ["last", () => this.last]])
      $(id).onclick = () => this.visit(to());
    $("play").onclick = () => this.play(!this.timer);
    $("speed").onchange = () => this.timer && this.play(true);
    document.addEventListener("keydown", event => this.key(event));
  }

  // Another number of positions.
  resize(last, at) {
    this.last = last;
    put($("slider"), "max", String(last));
    this.go(at);
  }

  reset(last) {
    this.play(false);
    this.resize(last, 0);
  }

  go(at) {
    this.at = Math.max(0, Math.min(this.last, at));
    $("slider").value = this.at;
    put($("slider"), "aria-valuetext", `${this.at} of ${this.last}`);
    $("where").textContent = `${this.at} / ${this.last}`;
    for (const [id, off] of [["first", !this.at], ["back", !this.at], ["last", this.at === this.last], ["next", this.at === this.last]])
      put($(id), "aria-disabled", String(off));
    this.draw(this.at);
  }

  visit(at) {
    this.play(false);
    this.go(at);
    this.say();
  }

  say() {
    $("said").textContent = this.tell(this.at);
  }

  play(on) {
    clearInterval(this.timer);
    if (on && this.at === this.last) this.go(0);
    this.timer = on ? setInterval(() => {
      this.go(this.at + 1);
      if (this.at === this.last) {
        this.play(false);
        this.say();
      }
    }, +$("speed").value) : null;
    if (on) $("said").textContent = "Playing";
    put($("play").querySelector("path"), "d", on ? "M7 5h4v14H7zM14 5h4v14h-4z" : "M8 5l11 7-11 7z");
    put($("play"), "aria-label", on ? "Pause" : "Play");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, td")) return;
    if (event.key === " " && event.target.closest("button, summary")) return;
    const act = {ArrowRight: () => this.visit(this.at + 1), ArrowLeft: () => this.visit(this.at - 1), Home: () => this.visit(0),
      End: () => this.visit(this.last), " ": () => this.play(!this.timer)}[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}
