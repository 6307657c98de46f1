/* The library's compiled kernels in the page: window.wsbnb.ready, window.wsbnb.play.

   No formula stands here. This file turns settings into numbers, lays arrays into the
   memory of the WebAssembly module (tools/live/core.py says what it exports) and reads
   results back. `wsbnbCore` uses nothing outside itself: a worker gets it as text. */

function wsbnbCore(module) {
  "use strict";
  const STACK = 1 << 18; // bytes for the module's own stack; our arrays begin there
  const memory = new WebAssembly.Memory({ initial: 32 });
  const names = ["atan2", "cos", "exp", "log", "log1p", "pow", "sin"];
  const env = Object.fromEntries(names.map((name) => [name, Math[name]]));
  env.__linear_memory = memory;
  env.__stack_pointer = new WebAssembly.Global({ value: "i32", mutable: true }, STACK);

  // --- settings ----------------------------------------------------------------

  const KINDS = { widths: 0, sample: 1, chance: 2 };
  const RULES = { exponential: 0, restart: 1, sliding: 2 };
  const SPLITS = { horizon: 0, none: 1, anytime: 2 };
  const RADII = { trace: 0, lambda_max: 1 };
  const PENALTIES = { static: 0, cxv: 1, triangle: 2, exact: 3 };
  const LAWS = {
    rectified: [1, 0],
    gaussian: [1, -1],
    "half-normal": [1, 1],
    radius: [1, 1],
  };
  const WSB = ["prior_mean", "prior_cov", "noise_std", "discount"];
  const RIDGE = ["dim", "regularization", "noise_std"];
  const BOUNDS = ["delta", "horizon", "param_bound", "arm_bound", "split"];
  const EASY = { regularization: 1, discount: 1, noise_std: 1 };

  // Required settings, optional ones, and what the rule is.
  const POLICIES = {
    WSBLinUCB: [WSB, [...BOUNDS, "radius", "penalty", "radius_scale"], { by: "radius" }],
    WSBRandLinUCB: [
      WSB,
      [...BOUNDS, "scale", "perturbation", "radius", "penalty"],
      { by: "law" },
    ],
    WSBLinTS: [WSB, ["scale"], { by: "draw" }],
    DLinUCB: [
      [...RIDGE, "discount"],
      [...BOUNDS, "radius_scale"],
      { by: "radius", local: true },
    ],
    LBWeightUCB: [[...RIDGE, "discount"], [...BOUNDS, "radius_scale"], { by: "radius" }],
    DRandLinUCB: [
      [...RIDGE, "discount"],
      [...BOUNDS, "scale", "perturbation"],
      { by: "law", local: true },
    ],
    DLinTS: [[...RIDGE, "discount"], ["scale"], { by: "draw", local: true }],
    LinUCB: [
      RIDGE,
      ["delta", "param_bound", "arm_bound", "radius_scale"],
      { by: "radius", split: "none" },
    ],
    SWLinUCB: [[...RIDGE, "length"], [...BOUNDS, "radius_scale"], { by: "radius" }],
    RestartLinUCB: [[...RIDGE, "period"], [...BOUNDS, "radius_scale"], { by: "radius" }],
    LinTS: [RIDGE, ["scale"], { by: "draw" }],
    Greedy: [["dim"], ["regularization", "discount", "noise_std"], { by: "mean" }],
    Uniform: [["dim"], ["regularization", "discount", "noise_std"], { by: "chance" }],
  };

  function refuse(name, value, allowed) {
    throw new RangeError(`${name} must be ${allowed}, got ${JSON.stringify(value)}`);
  }

  function checked(policy, given) {
    if (!POLICIES[policy])
      refuse("policy", policy, `one of ${Object.keys(POLICIES).join(", ")}`);
    const [required, optional] = POLICIES[policy];
    const s = {};
    for (const [name, value] of Object.entries(given || {})) {
      if (name === "rng") continue; // normals are given
      if (![...required, ...optional].includes(name))
        refuse("settings", name, `among ${[...required, ...optional].join(", ")}`);
      if (value !== null && value !== undefined) s[name] = value;
    }
    for (const name of required)
      if (s[name] === undefined) refuse(name, null, "given");
    return s;
  }

  function number(s, name, otherwise, low, high) {
    const value = s[name] === undefined ? otherwise : s[name];
    if (typeof value !== "number" || !(value >= low && value <= high))
      refuse(name, value, `a number between ${low} and ${high}`);
    return value;
  }

  function whole(s, name, otherwise, low, high) {
    const value = number(s, name, otherwise, low, high);
    if (!Number.isInteger(value)) refuse(name, value, "a whole number");
    return value;
  }

  function word(s, name, otherwise, table) {
    const value = s[name] === undefined ? otherwise : s[name];
    if (!Object.hasOwn(table, value))
      refuse(name, value, `one of ${Object.keys(table).join(", ")}`);
    return value;
  }

  function prior(s) {
    if (s.prior_mean === undefined) {
      const d = whole(s, "dim", undefined, 1, 512);
      const sigma = number(s, "noise_std", 1, 1e-150, 1e150);
      const variance = sigma ** 2 / number(s, "regularization", 1, 1e-150, 1e150);
      return { mean: new Array(d).fill(0), cov: square(d, variance) };
    }
    const mean = Array.from(s.prior_mean, Number);
    const d = mean.length;
    if (!d || mean.some((v) => !Number.isFinite(v)))
      refuse("prior_mean", s.prior_mean, "a list of finite numbers");
    return { mean, cov: square(d, s.prior_cov) };
  }

  function square(d, value) {
    const allowed = `a number, ${d} numbers or ${d} rows of ${d}`;
    const rows = Array.from(typeof value === "number" ? [] : value || []);
    const fits = (row) => typeof row === "number" || (row && row.length === d);
    if (typeof value !== "number" && !(rows.length === d && rows.every(fits)))
      refuse("prior_cov", value, allowed);
    const out = new Float64Array(d * d);
    for (let i = 0; i < d; i++) {
      if (typeof value === "number") out[i * d + i] = value;
      else if (typeof value[i] === "number") out[i * d + i] = value[i];
      else for (let k = 0; k < d; k++) out[i * d + k] = value[i][k];
    }
    if (out.some((v) => !Number.isFinite(v))) refuse("prior_cov", value, allowed);
    const size = out.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
    if (out.some((v, j) => Math.abs(v - out[(j % d) * d + Math.floor(j / d)]) > 1e-8 * size))
      refuse("prior_cov", value, "symmetric");
    return out;
  }

  /* The header of a block, in the order of tools/live/core.py. */
  function specification(policy, given) {
    const s = checked(policy, given);
    const rule = POLICIES[policy][2];
    const { mean, cov } = prior(s);
    const sigma = number(s, "noise_std", 1, 1e-150, 1e150);
    const wsb = s.prior_mean !== undefined;
    const horizon = s.horizon === undefined ? 0 : whole(s, "horizon", 0, 1, 1e15);
    const split = word(s, "split", rule.split || (horizon ? "horizon" : "anytime"), SPLITS);
    if (split === "horizon" && !horizon) refuse("horizon", null, "given with this split");
    const law = word(s, "perturbation", "rectified", LAWS);
    const scale = number(s, "scale", 1, 0, 1e150);
    const units = wsb || law === "radius" ? 1 : sigma;
    const up = {
      radius: [number(s, "radius_scale", 1, 0, 1e150), 0],
      law: LAWS[law].map((factor) => (scale / units) * factor),
      draw: [scale / units, 0],
      mean: [0, 0],
      chance: [0, 0],
    }[rule.by];
    const kind = { draw: "sample", mean: "sample", chance: "chance" }[rule.by] || "widths";
    const byRadius = rule.by === "radius" || (rule.by === "law" && law === "radius");
    const forgetting =
      s.length !== undefined
        ? ["sliding", whole(s, "length", 1, 1, 1e7)]
        : s.period !== undefined
          ? ["restart", whole(s, "period", 1, 1, 1e15)]
          : ["exponential", number(s, "discount", 1, Number.MIN_VALUE, 1)];
    const header = [
      mean.length, 0, forgetting[0] === "sliding" ? forgetting[1] : 0,
      KINDS[kind], rule.local ? 1 : 0, RULES[forgetting[0]], forgetting[1], sigma,
      up[0], up[1], byRadius ? 1 : 0,
      number(s, "delta", 0.05, Number.MIN_VALUE, 1 - 1e-16), horizon, SPLITS[split],
      RADII[wsb ? word(s, "radius", "trace", RADII) : "lambda_max"],
      PENALTIES[wsb ? word(s, "penalty", "cxv", PENALTIES) : "static"],
      number(s, "param_bound", 1, 0, 1e150), number(s, "arm_bound", 1, 1e-150, 1e150),
    ];
    const d = mean.length;
    const normals = { draw: d, law: 1, chance: 2 }[rule.by] || 0;
    return { header, mean, cov, d, normals, window: header[2] };
  }

  // --- memory ------------------------------------------------------------------

  let top = STACK;

  /* Room for doubles (or half as many integers); gives its address. */
  function take(count) {
    const address = top;
    top = (top + 8 * count + 63) & ~63;
    const missing = top - memory.buffer.byteLength;
    if (missing > 0) memory.grow(Math.ceil(missing / 65536));
    return address;
  }

  const doubles = (address, count) => new Float64Array(memory.buffer, address, count);
  const integers = (address, count) => new Int32Array(memory.buffer, address, count);

  function put(values) {
    const address = take(values.length);
    doubles(address, values.length).set(values);
    return address;
  }

  function release(mark) {
    top = mark;
  }

  function build(f) {
    // --- a policy ----------------------------------------------------------------

    class Player {
      constructor(policy, settings, arms) {
        const spec = specification(policy, settings);
        Object.assign(this, { d: spec.d, K: arms, m: spec.normals });
        spec.header[1] = arms;
        this.block = take(f.size(spec.d, arms, spec.window));
        doubles(this.block, spec.header.length).set(spec.header);
        this.out = take(spec.d + 2 * spec.d * spec.d + 4);
        const mark = top;
        const sound = f.begin(this.block, put(spec.mean), put(spec.cov));
        release(mark);
        if (!sound) refuse("prior_cov", settings.prior_cov, "positive definite");
      }

      restart() {
        f.restart(this.block);
      }

      /* Addresses in; the number of rounds that could be played out. */
      rounds(n, sets, arms, rewards, noise, normals, chosen, learning = 1) {
        return f.play(
          this.block, n, sets, this.m, learning, arms, rewards, noise, normals, chosen,
        );
      }

      learn(x, reward, steps = 1, weight = 1) {
        const mark = top;
        f.learn(this.block, put(x), reward, steps, weight);
        release(mark);
      }

      pass(steps) {
        this.learn(new Array(this.d).fill(0), 0, steps, 0);
      }

      /* What is believed now. Follows an eigenvalue: look last, or at a copy. */
      look() {
        const d = this.d;
        f.look(this.block, this.out);
        const all = Array.from(doubles(this.out, d + 2 * d * d + 4));
        const matrix = (start) =>
          all.slice(0, d).map((_, i) => all.slice(start + i * d, start + (i + 1) * d));
        const [clock, radius, penalty, noise] = all.slice(d + 2 * d * d);
        return {
          mean: all.slice(0, d), precision: matrix(d), covariance: matrix(d + d * d),
          clock, radius, penalty, noise,
        };
      }

      /* Scores, means and widths of the last decision, a list for each. */
      scores() {
        const mark = top;
        const address = take(3 * this.K);
        f.scores(this.block, address);
        const all = Array.from(doubles(address, 3 * this.K));
        release(mark);
        return [0, 1, 2].map((i) => all.slice(i * this.K, (i + 1) * this.K));
      }
    }

    // --- window.wsbnb.play ---------------------------------------------------------

    function listed(name, value, allowed) {
      const isList = Array.isArray(value) || ArrayBuffer.isView(value);
      if (!isList || !value.length) refuse(name, value === undefined ? null : value, allowed);
      return Array.from(value);
    }

    function rectangle(name, rows, width, count) {
      const list = Array.from(rows || []);
      if (count !== undefined && list.length !== count)
        refuse(name, list.length, `${count} rows`);
      const out = new Float64Array(list.length * width);
      list.forEach((row, t) => {
        if (!row || row.length !== width) refuse(`${name}[${t}]`, row, `${width} numbers`);
        out.set(row, t * width);
      });
      if (out.some((v) => !Number.isFinite(v))) refuse(name, "NaN", "finite numbers");
      return out;
    }

    function columns(arms, d) {
      const first = listed("arms", arms, "K rows of d numbers, or T sets of them")[0];
      const sets = Array.isArray(first && first[0]) ? arms : [arms];
      const K = sets[0].length;
      const out = new Float64Array(sets.length * d * K);
      sets.forEach((rows, s) => {
        const flat = rectangle("arms", rows, d, K);
        for (let k = 0; k < K; k++)
          for (let i = 0; i < d; i++) out[(s * d + i) * K + k] = flat[k * d + i];
      });
      return { out, K, sets: sets.length };
    }

    function play({ policy, settings, arms, expected, noise, normals } = {}) {
      const mark = top;
      try {
        const spec = specification(policy, settings);
        const { out, K, sets } = columns(arms, spec.d);
        const T = listed("expected", expected, "T rows of K numbers").length;
        if (sets > 1 && sets !== T) refuse("arms", sets, `one set, or ${T} of them`);
        const player = new Player(policy, settings, K);
        const m = player.m;
        const draws = rectangle("normals", m ? normals : [], m, m ? T : 0);
        const shocks = Float64Array.from(listed("noise", noise, `${T} numbers`));
        if (shocks.length !== T) refuse("noise", shocks.length, `${T} numbers`);
        if (shocks.some((v) => !Number.isFinite(v))) refuse("noise", "NaN", "finite numbers");
        const chosen = take(T);
        const played = player.rounds(
          T, sets, put(out), put(rectangle("expected", expected, K)), put(shocks),
          put(draws), chosen,
        );
        if (played < T) throw new RangeError(`round ${played} cannot be played`);
        const { mean, precision } = player.look();
        return { chosen: Array.from(integers(chosen, T)), mean, precision };
      } finally {
        release(mark);
      }
    }

    // --- worlds ------------------------------------------------------------------

    const PATHS = { still: 0, jumps: 1, moves: 2, walk: 3 };
    const STREAMS = { path: 1, arms: 2, noise: 3, exploration: 4, steps: 5 };

    function draws(seed, trial, purpose, count) {
      const state = take(1);
      f.seed(state, seed, trial, STREAMS[purpose]);
      const address = take(count);
      f.normals(state, count, address);
      return address;
    }

    /* One trial: addresses of theta (T, d), arms, rewards (T, K) and noise (T). */
    function world(spec, seed, trial) {
      const { kind, d, K, T, parts, step, variance, redrawn } = spec;
      const count = Math.max(parts, 1);
      const anchors = draws(seed, trial, "path", count * d);
      f.anchors(count, d, anchors);
      const walks = kind === "walk";
      const theta = walks ? draws(seed, trial, "steps", T * d) : take(T * d);
      f.path(PATHS[kind], T, d, count, step || 0, anchors, theta);
      const sets = redrawn ? T : 1;
      const arms = draws(seed, trial, "arms", sets * d * K);
      f.arms(sets, d, K, arms);
      const rewards = take(T * K);
      f.expect(T, d, K, sets, theta, arms, rewards);
      const noise = draws(seed, trial, "noise", T);
      const sigma = Math.sqrt(variance);
      const values = doubles(noise, T);
      for (let t = 0; t < T; t++) values[t] *= sigma;
      return { theta, arms, rewards, noise, sets };
    }

    /* Cumulative regret of one policy in a world; `stop` rounds, or all. */
    function follow(spec, place, seed, trial, entry, stop = spec.T) {
      const player = new Player(entry.policy, entry.settings, spec.K);
      const normals = draws(seed, trial, "exploration", spec.T * player.m);
      const chosen = take(spec.T);
      player.rounds(
        stop, place.sets, place.arms, place.rewards, place.noise, normals, chosen,
      );
      return { player, chosen, normals };
    }

    function regretOf(spec, place, chosen) {
      const out = take(spec.T);
      f.regret(spec.T, spec.K, 0, place.rewards, chosen, out);
      return doubles(out, spec.T);
    }

    /* One trial of all policies: a list of regrets at the grid's rounds for each. */
    function trial(spec, policies, seed, number, grid) {
      const mark = top;
      const place = world(spec, seed, number);
      const curves = policies.map((entry) => {
        const inner = top;
        const { chosen } = follow(spec, place, seed, number, entry);
        const all = regretOf(spec, place, chosen);
        const curve = grid.map((t) => all[t - 1]);
        release(inner);
        return curve;
      });
      release(mark);
      return curves;
    }

    return {
      play, Player, world, follow, regretOf, trial, draws, f,
      doubles, integers, put, take, release, mark: () => top,
      policies: Object.keys(POLICIES), specification,
    };
  }

  return WebAssembly.instantiate(module, { env }).then((made) =>
    build((made.instance || made).exports),
  );
}

/* The module's bytes: they travel as text, packed, inside a script. */
function wsbnbBytes(text) {
  "use strict";
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

if (typeof window !== "undefined") {
  const bytes = wsbnbBytes(window.wsbnbModule);
  const started = performance.now();
  window.wsbnb = {
    bytes,
    instance: () => bytes.then(wsbnbCore),
    play: () => {
      throw new Error("not ready: await wsbnb.ready first");
    },
  };
  window.wsbnb.ready = window.wsbnb.instance().then((core) => {
    window.wsbnb.play = core.play;
    window.wsbnb.policies = core.policies;
    window.wsbnb.loaded = performance.now() - started;
    return true;
  });
  window.wsbnb.ready.catch((error) => console.error("wsbnb:", error.message));
}
