// The searches of the kernels as a page asks for them: limits, reports and best lines. They block; `pause` lets messages in.

const [NODES, NODE_LIMIT, STOPPED, GENERATION, ROOT_ACTIONS, ROOT_DONE] = [0, 1, 2, 3, 4, 5];
const UNPROVEN = 0, LOST = 1, DRAWN = 2, WON = 3;
const EVERY_MS = 80, SLICE_MS = 20, MOST = 1n << 60n;

/** Lets the messages of a worker in. */
const channel = new MessageChannel();
let resume = null;
channel.port1.onmessage = () => resume?.();
const pause = () => new Promise((then) => { resume = then; channel.port2.postMessage(0); });

const sum = (list) => list.reduce((total, one) => total + one, 0);

/** One of `items`, with a probability in proportion to its weight. */
function drawn(items, weights) {
  let left = Math.random() * sum(weights);
  return items[weights.findIndex((weight) => (left -= weight) < 0)] ?? items.at(-1);
}

/** A draw from the normal distribution. */
const normal = () => Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());

/** The item with most weight, the first of equals. */
const likeliest = (items, weights) => items[weights.indexOf(Math.max(...weights))];

/** The item with most weight, or with a temperature one that is drawn. */
function picked(items, weights, temperature) {
  const most = Math.max(...weights);
  return temperature ? drawn(items, weights.map((one) => (one / most) ** (1 / temperature))) : likeliest(items, weights);
}

/** The win rate of a value in squares. */
const rated = (value, odds) => 1 / (1 + Math.exp(-Math.max(-500, Math.min(500, value / odds))));

const share = (value) => Math.min(1, Math.max(0, (1 + value) / 2));

/** PUCT in one tree; that of Gomoku is with or without searches by fours. */
class Tree {
  constructor(rules, table) {
    Object.assign(this, { rules, kernels: rules.kernels, table });
    [this.done, this.targets] = ["forest.done", "targets"].map((name) => this.kernels.array(name));
  }

  plant() {
    const { kernels, rules } = this;
    for (const [name, array] of Object.entries(rules.state)) kernels.array(`root.${name}`).set(array);
    for (const name of ["used_nodes", "used_edges", "done"]) kernels.array(`forest.${name}`)[0] = 0;
    kernels.array("forest.slots").fill(-1);
  }

  /** Simulate until the tree has had so many simulations, its result is proven, `over()` holds, or it is stopped; with reports by `report()`. */
  async grow(play, wanted, over, stopped, report) {
    const { kernels, done, targets } = this, begun = performance.now(), passed = () => performance.now() - begun;
    let next = EVERY_MS, paused = 0, slice = 8, before = -1;
    while (done[0] < wanted && !over() && !stopped() && done[0] > before) {
      before = done[0];
      const from = passed();
      targets[0] = Math.min(wanted, done[0] + slice);
      play();
      slice = Math.max(1, Math.min(256, Math.round(slice * Math.min(2, SLICE_MS / Math.max(0.1, passed() - from)))));
      if (kernels.record("forest.nodes", 0).proof !== UNPROVEN) break;
      if (passed() > next) { // a report takes a tenth of the time at most
        const told = passed();
        report();
        next = passed() + Math.max(EVERY_MS, 10 * (passed() - told));
      }
      if (passed() - paused > SLICE_MS) { await pause(); paused = passed(); }
    }
  }

  async run({ alone, nodes = Infinity, movetime = Infinity, lines = 1, policy, temperature }, tell, stopped) {
    const { kernels, table } = this, begun = performance.now(), passed = () => performance.now() - begun;
    const options = Object.fromEntries(Object.entries(table[alone ? "alone" : "proving"]).map(([name, value]) => [`options.${name}`, Number(value)]));
    this.caution = options["options.caution"];
    this.shares = options["options.share"]; // else nodes have no twins
    this.plant();
    await this.grow(() => kernels.run(alone ? "play_out_alone" : "play_out", options), policy ? 1 : nodes, () => passed() >= movetime, stopped, () => policy || tell(this.thought(lines, passed())));
    if (policy || temperature) {
      const steps = this.rules.legal(), visits = Array(steps.length).fill(0);
      for (const edge of this.edges(0)) visits[edge.place] = edge.tries;
      return { action: picked(steps, policy ? this.priors(0).map(Math.abs) : visits, temperature), thought: policy ? null : this.thought(lines, passed()) };
    }
    const thought = this.thought(lines, passed());
    return { move: thought.line[0] ?? this.rules.text(this.rules.legal()[0]), thought };
  }

  /** Priors of a node's steps, negative once a step has an edge. */
  priors(node) {
    const { at, shape } = this.kernels.layout.arrays["forest.priors"], { count } = this.kernels.record("forest.nodes", node);
    return [...new Float32Array(this.kernels.memory.buffer, at + 4 * node * shape[2], count)];
  }

  edges(node) {
    const { first, edges } = this.kernels.record("forest.nodes", node);
    return Array.from({ length: edges }, (_, k) => this.kernels.record("forest.edges", first + k)).sort((a, b) => a.place - b.place);
  }

  /** The best of a node's edges, as `PuctTrees._best_edge` has it; null if a step without one is better. */
  best(node, tried = this.edges(node)) {
    const { side } = this.kernels.record("forest.nodes", node);
    const below = tried.map((edge) => this.kernels.record("forest.nodes", edge.child));
    const is = (one, same, other) => one.proof === (one.side === side ? same : other);
    const wins = tried.filter((_, k) => is(below[k], WON, LOST)), holds = tried.filter((_, k) => !is(below[k], LOST, WON));
    if (!tried.length || (!holds.length && this.priors(node).some((one) => one >= 0 && !Object.is(one, -0)))) return null;
    const some = wins.length ? wins : holds.length ? holds : tried, most = Math.max(...some.map((one) => one.tries));
    const worth = (one) => this.caution > 0 ? one.worth / one.tries - this.caution / Math.sqrt(one.tries) : one.worth;
    const seen = some.filter((one) => this.caution > 0 ? one.tries >= Math.max(1, this.table.least_share * most) : one.tries === most);
    return seen.reduce((a, b) => worth(b) > worth(a) ? b : a);
  }

  /** The line of best steps below a node. */
  below(node) {
    const found = [];
    for (let at = node; ;) {
      if (this.shares) at = this.kernels.run("fullest", { node: at });
      const edge = this.best(at);
      if (!edge) return found;
      found.push(edge.step);
      at = edge.child;
    }
  }

  thought(lines, ms) {
    const { kernels, rules } = this, root = kernels.record("forest.nodes", 0), tried = this.edges(0), best = this.best(0, tried);
    tried.sort((a, b) => (b === best) - (a === best) || b.tries - a.tries || b.worth - a.worth || a.place - b.place);
    const of = (edge) => {
      const child = kernels.record("forest.nodes", edge.child);
      const value = child.proof === UNPROVEN ? edge.worth / edge.tries : (child.side === root.side ? 1 : -1) * (child.proof - DRAWN);
      const moves = [edge.step, ...this.below(edge.child)].map((step) => rules.text(step));
      return { moves, value, win_rate: share(value), depth: moves.length, visits: edge.tries };
    };
    const value = root.proof !== UNPROVEN ? root.proof - DRAWN : root.total / Math.max(1, root.visits);
    const found = best ? tried.slice(0, lines).map(of) : [], line = found[0]?.moves ?? [rules.text(likeliest(rules.legal(), this.priors(0)))];
    return { depth: line.length, nodes: kernels.array("forest.done")[0], seconds: ms / 1000, value, unit: "rate", win_rate: share(value), line,
      lines: found.length ? found : [{ moves: line, value, win_rate: share(value), depth: 1, visits: null }] };
  }
}

/** PUCT of the Amazons as `Puct` has it: a turn is the amazon's move and, with the rest of the limit, her arrow. */
class TwoSteps extends Tree {
  constructor(rules, table) { super(rules, table); this.caution = table.puct.caution; }

  /** The legal steps at the root. */
  steps() { return [...this.kernels.array("steps").subarray(0, this.kernels.run("write_steps"))]; }

  /** Have the root evaluated, with its steps and their priors. */
  ask() { this.targets[0] = 0; this.kernels.run("play_out"); }

  advance(step) { this.kernels.array("played")[0] = step; this.kernels.run("play_steps"); }

  /** The turns of a line of steps, and its value to the root's side. */
  look(before) {
    const root = this.kernels.record("forest.nodes", 0), best = this.best(0), line = [...before, ...(best ? this.below(0) : [likeliest(this.steps(), this.priors(0))])];
    const moves = Array.from({ length: Math.floor(line.length / 2) }, (_, k) => this.rules.text(line[2 * k] * this.rules.cells + line[2 * k + 1]));
    const value = root.proof !== UNPROVEN ? root.proof - DRAWN : best ? best.worth / best.tries : root.total / root.visits;
    return { line, moves, value, proven: root.proof !== UNPROVEN };
  }

  /** Other steps than the decided one that are not proven to lose, the most visited first, then the likeliest. */
  others(decided) {
    const side = this.kernels.record("forest.nodes", 0).side, steps = this.steps(), priors = this.priors(0).map(Math.abs);
    const tried = this.edges(0).sort((a, b) => b.tries - a.tries || b.worth - a.worth || a.place - b.place);
    const lost = new Set(tried.filter(({ child }) => { const { proof, side: moves } = this.kernels.record("forest.nodes", child); return proof === (moves === side ? LOST : WON); }).map(({ step }) => step));
    const rest = [...steps.keys()].sort((a, b) => priors[b] - priors[a] || a - b).map((k) => steps[k]);
    return [...new Set([...tried.map(({ step }) => step), ...rest])].filter((step) => step !== decided && !lost.has(step));
  }

  async run({ kind, nodes = Infinity, movetime = Infinity, temperature }, tell, stopped) {
    const { kernels, rules, table, done } = this, begun = performance.now(), passed = () => performance.now() - begun;
    kernels.array("settles")[0] = Number(kind === "puct");
    this.plant();
    if (kind === "nets") {
      const turn = [0, 1].map(() => {
        this.ask();
        const step = picked(this.steps(), this.priors(0).map(Math.abs), temperature);
        this.advance(step);
        return step;
      });
      return { action: turn[0] * rules.cells + turn[1], thought: null };
    }
    let spent = 0, steps = [], instead = [];
    const thought = ({ moves, value }, simulations) => ({ depth: moves.length, nodes: simulations, seconds: passed() / 1000, value, unit: "rate", win_rate: share(value), line: moves, lines: [{ moves, value, win_rate: share(value), depth: moves.length, visits: null }] });
    for (;;) {
      this.ask();
      const part = steps.length ? 1 : table.first_share, until = passed() + part * (movetime - passed());
      const report = () => { const found = this.look(steps); if (found.moves.length) tell(thought(found, spent + done[0])); };
      await this.grow(() => kernels.run("play_out"), Math.ceil(part * (nodes - spent)), () => passed() >= until, stopped, report);
      const found = this.look(steps);
      spent += done[0];
      if (steps.length && found.proven && found.value < 0 && instead.length) { // the other first steps may not lose
        steps = [instead.shift()];
        this.plant();
        this.advance(steps[0]);
        continue;
      }
      if (steps.length) return { move: found.moves[0], thought: thought(found, spent) };
      steps = [found.line[0]];
      instead = found.proven ? [] : this.others(steps[0]);
      this.advance(steps[0]);
    }
  }
}

/** Iterative deepening around the kernel of alpha-beta, as `AlphaBeta` has it. */
class Deepening {
  constructor(rules, table) { Object.assign(this, { rules, kernels: rules.kernels, table, generation: 1n, rate: 20 }); }

  async run({ nodes = Infinity, movetime = Infinity, depth = 96, lines = 1 }, tell, stopped) {
    const { kernels, rules, table } = this, begun = performance.now(), passed = () => performance.now() - begun;
    const [counts, root, values, out] = ["space.counts", "space.root", "space.values", "line"].map((name) => kernels.array(name));
    counts.fill(0n);
    kernels.array("space.killers").fill(-1);
    counts[GENERATION] = this.generation += 1n;
    const told = (value) => table.lost < Math.abs(value) && Math.abs(value) < table.decided ? Math.sign(value) * (Math.abs(value) - table.belief) : value;
    const line = (moves, value, deep) => ({ moves: moves.map((action) => rules.text(action)), value: told(value), win_rate: rated(told(value), table.odds), depth: deep, visits: null });
    const search = (deep) => {
      const from = passed(), before = Number(counts[NODES]);
      // What the time left allows: a kernel looks at no clock.
      const most = Math.min(nodes, movetime < Infinity ? before + Math.max(1000, this.rate * (movetime - from)) : Infinity);
      counts[NODE_LIMIT] = most < Infinity ? BigInt(Math.round(most)) : MOST;
      const value = kernels.run("search_root", { depth: deep }), ms = passed() - from;
      if (ms > 5) this.rate = (Number(counts[NODES]) - before) / ms;
      return value;
    };
    search(1);
    const actions = Number(counts[ROOT_ACTIONS]), count = Math.min(lines, actions), worth = [...values.subarray(0, count)];
    let best = worth.map((value, k) => line([root[k]], value, 1)), cut = false;
    const thought = () => ({ depth: best[0].depth, nodes: Number(counts[NODES]), seconds: passed() / 1000, value: best[0].value, unit: "squares", win_rate: best[0].win_rate, line: best[0].moves, lines: best });
    tell(thought());
    const last = actions === 1 && movetime < Infinity ? 1 : depth; // the only turn
    for (let deep = 2; deep <= last && !cut; deep++) {
      await pause();
      if (worth.every((value) => Math.abs(value) > table.decided) || passed() >= movetime || stopped()) break;
      const found = [];
      for (let first = 0; first < count && !cut; first++) {
        const better = root.slice(0, first); // each further line is searched without the actions of those before it
        root.copyWithin(0, first, actions);
        counts[ROOT_ACTIONS] = BigInt(actions - first);
        let value = search(deep);
        while (counts[STOPPED] && counts[NODES] < nodes && movetime - passed() > Math.max(10, movetime / 10)) { counts[STOPPED] = 0n; value = search(deep); }
        cut = Boolean(counts[STOPPED]);
        if (!cut || count === 1) {
          if (!cut || counts[ROOT_DONE]) worth[first] = value;
          const length = kernels.run("read_variation", { depth: deep });
          found.push(line([...out.subarray(0, length)], worth[first], deep - cut));
        }
        root.copyWithin(first, 0, actions - first);
        root.set(better);
      }
      if (found.length === count) { best = found.sort((a, b) => b.value - a.value); tell(thought()); }
    }
    return { move: best[0].moves[0], thought: thought() };
  }
}

/** The turn of the Amazons that counting gives without a search, as `ClosingFirst` has it; null where one is needed. */
function countedOut(rules, { counted, odds }, kind) {
  const turn = rules.closing();
  if (!turn) return null;
  const value = turn.least > 0 ? counted + turn.least - 0.5 : turn.most <= 0 ? turn.most - 0.5 - counted : (turn.least + turn.most) / 2, moves = [rules.text(turn.action)];
  const about = { value, win_rate: kind === "puct" ? share(value) : rated(value, odds), depth: 1 };
  return { move: moves[0], thought: { ...about, nodes: 1, seconds: 0, unit: kind === "puct" ? "rate" : "squares", line: moves, lines: [{ ...about, moves, visits: null }] } };
}

/** Of a forced win of Gomoku the line, or the answer to its last move that holds out longest; see `ForcedLine` and `ForcedAnswer` of the server's messages. */
function forced(rules, kind, limit) {
  const { kernels, winner } = rules, line = kernels.array("solution");
  if (kind === "line") return { moves: [...line.subarray(0, winner ? 0 : kernels.run("find", { limit }))].map((action) => rules.text(action)) };
  if (winner) return { state: winner === "draw" ? "spoilt" : "won", answer: "", plies: 0 };
  const [action, plies] = kernels.run("hold_out", { limit });
  return { state: plies ? "holds" : "spoilt", answer: rules.text(action), plies };
}

/** The search of a board's rules by a player: run(limits, tell(thought), stopped()) gives {move, thought}. */
export function searchOf(rules, table) {
  const searches = rules.game === "gomoku" ? { zero: new Tree(rules, table.gomoku) } : { alphabeta: new Deepening(rules, table.amazons) };
  if (rules.game === "amazons") searches.puct = searches.nets = new TwoSteps(rules, table.amazons);
  return async (task, tell, stopped) => {
    if (task.kind === "answer" || task.kind === "line") return forced(rules, task.kind, table.gomoku.proof);
    if (task.kind === "random") return { move: rules.text(drawn(...[rules.legal()].map((all) => [all, all.map(() => 1)])[0])), thought: null };
    if (task.kind === "one_ply") {
      const values = rules.kernels.array("values").subarray(0, rules.kernels.run("rank_all")).map((value) => value + (task.noise ?? 0) * normal());
      return { move: rules.text(likeliest(rules.kernels.array("actions"), values)), thought: null };
    }
    const found = (rules.game === "amazons" && task.kind !== "nets" && countedOut(rules, table.amazons, task.kind)) || await searches[task.kind].run(task, tell, stopped);
    return { move: found.move ?? rules.text(found.action), thought: found.thought };
  };
}
