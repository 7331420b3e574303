"""Params of Gomoku by self-play: board and rules, net, self-play, training, gate and generations; and their files.

Sections ``gomoku_*`` are read by this system; growing boards read the same models from sections of their own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from pipeline_src.games.gomoku import MAX_SIDE, MIN_SIDE, parse_variant
from pipeline_src.project.params import (
    PARAMS_FILE,
    Count,
    Digest,
    Even,
    Items,
    Named,
    Params,
    Positive,
    Text,
    Whole,
    build,
    load,
    load_part,
    load_value,
)
from pipeline_src.selfplay import params as shared
from pipeline_src.selfplay.params import GateParams, Search, SelfPlayParams, Setting, TrainParams

Side = Annotated[int, Field(ge=MIN_SIDE, le=MAX_SIDE)]
Layers = Annotated[Items[Count], Field(min_length=1)]


class SmallerBoard(Params):
    """A smaller board for the first generations, where games are short and a net learns fast what lines are worth."""

    size: Side
    """Side of the board."""
    generations: Count
    """Number of generations on it."""


class StartModel(Params):
    """A model from outside the graph, which its digest in the params ties to the results."""

    file: Text
    """A ``model.pt`` of self-play with the net of ``gomoku_net``, or the table of a line net; by any rule."""
    sha256: Digest
    """SHA-256 of the file in hexadecimal digits; `sha256sum FILE` prints it."""


class GomokuBoard(Params):
    """The board that matches are played on."""

    size: Side = 15
    """Side of the board; published: 15."""
    variant: str = "freestyle"
    """``freestyle`` (five or more win) or ``exact`` (exactly five); ``freestyle-4`` has lines of four."""


class GomokuGame(GomokuBoard):
    """Board and rules. Each model is made for one board size and one length of the winning line."""

    smaller: SmallerBoard | None = None
    """A smaller board for the first generations; needs the line net, whose layers know no size. Published: none."""
    start: StartModel | None = None
    """A model that the first generation begins with, such as one of another rule. Published: none."""

    def size_of(self, generation: int) -> int:
        """Side of the board of a generation, counted from 1."""
        smaller = self.smaller
        return smaller.size if smaller is not None and generation <= smaller.generations else self.size

    @model_validator(mode="after")
    def _line_fits(self) -> Self:
        line, _ = parse_variant(self.variant)
        size = min(self.size, self.size_of(1))
        if line > size:
            raise ValueError(f"a line of {line} (variant '{self.variant}') does not fit a board of size {size}")
        return self


class NetShape(Params):
    """The board and the input of a net: 2 * positions + 1 planes."""

    height: Count = 15
    width: Count = 15
    positions: Count = 5
    """Number of positions of history, including the present one."""


class PlainParams(Params):
    """The plain convolutional net, a small one for laptops."""

    filters: Layers = (32, 32, 32)
    """Filters of each 3x3 convolution in turn; published for growing boards: 32, 64, 128."""
    batch_norm: bool = True
    """Batch normalization after each convolution; published for growing boards: false."""
    signed: bool = False
    """Whether the input is a single plane: 1 on own stones, -1 on the other side's and 0 elsewhere. Published for
    growing boards: -1 black, 1 white, which does not say who moves."""
    head: Literal["dense", "convolutional"] = "dense"
    """dense: fully connected layers for one board size; convolutional: layers that work for any board size."""
    policy_planes: Count = 4
    """Filters before the policy's last layer."""
    value_planes: Count = 2
    """Filters before the value's hidden layer."""
    value_hidden: Count = 64
    """Units of the value's hidden layer."""


class ResidualParams(Params):
    """The residual net; the defaults are the paper's."""

    stem_filters: Count = 32
    """Filters of the first convolution."""
    stem_kernel: Count = 5
    """Side of the first convolution, odd."""
    widths: Layers = (64, 128, 256)
    """Filters of the blocks, rising."""
    blocks: Count = 5
    """Blocks of each width, of two convolutions each."""
    shortcut: Literal["pad", "project"] = "pad"
    """Shortcut where the width grows: zeros in the new channels (pad), or a 1x1 convolution (project)."""
    head_planes: Count = 1
    """1x1 filters of the last convolution."""
    head_relu: bool = False
    """Whether a ReLU follows the last convolution."""
    value_hidden: Whole = 0
    """Number of units of a hidden layer before the value; 0 for none."""

    @model_validator(mode="after")
    def _has_a_shape(self) -> Self:
        widths = [self.stem_filters, *self.widths]
        if widths != sorted(widths):
            raise ValueError(f"widths must rise from stem_filters on, not {widths}")
        if self.stem_kernel % 2 == 0:
            raise ValueError(f"stem_kernel must be odd, not {self.stem_kernel}")
        return self


class LinesParams(Params):
    """The line net, whose features come from a table of line windows: a tenth of the time of a small convolution."""

    window: Literal[9, 11] = 9
    """Cells of a window: 9 see each five through their middle, 11 also the cells beyond its ends."""
    units: Count = 96
    """Units of each hidden layer of the perceptron that makes the table. Play takes as long with any number."""


class NetKind(Params):
    """The net that self-play trains: its kind and its input."""

    kind: Literal["plain", "residual", "lines"] = "plain"
    """Kind of the net; published: residual; for growing boards: plain."""
    positions: Count = 5
    """Number of positions of history in the input, including the present one; published: 5."""


class GomokuNet(NetKind):
    """The net that self-play trains: its kind, its input, and the sizes of each kind."""

    plain: PlainParams = PlainParams()
    """Sizes of the plain net."""
    residual: ResidualParams = ResidualParams()
    """Sizes of the residual net."""
    lines: LinesParams = LinesParams()
    """Sizes of the line net, which reads the present position alone."""


class GomokuSelfPlay(SelfPlayParams):
    """Self-play of the best player."""

    fours: Whole = 0
    """Number of positions that a search by fours looks at in each leaf, as the player `zero` does; published: 0, none.
    The first generation has no such search in any case."""
    opening_area: Whole = 0
    """Side of the square, at a random place of the board, that contains the opening stones; 0 is the whole board."""
    backend: Literal["auto", "torch", "torch-bf16", "onnx", "onnx-int8", "cuda"] = "auto"
    """Program that runs the net; auto is cuda with a GPU, else onnx if it is installed, else torch. torch-bf16 is for
    CPUs that multiply bf16."""
    chunk: Count = 64
    """Number of positions in a forward pass. Smaller batches are padded, so that an answer depends on its position
    only."""


SECTION = "gomoku_generations"
"""Maps the name of each generation after the first to the one before it: dvc.yaml makes a stage of each."""


def read_numbers(path: Path | str = PARAMS_FILE) -> list[int]:
    """The numbers of Gomoku's generations, from 1 on; see `selfplay.params.read_numbers`."""
    return shared.read_numbers(SECTION, "`zugwerk gomoku generations N` writes them", path)


class GenerationFiles(shared.GenerationFiles):
    """The files of one generation of Gomoku; the first is number 1."""

    of = "gomoku"


class GomokuSetting(Setting):
    """All params of a generation."""

    game: GomokuGame
    net: GomokuNet
    self_play: GomokuSelfPlay

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.game.smaller is not None and self.game.smaller.size >= self.game.size:
            raise ValueError(f"game.smaller.size must be below game.size, {self.game.size}")
        if self.game.smaller is not None and self.net.kind != "lines":
            raise ValueError(f"game.smaller needs net.kind: lines; a {self.net.kind} net is made for one board")
        if self.game.smaller is not None and not self.gate.always:
            raise ValueError("game.smaller needs gate.always: true; a best player without a net is made for one board")
        line, window = parse_variant(self.game.variant)[0], self.net.lines.window
        if self.self_play.fours and not 3 <= line <= 5:
            raise ValueError(
                f"self_play.fours: the search by fours knows lines of 3 to 5, not of {line} (variant "
                f"'{self.game.variant}'); 0 is no search"
            )
        if self.net.kind == "lines" and 2 * line - 1 > window:
            raise ValueError(
                f"net.lines.window: {window} cells do not see a line of {line} (variant '{self.game.variant}') through "
                f"their middle; that takes {2 * line - 1}"
            )
        return self


def read_setting(path: Path = PARAMS_FILE) -> GomokuSetting:
    """The params of the cycle.

    Raises:
        ZugwerkError: a section is missing or malformed.
    """
    sections = {
        "seed": load_value(int, "seed", path),
        "game": load(GomokuGame, "gomoku_game", path),
        "net": _read_net("gomoku_net", path),
        "self_play": load(GomokuSelfPlay, "gomoku_self_play", path),
        "train": load(TrainParams, "gomoku_train", path),
        "gate": load(GateParams, "gomoku_gate", path),
    }
    return build(GomokuSetting, sections, "gomoku", str(path))


def setting_for(size: int, variant: str, path: Path = PARAMS_FILE) -> GomokuSetting:
    """The params of boards that grow, for one of them.

    Raises:
        ZugwerkError: a section is missing or malformed.
    """
    sections = {
        "seed": load_value(int, "seed", path),
        "game": GomokuGame(size=size, variant=variant),
        "net": _read_net("growing_net", path),
        "self_play": load(GomokuSelfPlay, "growing_self_play", path),
        "train": load(TrainParams, "growing_train", path),
        "gate": load(GateParams, "growing_gate", path),
    }
    return build(GomokuSetting, sections, "growing", str(path))


def _read_net(section: str, path: Path) -> GomokuNet:
    """A net with the sizes of its kind; those of other kinds are not read."""
    kind = load_part(NetKind, section, path).kind
    return load_part(GomokuNet, section, path, ["kind", "positions", kind])


BEST = "best"  # Name of the best player after the last generation; the models are called by their generation's number


class GomokuOpponent(Params):
    """A fixed opponent, which does not learn."""

    player: str
    """Text of the player, see `zugwerk players gomoku`."""
    pairs: Count
    """Number of pairs of games of the best player against it."""


class GomokuOpenings(Params):
    """The openings of all matches: random stones without a decisive advantage."""

    count: Count = 64
    """Number of openings. A match uses each one once."""
    plies: Whole = 3
    """Number of stones. With 0 all games begin on the empty board, and deterministic players repeat one game."""
    area: Whole = 7
    """Side of the central square that contains the stones; 0 is the whole board."""
    judge: str = "alphabeta:depth=2"
    """Text of the player that evaluates the openings by its search."""
    bound: Positive = 40.0
    """Largest value of an opening for either side, in the unit of the judge's evaluation."""
    quick_games: Whole = 0
    """Number of quick games that the judge plays against itself from an opening. Each side has to win one of them; 0 is
    none."""


OPPONENTS = {
    "mcts1000": GomokuOpponent(player="mcts:playouts=1000", pairs=50),
    "minimax": GomokuOpponent(player="minimax:depth=2", pairs=50),
    "alphabeta2": GomokuOpponent(player="alphabeta:depth=2", pairs=50),
    "alphabeta4": GomokuOpponent(player="alphabeta:depth=4", pairs=50),
}


class GomokuPlayers(Params):
    """The players of the models in matches."""

    simulations: Count = 300
    """Number of simulations of a model's move."""
    search: Search = "puct"
    """Search of the models, see gomoku_self_play."""
    options: str = "chunk=8"
    """Further options of a model's player, e.g. ``chunk=16,leaves=4``. A chunk of 8 suits games in lock step."""
    headline_options: str = ""
    """More options of the best player against the opponents, e.g. ``solver=200``: a search finds threats by itself."""

    def model_text(self, path: Path | str) -> str:
        """Return the text of the player for a model."""
        return self._text(path, self.options)

    def best_text(self, path: Path | str) -> str:
        """Return the text of the player that meets the opponents, for its model."""
        return self._text(path, self.options, self.headline_options)

    def _text(self, path: Path | str, *options: str) -> str:
        limits = (f"simulations={self.simulations}", f"search={self.search}")
        return ",".join([f"zero:{path}", *limits, *filter(None, options)])


class GomokuEvaluateParams(GomokuPlayers):
    """The published tables and the headline matches: opponents, openings and numbers of games."""

    opponents: Named[GomokuOpponent] = OPPONENTS
    """Opponents by name. The metrics are named ``score_vs_<name>``."""
    anchor: str = "mcts1000"
    """Name of the opponent with Elo 0."""
    anchor_pairs: Count = 5
    """Number of pairs of each rated model against the anchor."""
    every: Count = 3
    """Distance between rated models: 1, 1 + every, ..., and the last one are rated."""
    table2_games: Even = 2
    """Number of games between any two of the rated models, with the sides swapped."""
    table3_games: Even = 20
    """Number of games of each rated model against each of ``tables_against``, with the sides swapped; published: 20."""
    tables_against: Items[str] = ("minimax", "alphabeta4")
    """Names of the opponents of tables 3 and 4."""
    best_of: Count = 5
    """Largest number of games in a match of table 4, odd. A decided match ends earlier. The figure best_of_five_won is
    measured with 5 alone."""
    replays: Whole = 4
    """Largest number of drawn games of a match of table 4 that are replayed."""
    openings: GomokuOpenings = GomokuOpenings()
    """The openings of all matches."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.best_of % 2 == 0:
            raise ValueError(f"best_of must be odd, not {self.best_of}")
        for name in self.opponents:
            if name == BEST or name.isdecimal():
                raise ValueError(f"opponents: {name!r} is the name of a model of the cycle; choose another one")
        if len(set(self.tables_against)) < len(self.tables_against):
            raise ValueError(f"tables_against names a player twice: {', '.join(self.tables_against)}")
        for name in (self.anchor, *self.tables_against):
            if name not in self.opponents:
                raise ValueError(f"no opponent is called {name!r}; there are: {', '.join(self.opponents) or 'none'}")
        pairs = [self.anchor_pairs, self.table3_games // 2, self.table2_games // 2]
        pairs += [opponent.pairs for opponent in self.opponents.values()]
        least = max(*pairs, (self.best_of + self.replays + 1) // 2)
        if self.openings.count < least:
            raise ValueError(f"openings.count must be at least {least}: a match plays each opening once")
        return self

    def rated(self, generations: list[int]) -> list[int]:
        """Return the generations, from 1 on, with models that play in the tables."""
        return sorted({*generations[:: self.every], generations[-1]})


def origin_words(params: Mapping[str, Any]) -> str:
    """Return in words how the net began, with the tree of params.yaml; empty if the tree does not say.

    ``from nothing``, or ``from nothing but fours``, whose search finds wins that the net has not learnt.
    """
    section = params.get("gomoku_self_play")
    if not section:
        return ""
    return "from nothing but fours" if section.get("fours") else "from nothing"


def data_words(params: Mapping[str, Any]) -> str:
    """Return in words whose games the nets learn from; empty if the tree of params.yaml does not say."""
    return "its own games" if params.get("gomoku_self_play") else ""


def player_words(params: Mapping[str, Any], best: bool = True) -> str:
    """Return in words the player that the figures are of: the best one, or else the rated models.

    Options that change no move are left out: ``bare net, 64 simulations``. Empty if the tree of params.yaml has no
    section gomoku_evaluate.
    """
    section = params.get("gomoku_evaluate")
    if not section:
        return ""
    given = [section.get("options"), section.get("headline_options") if best else None]
    options = [one for text in given if text for one in text.split(",") if not one.startswith("chunk=")]
    net = "net" if any(one.startswith("solver=") for one in options) else "bare net"
    parts = [
        f"{net} with {' '.join(options)}" if options else net,
        f"{section['simulations']} simulations" if "simulations" in section else "",
        "Gumbel search" if section.get("search") == "gumbel" else "",
        origin_words(params),
    ]
    return ", ".join(filter(None, parts))
