"""PettingZoo's environment of a game: ``pip install 'zugwerk[pettingzoo]'``.

>>> from zugwerk.pettingzoo import env
>>> made = env("gomoku", 9)
>>> made.reset(seed=1)
>>> observation, reward, termination, truncation, info = made.last()
>>> observation["observation"].shape, int(observation["action_mask"].sum())
((3, 9, 9), 81)
"""

from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

import zugwerk
from zugwerk.steps import Steps


def env(*arguments: Any, **options: Any) -> Any:
    """Return a `raw_env` in PettingZoo's wrappers: an illegal step loses, one before `reset` is refused."""
    illegal = wrappers.TerminateIllegalWrapper(raw_env(*arguments, **options), illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(illegal))


class raw_env(AECEnv, EzPickle):  # noqa: N801  PettingZoo's own name
    """A game of two agents, ``player_0`` and ``player_1``, by the rules of `zugwerk.game`.

    An action is a step of `zugwerk.steps.Steps`, of which an agent makes two in a row in the Amazons. Observations:
    ``observation`` float32 [planes, H, W] by `Steps.planes`, three planes in Gomoku; ``action_mask`` int8 [A], all
    zeros for the agent that is not to move. The reward is 1, 0 or -1 at the end.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "zugwerk_v0", "render_modes": ["ansi"], "render_fps": 1, "is_parallelizable": False,
    }  # fmt: skip

    def __init__(
        self,
        game: str = "gomoku",
        size: int | None = None,
        variant: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Arguments as of `zugwerk.game`; ``ansi`` renders the text of the position.

        Raises:
            ZugwerkError: no such game, size or variant.
        """
        EzPickle.__init__(self, game, size, variant, render_mode)
        super().__init__()
        self.render_mode, self._start = render_mode, zugwerk.game(game, size, variant)
        self.steps = Steps(self._start)
        self.possible_agents = ["player_0", "player_1"]
        shape = self.steps.planes(0).shape
        seen = spaces.Box(0, 1, shape, np.float32)
        mask = spaces.Box(0, 1, (self.steps.choices,), np.int8)
        self.observation_spaces = {
            agent: spaces.Dict({"observation": seen, "action_mask": mask}) for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(self.steps.choices) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's steps."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002
        """Begin a game. Nothing here is random; the seed is that of the action spaces' samples."""
        self.steps = Steps(self._start)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.possible_agents[self.steps.side]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent sees."""
        moves = agent == self.agent_selection
        mask = self.steps.mask() if moves else np.zeros(self.steps.choices, np.int8)
        return {"observation": self.steps.planes(self.possible_agents.index(agent)), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Make a step for `agent_selection`.

        Raises:
            ZugwerkError: it is not legal; the wrappers of `env` end the game first.
        """
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self.steps.play(int(action))  # type: ignore[arg-type]
        self._clear_rewards()
        if (returns := self.steps.returns) is not None:
            self.rewards = dict(zip(self.possible_agents, returns, strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.possible_agents[1 - self.possible_agents.index(self.agent_selection)]
        else:
            self.agent_selection = self.possible_agents[self.steps.side]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Return the text of the position, with the render mode ``ansi``."""
        return self.steps.position.fen if self.render_mode == "ansi" else None
