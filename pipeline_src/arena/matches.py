"""Matches between any two players, timed, in colour-swapped pairs, that go on after they were killed: `run_match`."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

from pipeline_src.arena.journal import Pair, PairJournal
from pipeline_src.arena.openings import Opening
from pipeline_src.arena.pairs import leave, play_pair
from pipeline_src.arena.spec import MatchSpec
from pipeline_src.arena.sprt import Sprt
from pipeline_src.arena.summary import Status, Summary, standing, summarise
from pipeline_src.games.game import get_game
from pipeline_src.parallel import Parallel, run_as_they_come
from pipeline_src.players.registry import make_player
from pipeline_src.players.think import close
from pipeline_src.records.parquet import write_records
from pipeline_src.records.record import GameRecord

ALONE = Parallel(workers=1)
OnPair = Callable[[dict[int, Pair]], None]
"""Called with all finished pairs whenever there is one more, and once before."""


def run_match(
    spec: MatchSpec,
    out: Path | None = None,
    parallel: Parallel = ALONE,
    sprt: Sprt | None = None,
    resume: bool = True,
    on_pair: OnPair | None = None,
) -> Summary:
    """Play a match, or what is left of it.

    Args:
        spec: the match.
        out: Parquet file of the games, written at the end; the journal lies beside it (`journal_of`) and stays there,
            so that the same match called again plays the missing pairs only. None keeps nothing.
        parallel: where pairs are played side by side. Timed games want a core each.
        sprt: ends the match as soon as it is decided.
        resume: False plays anew what the journal has.
        on_pair: watches.

    Returns:
        What was played; `Summary.status` says whether that is all. Ctrl-C ends the match, and the summary is of the
        pairs finished by then.

    Raises:
        ZugwerkError: bad openings, a player that cannot be made or an engine that cannot be started, or the journal
            of another match.
    """
    openings = spec.read_openings()
    for text in dict.fromkeys((spec.a, spec.b)):
        _try_out(spec.game, text)
    pairs: dict[int, Pair] = {}
    with ExitStack() as stack:
        journal = None
        if out is not None:
            journal = stack.enter_context(PairJournal(journal_of(out), spec.identity(), resume))
            pairs = {number: pair for number, pair in sorted(journal.pairs.items()) if number < spec.pairs}
        status: Status = "finished"
        try:
            missing = [number for number in range(spec.pairs) if number not in pairs]
            if _decided(sprt, pairs):
                missing = []
            _watch(on_pair, pairs)
            played = _play(spec, openings, missing, parallel, stack)
            for number, pair in played:
                if pair is None:
                    continue
                if journal is not None:
                    journal.add(number, pair)
                pairs[number] = pair
                _watch(on_pair, pairs)
                if _decided(sprt, pairs):
                    break
            if len(pairs) < spec.pairs:
                status = "decided" if _decided(sprt, pairs) else "incomplete"
        except KeyboardInterrupt:
            status = "interrupted"
        if out is not None:
            write_records(_records(spec, pairs), out)
    return summarise(spec, pairs, status, sprt)


def journal_of(out: Path) -> Path:
    """Where the journal of a match lies."""
    return out.with_suffix(".journal.jsonl")


def _try_out(game: str, text: str) -> None:
    """A player that cannot begin fails here, before any game is played."""
    player = make_player(game, text)
    try:
        if hasattr(player, "ready"):
            player.ready()
    finally:
        close(player)


def _play(
    spec: MatchSpec, openings: list[Opening], numbers: list[int], parallel: Parallel, stack: ExitStack
) -> Iterator[tuple[int, Pair | None]]:
    tasks = [(spec, number, openings[number]) for number in numbers]
    results = stack.enter_context(closing(run_as_they_come(play_pair, tasks, parallel, leave)))
    return ((numbers[index], pair) for index, pair in results)


def _watch(on_pair: OnPair | None, pairs: dict[int, Pair]) -> None:
    if on_pair is not None:
        on_pair(pairs)


def _decided(sprt: Sprt | None, pairs: dict[int, Pair]) -> bool:
    return sprt is not None and standing(sprt, pairs).verdict != "undecided"


def _records(spec: MatchSpec, pairs: dict[int, Pair]) -> Iterator[GameRecord]:
    """Games 2k + 1 and 2k + 2 are pair k's. A forfeit stands in ``event``, a start that has no name in ``variant``."""
    rules = get_game(spec.game)
    for number, pair in sorted(pairs.items()):
        for swapped, game in enumerate(pair):
            start = spec.start(game.start)
            first, second = (spec.b, spec.a) if swapped else (spec.a, spec.b)
            yield GameRecord(
                game=spec.game,
                gid=2 * number + swapped + 1,
                source="engine",
                variant=game.start or spec.variant or rules.VARIANTS[0],
                height=start.board.shape[0],
                width=start.board.shape[1],
                actions=game.actions,
                winner=game.winner,
                first_name=first,
                second_name=second,
                event=f"forfeit:{game.forfeit}" if game.forfeit else "",
            )
