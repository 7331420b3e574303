"""Messages of the page Runs."""

from pipeline_src.web.messages.message import Message


class FlowRun(Message):
    """A run of a flow."""

    name: str
    state: str
    """State as Prefect names it, such as ``Running``."""
    url: str
    """Address of the page of the run."""


class Prefect(Message):
    """Pages of a running Prefect server."""

    url: str
    """Address of the page of all runs."""
    last: FlowRun | None
    """The most recently started run."""


class Project(Message):
    """The project that contains the server's folders."""

    name: str
    problem: str
    """Reason why the figures cannot be read; empty if they can."""
    report: bool
    """Whether the report page exists."""
    prefect: Prefect | None
    """Null if no Prefect server answers at ``PREFECT_API_URL`` or, without that variable, on this machine."""


class Measured(Message):
    """A value with its interval and origin."""

    value: float | None
    low: float | None
    """Ends of its 95 % interval."""
    high: float | None
    n: float | None
    source: str
    """``graph`` (the last `dvc repro`) or ``measured`` (committed under docs/measured); empty without a value."""
    profile: str
    player: str
    """Player that was measured, in words, such as ``bare net, 64 simulations``; else empty."""
    data: str
    date: str
    hardware: str
    command: str
    """Command that measures it again."""


class FigureRow(Message):
    """A headline figure."""

    system: str
    name: str
    words: str
    unit: str
    published: float | None
    ours: Measured
    """The value of the last `dvc repro` if there is one, else the best committed one."""
    measured: Measured | None
    """The best committed measurement besides ``ours``."""


class Figures(Message):
    """All headline figures of the working tree."""

    figures: tuple[FigureRow, ...]


class VersionRow(Message):
    """A commit that changed figures, or an experiment."""

    commit: str
    name: str
    """Name of an experiment; empty for a commit."""
    date: str
    """Date in ISO 8601."""
    subject: str


class Versions(Message):
    """Versions of the project by date, the oldest first."""

    versions: tuple[VersionRow, ...]


class Value(Message):
    """A figure in one version."""

    value: float
    low: float | None
    high: float | None
    source: str


class VersionFigures(Message):
    """The figures of one version, without those that it lacks."""

    commit: str
    figures: dict[str, Value]
    """Values by ``SYSTEM.FIGURE``."""
    problem: str
    """Reason why the version cannot be read; empty if it can."""


class CurveFile(Message):
    """File with the table of a training."""

    name: str
    """Path in the project; requests use it as the name."""
    title: str
    under_way: bool
    """Whether the training is running; its files are in the work folder."""
    modified: float
    """Seconds since 1970."""


class Curves(Message):
    """All trainings, running ones first."""

    curves: tuple[CurveFile, ...]


class Curve(Message):
    """The curves of a training up to now."""

    name: str
    x: str
    """Name of the x axis: step, epoch or generation."""
    series: dict[str, tuple[tuple[float, float], ...]]
    """Points (x, y) by column, without empty cells."""


class Generation(Message):
    """A generation of self-play."""

    board: str
    """Board such as ``9x9`` for growing boards; else empty."""
    number: int
    games: int
    mean_plies: float | None
    loss: float | None
    gate: float | None
    """Score against the previous best player."""
    gate_low: float | None
    gate_high: float | None
    accepted: bool | None
    """Whether the new net became the best player."""
    seconds: float | None
    """Seconds of all phases."""


class Generations(Message):
    """Existing generations, by board and number."""

    gomoku: tuple[Generation, ...]
    growing: tuple[Generation, ...]
