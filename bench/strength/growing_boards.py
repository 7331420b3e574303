"""Compare growth with training from scratch on the largest board, for docs/measured/growing_boards.json.

Each seed trains twice: on all boards of params.yaml, and on the largest board alone, from fresh weights, for as many
generations as need the same computing (multiply-adds of the net in self-play and training). Then models of both runs
play the final model of the run from scratch. Killed at any moment, the same command continues. The headline figures are
those of the laptop's boards; figures of other boards are kept under ``runs``. The file with the
curves has the sizes of the boards in its name; `make docs` draws it.

    python -m bench.strength.growing_boards

With ``--net lines`` both sides train the line net of ``gomoku_net`` on ``--boards``, by the loop of the gomoku
sections with ``--games`` games a generation, and meet ``--opponents``, which are those of ``gomoku_evaluate``. The
figures are core seconds to half the points against each; they go under ``lines``. Those of `LINES_BOARDS`, as a share
of those from scratch, are headlines. One board alone is learnt from scratch only; ``law`` has what a line and a column
more cost, over all boards measured so far (`law`). Eight seeds take hours.
"""

import argparse
import hashlib
import json
import os
import resource
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.measured import about, known, run_stage
from pipeline_src import yaml12
from pipeline_src.arena.journal import stage_journal
from pipeline_src.arena.runner import Board, Pairing
from pipeline_src.arena.score import pair_score
from pipeline_src.errors import run_main
from pipeline_src.files import read_json, read_table, write_json, write_table
from pipeline_src.parallel import Parallel
from pipeline_src.project.params import load, read_tree
from pipeline_src.report.figures import REGISTRY, processor
from pipeline_src.systems.gomoku_zero.evaluate import gomoku_event
from pipeline_src.systems.gomoku_zero.models import load_model, save_model
from pipeline_src.systems.gomoku_zero.params import GomokuEvaluateParams
from pipeline_src.systems.growing_boards.declaration import STRENGTHS
from pipeline_src.systems.growing_boards.growth import carry_over
from pipeline_src.systems.growing_boards.params import BoardFiles, GrowingBoard, GrowingEvaluateParams, read_boards

OUT = Path("docs/measured/growing_boards.json")
WORK = Path("work/strength/growing_boards")
COMMAND = "make measure-growing_boards"
SEEDS = (1, 2, 3, 4, 5, 6, 7, 8)
SECTIONS = ("first", "larger", "convergence", "net", "self_play", "train", "gate")
LAPTOP = "6-9"  # The boards of the headline figures
SIMULATIONS = 64
RESAMPLES = 2000
LINES_GAMES = 1000  # Of a generation; runs with others enter neither the headlines nor the law
LINES_SIMULATIONS = 400  # Of a move in the matches
LINES_OPPONENTS = tuple(STRENGTHS)
LINES_BOARDS = (9, 15)  # Those of the headline figures
Pairs = list[tuple[float, float]]


class Point(NamedTuple):
    """A model of a run and its games against the final model of the run from scratch."""

    run: str  # grown or scratch
    seed: int
    generation: int  # Generation on the largest board; 0 is the net as transferred from the smaller board
    spent: float  # Multiply-adds so far on all boards, relative to the whole run from scratch
    pairs: Pairs


def main() -> None:
    """Learn, play, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--pairs", type=int, default=20, help="pairs of games for each model")
    parser.add_argument(
        "--every",
        type=int,
        default=3,
        help="rate every so many generations, and the last; of a line net also those before",
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--net", choices=("growing", "lines"), default="growing", help="growing: that of growing_net")
    parser.add_argument("--boards", type=int, nargs="+", default=LINES_BOARDS, help="the line net's, small to large")
    parser.add_argument(
        "--generations", type=int, nargs=3, default=(4, 4, 28), help="of a smaller board, of the last one, from scratch"
    )
    parser.add_argument(
        "--games", type=int, default=LINES_GAMES, help="of a generation of the line net; only the default is compared"
    )
    parser.add_argument(
        "--opponents", nargs="+", choices=LINES_OPPONENTS, default=LINES_OPPONENTS, help="the line net's"
    )
    options = parser.parse_args()
    parallel = Parallel(workers=options.workers)
    if options.net == "lines":
        measure_lines(options, parallel)
        return
    points: list[Point] = []
    for seed in options.seeds:
        folders = learn(seed, parallel)
        points += rate(seed, folders, options.pairs, options.every, parallel)
        for point in points:
            if point.seed == seed:
                score = pair_score(point.pairs)
                print(
                    f"seed {seed} {point.run} {point.generation}: {point.spent:.2f} of the computing, "
                    f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f})",
                    flush=True,
                )
    boards = "-".join(str(board.size) for board in read_boards())
    write_table(OUT.with_name(f"growing_boards_{boards}.csv"), [_row(point) for point in points])
    origin = about(COMMAND, "its own games", f"{os.cpu_count()} cores of {processor()}", str(read_tree()["profile"]))
    before, found = known(OUT), {name: row | origin for name, row in figures(points).items()}
    headline = found if boards == LAPTOP else {}
    write_json(OUT, before | headline | {"runs": before.get("runs", {}) | {boards: found}})
    for name, row in found.items():
        print(f"{name}: {row['value']:.3f} ({row['low']:.3f} to {row['high']:.3f})")


def learn(seed: int, parallel: Parallel) -> dict[str, Path]:
    """Train both runs of a seed; return their folders."""
    tree = read_tree()
    folder = WORK / _key(tree) / f"seed-{seed}"
    tree |= {"seed": seed, "parallel": {"workers": parallel.workers}}
    grown = _make(folder / "grown", tree)
    last = read_boards(folder / "grown/params.yaml")[-1]
    report = read_json(BoardFiles(last.size, grown / "artifacts").report)
    generations = round(report["multiply_adds_in_all"] / (report["multiply_adds"] / report["generations"]))
    tree["growing_first"] = tree["growing_first"] | {"size": last.size, "generations": generations}
    tree["growing_convergence"] = tree["growing_convergence"] | {"span": generations}  # to the end
    return {"grown": grown, "scratch": _make(folder / "scratch", tree | {"growing_larger": {}})}


def _key(tree: dict[str, Any]) -> str:
    sections = [tree[f"growing_{name}"] for name in SECTIONS]
    return hashlib.sha256(json.dumps(sections, sort_keys=True).encode()).hexdigest()[:12]


def _make(folder: Path, tree: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "params.yaml"
    path.write_text(yaml12.dump(tree), encoding="utf-8")
    for board in read_boards(path):
        if not BoardFiles(board.size, folder / "artifacts").report.exists():
            run_stage(folder, "systems.growing_boards.growth", "--size", str(board.size))
    return folder


class Run(NamedTuple):
    """A run of the line net against one opponent: what it spent until it had half the points, all of it if never."""

    seconds: float  # Of a core
    multiply_adds: float
    early: bool  # The first model that is rated has half the points: what was spent is a bound from above
    short: bool  # No model has


def measure_lines(options: argparse.Namespace, parallel: Parallel) -> None:
    """Train the line net with each seed, grown and from scratch, and write what half the points took."""
    boards, (small, large, scratch), every = tuple(options.boards), options.generations, options.every
    runs: dict[str, dict[str, list[Run]]] = {name: {} for name in options.opponents}
    for seed in options.seeds:
        for side, sizes, number in (("grown", boards, large), ("scratch", boards[-1:], scratch))[len(boards) == 1 :]:
            tree = lines_tree(sizes, small, number, options.games)
            tree |= {"seed": seed, "parallel": {"workers": parallel.workers}}
            folder = WORK / "lines" / _key(tree) / f"seed-{seed}"
            models = train_lines(folder, tree)
            if side == "scratch":
                last = len(models)
                kept = [one for one in range(1, last + 1) if one <= every or one % every == 0 or one == last]
                models = [models[one - 1] for one in kept]
            spent = [(one.seconds, one.multiply_adds) for one in models]
            for name, points in rate_lines(folder, models, tuple(runs), seed, options.pairs, parallel).items():
                times = [time_to_half(part, points) for part in zip(*spent, strict=True)]
                run = Run(times[0], times[1], points[0] >= 0.5, max(points) < 0.5)
                runs[name].setdefault(side, []).append(run)
                print(f"seed {seed} {side} {name}: {run.seconds:.0f} core seconds, {points}", flush=True)
    headline = boards == LINES_BOARDS and options.games == LINES_GAMES
    usual = headline and tuple(options.seeds) == SEEDS
    command = f"{COMMAND} NET=lines" if usual else f"python -m bench.strength.growing_boards {' '.join(sys.argv[1:])}"
    origin = about(command, "its own games", f"{os.cpu_count()} cores of {processor()}")
    rows = {name: compared(sides) | {"games": options.games} | origin for name, sides in runs.items()}
    before = known(OUT)
    if headline:
        headlines = {f"line_net_time_to_{name}": row["share"] | origin for name, row in rows.items()}
        before |= {name: row for name, row in headlines.items() if name in REGISTRY["growing_boards"]}
    measured, key = before.get("lines", {}), "-".join(map(str, boards))
    measured |= {key: measured.get(key, {}) | rows}
    factors = law(measured)
    write_json(OUT, before | {"lines": measured} | ({"law": factors} if factors else {}))


def compared(sides: dict[str, list[Run]]) -> dict[str, Any]:
    """Return what the runs of each side spent, and the share of those grown in those from scratch, by both counts."""
    parts = {side: {key: [getattr(one, key) for one in runs] for key in Run._fields} for side, runs in sides.items()}
    found = {
        side: over_runs(part["seconds"]) | part | {"early": sum(part["early"]), "short": sum(part["short"])}
        for side, part in parts.items()
    }
    if len(parts) > 1:
        for name, key in (("share", "seconds"), ("share_of_multiply_adds", "multiply_adds")):
            found[name] = over_runs(parts["grown"][key], parts["scratch"][key])
    return found


def law(measured: dict[str, Any]) -> dict[str, Any]:
    """Return by opponent and side the factors of core seconds and multiply-adds for one more line and column.

    Grown runs are those over two boards. Boards are left out where a run had half the points with its first model, or
    did not come to them, and runs with other than `LINES_GAMES`. A board that several machines learnt from scratch
    counts once in multiply-adds. Fewer than three boards, or than two more than machines, give no law.
    """
    found: dict[str, Any] = {}
    for name in LINES_OPPONENTS:
        for side, boards in (("grown", 2), ("scratch", 1)):
            seconds, adds = dict[tuple[str, int], list[float]](), dict[tuple[str, int], list[float]]()
            for sizes, rows in sorted(measured.items()):
                met, sides = rows.get(name, {}), sizes.split("-")
                row = met.get(side) if met.get("games") == LINES_GAMES else None
                if row and not row["early"] + row["short"] and (side == "scratch" or len(sides) == boards):
                    seconds.setdefault((met["hardware"], int(sides[-1])), row["seconds"])
                    adds.setdefault(("", int(sides[-1])), row["multiply_adds"])
            if len(adds) > 2 and len(seconds) > 1 + len({machine for machine, _ in seconds}):
                one = factor(seconds) | {"of_multiply_adds": factor(adds), "boards": sorted(size for _, size in adds)}
                found.setdefault(name, {})[side] = one
    return found


def factor(spent: dict[tuple[str, int], list[float]]) -> dict[str, Any]:
    """Return what one more line and column multiply ``spent``, by machine and the board's side, with its interval.

    It is the exponential of the slope of a least-squares fit of logarithms over the side, a point a run, as scaling
    laws over sizes of Hex are fitted (Jones, arXiv:2104.03113). Machines differ in speed: each has a constant of its
    own. The interval is Student's.
    """
    from scipy.stats import t

    machines = sorted({machine for machine, _ in spent})
    runs = [
        np.array([(size, np.log(one)) for (on, size), each in spent.items() if on == machine for one in each])
        for machine in machines
    ]
    x, y = np.concatenate([own - own.mean(0) for own in runs]).T
    slope = x @ y / (x @ x)
    free = len(x) - len(machines) - 1
    reach = t.ppf(0.975, free) * np.sqrt(np.sum((y - slope * x) ** 2) / free / (x @ x))
    ends = {key: float(np.exp(slope + sign * reach)) for key, sign in (("low", -1), ("high", 1))}
    return {"value": float(np.exp(slope)), **ends, "n": len(x)}


def lines_tree(sizes: Sequence[int], small: int, large: int, games: int) -> dict[str, Any]:
    """Return params for the line net on boards of ``sizes``, ``small`` generations each, ``large`` on the last one."""
    tree = read_tree()
    numbers = [*[small] * (len(sizes) - 1), large]
    larger = {
        str(size): {"before": str(before), "generations": number}
        for before, size, number in zip(sizes, sizes[1:], numbers[1:], strict=False)
    }
    return tree | {
        "growing_first": {"size": sizes[0], "variant": tree["gomoku_game"]["variant"], "generations": numbers[0]},
        "growing_larger": larger,
        "growing_convergence": {"span": max(numbers)},  # to the end
        "growing_net": tree["gomoku_net"] | {"kind": "lines"},
        "growing_self_play": tree["gomoku_self_play"] | {"games": games},
        "growing_train": tree["gomoku_train"] | {"schedule": {}},
        "growing_gate": tree["gomoku_gate"],
    }


class LineModel(NamedTuple):
    """A model of a run of the line net, with all that was spent on it."""

    name: str
    file: Path
    seconds: float  # Of a core
    multiply_adds: float


def train_lines(folder: Path, tree: dict[str, Any]) -> list[LineModel]:
    """Train the boards that are missing; return the run's models, each of which plays on the last board.

    A smaller board's last one is the net as it comes to the next board. A board's core seconds are shared out to its
    generations like their times on the clock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(yaml12.dump(tree), encoding="utf-8")
    known_cores = folder / "cores.json"
    cores = {int(size): seconds for size, seconds in known(known_cores).items()}
    boards = read_boards(folder / "params.yaml")
    models: list[LineModel] = []
    spent = 0.0
    for board in boards:
        files = BoardFiles(board.size, folder / "artifacts")
        if board.size not in cores:
            # One that was killed begins again: the core seconds are those of one process.
            shutil.rmtree(folder / "work" / "growing", ignore_errors=True)
            begun = _child_seconds()
            run_stage(folder, "systems.growing_boards.growth", "--size", str(board.size))
            cores[board.size] = _child_seconds() - begun
            write_json(known_cores, {str(size): seconds for size, seconds in cores.items()})
        clocked = np.array([sum(one.values()) for one in read_json(files.timings).values()])
        smaller = len(models)
        seconds = spent + cores[board.size] * np.cumsum([0, *clocked]) / clocked.sum()
        curve = _curve(files.curve)
        adds = [curve[0][1] - curve[0][2], *(total for _, total, _ in curve)]
        for number in range(not board.before, len(adds) - (board is not boards[-1])):
            name = f"model {number}" if board is boards[-1] else f"model {number} of {board.size}"
            models.append(LineModel(name, files.model(number), float(seconds[number]), adds[number]))
        spent += cores[board.size]
    config = load_model(models[-1].file).config
    (folder / "carried").mkdir(exist_ok=True)
    for place, one in enumerate(models[:smaller]):
        carried = folder / "carried" / f"{one.name.replace(' ', '-')}.pt"
        save_model(carried, carry_over(load_model(one.file).net, config), variant=boards[-1].variant)
        models[place] = one._replace(file=carried)
    return models


def _child_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def rate_lines(
    folder: Path, models: Sequence[LineModel], names: Sequence[str], seed: int, pairs: int, parallel: Parallel
) -> dict[str, list[float]]:
    """Return by opponent in ``names`` the scores of the models on the run's last board."""
    board = read_boards(folder / "params.yaml")[-1]
    evaluate = load(GomokuEvaluateParams, "gomoku_evaluate")
    opponents = {name: evaluate.opponents[name].player for name in names}
    texts = {one.name: f"zero:{one.file},simulations={LINES_SIMULATIONS},chunk=8" for one in models} | opponents
    openings = evaluate.openings
    chosen = openings.model_copy(
        update={"count": max(pairs, openings.count), "area": min(openings.area, board.size)}  # smaller boards: anywhere
    )
    with stage_journal(folder / "games", "pipeline_src.systems.gomoku_zero.evaluate", {}) as journal:
        on = Board("gomoku", board.size, board.variant)
        event = gomoku_event(texts, on, chosen, [seed, 18], parallel, journal)
        plan = [Pairing("lines", one.name, opponent, pairs) for opponent in opponents for one in models]
        played = [pair_score(match.points).value for match in event.play(plan)]
    rows = np.reshape(played, (len(opponents), len(models)))
    return {name: [float(score) for score in row] for name, row in zip(opponents, rows, strict=True)}


def rate(seed: int, folders: dict[str, Path], pairs: int, every: int, parallel: Parallel) -> list[Point]:
    """Play both runs' models against the final model of the run from scratch."""
    board: GrowingBoard = read_boards(folders["scratch"] / "params.yaml")[-1]
    files = {run: BoardFiles(board.size, folder / "artifacts") for run, folder in folders.items()}
    curves = {run: _curve(one.curve) for run, one in files.items()}
    total = curves["scratch"][-1][1]
    goal = files["scratch"].model(curves["scratch"][-1][0])
    texts = {"goal": _text(goal)}
    models: list[tuple[str, int, float]] = []
    for run, curve in curves.items():
        if run == "grown":
            curve = [(0, curve[0][1] - curve[0][2], 0.0), *curve]  # the net as transferred
        for generation, spent, _ in curve:
            if generation % every == 0 or generation == curve[-1][0]:
                texts[f"{run} {generation}"] = _text(files[run].model(generation))
                models.append((run, generation, spent / total))
    chosen = load(GrowingEvaluateParams, "growing_evaluate").openings
    chosen = chosen.model_copy(update={"count": max(pairs, 64)})
    on = Board("gomoku", board.size, board.variant)
    with stage_journal(folders["scratch"].parent / "games", "pipeline_src.systems.gomoku_zero.evaluate", {}) as journal:
        event = gomoku_event(texts, on, chosen, [seed, 17], parallel, journal)
        played = event.play([Pairing("growth", f"{run} {number}", "goal", pairs) for run, number, _ in models])
    return [
        Point(run, seed, number, spent, match.points)
        for (run, number, spent), match in zip(models, played, strict=True)
    ]


def _text(model: Path) -> str:
    return f"zero:{model},simulations={SIMULATIONS},chunk=8"  # in lock step


def _curve(path: Path) -> list[tuple[int, float, float]]:
    """Return (generation, multiply-adds on all boards, on this board) for each generation."""
    return [
        (int(row["generation"]), float(row["multiply_adds_in_all"]), float(row["multiply_adds"]))
        for row in read_table(path)
    ]


def figures(points: Sequence[Point]) -> dict[str, dict[str, Any]]:
    """Return the registry's figures: times over seeds (`over_runs`), scores with a bootstrap of seeds and pairs."""
    rng = np.random.default_rng(0)
    resampled = [list(_resampled(points, rng)) for _ in range(RESAMPLES)]
    ends = [max((p for p in points if (p.run, p.seed) == ("grown", seed)), key=_spent) for seed in _seeds(points)]
    scores = [np.mean([p.pairs for p in some if p.run == "grown" and _last(p, some)]) for some in resampled]
    found = {
        f"time_to_scratch_strength{'' if run == 'grown' else '_from_scratch'}": over_runs(times_to_goal(points, run))
        for run in ("grown", "scratch")
    }
    score = pair_score([pair for end in ends for pair in end.pairs])
    low, high = np.quantile(scores, [0.025, 0.975])
    return found | {"score_grown_vs_scratch": {"value": score.value, "low": low, "high": high, "n": score.n}}


def over_runs(ours: Sequence[float], others: Sequence[float] = ()) -> dict[str, Any]:
    """Return the geometric mean of runs, or its ratio to that of ``others``, with Student's interval on logarithms.

    With ``others`` both sides have spreads of their own, and the degrees of freedom are Welch's. One run has none.
    """
    from scipy.special import stdtrit

    sides = [np.log(side) for side in (ours, others) if len(side)]
    value = float(np.exp(sides[0].mean() - (sides[1].mean() if len(sides) > 1 else 0)))
    n = min(map(len, sides))
    if n < 2:
        return {"value": value, "low": None, "high": None, "n": n}
    parts = [float(side.var(ddof=1)) / len(side) for side in sides]
    spread = sum(parts) ** 0.5
    below = sum(part**2 / (len(side) - 1) for part, side in zip(parts, sides, strict=True))
    reach = float(np.exp(stdtrit(sum(parts) ** 2 / below, 0.975) * spread)) if below else 1.0
    return {"value": value, "low": value / reach, "high": value * reach, "n": n}


def times_to_goal(points: Sequence[Point], run: str) -> list[float]:
    """Return by seed the computing at which a run scores one half, relative to the run from scratch."""
    times = []
    for seed in _seeds(points):
        own = sorted((p for p in points if (p.run, p.seed) == (run, seed)), key=_spent)
        times.append(time_to_half([p.spent for p in own], [float(np.mean(p.pairs)) for p in own]))
    return times


def time_to_half(spent: Sequence[float], scores: Sequence[float]) -> float:
    """Return the computing at which rising scores come to one half, all of it where they do not.

    The scores are fitted by a monotone curve (isotonic regression, linear between points).
    """
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression().fit_transform(np.array(spent), scores)
    reached = np.flatnonzero(fitted >= 0.5)
    if not reached.size:
        return float(spent[-1])
    i = int(reached[0])
    if i == 0:
        return float(spent[0])
    share = (0.5 - fitted[i - 1]) / (fitted[i] - fitted[i - 1])
    return float(spent[i - 1] + share * (spent[i] - spent[i - 1]))


def _resampled(points: Sequence[Point], rng: np.random.Generator) -> Iterator[Point]:
    """Draw seeds, numbered from 0, and pairs within each, with replacement."""
    for number, seed in enumerate(rng.choice(_seeds(points), len(_seeds(points)))):
        for point in points:
            if point.seed == seed:
                drawn = rng.integers(len(point.pairs), size=len(point.pairs))
                yield point._replace(seed=number, pairs=[point.pairs[i] for i in drawn])


def _last(point: Point, points: Sequence[Point]) -> bool:
    return point.spent == max(p.spent for p in points if (p.run, p.seed) == (point.run, point.seed))


def _spent(point: Point) -> float:
    return point.spent


def _seeds(points: Sequence[Point]) -> list[int]:
    return sorted({point.seed for point in points})


def _row(point: Point) -> dict[str, float | str]:
    score = pair_score(point.pairs)
    return {
        "run": point.run,
        "seed": point.seed,
        "generation": point.generation,
        "computing": round(point.spent, 4),
        "score": score.value,
        "low": score.low,
        "high": score.high,
        "n": score.n,
    }


if __name__ == "__main__":
    run_main(main)
