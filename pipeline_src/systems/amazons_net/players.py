"""The players ``nets`` and ``puct``: their options and makers. Torch is imported for files of torch alone."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from pipeline_src.errors import ZugwerkError
from pipeline_src.players.packaged import PackagedNet, nets_by_board
from pipeline_src.players.player import OneBoard, Options, Player
from pipeline_src.players.searching import ByBoard, Nodes
from pipeline_src.project.params import Count, NonNegative
from pipeline_src.search.limits import Limit
from pipeline_src.search.mcts.puct import PuctOptions
from pipeline_src.search.mcts.puct_search import Puct
from pipeline_src.search.tables import RAYS

if TYPE_CHECKING:
    from pipeline_src.systems.amazons_net.player import NetsPlayer, PuctPlayer


TREE, FAST_TREE = 1 << 14, 1 << 16
"""Number of nodes of a tree if only time limits the search; with a net of rays, which fills a tree in less time."""
FORMULA = PuctOptions()


class NetsOptions(Options):
    """The most probable turn of the nets, without a search."""

    EXAMPLE = "nets:artifacts/models/amazons/cross_entropy/nets.pt"
    VALUE = "model"

    model: str = ""
    """File of the nets; by default the packaged net of the board."""
    temperature: NonNegative = 0.0
    """Moves and arrows are drawn in proportion to their probability^(1 / temperature); 0 plays the most probable."""
    moves: Count = 1
    """Number of most probable moves of which the arrow is asked: the most probable of these whole turns is played. 1 is
    the most probable move, and then its arrow, as published. A temperature takes none of it."""


def nets_player(options: NetsOptions) -> Player:
    """The player ``nets``.

    Raises:
        ZugwerkError: no model there, or both a temperature and several moves.
    """
    from pipeline_src.systems.amazons_net.player import NetsPlayer

    if options.moves > 1 and options.temperature:
        raise ZugwerkError(f"moves={options.moves} is for the most probable turn; leave out the temperature")
    load = partial(NetsPlayer.load, temperature=options.temperature, moves=options.moves)
    return _with_model("nets", options.model, load)


def nets_for(state: Any, model: str = "") -> "NetsPlayer":
    """The nets of a model, or the packaged ones of a state's board, for one position at a time.

    Raises:
        ZugwerkError: no model there, or no packaged nets for this board.
    """
    from pipeline_src.systems.amazons_net.player import NetsPlayer

    player = _with_model("nets", model, partial(NetsPlayer.load, batch=1))
    if isinstance(player, ByBoard):
        player = player.player_for(state)
    assert isinstance(player, NetsPlayer)
    return player


class PuctPlayerOptions(Nodes):
    """Monte Carlo tree search guided by the nets; 200 simulations per turn if no limit is given.

    Endings that counting decides are counted.
    """

    EXAMPLE = "puct:artifacts/models/amazons/residual/nets.pt,simulations=200"
    VALUE = "model"
    ALIASES: ClassVar[Mapping[str, str]] = {"simulations": "nodes"}
    DEFAULT = Limit(nodes=200)

    model: str = ""
    """File of the nets; by default the packaged net of the board."""
    batch: Count = 8
    """Number of positions in a forward pass; smaller batches are padded."""
    leaves: Count = 8
    """Number of leaves of one tree in a batch; 1 with a net of rays, unless it is given."""
    threads: Count = 1
    """Number of CPU threads of a search with a net of rays and no limit of simulations."""
    backend: Literal["auto", "torch", "onnx", "onnx-int8"] = "auto"
    """Program that runs the net. The residual net runs in onnx, and onnx-int8 computes with 8-bit integers: auto is
    that if its packages are installed, and torch otherwise and for all other nets. A model in ONNX runs as it is."""
    share: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of the limit for the amazon's move; the rest is for the arrow."""
    c: NonNegative = FORMULA.c
    """Exploration constant c_puct, or its initial value."""
    c_base: NonNegative = FORMULA.c_base
    """Base of the growth of c with the visits N of a node: ln((1 + N + c_base) / c_base) is added; 0 is no growth."""
    fpu: float = FORMULA.fpu
    """First-play urgency: an unvisited edge has its node's Q less fpu * sqrt(visited prior)."""
    caution: NonNegative = 1.0
    """The step played is the one with the greatest Q - caution / sqrt(visits); 0 is the most visited one."""


def amazons_puct(options: PuctPlayerOptions) -> Player:
    """The player ``puct``.

    Raises:
        ZugwerkError: no model there.
    """
    from pipeline_src.search.amazons.rays import RayEvaluator
    from pipeline_src.systems.amazons_net.player import PuctPlayer, open_nets, settled

    def load(model: str) -> PuctPlayer:
        nets = open_nets(model, options.backend, options.batch)
        formula = PuctOptions(options.c, options.c_base, options.fpu, options.caution, solve=True)
        fast = isinstance(nets, RayEvaluator)
        if options.threads > 1 and not fast:
            raise ZugwerkError(f"{model}: threads={options.threads} is for nets of rays; leave it out")
        tree = (FAST_TREE if fast else TREE) if limit.nodes is None else limit.nodes + 2
        leaves = 1 if fast and "leaves" not in options.model_fields_set else options.leaves
        searcher = Puct(settled(nets), formula, tree, leaves, options.share, options.threads)
        return PuctPlayer(searcher, limit, nets)

    limit = options.limit
    return _with_model("puct", options.model, load, limit, options.backend)


def _with_model(
    name: str,
    model: str,
    load: "Callable[[str], NetsPlayer | PuctPlayer]",
    limit: Limit | None = None,
    backend: str = "onnx",
) -> Player:
    """The player of a model, or of the nets that come with the package where none is named."""
    if model:
        return load(model)

    def with_net(net: PackagedNet) -> Player:
        # A search runs in 8-bit integers, unless its text says otherwise; the nets alone in floats.
        int8 = backend in ("auto", "onnx-int8") and net.card.int8 is not None
        player = load(net.checked(int8))
        size = player.nets.size
        net.check_board(OneBoard(size, size, net.card.rule))
        return player

    nets = nets_by_board("amazons")
    lending = [board for board, net in nets.items() if net.file.suffix == RAYS]  # a net of rays plays on any size

    def board_of(state: Any) -> OneBoard:
        """Without the variant, which is that of the start alone: nets play on from any."""
        height, width = state.board.shape
        board = OneBoard(height, width, "standard")
        return board if board in nets else max(lending, default=board)

    return ByBoard(name, nets, with_net, board_of, searches=limit is not None, limit=limit, boards=())
