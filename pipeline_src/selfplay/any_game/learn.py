"""`learn`: rounds of self-play and training until the time is spent, with a verdict.

Which round plays which games, and what it trains, follows from the seed alone: time only decides how many rounds there
are. A killed run is repeated with the same command and continues.
"""

import contextlib
import hashlib
import math
import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pipeline_src import streams
from pipeline_src.arena.runner import Board, dismiss, play_match
from pipeline_src.errors import ZugwerkError
from pipeline_src.files import read_json, write_json, written_aside
from pipeline_src.games.kernels import rules_need
from pipeline_src.jit import ready
from pipeline_src.parallel import Parallel
from pipeline_src.players.any_game import AnyUct
from pipeline_src.players.player import PlayerText
from pipeline_src.search.grid_net import nothing_known, read_grid_net, shape_of
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.mcts.puct_trees import PuctTrees
from pipeline_src.selfplay.any_game.subject import AnyFiles, AnyGame, AnySetting
from pipeline_src.selfplay.play import play_round
from pipeline_src.selfplay.subject import Round
from pipeline_src.selfplay.window import open_window

Row = dict[str, Any]
Say = Callable[[str], None]
PROGRESS = "progress.json"  # Of a folder: the params, and a row of each round
VERDICT_S = 120  # Core seconds after which `verdict` is said
PAIRS, PLIES = 10, 4  # Of a match: pairs of games with the sides swapped, and random plies before them
SIMULATIONS = "64"  # Of a move of the net in matches
FIRST, MCTS = "the first net", "MCTS with 1,000 playouts"
SHARE = 12  # A match begins once so many times as long as the last ones took has been spent on learning
PAUSE_S = 40  # Least core seconds between two matches


def learn(
    text: str,
    folder: Path,
    minutes: float,
    setting: AnySetting,
    parallel: Parallel,
    say: Say,
    rounds: int | None = None,
    start: Path | None = None,
) -> Path:
    """Learn a game; return the file of the net, which is there from the first round on.

    Args:
        text: the game, as `load_game` takes it.
        folder: for the net, and for the work from which a further run continues.
        minutes: core time, with that of earlier runs in this folder; there is one round at least.
        setting: see `setting_of`.
        parallel: how games are played side by side; it changes no net.
        say: is given lines of progress.
        rounds: number of rounds after which it ends, at least 1, if the time has not ended before.
        start: folder of a net that the first round begins with, of a smaller board or of another game.

    Raises:
        ZugwerkError: the folder is of another game, of other rules or of other options, or a file in it is damaged;
            the net to begin with is for other cells or lines.
    """
    work, net, progress = folder.resolve() / "work", folder / "net", folder / PROGRESS
    begun = last_model(start) if start else None
    if begun:
        setting = setting.model_copy(update={"start": hashlib.sha256(begun.read_bytes()).hexdigest()})
    rows = _rows(progress, setting)
    subject = AnyGame(str(Path(text).resolve()) if text.endswith(".py") else text)
    board = Board(subject.text, setting.game.size, setting.game.variant)
    spent, matched, cost = sum(row["core_s"] for row in rows), 0.0, 0.0
    said = spent > VERDICT_S
    if rows:
        say(f"going on after round {len(rows)} and {spent / 60:.1f} core minutes")
    first = work / "start" / "model.pt" if start else None
    if start and begun and first and not rows:
        _carry_over(start, begun, first, subject, setting)
    _compile(subject, board)
    while (not rows or spent < 60 * minutes) and (rounds is None or len(rows) < rounds):
        if spent > VERDICT_S and not said:
            said = True
            say(verdict(rows))
        own = Round(work, subject, AnyFiles(1, work), len(rows), setting, parallel, first)
        row = _one_round(own)
        with written_aside(net) as aside:
            shutil.copyfile(own.folder / "net", aside)
        if not rows:
            shutil.copyfile(own.folder / "net", work / "first")
        spent += row["core_s"]
        say(_line(row, spent))
        last = spent >= 60 * minutes or len(rows) + 1 == rounds
        if len(rows) and (spent - matched > max(PAUSE_S, SHARE * cost) or last):
            began = time.process_time()
            seed = [setting.seed, streams.GATE, len(rows)]
            others = {FIRST: _player(work / "first"), MCTS: "mcts:nodes=1000"}
            for name, other in list(others.items())[: 1 if subject.game.PLAIN else 2]:  # playouts in Python take hours
                found = play_match(board, _player(net.resolve()), other, PAIRS, PLIES, seed, Parallel(workers=1))
                row[name] = found.score.value
                games = found.standing
                say(f"  {games.wins}-{games.draws}-{games.losses} against {name}: {_elo(row[name])}")
            dismiss()
            cost = time.process_time() - began
            row["core_s"], spent, matched = row["core_s"] + cost, spent + cost, spent + cost
        rows.append(row)
        write_json(progress, {"setting": setting.model_dump(), "rounds": rows})
        if own.index:
            shutil.rmtree(work / f"round_{own.index:03d}", ignore_errors=True)
    say(verdict(rows))
    return net


def _player(net: Path) -> str:
    return str(PlayerText("net", str(net), {"simulations": SIMULATIONS}))


def _compile(subject: AnyGame, board: Board) -> None:
    """Compile the kernels of self-play and of the matches: once, and not at the cost of the first round."""
    start = board.start()
    evaluator = nothing_known(shape_of(subject.game, start))
    for searcher in (Puct(evaluator, PuctOptions()), AnyUct()):
        ready([*rules_need(start), *searcher.needs(start)])
    ready(PuctTrees(start, 1, evaluator).needs(tables=True))


def last_model(folder: Path) -> Path:
    """The model of the last round in a folder of `learn`.

    Raises:
        ZugwerkError: nothing was learnt there, or what says so is damaged.
    """
    progress = folder / PROGRESS
    model = folder / "work" / f"round_{len(_read(progress)[0]):03d}" / "model.pt" if progress.exists() else None
    if model is None or not model.exists():
        raise ZugwerkError(f"{folder}: no net to begin with; `zugwerk learn GAME --out FOLDER` makes one")
    return model


def _carry_over(start: Path, begun: Path, model: Path, subject: AnyGame, setting: AnySetting) -> None:
    """Write ``model``: ``begun``, one of the folder ``start``, brought to another game or board."""
    from pipeline_src.selfplay.any_game.net import carried_over  # imports torch, which games do without

    of = _read(start / PROGRESS)[1].game
    old = read_grid_net(start / "net", of.name, of.rules)[0].shape
    model.parent.mkdir(parents=True, exist_ok=True)
    subject.save(model, carried_over(begun, old, subject.shape(setting)), setting)


def _read(progress: Path) -> tuple[list[Row], AnySetting]:
    """Rounds and params of a run."""
    try:
        found = read_json(progress)
        return list(found["rounds"]), AnySetting.model_validate(found["setting"])
    except (ValueError, KeyError, TypeError) as error:
        raise ZugwerkError(f"{progress}: damaged ({type(error).__name__}); remove its folder to begin again") from None


def _rows(progress: Path, setting: AnySetting) -> list[Row]:
    """Rounds of earlier runs in the folder."""
    if not progress.exists():
        return []
    rows, before = _read(progress)
    for words, old, new in (
        ("the game", before.game.name, setting.game.name),
        ("the rules", before.game.rules, setting.game.rules),
        ("the net to begin with", before.start, setting.start),
        ("the options", before, setting),
    ):
        if old != new:
            raise ZugwerkError(
                f"{progress.parent}: another net was begun there: {words} are no longer the same; learn in another "
                "folder by --out, or remove this one"
            )
    return rows


def _one_round(own: Round) -> Row:
    """Play and train; return what the progress has of the round."""
    from pipeline_src.selfplay.train import learn as train  # imports torch, which games do without

    own.folder.mkdir(parents=True, exist_ok=True)
    params = own.setting.self_play
    play_s = _timed(own.folder / "play.json", partial(play_round, own))
    train_s = _timed(own.folder / "train.json", partial(train, own))
    new = open_window(own.new, own.subject.game)
    losses = read_json(own.folder / "train_result.json")
    games = [tuple(new.actions[a:b].tolist()) for a, b in zip(new.offsets[:-1], new.offsets[1:], strict=True)]
    return {
        "round": own.count,
        "core_s": play_s + train_s,
        "games": len(games),
        "plies": float(np.diff(new.offsets).mean()),
        "draws": float((new.winner == 0).mean()),
        "spread": float(own.subject.batches(new, own.setting, own.count).value.square().mean()),
        "different": len(set(games)) / len(games),
        "simulations_per_s": len(new.policy) * params.simulations / max(play_s, 1e-9),
        "choices": float(np.log((new.policy > 0).sum(1)).mean()),  # Mean logarithm of the number of legal steps
        **{name: losses[name] for name in ("policy_loss", "value_loss", "target_entropy", "value_accuracy")},
    }


def _timed(done: Path, run: Callable[[], None]) -> float:
    """Run a phase unless it is done; return its core seconds, without those of killed runs."""
    if not done.exists():
        began = _core_s()
        run()
        write_json(done, {"core_s": _core_s() - began})
    return float(read_json(done)["core_s"])


def _core_s() -> float:
    """Core seconds of this process and its workers so far; on a busy machine they are fewer than those of a clock."""
    import psutil

    found = sum(os.times()[:4])  # with ended workers
    for worker in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            found += sum(worker.cpu_times()[:2])
    return found


def _line(row: Row, spent: float) -> str:
    return (
        f"round {row['round']:3}, {spent / 60:5.1f} min: {row['games']} games of {row['plies']:.0f} plies, "
        f"{row['simulations_per_s']:,.0f} simulations/s, loss of the policy {row['policy_loss']:.3f} "
        f"(of its target {row['target_entropy']:.3f}), of the value {row['value_loss']:.3f}"
    )


def _elo(score: float) -> str:
    if not 0 < score < 1:
        return "all won" if score else "all lost"
    return f"Elo {400 * math.log10(score / (1 - score)):+.0f}"


def verdict(rows: list[Row]) -> str:
    """Whether it learns, and if not, what may be the reason; from the rows of `learn`."""
    row = rows[-1]
    spread, found = row.get("spread", 1 - row["draws"]), list[str]()  # mean square of the values' targets
    if len(rows) == 1 and row["core_s"] > VERDICT_S:
        found.append(
            f"a round took {row['core_s']:.0f} s, with games of {row['plies']:.0f} plies: too few rounds will fit; "
            "begin with a smaller board (--size) or fewer --simulations"
        )
    if row["draws"] > 0.97:
        found.append("nearly all games are drawn, so that no value can be learnt: does the game end too early?")
    elif row["value_loss"] > 0.98 * spread:
        found.append("the net's values say no more than a constant: do OWNERS and the outcome fit the side to move?")
    if row["choices"] - row["target_entropy"] < 0.02 * row["choices"]:
        found.append("the search finds no step better than another: more --simulations, or a smaller board")
    if row["different"] < 0.5:
        found.append(f"only {row['different']:.0%} of the games differ: is there but one opening?")
    matched: Row = next((one for one in reversed(rows) if FIRST in one), {})
    scores = {name: matched[name] for name in (FIRST, MCTS) if name in matched}
    if scores and scores[FIRST] <= 0.55 and scores.get(MCTS, 0) < 0.95 and not found:  # it may begin with a good one
        found.append("it does not beat its first net yet: give it more minutes")
    if found:
        return "not learning yet: " + "; ".join(found) + " (docs/how-to/learn-your-own-game.md)"
    said = [f"learning: values explain {1 - row['value_loss'] / max(spread, 1e-9):.0%} of the results"]
    return ", ".join([*said, *(f"{score:.0%} of the points against {name}" for name, score in scores.items())])
