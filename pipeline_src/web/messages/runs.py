"""Messages of the page Runs."""

from pipeline_src.web.messages.message import Message


class FlowRun(Message):
    """A run of a flow."""

    name: str
    state: str
    """In Prefect's words, such as ``Running``."""
    url: str
    """Of its page."""


class Prefect(Message):
    """Pages of a Prefect server that answers."""

    url: str
    """Of all runs."""
    last: FlowRun | None
    """The run that was started last."""


class Project(Message):
    """The project that the server's folders belong to."""

    name: str
    problem: str
    """Why its figures cannot be read, or empty."""
    report: bool
    """Whether the report page has been made."""
    prefect: Prefect | None
    """Null where no Prefect server answers at ``PREFECT_API_URL``, or else on this machine."""


class Measured(Message):
    """A value with what is known of it."""

    value: float | None
    low: float | None
    """Ends of its 95 % interval."""
    high: float | None
    n: float | None
    source: str
    """``graph``, of the last `dvc repro`, or ``measured``, committed under docs/measured; empty without a value."""
    profile: str
    data: str
    date: str
    hardware: str
    command: str
    """Which makes it again."""


class FigureRow(Message):
    """A headline figure."""

    system: str
    name: str
    words: str
    unit: str
    published: float | None
    ours: Measured
    measured: Measured | None
    """The committed measurement where ``ours`` is the graph's."""
    graph: Measured | None
    """What the graph made in the working tree, also where it is ``ours``; null where it has not."""


class Figures(Message):
    """All headline figures as the working tree has them."""

    figures: tuple[FigureRow, ...]


class VersionRow(Message):
    """A commit that changed figures, or an experiment."""

    commit: str
    name: str
    """Of an experiment; empty of a commit."""
    date: str
    """ISO 8601."""
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
    """The figures of one version; those it does not have are left out."""

    commit: str
    figures: dict[str, Value]
    """By ``SYSTEM.FIGURE``."""
    problem: str
    """Why a version cannot be read, or empty."""


class CurveFile(Message):
    """A table of a training."""

    name: str
    """As requests name it: its path in the project."""
    title: str
    under_way: bool
    """Of a training that goes on now: its files lie in the work folder."""
    modified: float
    """Seconds since 1970."""


class Curves(Message):
    """All trainings, those under way first."""

    curves: tuple[CurveFile, ...]


class Curve(Message):
    """The curves of a training, as far as it is."""

    name: str
    x: str
    """Name of what is counted: step, epoch or generation."""
    series: dict[str, tuple[tuple[float, float], ...]]
    """Points (x, y) by column; without the cells that are empty."""


class Generation(Message):
    """A generation of self-play."""

    board: str
    """``9x9``, of growing boards; else empty."""
    number: int
    games: int
    mean_plies: float | None
    loss: float | None
    gate: float | None
    """Score against the best player before."""
    gate_low: float | None
    gate_high: float | None
    accepted: bool | None
    """Whether it became the best player."""
    seconds: float | None
    """Of all its phases."""


class Generations(Message):
    """Generations that are there, by board and number."""

    gomoku: tuple[Generation, ...]
    growing: tuple[Generation, ...]
