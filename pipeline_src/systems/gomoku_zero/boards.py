"""Gomoku boards of the report: a game of the evaluation, and positions with the policies of a net and its search."""

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path

import numpy as np

from pipeline_src.games import gomoku
from pipeline_src.games.gomoku import GomokuState
from pipeline_src.project.params import load_part, load_value
from pipeline_src.records.record import GameRecord, read_records
from pipeline_src.report.examples import (
    SIDES,
    Draw,
    Example,
    Panel,
    between,
    check_model,
    check_name,
    draw_game,
    heat_map,
    likeliest,
    ranks,
    rounded,
    square_names,
    within,
)
from pipeline_src.systems.gomoku_zero.declaration import GomokuShown
from pipeline_src.systems.gomoku_zero.params import GenerationFiles, GomokuPlayers, read_numbers
from pipeline_src.systems.gomoku_zero.player import PositionView, ZeroView

GAMES = Path("artifacts/records/gomoku/matches.parquet")
HEADLINE = "headline"  # Event of the best player's games in the records of both stages


def boards(shown: GomokuShown) -> Callable[[Draw], list[Example]]:
    """Read the params; see `project.systems.Boards`."""
    check_name("gomoku.opponent", shown.opponent, "gomoku_evaluate.opponents")
    players, numbers = load_part(GomokuPlayers, "gomoku_evaluate"), read_numbers()
    opponent = load_value(str, f"gomoku_evaluate.opponents.{shown.opponent}.player")
    return lambda rng: gomoku_examples(shown, players, opponent, numbers[-1], rng("gomoku"))


def gomoku_examples(
    shown: GomokuShown, players: GomokuPlayers, opponent: str, last: int, rng: np.random.Generator
) -> list[Example]:
    """Return a whole game of the best player after generation ``last`` against ``opponent``, and positions of it.

    Raises:
        ZugwerkError: the records or the model are missing, or the records have no such game.
    """
    best = GenerationFiles(last).best
    net = ZeroView(check_model(best, "gomoku_generation"), shown.simulations)
    texts = players.best_text(best), opponent
    missing = f"{GAMES}: no game of {texts[0]} and {opponent}; `dvc repro gomoku_evaluate` plays them"
    games = [record for record in between(read_records(GAMES), *texts) if record.event == HEADLINE]
    record = draw_game(games, max(shown.plies, default=0), rng, missing)
    ours = f"the best player after generation {last}"
    first, second = (ours, opponent) if record.first_name == texts[0] else (opponent, ours)
    made = [_whole(record, first, second)]
    for ply in within(shown.plies, record):
        state, view = state_of(record, ply), net.view(state_of(record, ply))
        panels = (
            panel_of(state, record, ply, "policy of the net", view.policy, view.win_rate),
            searched(state, record, ply, "", view, shown.simulations),
        )
        caption = f"The game above after {ply} stones. Percentages on empty points are the policy of {ours} and "
        caption += "the search's shares of visits. The move played is outlined in red."
        title = f"After {ply} stones, {panels[0].to_play} to move"
        made.append(example_of("gomoku", f"gomoku-ply-{ply}", title, caption, panels))
    return made


def _whole(record: GameRecord, first: str, second: str) -> Example:
    names, stones = square_names("gomoku", record.height), record.actions
    won = "Nobody won" if record.winner in ("draw", None) else f"{SIDES['gomoku'][record.winner == 'second']} won"
    panel = Panel(
        label="all stones, numbered",
        board=ranks("gomoku", state_of(record, len(stones)).board),
        last=(names[stones[-1]],),
        texts={names[action]: str(number) for number, action in enumerate(stones, 1)},
    )
    caption = f"Black: {first}. White: {second}. {won} after {len(stones)} stones; a ring marks the last one. The "
    caption += "first stones are the opening."
    moves = tuple(names[action] for action in stones)
    return example_of("gomoku", "gomoku-game", f"A whole game: {first} against {second}", caption, [panel], moves)


def example_of(
    system: str, name: str, title: str, caption: str, panels: Sequence[Panel], moves: tuple[str, ...] = ()
) -> Example:
    """An example on a board of Gomoku."""
    panels = tuple(panels)
    return Example(system=system, name=name, title=title, caption=caption, game="gomoku", panels=panels, moves=moves)


def state_of(record: GameRecord, ply: int) -> GomokuState:
    """The position of a game after ``ply`` stones."""
    return reduce(gomoku.play, record.actions[:ply], gomoku.initial_state(record.height, record.variant))


def searched(
    state: GomokuState, record: GameRecord, ply: int, prefix: str, view: PositionView, simulations: int
) -> Panel:
    """A panel with a search's shares of visits."""
    label = f"{prefix}visits of {simulations} simulations"
    return panel_of(state, record, ply, label, view.visits, view.win_rate_searched)


def panel_of(
    state: GomokuState, record: GameRecord, ply: int, label: str, shares: np.ndarray, win_rate: float
) -> Panel:
    """A position after ``ply`` stones of a game, with shares of the cells [N], the last stone and the next one."""
    names = square_names("gomoku", record.height)
    heat = heat_map(names, shares)
    return Panel(
        label=label,
        board=ranks("gomoku", state.board),
        to_play=SIDES["gomoku"][gomoku.to_play(state)],
        last=(names[record.actions[ply - 1]],) if ply else (),
        played=(names[record.actions[ply]],),
        heat=heat,
        candidates=likeliest(heat),
        value=rounded(win_rate),
    )
