/* The arena: a world, some policies, and everything in the address of the page. */

(function () {
  "use strict";
  const L = window.wsbnbLive;
  const { el, svg, slider, choice, button, speaker, Picture, outline, legend } = L;

  const START = { w: "jumps", jumps: 4, step: 0.01, d: 2, K: 48, T: 4000, v: 0.15,
    arms: "fixed", seed: 1, trials: 40, t: 1100, watch: 0, mean: 0, cov: 1,
    p: [["WSBLinUCB", 0.99, 1], ["WSBRandLinUCB", 0.99, 1], ["WSBLinTS", 0.99, 1],
      ["DLinUCB", 0.99, 1]] };
  const PRESETS = {
    "The paper's world": {},
    "Nothing moves: who pays for forgetting?": { w: "still", t: 3000,
      p: [["WSBLinTS", 1, 1], ["WSBLinTS", 0.998, 1], ["WSBLinTS", 0.99, 1],
        ["WSBLinTS", 0.95, 1]] },
    "The radius at 0.15": {
      p: [["WSBLinUCB", 0.99, 1], ["WSBLinUCB", 0.99, 0.15], ["LBWeightUCB", 0.99, 1],
        ["LBWeightUCB", 0.99, 0.15]] },
    "A wrong prior for ever": { w: "still", mean: 0.9, cov: 0.02, T: 2000, t: 1500,
      p: [["WSBLinTS", 1, 1], ["WSBLinTS", 0.98, 1], ["DLinTS", 0.98, 1]] },
    "It never rests": { w: "walk", step: 0.02, t: 2000,
      p: [["WSBLinTS", 1, 1], ["WSBLinTS", 0.98, 1], ["WSBLinUCB", 0.98, 0.15]] },
  };
  const STORIES = {
    "The paper's world": "Four policies, four places that are a quarter turn apart. Whose " +
      "curve bends at a jump, and whose is steep all the time?",
    "Nothing moves: who pays for forgetting?": "The same policy with four memories, and " +
      "nothing to forget. What does a shorter one cost?",
    "The radius at 0.15": "The radius of the theorems, and 0.15 of it. How much of the regret " +
      "is the price of a guarantee?",
    "A wrong prior for ever": "The prior is sure of a wrong place. Without forgetting, data " +
      "win in the end; with forgetting, the prior comes back in every round.",
    "It never rests": "A small step in every round. Is it better to remember everything, " +
      "fifty rounds, or fifty rounds and some optimism?",
  };
  const WORLDS = { jumps: "jumps between anchors", moves: "moves along arcs",
    still: "stands still", walk: "random walk" };
  const SPARE = ["#5a4fcf", "#9c5b00", "#00797a", "#a03060", "#4f6b1f", "#666688"];
  const NUMBERS = { jumps: [2, 40], step: [0, 0.5], d: [2, 16], K: [2, 96], T: [100, 20000],
    v: [0.0001, 4], seed: [0, 2 ** 31 - 1], trials: [2, 400], t: [0, 20000], watch: [0, 9],
    mean: [-2, 2], cov: [0.001, 100] };
  const LARGEST = 6; // policies at a time

  // --- the address ---------------------------------------------------------------

  function write(state) {
    const words = Object.entries(state).map(([key, value]) => {
      const text = key === "p" ? value.map((row) => row.join("~")).join("!") : `${value}`;
      return `${key}=${encodeURIComponent(text)}`;
    });
    return `#${words.join("&")}`;
  }

  /* What an address says; everything that is not allowed is left out. */
  function read(hash) {
    const state = structuredClone(START);
    for (const part of hash.replace(/^#/, "").split("&")) {
      const [key, raw = ""] = part.split("=");
      let text = "";
      try { text = decodeURIComponent(raw); } catch { continue; }
      if (NUMBERS[key]) {
        const [low, high] = NUMBERS[key];
        const value = Number(text);
        if (text !== "" && value >= low && value <= high) state[key] = value;
      } else if (key === "w" && WORLDS[text]) state.w = text;
      else if (key === "arms" && ["fixed", "redrawn"].includes(text)) state.arms = text;
      else if (key === "p") {
        const rows = text.split("!").map((row) => row.split("~"))
          .filter(([name, g, s]) => L.STYLES[name] && +g > 0 && +g <= 1 && +s >= 0)
          .map(([name, g, s]) => [name, +g, +s]).slice(0, LARGEST);
        if (rows.length) state.p = rows;
      }
    }
    for (const key of ["jumps", "d", "K", "T", "seed", "trials", "t", "watch"])
      state[key] = Math.round(state[key]);
    state.t = Math.min(state.t, state.T);
    state.watch = Math.min(state.watch, state.p.length - 1);
    return state;
  }

  // --- as Python -------------------------------------------------------------------

  const python = (value) => Array.isArray(value) ? `[${value.map(python).join(", ")}]`
    : typeof value === "string" ? `"${value}"`
      : Number.isInteger(value) ? `${value}` : `${+value.toPrecision(12)}`;
  const WHOLE = new Set(["dim", "horizon", "length", "period"]);
  const float = (name, value) => Array.isArray(value)
    ? `[${value.map((v) => float(name, v)).join(", ")}]`
    : Number.isInteger(value) && !WHOLE.has(name) ? `${value}.0` : python(value);

  function asPython(state, entries) {
    const path = {
      jumps: `we.AbruptPath(we.OrthogonalAnchors(${state.jumps}))`,
      moves: `we.SlowPath(we.OrthogonalAnchors(${state.jumps}))`,
      still: "we.StationaryPath()",
      walk: `we.RandomWalkPath(step=${state.step})`,
    }[state.w];
    const arms = state.arms === "fixed" ? "FixedArms" : "RedrawnArms";
    const rows = entries.map((entry) => {
      const words = Object.entries(entry.settings)
        .map(([name, value]) => `        ${name}=${float(name, value)},`).join("\n");
      return `    "${entry.label}": wsbnb.${entry.policy}(\n${words}\n    ),`;
    });
    return `import wsbnb
import wsbnb.environments as we

environment = we.Environment(
    path=${path},
    arms=we.${arms}(${state.K}),
    noise=we.GaussianNoise(${state.v}**0.5),
    horizon=${state.T},
    dim=${state.d},
)
policies = {
${rows.join("\n")}
}
results = wsbnb.simulate(policies, environment, trials=${state.trials}, seed=${state.seed})
print(results.summary())
`;
  }

  // --- the page ----------------------------------------------------------------------

  L.widgets.arena = async function (place) {
    const core = await window.wsbnb.instance();
    const base = core.mark();
    let state = read(location.hash);
    let entries = [];
    let seen = null; // the trial that is watched
    let stop = () => {};
    let timer = null;

    const regret = new Picture("Regret");
    const plane = new Picture("The plane", { width: 424, height: 400 }) /* a square inside */;
    const cursor = svg("line", { class: "wl-cursor" });
    const voice = speaker();
    const watchVoice = speaker();
    const progress = el("progress", { max: 1, value: 0, "aria-label": "trials done" });
    const halt = button("stop", () => finish("Stopped."));
    const busy = el("div", { class: "wl-buttons", hidden: true }, progress, halt);
    const keys = el("div", {});
    const policyRows = el("div", { class: "wl-policies" });
    const code = el("pre", { tabindex: 0, "aria-label": "Python code" });
    const controls = el("div", { class: "wl-columns" });
    const watched = el("div", {});
    const story = el("p", { class: "wl-story" });

    const spec = () => ({ kind: state.w, d: state.d, K: state.K, T: state.T,
      parts: ["jumps", "moves"].includes(state.w) ? state.jumps : 1, step: state.step,
      variance: state.v, redrawn: state.arms === "redrawn" });

    function makeEntries() {
      const met = new Set();
      let spare = 0;
      entries = state.p.map(([policy, discount, scale]) => {
        const settings = L.settingsOf(policy, { d: state.d, T: state.T,
          sigma: Math.sqrt(state.v), discount, scale, mean: state.mean, cov: state.cov });
        const words = [L.STYLES[policy][0]];
        if (L.FORGETS.has(policy)) words.push(`γ ${discount}`);
        if (scale !== 1 && (L.BY_RADIUS.has(policy) || L.BY_SCALE.has(policy)))
          words.push(`scale ${scale}`);
        const again = met.has(policy);
        met.add(policy);
        return { policy, settings, label: words.join(", "),
          colour: again ? SPARE[spare++ % SPARE.length] : L.STYLES[policy][1],
          dash: L.STYLES[policy][2] };
      });
    }

    function remember() {
      try { history.pushState(null, "", write(state)); }
      catch { location.hash = write(state); }
    }

    /* A smaller change, no step of its own for the back button. */
    function note() {
      try { history.replaceState(null, "", write(state)); }
      catch { /* the address stays as it was */ }
    }

    /* Something was chosen: remember it, and compare anew. */
    function changed(update) {
      Object.assign(state, update);
      state.t = Math.min(state.t, state.T);
      state.watch = Math.min(state.watch, state.p.length - 1);
      remember();
      refresh();
    }

    function finish(word) {
      stop();
      busy.hidden = true;
      if (word) voice.say(word);
    }

    /* The question of a preset, as long as its state is the one that is shown. */
    function tell() {
      const same = (a) => write({ ...a, t: 0, watch: 0 });
      const name = Object.keys(PRESETS).find((key) =>
        same({ ...START, ...PRESETS[key] }) === same(state));
      story.textContent = name ? STORIES[name] : "";
      for (const one of presets.children)
        one.setAttribute("aria-pressed", one.textContent === name);
    }

    function refresh() {
      pause();
      makeEntries();
      tell();
      code.textContent = asPython(state, entries);
      keys.replaceChildren(legend(entries.map((e) => [e.label, e.colour, e.dash])));
      drawControls();
      drawPolicies();
      run();
      drawWatch();
      openTrial();
    }

    function run() {
      stop();
      const order = { world: spec(), policies: entries, seed: state.seed,
        trials: state.trials };
      order.policies = entries.map(({ policy, settings }) => ({ policy, settings }));
      const late = setTimeout(() => { busy.hidden = false; }, 500);
      const mine = entries;
      let drawnAt = 0;
      const end = L.compare(order, (tally, grid, done) => {
        progress.value = tally.n / state.trials;
        const time = performance.now();
        if (!done && time - drawnAt < 120) return;
        drawnAt = time;
        const text = L.drawRegret(regret, tally, grid, mine, state.T);
        regret.body.append(cursor);
        drawCursor();
        if (!done) return;
        clearTimeout(late);
        busy.hidden = true;
        voice.say(text);
        place.dataset.done = `${Number(place.dataset.done || 0) + 1}`;
      });
      stop = () => { clearTimeout(late); end(); };
    }

    // -- one trial, watched ----------------------------------------------------------

    function openTrial() {
      core.release(base);
      const world = core.world(spec(), state.seed, 0);
      seen = { world, mark: core.mark() };
      showRound();
    }

    function showRound() {
      if (!seen) return;
      core.release(seen.mark);
      const { world } = seen;
      const [d, K, T] = [state.d, state.K, state.T];
      const t = Math.max(0, Math.min(state.t, T - 1));
      const entry = entries[state.watch];
      const { player, chosen } = core.follow(spec(), world, state.seed, 0, entry, t);
      const normals = core.draws(state.seed, 0, "exploration", T * player.m);
      const offset = world.sets > 1 ? 8 * t * d * K : 0;
      const next = core.take(1);
      player.rounds(1, 1, world.arms + offset, world.rewards + 8 * t * K,
        world.noise + 8 * t, normals + 8 * t * player.m, next, 0);
      const k = core.integers(next, 1)[0];
      const belief = player.look();
      const arms = core.doubles(world.arms + offset, d * K);
      const theta = core.doubles(world.theta + 8 * t * d, d);
      const rewards = core.doubles(world.rewards + 8 * t * K, K);
      const best = Math.max(...rewards);
      drawPlane(arms, K, k, theta, belief, entry);
      const loss = core.regretOf({ T: t, K }, world, chosen);
      const lost = t ? loss[t - 1] : 0;
      const text = `Round ${t + 1}: ${entry.label} pulls arm ${k + 1} and loses ` +
        `${(best - rewards[k]).toFixed(2)} of ${best.toFixed(2)}. So far it has lost ` +
        `${lost.toFixed(1)} in this trial.`;
      plane.describe(text);
      if (!timer) watchVoice.say(text);
      drawCursor();
    }

    function drawPlane(arms, K, k, theta, belief, entry) {
      plane.body.replaceChildren();
      for (let i = 0; i < K; i++)
        plane.body.append(plane.path([[0, 0], [arms[i], arms[K + i]]],
          { stroke: i === k ? entry.colour : "#c4c4c4", "stroke-width": i === k ? 5 : 1 }));
      const cov = belief.covariance;
      const ellipse = [[cov[0][0], cov[0][1]], [cov[1][0], cov[1][1]]];
      plane.body.append(
        plane.path(outline(belief.mean, ellipse, 2.45), { stroke: entry.colour,
          fill: entry.colour, "fill-opacity": 0.12 }),
        plane.disc(belief.mean, 5, { fill: entry.colour }),
        plane.cross([theta[0], theta[1]], 9, { stroke: "#000", fill: "none" }));
    }

    function drawCursor() {
      if (regret.x1 === undefined) return;
      for (const end of ["x1", "x2"]) cursor.setAttribute(end, regret.x(state.t));
      cursor.setAttribute("y1", regret.top);
      cursor.setAttribute("y2", regret.height - regret.bottom);
    }

    let scrub = null;
    let speed = 20;
    function go(t) {
      state.t = Math.max(0, Math.min(Math.round(t), state.T - 1));
      if (scrub) scrub.value = state.t;
      showRound();
    }
    function pause() {
      clearInterval(timer);
      timer = null;
      playButton.textContent = "play";
    }
    function toggle() {
      if (timer) {
        pause();
        note();
        showRound();
        return;
      }
      playButton.textContent = "pause";
      timer = setInterval(() => {
        if (state.t >= state.T - 1) pause();
        else go(state.t + Math.max(1, speed / 10));
      }, 100);
    }
    const playButton = button("play", toggle, { class: "wl-play" });

    function drawWatch() {
      const stops = Array.from({ length: state.T }, (_, t) => t);
      scrub = slider("round", stops, state.t, (t) => `${t + 1} of ${state.T}`, (t) => {
        pause();
        go(t);
      });
      scrub.input.addEventListener("change", () =>
        note());
      const names = Object.fromEntries(entries.map((e, i) => [i, e.label]));
      const who = choice("watch", names, `${state.watch}`, (i) => {
        state.watch = +i;
        note();
        showRound();
      });
      const pace = choice("speed", { 10: "10 rounds a second", 20: "20", 100: "100", 500: "500" },
        `${speed}`, (v) => { speed = +v; });
      watched.replaceChildren(who.node, scrub.node, el("div", { class: "wl-buttons" },
        button("back", () => { pause(); go(state.t - 1); }, { "aria-label": "one round back" }),
        playButton,
        button("step", () => { pause(); go(state.t + 1); }, { "aria-label": "one round on" })),
      pace.node);
    }

    // -- controls ------------------------------------------------------------------

    function drawControls() {
      const rows = [
        choice("world", WORLDS, state.w, (w) => changed({ w })),
        ["jumps", "moves"].includes(state.w) && slider("anchors",
          [2, 3, 4, 6, 8, 12, 20, 40], state.jumps, String, (jumps) => later({ jumps })),
        state.w === "walk" && slider("step length", [0.001, 0.003, 0.01, 0.02, 0.05, 0.1],
          state.step, String, (step) => later({ step })),
        slider("dimension d", [2, 3, 4, 6, 8, 12, 16], state.d, String, (d) => later({ d })),
        slider("arms K", [2, 4, 8, 16, 32, 48, 96], state.K, String, (K) => later({ K })),
        choice("arms are", { fixed: "fixed", redrawn: "redrawn in each round" }, state.arms,
          (arms) => changed({ arms })),
        slider("noise variance", [0.01, 0.05, 0.15, 0.3, 0.6, 1], state.v, String,
          (v) => later({ v })),
        slider("rounds T", [500, 1000, 2000, 4000, 8000], state.T, String,
          (T) => later({ T })),
        slider("trials", [5, 10, 20, 40, 100, 200], state.trials, String,
          (trials) => later({ trials })),
        slider("prior mean (WSB)", [-0.9, -0.5, 0, 0.5, 0.9], state.mean,
          (v) => `(${v}, 0, …)`, (mean) => later({ mean })),
        slider("prior variance (WSB)", [0.02, 0.1, 0.3, 1, 3, 10], state.cov, String,
          (cov) => later({ cov })),
      ].filter(Boolean).map((c) => c.node);
      const id = L.fresh("seed");
      const seed = el("input", { type: "number", id, min: 0, max: 2 ** 31 - 1, step: 1,
        value: state.seed, onchange: () => changed({ seed: Math.abs(+seed.value | 0) }) });
      keep(controls, [...rows,
        el("div", { class: "wl-control" }, el("label", { for: id }, "seed"), seed)]);
    }

    /* New controls in the place of old ones; whoever has the focus keeps it. */
    function keep(box, nodes) {
      const old = [...box.querySelectorAll("input, select, button")];
      const place = old.indexOf(document.activeElement);
      box.replaceChildren(...nodes);
      if (place >= 0) {
        const fields = box.querySelectorAll("input, select, button");
        if (fields[place]) fields[place].focus();
      }
    }

    let waiting = null;
    function later(update) {
      Object.assign(state, update);
      clearTimeout(waiting);
      waiting = setTimeout(() => changed(update), 350);
    }

    function drawPolicies() {
      const names = Object.fromEntries(
        Object.entries(L.STYLES).map(([key, [name]]) => [key, name]));
      const set = (i, j) => (v) => {
        const p = structuredClone(state.p);
        p[i][j] = v;
        if (j) later({ p });
        else changed({ p });
      };
      const rows = state.p.map(([policy, discount, scale], i) => {
        const parts = [choice(`policy ${i + 1}`, names, policy, set(i, 0)).node];
        const counted = L.FORGETS.has(policy) || ["SWLinUCB", "RestartLinUCB"].includes(policy);
        if (counted)
          parts.push(slider("discount γ", L.DISCOUNTS, discount, L.sayDiscount, set(i, 1)).node);
        if (L.BY_RADIUS.has(policy) || L.BY_SCALE.has(policy))
          parts.push(slider(L.BY_RADIUS.has(policy) ? "radius scale" : "scale", L.SCALES,
            scale, String, set(i, 2)).node);
        if (state.p.length > 1)
          parts.push(button("remove", () =>
            changed({ p: state.p.filter((_, j) => j !== i) }),
          { "aria-label": `remove policy ${i + 1}` }));
        return el("div", { class: "wl-policy" }, ...parts);
      });
      const more = button("add a policy", () =>
        changed({ p: [...state.p, ["WSBLinTS", 0.95, 1]] }));
      keep(policyRows, state.p.length < LARGEST ? [...rows, more] : rows);
    }

    const presets = el("div", { class: "wl-buttons", role: "group", "aria-label": "presets" },
      ...Object.entries(PRESETS).map(([name, change]) => button(name, () => {
        state = { ...structuredClone(START), ...structuredClone(change) };
        changed({});
      })));
    const copy = button("copy as Python", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        voice.say("The code is in your clipboard.");
      } catch {
        details.open = true;
        voice.say("This browser does not let a page copy: the code is shown below.");
      }
    });
    const details = el("details", {}, el("summary", {}, "the same comparison in Python"), code);

    plane.range(-1.6, 1.6, -1.6, 1.6, "first coordinate", "second coordinate");
    regret.node.addEventListener("click", (event) => {
      if (regret.x1 !== undefined) go(regret.at(event)[0]);
    });
    place.addEventListener("keydown", (event) => {
      if (event.key !== " " || !scrub || event.target !== scrub.input) return;
      event.preventDefault();
      toggle();
    });
    L.frame(place, "The arena", presets, story,
      el("div", { class: "wl-views" },
        el("div", {}, keys, regret.node, busy, voice.node),
        el("div", {}, plane.node, watched, watchVoice.node)),
      el("fieldset", {}, el("legend", {}, "World"), controls),
      el("fieldset", {}, el("legend", {}, "Policies"), policyRows),
      el("div", { class: "wl-buttons" }, copy), details);
    window.addEventListener("popstate", () => {
      state = read(location.hash);
      refresh();
    });
    refresh();
  };
})();
