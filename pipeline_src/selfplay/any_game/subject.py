"""Any game as the learner of self-play takes it. Knows nothing of torch: workers import it."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.files import stamp
from pipeline_src.games.game import LEARNABLE, load_game
from pipeline_src.project.params import Count, Fraction, Params, Text
from pipeline_src.search.grid_net import GridEvaluator, Shape, nothing_known, read_grid_net, shape_of, write_grid_net
from pipeline_src.search.mcts.puct_trees import EvaluateBatch
from pipeline_src.selfplay import params as shared
from pipeline_src.selfplay.params import GenerationFiles, SelfPlayParams, TrainParams
from pipeline_src.selfplay.subject import LOCK_STEP, Subject
from pipeline_src.selfplay.window import SelfPlayGames


class AnyBoard(Params):
    """The game and its board."""

    name: Text
    rules: Text  # Digest of the rules
    size: Count
    variant: Text

    def size_of(self, number: int) -> int:  # noqa: ARG002
        """The size, whatever the generation."""
        return self.size


class AnySetting(shared.Setting):
    """All params of learning a game."""

    game: AnyBoard
    margin: Fraction = 0.0
    """Share of the game's margin in the value of a finished game; the rest is its result."""
    start: str = ""
    """SHA-256 of the model that the first round begins with; none: fresh weights."""


class AnyFiles(GenerationFiles):
    """All rounds are of one generation, whose files are never written."""

    of = "any_game"


@dataclass(frozen=True)
class AnyGame(Subject):
    """See `Subject`."""

    text: str  # As `load_game` takes it

    files = AnyFiles

    @property
    def title(self) -> str:  # type: ignore[override]
        """The game in messages."""
        return str(self.game.NAME)

    @property
    def game(self) -> Any:
        """The rules."""
        return load_game(self.text)

    def shape(self, setting: AnySetting) -> Shape:
        """The shape of the net."""
        return shape_of(self.game, self.start(setting, 1))

    def prepare(self, model: Path, setting: AnySetting, folder: Path) -> Path:  # noqa: ARG002
        """See `Subject`: `save` has written it."""
        return model.with_name("net")

    def together(self, model: Path | None, setting: AnySetting) -> tuple[int, int, int]:  # noqa: ARG002
        """See `Subject`: a tenth of the time is saved where the Python between kernels serves more games."""
        return LOCK_STEP, LOCK_STEP, 1

    def open(self, model: Path | None, setting: AnySetting) -> tuple[Any, EvaluateBatch]:
        """See `Subject`."""
        if model is None:
            return None, nothing_known(self.shape(setting))
        net = _opened(model, stamp(model), self.game.NAME, setting.game.rules)
        return net, net

    def net(self, model: Path | None, setting: AnySetting, number: int) -> Any:  # noqa: ARG002
        """See `Subject`."""
        from pipeline_src.selfplay.any_game.net import GridModel, load_model

        net = GridModel(self.shape(setting))
        return load_model(model, net) if model else net

    def save(self, path: Path, net: Any, setting: AnySetting) -> None:
        """See `Subject`; the file ``net`` of the same folder has the net as it plays."""
        from pipeline_src.learning.torch_state import save_torch
        from pipeline_src.selfplay.any_game.net import weights_in

        save_torch(path, net.state_dict())
        of = setting.game
        write_grid_net(path.with_name("net"), net.shape, weights_in(net), of.name, of.rules, of.variant)

    def batches(self, games: SelfPlayGames, setting: AnySetting, count: int) -> Any:
        """See `Subject`."""
        from pipeline_src.selfplay.any_game.net import Batches

        shape, params = self.shape(setting), setting.train
        return Batches(games, self.game, shape, params, seed=setting.seed, count=count, margin=setting.margin)


@lru_cache(maxsize=2)
def _opened(model: Path, state: tuple[int, int], name: str, rules: str) -> GridEvaluator:  # noqa: ARG001
    return read_grid_net(model, name, rules)[0]


def setting_of(game: Any, size: int | None, variant: str | None, seed: int, **options: Any) -> AnySetting:
    """The params of learning a game, good for most.

    Args:
        game: its module.
        size: of the board; None is the game's first.
        variant: None is the game's first.
        seed: of all that is random.
        options: ``games``, number in a round; ``simulations``, of a move; ``margin``, see `AnySetting`.

    Raises:
        ZugwerkError: a share of the margin of a game that has none, or a game of the graph.
    """
    if not hasattr(game, "DIGEST"):
        raise ZugwerkError(f"{game.NAME} learns in the graph or not at all; here: {', '.join(LEARNABLE)}, or a file")
    margin = options.get("margin", 0.0)
    if margin and not hasattr(game, "margin"):
        raise ZugwerkError(f"{game.NAME} has no kernel `margin`, of which values could have a share of {margin}")
    board = AnyBoard(
        name=game.NAME,
        rules=game.DIGEST,
        size=game.SIZES[0] if size is None else size,
        variant=variant or game.VARIANTS[0],
    )
    play = SelfPlayParams(
        games=options.get("games", 200),
        search="gumbel",
        simulations=options.get("simulations", 48),
        considered=16,
        c_scale=0.1,
        rescale=True,
        noise_steps=20,
        opening_plies=6,
    )
    train = TrainParams(
        window=100_000,
        passes=5.0,
        batch=256,
        augment=True,
        optimizer="adamw",
        learning_rate=5e-3,
        weight_decay=1e-4,
        gradient_clip=1.0,
        averaged=0.5,
        precision="32-true",
    )
    gate = shared.GateParams()
    return AnySetting(seed=seed, game=board, net=None, self_play=play, train=train, gate=gate, margin=margin)
