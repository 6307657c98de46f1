/* The parts that everything live is made of: controls, two pictures, a worker. */

(function () {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";

  /* Colour and dashes of every policy, as in the book's figures. */
  const STYLES = {
    DLinUCB: ["D-LinUCB", "#bd8100", "8 5"],
    LBWeightUCB: ["LB-WeightUCB", "#c558b4", "9 4 2 4"],
    WSBLinUCB: ["WSB-LinUCB", "#b8320a", ""],
    DRandLinUCB: ["D-RandLinUCB", "#3f8fd0", "8 5"],
    WSBRandLinUCB: ["WSB-RandLinUCB", "#0b4f9e", ""],
    DLinTS: ["D-LinTS", "#2f9d74", "8 5"],
    WSBLinTS: ["WSB-LinTS", "#00664a", ""],
    LinUCB: ["LinUCB", "#5b5b5b", "9 4 2 4"],
    SWLinUCB: ["SW-LinUCB", "#8a5a2b", "5 2 1 2"],
    RestartLinUCB: ["Restart-LinUCB", "#77771f", "8 3"],
    LinTS: ["LinTS", "#7a2f55", "2 4"],
    Greedy: ["Greedy", "#b3546f", "3 1 1 1"],
    Uniform: ["Uniform", "#6c6c6c", "2 4"],
  };

  // --- elements ------------------------------------------------------------------

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined)
        node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }
  const el = (tag, attributes, ...children) =>
    fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);

  let count = 0;
  const fresh = (word) => `wsbnb-${word}-${(count += 1)}`;

  /* A slider with its name and its value in words. `stops` are the values it has. */
  function slider(name, stops, value, say, change) {
    const id = fresh("slider");
    const near = stops.reduce(
      (best, v, i) => (Math.abs(v - value) < Math.abs(stops[best] - value) ? i : best), 0);
    const input = el("input", {
      type: "range", id, min: 0, max: stops.length - 1, step: 1, value: near,
    });
    const output = el("output", { for: id });
    const show = () => {
      output.textContent = say(stops[+input.value]);
      input.setAttribute("aria-valuetext", output.textContent);
    };
    input.addEventListener("input", () => {
      show();
      change(stops[+input.value]);
    });
    show();
    const node = el("div", { class: "wl-control" },
      el("label", { for: id }, name), input, output);
    return {
      node, input,
      get value() { return stops[+input.value]; },
      set value(v) {
        input.value = stops.reduce(
          (best, w, i) => (Math.abs(w - v) < Math.abs(stops[best] - v) ? i : best), 0);
        show();
      },
    };
  }

  function choice(name, options, value, change) {
    const id = fresh("choice");
    const select = el("select", { id, onchange: () => change(select.value) },
      ...Object.entries(options).map(([key, text]) => el("option", { value: key }, text)));
    select.value = value;
    return {
      node: el("div", { class: "wl-control" }, el("label", { for: id }, name), select),
      get value() { return select.value; },
      set value(v) { select.value = v; },
    };
  }

  const button = (text, press, attributes) =>
    el("button", { type: "button", onclick: press, ...attributes }, text);

  /* What changed, in words, for those who listen; also shown under the picture. */
  function speaker() {
    const node = el("p", { class: "wl-said", role: "status", "aria-live": "polite" });
    let waiting = null;
    return {
      node,
      say(text) {
        clearTimeout(waiting);
        waiting = setTimeout(() => { node.textContent = text; }, 250);
      },
    };
  }

  // --- pictures ------------------------------------------------------------------

  function ticks(low, high, wanted) {
    const raw = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(raw || 1));
    const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw);
    const out = [];
    for (let v = Math.ceil(low / step) * step; v <= high + 1e-9 * step; v += step)
      out.push(Math.abs(v) < 1e-12 ? 0 : +v.toPrecision(10));
    return out;
  }

  const number = (v) => v.toLocaleString("en", { maximumSignificantDigits: 6 });

  const crossing = (x, y, r) =>
    `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`;

  class Picture {
    constructor(name, { width = 560, height = 340, left = 64, bottom = 52 } = {}) {
      Object.assign(this, { width, height, left, bottom, top: 12, right: 24 });
      this.title = svg("title", {}, name);
      this.axes = svg("g", { class: "wl-axes" });
      this.clip = fresh("clip");
      this.body = svg("g", { "clip-path": `url(#${this.clip})` });
      this.node = svg("svg", {
        viewBox: `0 0 ${width} ${height}`, role: "img", class: "wl-picture",
      }, this.title,
      svg("clipPath", { id: this.clip }, svg("rect", {
        x: left, y: this.top, width: width - left - this.right,
        height: height - bottom - this.top,
      })), this.axes, this.body);
    }

    describe(text) {
      this.title.textContent = text;
    }

    range(x0, x1, y0, y1, xlabel, ylabel) {
      Object.assign(this, { x0, x1, y0, y1 });
      const { width, height, left, bottom, top, right } = this;
      this.axes.replaceChildren();
      const line = (a, b, c, d, kind) =>
        this.axes.append(svg("line", { x1: a, y1: b, x2: c, y2: d, class: kind }));
      const text = (x, y, what, more) =>
        this.axes.append(svg("text", { x, y, ...more }, what));
      for (const v of ticks(x0, x1, 5)) {
        line(this.x(v), top, this.x(v), height - bottom, "wl-grid");
        text(this.x(v), height - bottom + 18, number(v), { "text-anchor": "middle" });
      }
      for (const v of ticks(y0, y1, 5)) {
        line(left, this.y(v), width - right, this.y(v), "wl-grid");
        text(left - 6, this.y(v) + 5, number(v), { "text-anchor": "end" });
      }
      line(left, top, left, height - bottom, "wl-axis");
      line(left, height - bottom, width - right, height - bottom, "wl-axis");
      text((left + width - right) / 2, height - 10, xlabel, { "text-anchor": "middle" });
      const middle = (top + height - bottom) / 2;
      text(16, middle, ylabel,
        { "text-anchor": "middle", transform: `rotate(-90 16 ${middle})` });
    }

    x(v) {
      const share = (v - this.x0) / (this.x1 - this.x0);
      return this.left + share * (this.width - this.left - this.right);
    }

    y(v) {
      const share = (v - this.y0) / (this.y1 - this.y0);
      return this.height - this.bottom - share * (this.height - this.bottom - this.top);
    }

    /* The point of the picture's plane under a pointer. */
    at(event) {
      const box = this.node.getBoundingClientRect();
      const px = ((event.clientX - box.left) / box.width) * this.width;
      const py = ((event.clientY - box.top) / box.height) * this.height;
      const across = (px - this.left) / (this.width - this.left - this.right);
      const up = (this.height - this.bottom - py) / (this.height - this.bottom - this.top);
      return [this.x0 + across * (this.x1 - this.x0), this.y0 + up * (this.y1 - this.y0)];
    }

    path(points, more) {
      const d = points.map(([a, b], i) =>
        `${i ? "L" : "M"}${this.x(a).toFixed(1)} ${this.y(b).toFixed(1)}`).join("");
      return svg("path", { d, fill: "none", "stroke-width": 2, ...more });
    }

    band(rounds, low, high, colour) {
      const there = rounds.map((t, i) => [t, high[i]]);
      const back = rounds.map((t, i) => [t, low[i]]).reverse();
      return this.path([...there, ...back], {
        fill: colour, "fill-opacity": 0.15, stroke: "none",
      });
    }

    disc([a, b], r, more) {
      return svg("circle", { cx: this.x(a), cy: this.y(b), r, ...more });
    }

    cross([a, b], r, more) {
      const [x, y] = [this.x(a), this.y(b)];
      return svg("path", {
        d: crossing(x, y, 0.75 * r), "stroke-width": 3, ...more,
      });
    }
  }

  /* The outline of { mean + radius * (a root of the covariance) u : |u| = 1 }. */
  function outline(mean, covariance, radius) {
    const [[a, b], [, c]] = covariance; // a drawing of numbers that the kernels gave
    const l11 = Math.sqrt(a);
    const l21 = b / l11;
    const l22 = Math.sqrt(Math.max(c - l21 * l21, 0));
    return Array.from({ length: 73 }, (_, i) => {
      const u = Math.cos((i * Math.PI) / 36);
      const v = Math.sin((i * Math.PI) / 36);
      return [mean[0] + radius * l11 * u, mean[1] + radius * (l21 * u + l22 * v)];
    });
  }

  function legend(rows) {
    return el("ul", { class: "wl-legend" }, ...rows.map(([text, colour, dash]) =>
      el("li", {}, svg("svg", { viewBox: "0 0 30 12", "aria-hidden": "true" },
        dash === "×"
          ? svg("path", { d: crossing(15, 6, 5), stroke: colour, "stroke-width": 3 })
          : svg("line", { x1: 0, y1: 6, x2: 30, y2: 6, stroke: colour, "stroke-width": 3,
            "stroke-dasharray": dash })), text)));
  }

  /* A point that can be dragged, or moved with the arrow keys. */
  function handle(picture, name, place, colour, moved, isTruth = false) {
    const mark = isTruth // the true parameter is a black cross in every picture
      ? svg("path", { d: crossing(0, 0, 7), stroke: colour, "stroke-width": 3.5 })
      : svg("circle", { r: 7, fill: colour, stroke: "#fff", "stroke-width": 2 });
    const node = svg("g", {
      tabindex: 0, role: "slider", class: "wl-handle", "aria-label": name,
      "aria-valuemin": -2, "aria-valuemax": 2,
    }, svg("circle", { r: 18, fill: "transparent" }),
    mark);
    let now = place;
    const show = () => {
      node.setAttribute("transform", `translate(${picture.x(now[0])} ${picture.y(now[1])})`);
      node.setAttribute("aria-valuenow", now[0].toFixed(2));
      node.setAttribute("aria-valuetext", `${now[0].toFixed(2)}, ${now[1].toFixed(2)}`);
    };
    const to = ([a, b]) => {
      const limit = (v) => Math.max(-1.6, Math.min(1.6, v));
      now = [limit(a), limit(b)];
      show();
      moved(now);
    };
    node.addEventListener("pointerdown", (event) => {
      node.setPointerCapture(event.pointerId);
      event.preventDefault();
      node.focus();
    });
    node.addEventListener("pointermove", (event) => {
      if (node.hasPointerCapture(event.pointerId)) to(picture.at(event));
    });
    node.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1],
        ArrowDown: [0, -1] }[event.key];
      if (!step) return;
      event.preventDefault();
      to([now[0] + 0.05 * step[0], now[1] + 0.05 * step[1]]);
    });
    return { node, show, set(p) { now = p; show(); }, get place() { return now; } };
  }

  /* A curve that the reader draws in a picture: with pointer or finger, or with the
     arrow keys. Columns that were not touched lie on the line between those that were. */
  function sketch(picture, name, columns, changed) {
    const { x0, x1, y0, y1 } = picture;
    const xs = Array.from({ length: columns }, (_, i) => x0 + (i * (x1 - x0)) / (columns - 1));
    const set = new Array(columns).fill(null);
    const line = svg("g");
    const node = svg("rect", {
      x: picture.left, y: picture.top, fill: "transparent", class: "wl-sketch", tabindex: 0,
      width: picture.width - picture.left - picture.right,
      height: picture.height - picture.bottom - picture.top,
      role: "slider", "aria-label": name, "aria-valuemin": y0, "aria-valuemax": y1,
    });
    let at = 0; // the column of the keys
    let before = null; // the last point of a stroke
    let open = true;

    function curve() {
      const known = xs.map((_, i) => i).filter((i) => set[i] !== null);
      if (!known.length) return [];
      return xs.map((x, i) => {
        const right = known.find((k) => k >= i);
        const left = known.findLast((k) => k <= i);
        if (left === undefined) return [x, set[right]];
        if (right === undefined || left === right) return [x, set[left]];
        const share = (i - left) / (right - left);
        return [x, (1 - share) * set[left] + share * set[right]];
      });
    }

    function show(focus) {
      const points = curve();
      const value = points.length ? points[at][1] : y0;
      node.setAttribute("aria-valuenow", value.toPrecision(3));
      node.setAttribute("aria-valuetext", `at ${number(+xs[at].toPrecision(3))}: ` +
        `${points.length ? number(+value.toPrecision(3)) : "nothing drawn"}`);
      line.replaceChildren(...(points.length ? [picture.path(points,
        { stroke: "#b8320a", "stroke-width": 4, "stroke-linecap": "round" })] : []));
      if (focus) line.append(picture.disc([xs[at], value], 6, { fill: "#b8320a" }));
    }

    function put(i, value) {
      set[i] = Math.max(y0, Math.min(y1, value));
    }

    function stroke([x, y]) {
      const i = Math.max(0, Math.min(columns - 1,
        Math.round(((x - x0) / (x1 - x0)) * (columns - 1))));
      const [j, z] = before || [i, y];
      const step = j <= i ? 1 : -1;
      for (let k = j; k !== i + step; k += step)
        put(k, i === j ? y : z + ((y - z) * (k - j)) / (i - j));
      before = [i, y];
      at = i;
      show(false);
      changed();
    }

    node.addEventListener("pointerdown", (event) => {
      if (!open) return;
      node.setPointerCapture(event.pointerId);
      event.preventDefault();
      before = null;
      stroke(picture.at(event));
    });
    node.addEventListener("pointermove", (event) => {
      if (open && node.hasPointerCapture(event.pointerId)) stroke(picture.at(event));
    });
    node.addEventListener("keydown", (event) => {
      const across = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: columns - 1 };
      const up = { ArrowUp: 1, ArrowDown: -1, PageUp: 5, PageDown: -5 }[event.key];
      if (!open || (across[event.key] === undefined && !up)) return;
      event.preventDefault();
      if (up) {
        const points = curve();
        put(at, (points.length ? points[at][1] : y0) + (up * (y1 - y0)) / 40);
        changed();
      } else at = Math.max(0, Math.min(columns - 1, across[event.key]));
      show(true);
    });
    show(false);
    return {
      node, line, curve,
      drawn: () => set.filter((v) => v !== null).length,
      close() { open = false; },
      clear() { set.fill(null); open = true; at = 0; show(false); },
    };
  }

  // --- a worker --------------------------------------------------------------------

  function workerMain() {
    /* eslint-disable no-undef */
    let core = null;
    let job = 0;
    self.onmessage = async (message) => {
      const { bytes, order } = message.data;
      if (bytes) core = wsbnbCore(bytes);
      if (!order) return;
      job = order.job;
      const kernels = await core;
      for (let trial = 0; trial < order.trials && job === order.job; trial++) {
        const curves = kernels.trial(
          order.world, order.policies, order.seed, trial, order.grid);
        self.postMessage({ job: order.job, trial, curves });
        await new Promise((next) => setTimeout(next, 0)); // hear a stop
      }
    };
  }

  let worker = null;
  let jobs = 0;
  const listeners = new Map();

  function heard({ job, trial, curves }) {
    if (listeners.has(job)) listeners.get(job)(trial, curves);
  }

  async function start() {
    const bytes = await window.wsbnb.bytes;
    try {
      const text = `"use strict";${window.wsbnbCore};(${workerMain})();`;
      const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      const made = new Worker(url);
      made.onmessage = (message) => heard(message.data);
      made.postMessage({ bytes: bytes.slice(0) });
      return (order) => made.postMessage({ order });
    } catch {
      const core = await window.wsbnb.instance(); // no worker here: in small pieces
      let current = 0;
      return async (order) => {
        current = order.job;
        for (let t = 0; t < order.trials && current === order.job; t++) {
          const curves = core.trial(
            order.world, order.policies, order.seed, t, order.grid);
          heard({ job: order.job, trial: t, curves });
          await new Promise((next) => setTimeout(next, 0));
        }
      };
    }
  }

  /* Mean and two standard errors of regrets, trial by trial. */
  class Tally {
    constructor(policies, grid) {
      this.n = 0;
      const zeros = () => policies.map(() => new Float64Array(grid.length));
      this.sum = zeros();
      this.square = zeros();
    }

    add(curves) {
      this.n += 1;
      curves.forEach((curve, p) => curve.forEach((v, i) => {
        this.sum[p][i] += v;
        this.square[p][i] += v * v;
      }));
    }

    band(p) {
      const { n } = this;
      const mean = Array.from(this.sum[p], (v) => v / n);
      const error = mean.map((m, i) => n < 2 ? 0
        : 2 * Math.sqrt(Math.max(this.square[p][i] / n - m * m, 0) / (n - 1)));
      return {
        mean, error,
        low: mean.map((m, i) => m - error[i]),
        high: mean.map((m, i) => m + error[i]),
      };
    }
  }

  function gridOf(T) {
    const n = Math.min(T, 160);
    return Array.from({ length: n }, (_, i) => Math.round(((i + 1) * T) / n));
  }

  /* Compare policies in a worker. Returns a function that stops it. */
  function compare({ world, policies, seed, trials }, progress) {
    const job = (jobs += 1);
    const grid = gridOf(world.T);
    const tally = new Tally(policies, grid);
    listeners.set(job, (trial, curves) => {
      tally.add(curves);
      const done = trial + 1 === trials;
      if (done) listeners.delete(job);
      progress(tally, grid, done);
    });
    worker = worker || start();
    worker.then((send) => send({ job, world, policies, seed, trials, grid }));
    return () => {
      if (!listeners.delete(job)) return;
      worker.then((send) => send({ job: -1, trials: 0 }));
    };
  }

  /* Regret against rounds, with bands. */
  function drawRegret(picture, tally, grid, policies, T) {
    const bands = policies.map((_, p) => tally.band(p));
    const top = Math.max(1e-9, ...bands.flatMap((b) => b.high));
    picture.range(0, T, 0, 1.05 * top, "round", "regret so far (reward units)");
    picture.body.replaceChildren();
    const rounds = [0, ...grid];
    policies.forEach((entry, p) => {
      const colour = entry.colour || STYLES[entry.policy][1];
      const dash = entry.dash === undefined ? STYLES[entry.policy][2] : entry.dash;
      const b = bands[p];
      picture.body.append(
        picture.band(rounds, [0, ...b.low], [0, ...b.high], colour),
        picture.path([[0, 0], ...grid.map((t, i) => [t, b.mean[i]])],
          { stroke: colour, "stroke-dasharray": dash }));
    });
    const words = policies.map((entry, p) => {
      const last = grid.length - 1;
      return `${entry.label} ${bands[p].mean[last].toFixed(0)} ± ` +
        `${bands[p].error[last].toFixed(0)}`;
    });
    const text = `Regret after ${T} rounds, mean of ${tally.n} trials ± two standard ` +
      `errors: ${words.join(", ")}.`;
    picture.describe(text);
    return text;
  }

  window.wsbnbLive = {
    STYLES, el, svg, slider, choice, button, speaker, Picture, outline, legend, handle,
    sketch, compare, drawRegret, gridOf, fresh, widgets: {},
  };
})();
