"""Params of the Amazons' self-play, from boards to matches, and the files of its generations."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_src.project.params import PARAMS_FILE, Count, Items, Named, Params, Whole, build, load, load_value
from pipeline_src.selfplay import params as shared
from pipeline_src.selfplay.params import GateParams, SelfPlayParams, TrainParams
from pipeline_src.systems.amazons_net.params import Pairing

SECTION = "amazons_generations"
"""Maps the name of each generation after the first to the one before it: dvc.yaml makes a stage of each."""


class AmazonsZeroGame(Params):
    """Boards of self-play. The same net plays on all, so that a small board's is trained on on a larger one."""

    boards: Named[Literal[6, 8, 10]]
    """Sides of the boards by the first generation to which they apply, e.g. {1: 6, 3: 8, 5: 10}, all in quotes."""

    @property
    def variant(self) -> str:
        """The start position."""
        return "standard"

    def size_of(self, generation: int) -> int:
        """Side of the board of a generation, counted from 1."""
        return self.boards[str(max(int(first) for first in self.boards if int(first) <= generation))]

    @model_validator(mode="after")
    def _starts_with_the_first(self) -> Self:
        for first in self.boards:
            if not first.isdecimal() or first != str(int(first)):
                raise ValueError(f'boards: {first!r} is not the number of a generation, such as "3"')
        if "1" not in self.boards:
            raise ValueError('boards: no board for generation "1"')
        return self


class AmazonsZeroNet(Params):
    """The net of rays."""

    units: Count = 128
    """Number of units of the perceptron that makes the table."""


class AmazonsZeroEvaluate(Params):
    """Matches of the last generation's best player, and of earlier ones, in simulations and nodes and never by time."""

    opening_plies: Annotated[int, Field(ge=1, le=20)]
    """Number of random plies before the players take over."""
    size: Literal[6, 8, 10] = 10
    """Side of the board."""
    matches: Annotated[Named[Pairing], Field(min_length=1)]
    """Matches by name; ``{net}`` stands for the file of the best player's table."""
    rated: Items[Count] = ()
    """Numbers of the generations whose nets play the next match, for the curve."""
    rated_player: str = "puct:{net},simulations=100"
    """Text of a rated net's player."""
    rated_against: str = "one_ply"
    """Text of its opponent."""
    rated_pairs: Whole = 0
    """Number of pairs of that match; 0: none."""


class ZeroFiles(shared.GenerationFiles):
    """The files of one generation of the Amazons; the first is number 1."""

    of, reports = "amazons_zero", "amazons/zero"


class ZeroSetting(shared.Setting):
    """All params of a generation."""

    game: AmazonsZeroGame
    net: AmazonsZeroNet


def read_zero_numbers(path: Path | str = PARAMS_FILE) -> list[int]:
    """The numbers of the generations, from 1 on; see `selfplay.params.read_numbers`."""
    return shared.read_numbers(SECTION, "name the one before each", path)


def read_zero_setting(path: Path | str = PARAMS_FILE) -> ZeroSetting:
    """The params of the generations.

    Raises:
        ZugwerkError: a section is missing or malformed.
    """
    sections = {
        "seed": load_value(int, "seed", path),
        "game": load(AmazonsZeroGame, "amazons_zero_game", path),
        "net": load(AmazonsZeroNet, "amazons_zero_net", path),
        "self_play": load(SelfPlayParams, "amazons_zero_self_play", path),
        "train": load(TrainParams, "amazons_zero_train", path),
        "gate": load(GateParams, "amazons_zero_gate", path),
    }
    return build(ZeroSetting, sections, "amazons_zero", str(path))
