"""``zugwerk repro``: the graph, independent targets side by side, with live progress in a terminal."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from pipeline_src.project.schedule import Outcome, Schedule
    from pipeline_src.project.scheduler import Watch

EXAMPLE = "Example: zugwerk repro amazons_train@residual joseki_build --jobs 4"


def repro(
    targets: list[str] = typer.Argument(
        None, help="Stages, members such as amazons_train@residual, or groups, with all dependencies.  [default: all]"
    ),
    jobs: int | None = typer.Option(
        None,
        "--jobs",
        "-j",
        min=1,
        help="Largest number of busy processes and threads, of all targets.  [default: the cores]",
    ),
    force: bool = typer.Option(False, "--force", "-f", help="Also run targets that have not changed."),
) -> None:
    """Bring the graph up to date like `dvc repro`, with independent targets side by side; logs are in work/repro.

    Ends with a verdict: whether the headline figures agree with those committed of the same profile.
    """
    from rich.console import Console

    from pipeline_src.project.new import require_checkout

    require_checkout()
    from pipeline_src.project.repro import cores
    from pipeline_src.project.repro import repro as bring
    from pipeline_src.report.keep import agreement

    console = Console(highlight=False, markup=False, soft_wrap=True)
    begin, made = time.monotonic(), list["Schedule"]()

    @contextmanager
    def show(schedule: "Schedule") -> "Iterator[Watch]":
        made.append(schedule)
        if not console.is_terminal:
            yield Lines(schedule, console)
            return
        from rich.live import Live

        lines = LiveLines(schedule, console)
        with Live(console=console, get_renderable=lines.table, transient=True):
            yield lines

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as by nohup
            signal.signal(number, _interrupt)
    try:
        outcomes = bring(Path(), jobs or cores(), show, targets=targets or (), force=force)
    except KeyboardInterrupt as error:
        came = signal.Signals(*error.args or (signal.SIGINT,))
        with suppress(OSError):  # the terminal is gone
            typer.echo(f"ended by {came.name}: {_left(*made)}; run the same command again to go on", err=True)
        raise typer.Exit(128 + came) from None
    counts = [(state, sum(one.state == state for one in outcomes)) for state in ("ran", "restored", "up to date")]
    told = ", ".join(f"{count} {state}" for state, count in counts if count)
    console.print(f"{len(outcomes)} targets: {told}; {_clock(time.monotonic() - begin)}")
    for line in agreement():
        console.print(line)


def _interrupt(number: int, _: object) -> None:
    raise KeyboardInterrupt(number)


def _left(schedule: "Schedule | None" = None) -> str:
    """What an ended run has done and stopped; nothing had begun without a schedule."""
    if schedule is None:
        return "no target had begun"
    done = f"{len(schedule.outcomes)} of {len(schedule.before)} targets are done and kept"
    return ", ".join([done, *(f"{target} was stopped" for target in schedule.since)])


class Lines:
    """Progress as one line at the start and one at the end of each target."""

    def __init__(self, schedule: "Schedule", console: "Console") -> None:
        self.schedule, self.console = schedule, console

    def began(self, target: str) -> None:
        """See `Watch.began`."""
        about = f", about {_clock(self.schedule.known[target])}" if target in self.schedule.known else ""
        self.console.print(f"{target}: begins{about}")

    def ended(self, target: str, outcome: "Outcome | None") -> None:
        """See `Watch.ended`."""
        what = f"{outcome.state}, {_clock(outcome.seconds)}" if outcome else "FAILED; those that run are waited for"
        self.console.print(f"{target}: {what}; {self.summary()}")

    def summary(self) -> str:
        """Return a line on the targets done and left."""
        left = self.schedule.seconds_left()
        about = f", about {_clock(left)} left" if left else ""
        return f"{len(self.schedule.outcomes)} of {len(self.schedule.before)} done{about}"


class LiveLines(Lines):
    """Progress as one line for each finished target, above a live table of the running ones."""

    def began(self, target: str) -> None:
        """See `Watch.began`. The next `table` shows the target."""

    def table(self) -> "RenderableType":
        """Return a table of the running targets with elapsed and estimated times, and a line on the rest."""
        from rich.console import Group
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        now = time.monotonic()
        for target, since in list(self.schedule.since.items()):
            known = self.schedule.known.get(target)
            table.add_row(target, _clock(now - since), f"of about {_clock(known)}" if known else "")
        return Group(table, self.summary())


def _clock(seconds: float) -> str:
    """Format seconds as 3:07, or as 4.2 s below a minute."""
    return f"{seconds:.1f} s" if seconds < 59.95 else f"{round(seconds) // 60}:{round(seconds) % 60:02}"
