"""OpenSpiel's game ``zugwerk``: ``pip install 'zugwerk[openspiel]'``, and import this module.

>>> import pyspiel, zugwerk.openspiel
>>> state = pyspiel.load_game("zugwerk(game=gomoku,size=9)").new_initial_state()
>>> len(state.legal_actions()), state.action_to_string(0)
(81, 'a9')
"""

from typing import Any

import numpy as np
import pyspiel

import zugwerk
from zugwerk.steps import Steps

_DEFAULTS: dict[str, Any] = {"game": "gomoku", "size": 15, "variant": ""}
_TYPE = pyspiel.GameType(
    short_name="zugwerk",
    long_name="Games by the rules of Zugwerk",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification=_DEFAULTS,
)


class Game(pyspiel.Game):
    """A game by the rules of `zugwerk.game`; ``variant`` is empty for the standard one.

    An action is a step of `zugwerk.steps.Steps`: a player makes two in a row in the Amazons. The observation is float32
    [planes, H, W] by `Steps.planes`, three planes in Gomoku.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Take the game's parameters.

        Raises:
            ZugwerkError: no such game, size or variant.
        """
        given = _DEFAULTS | (params or {})
        self.start = zugwerk.game(str(given["game"]), int(given["size"]), str(given["variant"]) or None)
        if self.start.game == "go":
            raise zugwerk.ZugwerkError("Go has no longest game, which OpenSpiel asks for; it has a Go of its own")
        steps = Steps(self.start)
        info = pyspiel.GameInfo(
            num_distinct_actions=steps.choices,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=steps.longest,
        )
        super().__init__(_TYPE, info, params or {})

    def new_initial_state(self) -> "State":
        """Return the first state."""
        return State(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "Observer":  # noqa: ARG002
        """Return the observer; both players see everything."""
        return Observer(self.start)


class State(pyspiel.State):
    """A state of the game; ``steps.position`` is the one of `zugwerk.Player.think`."""

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self.steps = Steps(game.start)

    def current_player(self) -> int:
        """Return the player to move."""
        return int(pyspiel.PlayerId.TERMINAL) if self.is_terminal() else self.steps.side

    def _legal_actions(self, player: int) -> list[int]:  # noqa: ARG002
        return [int(step) for step in self.steps.legal()]

    def _apply_action(self, action: int) -> None:
        self.steps.play(action)

    def _action_to_string(self, player: int, action: int) -> str:  # noqa: ARG002
        return self.steps.text(action)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.steps.returns is not None

    def returns(self) -> list[float]:
        """Return the result to each player, zeros before the end."""
        return [*(self.steps.returns or (0.0, 0.0))]

    def __str__(self) -> str:
        return f"{self.steps.position.fen} {self.history()[-1:]}"


class Observer:
    """Planes and text of a state."""

    def __init__(self, start: zugwerk.Position) -> None:
        shape = Steps(start).planes(0).shape
        self.tensor = np.zeros(shape, np.float32).ravel()
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: State, player: int) -> None:
        """Write the planes that a player sees into ``tensor``."""
        self.dict["observation"][:] = state.steps.planes(player)

    def string_from(self, state: State, player: int) -> str:  # noqa: ARG002
        """Return the text of a state."""
        return str(state)


pyspiel.register_game(_TYPE, Game)
