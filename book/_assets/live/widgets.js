/* What stands in the chapters: an element of class wsbnb-live says which, data-live=... */

(function () {
  "use strict";
  const L = window.wsbnbLive;
  const { el, svg, slider, button, speaker, Picture, outline, legend, handle } = L;

  const DISCOUNTS = [0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 0.998, 1];
  const sayDiscount = (g) =>
    g === 1 ? "1, remembers everything" : `${g}, memory ${Math.round(1 / (1 - g))} rounds`;
  const SCALES = [0, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 0.8, 1, 1.5, 2];
  const NOISES = [0.05, 0.1, 0.2, 0.3, 0.39, 0.5, 0.7, 1];
  L.DISCOUNTS = DISCOUNTS;
  L.SCALES = SCALES;
  L.sayDiscount = sayDiscount;

  const WSB = new Set(["WSBLinUCB", "WSBRandLinUCB", "WSBLinTS"]);
  const BY_RADIUS = new Set(
    ["WSBLinUCB", "DLinUCB", "LBWeightUCB", "LinUCB", "SWLinUCB", "RestartLinUCB"]);
  const BY_SCALE = new Set(["WSBRandLinUCB", "WSBLinTS", "DRandLinUCB", "DLinTS", "LinTS"]);
  const FORGETS = new Set(["WSBLinUCB", "WSBRandLinUCB", "WSBLinTS", "DLinUCB",
    "LBWeightUCB", "DRandLinUCB", "DLinTS", "Greedy", "Uniform"]);
  Object.assign(L, { WSB, BY_RADIUS, BY_SCALE, FORGETS });

  /* The keyword arguments of a policy from what the controls say. */
  L.settingsOf = function (policy, { d, T, sigma, discount, scale, mean = 0, cov = 1 }) {
    const s = { noise_std: sigma };
    if (WSB.has(policy)) {
      s.prior_mean = Array.from({ length: d }, (_, i) => (i ? 0 : mean));
      s.prior_cov = cov;
    } else {
      s.dim = d;
      s.regularization = 1;
    }
    if (FORGETS.has(policy)) s.discount = discount;
    const memory = Math.max(1, Math.round(discount < 1 ? 1 / (1 - discount) : T));
    if (policy === "SWLinUCB") s.length = memory;
    if (policy === "RestartLinUCB") s.period = memory;
    if (BY_RADIUS.has(policy)) {
      s.radius_scale = scale;
      if (policy !== "LinUCB") s.horizon = T;
    }
    if (BY_SCALE.has(policy)) s.scale = scale;
    return s;
  };

  function frame(place, title, ...children) {
    const heading = el("p", { class: "wl-title" }, title);
    place.replaceChildren(heading, ...children);
    place.setAttribute("role", "group");
    place.setAttribute("aria-label", title);
    place.dataset.ready = "";
  }
  L.frame = frame;

  // --- regret under the reader's hand ------------------------------------------------

  L.widgets.knob = function (place) {
    const names = place.dataset.policies.split(" ");
    const knobs = place.dataset.knobs.split(" ");
    const world = { kind: place.dataset.world || "jumps", d: 2, K: 48, T: 2000, parts: 2,
      step: 0.01, variance: 0.15, redrawn: false };
    const now = { discount: 0.98, scale: +(place.dataset.scale || 1), noise: 0.39 };
    const picture = new Picture("Regret");
    const voice = speaker();
    const policies = () => {
      const own = names.map((policy) => ({
        policy, label: L.STYLES[policy][0],
        settings: L.settingsOf(policy, { ...now, d: 2, T: world.T, sigma: now.noise }),
      }));
      const first = own.find((entry) => FORGETS.has(entry.policy));
      const still = L.settingsOf(first.policy,
        { ...now, discount: 1, d: 2, T: world.T, sigma: now.noise });
      return [...own, { policy: first.policy, label: `${first.label} with γ = 1`,
        colour: "#444444", dash: "2 4", settings: still }];
    };
    let stop = () => {};
    function run() {
      stop();
      world.variance = now.noise ** 2;
      const entries = policies();
      stop = L.compare({ world, policies: entries, seed: 1, trials: 24 },
        (tally, grid, done) => {
          if (!done && tally.n % 4) return;
          const text = L.drawRegret(picture, tally, grid, entries, world.T);
          if (done) voice.say(text);
        });
    }
    const made = {
      discount: () => slider("discount γ", DISCOUNTS, now.discount, sayDiscount,
        (v) => { now.discount = v; run(); }),
      scale: () => slider(place.dataset.scaleName || "scale", SCALES, now.scale, String,
        (v) => { now.scale = v; run(); }),
      noise: () => slider("noise σ", NOISES, now.noise, String,
        (v) => { now.noise = v; run(); }),
    };
    const rows = policies().map((e) => [e.label, e.colour || L.STYLES[e.policy][1],
      e.dash === undefined ? L.STYLES[e.policy][2] : e.dash]);
    frame(place, place.dataset.title || "Regret under your hand",
      legend(rows), picture.node, ...knobs.map((k) => made[k]().node), voice.node);
    run();
  };

  // --- an estimate behind a moving truth ----------------------------------------------

  /* data-path="flip": one number that changes its sign; "turn": a point on the circle. */
  L.widgets.track = async function (place) {
    const core = await window.wsbnb.instance();
    const base = core.mark();
    const turns = place.dataset.path === "turn";
    const [T, d] = turns ? [900, 2] : [600, 1];
    const now = { discount: 0.95, noise: +place.dataset.noise, seed: 1 };
    const picture = turns ? new Picture("Estimate", { width: 484, height: 460 })
      : new Picture("Estimate");
    if (turns) picture.range(-1.6, 1.6, -1.6, 1.6, "θ₁ (reward units)", "θ₂ (reward units)");
    else picture.range(0, T, -2, 2, "round", "estimate (reward units)");
    const truth = Array.from({ length: T }, (_, t) => {
      const a = (1.5 * Math.PI * t) / (T - 1);
      return turns ? [Math.cos(a), Math.sin(a)] : [t < 200 ? 1 : -1];
    });
    const points = (rows) => turns ? rows : rows.map(([v], t) => [t + 1, v]);
    const voice = speaker();

    function show() {
      core.release(base);
      const player = new core.Player("Greedy",
        { dim: d, regularization: 0.05, discount: now.discount, noise_std: 1 }, 1);
      const place = core.draws(now.seed, 0, "arms", T * d);
      core.f.arms(T, d, 1, place);
      const noise = core.draws(now.seed, 0, "noise", T);
      const path = truth.map((theta, t) => {
        const x = turns ? Array.from(core.doubles(place, T * d).slice(t * d, t * d + d)) : [1];
        const mean = x.reduce((sum, v, i) => sum + v * theta[i], 0);
        player.learn(x, mean + now.noise * core.doubles(noise, T)[t]);
        return player.look().mean;
      });
      picture.body.replaceChildren(
        picture.path(points(truth), { stroke: "#333333", "stroke-dasharray": "3 3" }),
        picture.path(points(path), { stroke: "#0b4f9e" }));
      const text = turns ? late(path) : crossing(path);
      picture.describe(text);
      voice.say(text);
    }

    function late(path) {
      const last = path.slice(600);
      const length = last.reduce((sum, p) => sum + Math.hypot(...p), 0) / last.length;
      const gap = Math.sqrt(last.reduce((sum, p, i) => sum +
        (p[0] - truth[600 + i][0]) ** 2 + (p[1] - truth[600 + i][1]) ** 2, 0) / last.length);
      return `In the last third the estimate has length ${length.toFixed(2)} on average, ` +
        `and is ${gap.toFixed(2)} away from the truth.`;
    }

    function crossing(path) {
      const wrong = path.slice(200).findIndex(([v]) => v < 0);
      const steady = path.slice(100, 200).map(([v]) => v);
      const mean = steady.reduce((a, b) => a + b) / steady.length;
      const shake = Math.sqrt(steady.reduce((a, v) => a + (v - mean) ** 2, 0) / steady.length);
      const when = wrong < 0 ? "The sign is never right again"
        : `The sign is right ${wrong} rounds after the flip`;
      return `${when}. Before it the estimate shakes by ${shake.toFixed(2)}.`;
    }

    const change = (name) => (v) => { now[name] = v; show(); };
    frame(place, place.dataset.title,
      legend([["truth", "#333333", "3 3"], ["estimate", "#0b4f9e", ""]]), picture.node,
      slider("discount γ", DISCOUNTS, now.discount, sayDiscount, change("discount")).node,
      slider("noise σ", [0, ...NOISES], now.noise, String, change("noise")).node,
      el("div", { class: "wl-buttons" },
        button("other noise", () => { now.seed += 1; show(); })), voice.node);
    show();
  };

  // --- the posterior ------------------------------------------------------------------

  L.widgets.posterior = async function (place) {
    const core = await window.wsbnb.instance();
    const base = core.mark();
    const circle = Array.from({ length: 8 }, (_, k) =>
      [Math.cos((k * Math.PI) / 4), Math.sin((k * Math.PI) / 4)]);
    const now = { discount: 0.9, sigma: 0.5, wide: 0.5, narrow: 0.3, turn: Math.PI / 3 };
    const EDGE = 2.45; // 95 % of a normal vector in the plane
    let events = [];
    const picture = new Picture("The posterior", { width: 444, height: 420 }) /* a square inside */;
    picture.range(-1.8, 1.8, -1.8, 1.8, "θ₁ (reward units)", "θ₂ (reward units)");
    const drawn = svg("g");
    const voice = speaker();
    const bars = el("dl", { class: "wl-bars" });

    function priorCov() {
      const [c, s] = [Math.cos(now.turn), Math.sin(now.turn)];
      const [p, q] = [now.wide ** 2, now.narrow ** 2];
      return [[c * c * p + s * s * q, c * s * (p - q)], [c * s * (p - q), s * s * p + c * c * q]];
    }

    /* A posterior that has learnt all events; `reward` says what each one pays. */
    function learnt(mean, reward) {
      const player = new core.Player("WSBLinUCB", {
        prior_mean: mean, prior_cov: priorCov(), noise_std: now.sigma,
        discount: now.discount, horizon: 100, penalty: "exact", param_bound: 2.3, // the corners of what can be dragged
      }, 8);
      for (const event of events)
        if (event.pass) player.pass(event.pass);
        else player.learn(circle[event.arm], reward(event));
      return player.look();
    }

    const inner = (x, y) => x[0] * y[0] + x[1] * y[1];

    function show(word) {
      core.release(base);
      const [truth, mean] = [target.place, prior.place];
      const post = learnt(mean, (e) => inner(circle[e.arm], e.theta) + now.sigma * e.noise);
      const before = { mean, covariance: priorCov() };
      const tip = (length, turn) => [mean[0] + EDGE * length * Math.cos(turn),
        mean[1] + EDGE * length * Math.sin(turn)];
      axes[0].set(tip(now.wide, now.turn));
      axes[1].set(tip(now.narrow, now.turn + Math.PI / 2));
      drawn.replaceChildren(
        picture.path(outline(before.mean, before.covariance, EDGE),
          { stroke: "#6c6c6c", "stroke-dasharray": "6 4" }),
        picture.path(outline(post.mean, post.covariance, EDGE),
          { stroke: "#00664a", fill: "#00664a", "fill-opacity": 0.12 }),
        picture.disc(post.mean, 5, { fill: "#00664a" }));
      parts(post, truth, mean);
      const text = `${word} The mean is (${post.mean.map((v) => v.toFixed(2)).join(", ")}), ` +
        `after ${events.filter((e) => !e.pass).length} observations and ` +
        `${post.clock.toFixed(0)} rounds.`;
      picture.describe(text);
      voice.say(text);
    }

    /* The error in three parts, each a posterior mean of its own, in the norm of P. */
    function parts(post, truth, mean) {
      const zero = [0, 0];
      const size = (e) => Math.sqrt(e.reduce((total, v, i) =>
        total + v * inner(post.precision[i], e), 0));
      const drift = learnt(zero, (e) =>
        inner(circle[e.arm], [e.theta[0] - truth[0], e.theta[1] - truth[1]])).mean;
      const noise = learnt(zero, (e) => now.sigma * e.noise).mean;
      const left = learnt([mean[0] - truth[0], mean[1] - truth[1]], () => 0).mean;
      const rows = [
        ["α: the world moved", size(drift), null],
        ["β: noise", size(noise), post.noise],
        ["Π: the prior is wrong", size(left), post.penalty],
      ];
      const top = Math.max(...rows.map((r) => Math.max(r[1], r[2] || 0)), 1e-9);
      bars.replaceChildren(...rows.flatMap(([name, value, bound]) => [
        el("dt", {}, name),
        el("dd", {}, el("span", { class: "wl-bar", "aria-hidden": "true",
          style: `width:${(55 * value) / top}%` }),
        ` ${value.toFixed(2)}${bound === null ? "" : `, bounded by ${bound.toFixed(2)}`}`),
      ]));
    }

    const target = handle(picture, "true parameter θ*", [0.8, 0.5], "#000",
      () => show("You moved θ*."), true);
    const prior = handle(picture, "prior mean", [-0.4, 0.2], "#6c6c6c",
      () => show("You moved the prior mean."));
    /* The ends of the prior's axes: the first also turns the ellipse. */
    const from = (p) => [p[0] - prior.place[0], p[1] - prior.place[1]];
    const long = (length) => Math.max(0.08, length / EDGE);
    const axes = [
      handle(picture, "first axis of the prior", [0, 0], "#9a9a9a", (p) => {
        const [x, y] = from(p);
        now.turn = Math.atan2(y, x);
        now.wide = long(Math.hypot(x, y));
        show("You turned or stretched the prior.");
      }),
      handle(picture, "second axis of the prior", [0, 0], "#9a9a9a", (p) => {
        const [x, y] = from(p);
        now.narrow = long(Math.abs(y * Math.cos(now.turn) - x * Math.sin(now.turn)));
        show("You stretched the prior.");
      }),
    ];
    let pulls = 0;
    function observe(k) {
      const mark = core.mark();
      const z = core.doubles(core.draws(7, pulls, "noise", 1), 1)[0];
      core.release(mark);
      pulls += 1;
      events.push({ arm: k, theta: target.place, noise: z });
      show(`Arm ${k + 1} paid ${(inner(circle[k], target.place) + now.sigma * z).toFixed(2)}.`);
    }
    const spots = circle.map((x, k) => {
      const node = picture.disc(x, 9, { fill: "#fff", stroke: "#0b4f9e", "stroke-width": 2,
        tabindex: 0, role: "button", class: "wl-arm", "aria-label": `observe arm ${k + 1}` });
      node.addEventListener("click", () => observe(k));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        observe(k);
      });
      return node;
    });
    picture.body.append(drawn, ...spots, ...axes.map((a) => a.node), prior.node, target.node);
    picture.node.setAttribute("role", "group");
    picture.node.setAttribute("aria-label", "The posterior and eight arms");
    prior.show();
    target.show();
    const change = (name, word) => (v) => { now[name] = v; show(word); };
    frame(place, "A posterior under your hand",
      legend([["prior, 95 %", "#6c6c6c", "6 4"], ["posterior, 95 %", "#00664a", ""],
        ["θ*, drag it", "#000", "×"], ["prior mean and axes, drag them", "#6c6c6c", ""],
        ["arms, press to observe", "#0b4f9e", ""]]),
      picture.node,
      el("div", { class: "wl-buttons" },
        button("let 10 rounds pass", () => {
          events.push({ pass: 10 });
          show("Ten silent rounds: the belief goes back towards the prior.");
        }),
        button("start again", () => { events = []; pulls = 0; show("Nothing is known."); })),
      slider("discount γ", DISCOUNTS, now.discount, sayDiscount,
        change("discount", "Another memory.")).node,
      slider("noise σ", NOISES, now.sigma, String, change("sigma", "Another noise.")).node,
      bars, voice.node);
    show("Press an arm to observe it.");
  };

  // --- you are the learner ------------------------------------------------------------

  L.widgets.learner = async function (place) {
    const core = await window.wsbnb.instance();
    const base = core.mark();
    const T = 60;
    const K = 5;
    const voice = speaker();
    const paid = el("ol", { class: "wl-paid" });
    const picture = new Picture("Your regret", { height: 260 });
    const guess = el("input", { type: "number", min: 0, max: 120, step: 1,
      id: L.fresh("guess") });
    const controls = el("div", { class: "wl-buttons" });
    const after = el("div", {});
    let game = null;

    function begin() {
      core.release(base);
      const number = game ? game.number + 1 : Date.now() % 100000;
      const start = core.doubles(core.draws(number, 0, "path", 2), 2);
      const angle = Math.atan2(start[0], start[1]);
      const jump = 22 + (number % 19);
      const theta = new Float64Array(2 * T);
      for (let t = 0; t < T; t++) {
        const a = t < jump ? angle : angle + 2.2;
        theta.set([Math.cos(a), Math.sin(a)], 2 * t);
      }
      const spread = Array.from({ length: 2 * K }, (_, i) =>
        i < K ? Math.cos((2 * Math.PI * i) / K) : Math.sin((2 * Math.PI * (i - K)) / K));
      const world = { theta: core.put(theta), arms: core.put(spread), sets: 1,
        rewards: core.take(T * K) };
      core.f.expect(T, 2, K, 1, world.theta, world.arms, world.rewards);
      world.noise = core.draws(number, 0, "noise", T);
      core.doubles(world.noise, T).forEach((z, t, all) => { all[t] = 0.3 * z; });
      game = { number, jump, world, chosen: [] };
      paid.replaceChildren();
      after.replaceChildren();
      picture.node.hidden = true;
      picture.node.style.display = "none";
      arms.forEach((b) => { b.disabled = false; });
      voice.say(`Round 1 of ${T}. Somewhere on the way the world changes.`);
    }

    function pull(k) {
      const t = game.chosen.length;
      if (t >= T) return;
      const { world } = game;
      const reward = core.doubles(world.rewards, T * K)[t * K + k] +
        core.doubles(world.noise, T)[t];
      game.chosen.push(k);
      paid.append(el("li", {}, `arm ${k + 1}: ${reward.toFixed(2)}`));
      paid.scrollTop = paid.scrollHeight;
      if (t + 1 < T) voice.say(`Round ${t + 1}: arm ${k + 1} paid ${reward.toFixed(2)}. ` +
        `${T - t - 1} rounds left.`);
      else ask();
    }

    function ask() {
      arms.forEach((b) => { b.disabled = true; });
      after.replaceChildren(el("p", {},
        el("label", { for: guess.id }, "Predict: your regret, in reward units "), guess, " ",
        button("show me", reveal)));
      voice.say("Sixty rounds are over. Guess your regret first.");
      guess.focus();
    }

    function reveal() {
      const { world } = game;
      const spec = { T, K, d: 2 };
      const mine = core.take(T);
      core.integers(mine, T).set(game.chosen);
      const rows = [["you", "#b8320a", ""], ["γ = 1", "#444444", "2 4"],
        ["γ = 0.95", "#00664a", "8 5"]];
      const curves = [Array.from(core.regretOf(spec, world, mine))];
      for (const discount of [1, 0.95]) {
        const entry = { policy: "WSBLinTS", settings: L.settingsOf("WSBLinTS",
          { d: 2, T, sigma: 0.3, discount, scale: 1 }) };
        const { chosen } = core.follow(spec, world, game.number, 0, entry);
        curves.push(Array.from(core.regretOf(spec, world, chosen)));
      }
      const top = Math.max(1, ...curves.flat());
      picture.range(0, T, 0, 1.05 * top, "round", "regret so far (reward units)");
      picture.body.replaceChildren(
        picture.path([[game.jump, 0], [game.jump, 2 * top]],
          { stroke: "#6c6c6c", "stroke-dasharray": "4 4", "stroke-width": 1 }),
        ...curves.map((c, i) => picture.path([[0, 0], ...c.map((v, t) => [t + 1, v])],
          { stroke: rows[i][1], "stroke-dasharray": rows[i][2] })));
      picture.node.hidden = false;
      picture.node.style.display = "";
      const last = curves.map((c) => c[T - 1].toFixed(1));
      const said = guess.value === "" ? "" : ` You guessed ${guess.value}.`;
      const text = `The world changed after round ${game.jump}. Your regret is ${last[0]}.` +
        `${said} Thompson sampling lost ${last[1]} with γ = 1 and ${last[2]} with γ = 0.95, ` +
        "with the same noise.";
      picture.describe(text);
      after.replaceChildren(legend(rows), button("play again", begin));
      voice.say(text);
    }

    const arms = Array.from({ length: K }, (_, k) => button(`arm ${k + 1}`, () => pull(k)));
    controls.append(...arms);
    frame(place, "You are the learner: sixty rounds, five arms, one hidden change",
      controls, el("div", { class: "wl-scroll", tabindex: 0, role: "region",
        "aria-label": "rewards so far" }, paid),
      after, picture.node, voice.node);
    begin();
  };

  // --- guess first -----------------------------------------------------------------

  /* data-pair="policy:discount:scale policy:discount:scale": how many times as much does
     the first lose? The answer is played only after a guess. */
  L.widgets.guess = function (place) {
    const T = +(place.dataset.rounds || 2000);
    const sigma = +(place.dataset.noise || 0.39);
    const world = { kind: place.dataset.world || "jumps", d: 2, K: 48, T, parts: 2,
      step: 0.01, variance: sigma ** 2, redrawn: false };
    const policies = place.dataset.pair.split(" ").map((text) => {
      const [policy, discount, scale] = text.split(":");
      return { policy, label: `${L.STYLES[policy][0]} with γ = ${discount}, scale ${scale}`,
        settings: L.settingsOf(policy,
          { d: 2, T, sigma, discount: +discount, scale: +scale }) };
    });
    const id = L.fresh("guess");
    const input = el("input", { type: "number", id, min: 0, step: 0.1 });
    const voice = speaker();
    const reveal = () => {
      if (input.value === "") {
        voice.say("Type a number first: a guess that is wrong is remembered longer.");
        input.focus();
        return;
      }
      L.compare({ world, policies, seed: 1, trials: 24 }, (tally, grid, done) => {
        if (!done) return;
        const last = grid.length - 1;
        const [a, b] = [0, 1].map((p) => tally.band(p).mean[last]);
        voice.say(`You guessed ${input.value}. It is ${(a / b).toFixed(1)}: ` +
          `${policies[0].label} lost ${a.toFixed(0)}, ${policies[1].label} ` +
          `${b.toFixed(0)}, in the mean of 24 trials of ${T} rounds.`);
      });
    };
    frame(place, "Guess first", el("p", {}, el("label", { for: id },
      `${place.dataset.question} `), input, " ", button("play it", reveal)), voice.node);
    voice.say("The answer is played when you have guessed.");
  };

  // --- draw first --------------------------------------------------------------------

  /* data-curve holds what wsbnb.interactive.drawn_guess has written: the curve to be
     guessed comes when the reader has drawn one. */
  L.widgets.draw = function (place) {
    const data = JSON.parse(place.dataset.curve);
    const picture = new Picture(data.question);
    picture.range(...data.limits, data.xlabel, data.ylabel);
    const voice = speaker();
    const answers = svg("g");
    const keys = el("div");
    const given = Object.entries(data.given);
    const line = (points, style) => picture.path(data.x.map((x, i) => [x, points[i]]), style);
    const GIVEN = { stroke: "#333333", "stroke-dasharray": "3 3" };
    const hand = L.sketch(picture, "your curve: arrows move and raise it", 41, () => {});
    const ready = "Draw in the picture, or use the arrow keys: left and right choose a " +
      "place, up and down raise the curve there.";

    function legends(all) {
      keys.replaceChildren(legend([["your curve", "#b8320a", ""],
        ...given.map(([name]) => [name, "#333333", "3 3"]),
        ...(all ? [[data.name, "#0b4f9e", ""]] : [])]));
    }

    function reveal() {
      if (hand.drawn() < 2) {
        voice.say(`Draw your curve first: a guess that is wrong is remembered longer. ${ready}`);
        hand.node.focus();
        return;
      }
      hand.close();
      const mine = hand.curve();
      const [x0, x1] = data.limits;
      const at = (x) => mine[Math.round(((x - x0) / (x1 - x0)) * (mine.length - 1))][1];
      const gaps = data.x.map((x, i) => Math.abs(at(x) - data.y[i]));
      const most = gaps.indexOf(Math.max(...gaps));
      const say = (v) => `${+v.toPrecision(2)}`;
      answers.replaceChildren(line(data.y, { stroke: "#0b4f9e", "stroke-width": 3 }));
      legends(true);
      const text = `You were off by ${say(gaps.reduce((a, b) => a + b) / gaps.length)} on ` +
        `average, and most at ${+data.x[most].toPrecision(3)}: ${say(at(data.x[most]))} ` +
        `where it is ${say(data.y[most])}. ${data.answer}`;
      picture.describe(text);
      voice.say(text);
    }

    function again() {
      hand.clear();
      answers.replaceChildren();
      legends(false);
      voice.say(ready);
    }

    picture.body.append(...given.map(([, points]) => line(points, GIVEN)), answers,
      hand.line);
    picture.node.append(hand.node);
    picture.node.setAttribute("role", "group");
    picture.node.setAttribute("aria-label", data.question);
    frame(place, data.question, keys, picture.node, el("div", { class: "wl-buttons" },
      button("show the answer", reveal), button("draw again", again)), voice.node);
    again();
  };

  // --- how fast it is here --------------------------------------------------------------

  L.widgets.speed = async function (place) {
    const core = await window.wsbnb.instance();
    const rows = el("tbody");
    const voice = speaker();
    const native = Object.fromEntries((place.dataset.native || "").split(" ").filter(Boolean)
      .map((entry) => entry.split(":")).map(([p, d, v]) => [`${p}:${d}`, v]));
    const columns = ["policy", "dimension"];
    if (place.dataset.native) columns.push("native, µs");
    columns.push("here, µs");
    const size = (await window.wsbnb.bytes).byteLength;
    function measure() {
      rows.replaceChildren();
      for (const d of [2, 6, 16])
        for (const policy of ["WSBLinTS", "WSBLinUCB", "DLinUCB"]) {
          const spec = { kind: "jumps", d, K: 48, T: 6000, parts: 4, variance: 0.15 };
          const mark = core.mark();
          const world = core.world(spec, 1, 0);
          const settings = L.settingsOf(policy,
            { d, T: spec.T, sigma: 0.39, discount: 0.99, scale: 1 });
          const { player, chosen, normals } = core.follow(spec, world, 1, 0,
            { policy, settings });
          let best = Infinity;
          for (let i = 0; i < 5; i++) {
            player.restart();
            const start = performance.now();
            player.rounds(spec.T, 1, world.arms, world.rewards, world.noise, normals, chosen);
            best = Math.min(best, performance.now() - start);
          }
          core.release(mark);
          const micro = (1000 * best) / spec.T;
          const cells = [L.STYLES[policy][0], `${d}`];
          if (place.dataset.native) cells.push(native[`${policy}:${d}`]);
          cells.push(micro.toFixed(2));
          rows.append(el("tr", {}, ...cells.map((text) => el("td", {}, text))));
        }
      const scripts = performance.getEntriesByType("resource")
        .filter((e) => /live/.test(e.name)).reduce((all, e) => all + e.decodedBodySize, 0);
      voice.say(`Measured in this browser. The module has ${(size / 1000).toFixed(1)} kB` +
        `${scripts ? `, all live scripts and styles of this page ` +
          `${(scripts / 1000).toFixed(0)} kB` : ""}; it was ready ` +
        `${window.wsbnb.loaded.toFixed(0)} ms after its script had been read.`);
    }
    frame(place, "Microseconds a round, here and now, 48 arms",
      el("table", {}, el("thead", {}, el("tr", {}, ...columns.map((text) =>
        el("th", { scope: "col" }, text)))), rows),
      button("measure again", measure), voice.node);
    measure();
  };

  // --- all of them ------------------------------------------------------------------

  function wake() {
    window.wsbnb.ready.then(() => {
      for (const place of document.querySelectorAll(".wsbnb-live[data-live]")) {
        const make = L.widgets[place.dataset.live];
        if (!make || place.dataset.ready !== undefined) continue;
        const begin = () => Promise.resolve(make(place)).catch((error) => {
          console.error("wsbnb:", error);
        });
        if (place.dataset.live === "arena" || !("IntersectionObserver" in window)) begin();
        else {
          const watch = new IntersectionObserver((seen) => {
            if (!seen.some((s) => s.isIntersecting)) return;
            watch.disconnect();
            begin();
          }, { rootMargin: "300px" });
          watch.observe(place);
        }
      }
    }, () => {}); // the still picture stays
  }
  if (document.readyState === "complete") wake();
  else document.addEventListener("DOMContentLoaded", wake);
})();
