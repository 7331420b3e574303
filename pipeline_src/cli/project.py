"""Commands on a checkout and its graph, and those that prepare, crawl, export and serve."""

import json
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pipeline_src import processes
from pipeline_src.cli.tables import print_table
from pipeline_src.errors import ZugwerkError, end_on_interrupt
from pipeline_src.files import written_aside
from pipeline_src.project.code import this_code
from pipeline_src.project.profile import profile_names, switch_profile

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from pipeline_src.project.schedule import Outcome, Schedule, Watch
    from pipeline_src.reference.compare import Pair


REPRO_EXAMPLE = "Example: zugwerk repro amazons_train@residual joseki_build --jobs 4"
COMPARE_EXAMPLE = (
    "Example: zugwerk compare HEAD~1 HEAD; zugwerk compare HEAD; zugwerk compare HEAD wide (an experiment)"
)
MOST_METRICS = 40  # Largest number of other metrics without `--all`
PIPED_WIDTH = 140  # Width of output to a file or another program, in columns
CODE_EXAMPLE = "Example: zugwerk code amazons_train --why pipeline_src/games/amazons.py"
CRAWL_EXAMPLE = "Example: zugwerk crawl amazons --dry-run"
WARM_EXAMPLE = "Example: zugwerk warm gomoku"
WEB_EXAMPLE = "Example: zugwerk web --port 4210"
WORDS_WIDTH = 16  # Columns below which a figure's words are not squeezed


def profile(name: str = typer.Argument(..., help=f"Profile: {', '.join(profile_names())}.")) -> None:
    """Write a profile's values into params.yaml; all other keys keep yours. Example: zugwerk profile smoke."""
    from pipeline_src.project.new import require_checkout

    require_checkout()
    from pipeline_src.reference.stage_code import record

    typer.echo(switch_profile(name))
    record()  # a profile may name other players


def status(
    targets: list[str] = typer.Argument(None, help="Stages, members stage@item or groups; all if none is named."),
) -> None:
    """Say what would run again, and why, code included. Example: zugwerk status amazons_train.

    Writes the digests of code, as `zugwerk code` does, and shows `dvc status`, which by itself sees no later edit.
    """
    from pipeline_src.project.new import require_checkout

    require_checkout()
    from pipeline_src.project import dvc_run
    from pipeline_src.reference.stage_code import record

    record()
    dvc_run.status(targets or [], Path(), typer.echo)


def report(
    as_json: bool = typer.Option(False, "--json", help="Print JSON instead of a table."),
    keep: bool = typer.Option(False, "--keep", help="First write the graph's figures to docs/measured/PROFILE.json."),
) -> None:
    """Print the verdict on each published system, then every headline figure. Example: zugwerk report --json.

    Of each figure the run in this checkout comes first, then committed measurements.
    """
    from pipeline_src.report.figures import figures
    from pipeline_src.report.figures import keep as keep_figures

    if keep:
        path, count = keep_figures()
        typer.echo(f"{path}: {count} figures of the graph", err=True)
    found = figures()
    if as_json:
        typer.echo(json.dumps(found, indent=2, allow_nan=False))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Column, Table

    from pipeline_src.report.figures import SYSTEMS, with_unit
    from pipeline_src.report.page import lines, verdicts

    console = Console()
    verdict = Table(title="Verdict", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head in ("system", "published", "this run", "best measurement", "verdict"):
        verdict.add_column(head, overflow="fold")
    for one in verdicts(found):
        title, told = f"{SYSTEMS[one.system].title}: {one.figure}", f"{one.outcome}: {one.reason}"
        verdict.add_row(title, one.published, one.run, one.best, told)
    print_table(console, verdict)
    for system, rows in found.items():
        table_lines = lines(rows)
        figure = Column("figure", overflow="fold", min_width=WORDS_WIDTH)
        others = [Column(head, no_wrap=True) for head in ("published", "ours", "95 % CI", "n", "profile")]
        table = Table(figure, *others, title=SYSTEMS[system].title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for line in table_lines:
            words = "  committed" if line.below else with_unit(line.words, line.unit)
            words += f" ({line.player})" if line.player else ""
            table.add_row(words, line.published, line.ours, line.interval, line.n, line.profile)
        print_table(console, table)
        commands = dict.fromkeys(line.command for line in table_lines)
        console.print("rerun: " + ", ".join(commands), style="dim")


def verify() -> None:
    """Check all files in DVC's cache and outputs for damage that DVC does not notice. Example: zugwerk verify."""
    from pipeline_src.project.dvc_run import verify as find

    found = find()
    for path in found.removed:
        typer.echo(f"{path}: damaged; removed from the cache")
    for path in found.different:
        typer.echo(f"{path}: not the bytes in dvc.lock")
    if found.removed or found.different:
        wrong = len(found.removed) + len(found.different)
        raise ZugwerkError(
            f"{wrong} of {found.read} files differ from the hashes that DVC has; `dvc repro` restores them"
        )
    typer.echo(f"{found.read} files read, all as DVC knows them")


def new(folder: Path = typer.Argument(..., help="Folder to write; it must be new or empty.")) -> None:
    """Write a checkout to reproduce in: graph, params, profiles and flows, with git and DVC set up.

    The code is that of the installed package. To change code, clone the repository instead.

    Example: zugwerk new reproduction && cd reproduction && zugwerk profile smoke && zugwerk repro
    """
    from pipeline_src.project.new import new as write
    from pipeline_src.reference.stage_code import record

    write(folder, record)
    typer.echo(f"{folder}: ready; next: cd {folder} && zugwerk repro")
    if any(find_spec(name) is None for name in ("dvc", "torch")):
        typer.echo("the packages for reproducing are missing: pip install 'zugwerk[reproduce]'", err=True)


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
    from pipeline_src.project.schedule import cores
    from pipeline_src.project.schedule import repro as bring
    from pipeline_src.report.figures import agreement

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

    processes.watch(*processes.ENDS)
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


def _left(schedule: "Schedule | None" = None) -> str:
    """Words on what an ended run has done and stopped; nothing had begun without a schedule."""
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


def compare(
    a: str = typer.Argument("HEAD", help="A commit, branch, tag or experiment."),
    b: str = typer.Argument("workspace", help="A commit, branch, tag or experiment; or workspace, the present files."),
    everything: bool = typer.Option(False, "--all", help="Also show headline figures that are equal, and all metrics."),
) -> None:
    """Show the differences in figures, params and metrics between two versions; `dvc plots diff` draws curves."""
    from rich.console import Console

    from pipeline_src.reference.compare import WORKSPACE, read_revision
    from pipeline_src.reference.compare import compare as compared

    if a == WORKSPACE:
        raise ZugwerkError("the working tree can only be the second version: zugwerk compare HEAD workspace")
    sides = read_revision(a), read_revision(b)
    comparison, console = compared(*sides), Console()
    if not console.is_terminal:
        console = Console(width=max(console.width, PIPED_WIDTH))
    for letter, side in zip("AB", sides, strict=True):
        name, seed = (side.params.get(key, "unknown") for key in ("profile", "seed"))
        about = f"{letter}: {side.title}, {side.date}, profile {name}, seed {seed}: {side.subject}"
        console.print(about, markup=False, highlight=False)
    shown, metrics = comparison.shown(everything), sorted(comparison.metrics, key=lambda pair: pair.difference is None)
    _print_pairs("headline figures" if everything else "headline figures that differ", shown, console)
    apart = sum(pair.apart for pair in shown)
    if apart:
        console.print(f"* intervals that do not overlap: {apart} of the headline figures\n", highlight=False)
    rows = [(key, *("-" if value is None else str(value) for value in values)) for key, *values in comparison.params]
    _print_table("params that differ", ("param", "A", "B"), rows, console)
    most = len(metrics) if everything else MOST_METRICS
    _print_pairs("other metrics that differ", metrics[:most], console)
    if len(metrics) > most:
        console.print(f"and {len(metrics) - most} other metrics, which --all shows", highlight=False)


def _print_pairs(title: str, pairs: "list[Pair]", console: "Console") -> None:
    rows: list[tuple[str, ...]] = []
    for group in dict.fromkeys(pair.group for pair in pairs):
        rows.append((group,))
        rows += [
            (f"  {p.name}", p.a.text, p.a.interval, p.b.text, p.b.interval, p.change + " *" * p.apart, p.unit)
            for p in pairs
            if p.group == group
        ]
    _print_table(title, ("figure", "A", "interval", "B", "interval", "B - A", "unit"), rows, console)


def _print_table(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], console: "Console") -> None:
    """Print a table. The first column is never cut; in a narrow window the others are wrapped, between words."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    if not rows:
        console.print(f"{title}: none\n", highlight=False)
        return
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for number, name in enumerate(columns):
        table.add_column(name, no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # as Text, no name is read as markup
    print_table(console, table)


def code(
    stage: str | None = typer.Argument(None, help="A stage of dvc.yaml, e.g. amazons_train.  [default: all]"),
    why: Path | None = typer.Option(None, "--why", help="Print the chain of imports from the stage to this file."),
    check: bool = typer.Option(False, "--check", help="Write nothing; fail if a digest is not that of the sources."),
) -> None:
    """Write the digests of all stages' code to artifacts/code.json; of one STAGE, list the source files in its digest.

    The file is in git. Stages do not start with the digest of other code, and DVC runs those again whose digest is new.
    """
    from pipeline_src.project.graph import read_graph
    from pipeline_src.project.new import require_checkout
    from pipeline_src.project.params import CODE_FILE, read_tree
    from pipeline_src.reference.stage_code import find_stage, record, require_recorded, roots

    require_checkout()
    if stage is None:
        if why is not None:
            raise ZugwerkError("--why is about one stage; name it")
        if check:
            require_recorded()
        elif changed := record():
            typer.echo(f"{CODE_FILE}: new digests of {', '.join(changed)}")
        return
    sources = this_code()
    start = roots(find_stage(read_graph(), stage), read_tree())
    if why is None:
        for module in sources.closure(*start):
            typer.echo(_path(module))
        typer.echo(f"digest {sources.digest(*start)}", err=True)
        return
    chain = sources.path(start, sources.module(why))
    if not chain:
        raise ZugwerkError(f"{stage} does not run {why}")
    if chain[0] != start[0]:
        typer.echo(f"params.yaml names a player of {_path(chain[0])}")
    for depth, module in enumerate(chain):
        typer.echo("  " * depth + _path(module))


def _path(module: str) -> str:
    file = this_code().file(module)
    return file.relative_to(this_code().root).as_posix() if file else module


def crawl(
    system: str = typer.Argument(
        ..., help="System to fetch games for, by sections crawl and <system>_crawl of params.yaml: amazons or joseki."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Print the planned requests without sending any."),
) -> None:
    """Fetch games from the live site, with polite delays. Each finished game is fetched once and kept.

    Ctrl-C ends it at any time, and the same command continues. The answers are in artifacts/raw/<system>/live.
    """
    end_on_interrupt(True)
    from spiders.live import crawl_system

    end_on_interrupt(False)
    crawl_system(system, ask=not dry_run)


def export(
    model: Path | None = typer.Argument(None, help="A self-play model, e.g. artifacts/models/gomoku/10/best.pt."),
    out: Path | None = typer.Option(
        None, dir_okay=False, help="The file to write.  [default: MODEL with the ending .onnx or .lines]"
    ),
    int8: bool = typer.Option(
        False, "--int8", help="Use 8-bit integers in convolutions: faster, with slightly different moves."
    ),
    package: str | None = typer.Option(
        None, metavar="SYSTEM", help="Add it to the package's nets: amazons_net, gomoku_zero or growing_boards."
    ),
    hours: float | None = typer.Option(None, min=0.001, help="Hours of its training, for the card; with --package."),
    web: Path | None = typer.Option(
        None, file_okay=False, metavar="FOLDER", help="Write the board as a page that needs no server, and no MODEL."
    ),
    single_file: bool = typer.Option(False, "--single-file", help="With --web: one file, which opens from disk."),
) -> None:
    """Export MODEL to ONNX, or a line net to its table; both run without torch. Example: zugwerk export best.pt.

    With --web, write pages to play and analyse Gomoku and the Amazons, with their engine as WebAssembly, into FOLDER,
    for any host of static files.

    With an output file that ends in .pt, write the torch model with 16-bit weights instead, in half the size; with one
    that ends in .rays, write the table of a net of rays of the Amazons. With
    --package, write the export, also of a residual net of the Amazons, and its card (params, commit and figures of this
    checkout) into the package's folder.

    Input: planes float32 [batch, 2 P + 1, H, W], see pipeline_src.systems.gomoku_zero.evaluator. Outputs: policy
    float32 [batch, H * W], logits of the cells from the top row down; value float32 [batch], -1 to 1 to the side to
    move.
    """
    if web is not None:
        if model is not None or out is not None or int8 or package is not None:
            raise ZugwerkError("--web exports no MODEL; remove the model and its options")
        from pipeline_src.web.site import write_site

        typer.echo(f"{write_site(web, single_file)}: the page; serve its folder, or open the one file")
        return
    if model is None or single_file:
        raise ZugwerkError("name a MODEL to export, or a folder for the pages: --web FOLDER")
    if package is not None:
        if out is not None or int8:
            raise ZugwerkError("--package names the files itself; remove --out and --int8")
        from pipeline_src.reference.package_net import package_net

        net = package_net(model, package, hours=hours)
        typer.echo(f"{net.file}: {net.card.bytes:,} bytes; card with {len(net.card.figures)} figures beside it")
        if not net.card.figures:
            typer.echo(f"no figures: {model} is not the net that the last stage evaluated")
        return
    if hours is not None:
        raise ZugwerkError("--hours is written into a card; add --package SYSTEM, or remove it")
    from pipeline_src.search.tables import LINES, RAYS

    if out is not None and out.suffix == RAYS and not int8:
        from pipeline_src.systems.amazons_net.nets import export_rays

        export_rays(model, out)
        typer.echo(f"{out}: table of a net of rays, {out.stat().st_size:,} bytes")
        return
    from pipeline_src.systems.gomoku_zero.evaluator import OnnxBackend, as_int8
    from pipeline_src.systems.gomoku_zero.models import export_onnx, load_model, save_model

    if model.suffix == ".onnx":
        raise ZugwerkError(f"{model}: an ONNX model already; export starts from a model.pt")
    loaded = load_model(model)
    if out is not None and out.suffix == ".pt":
        if int8:
            raise ZugwerkError(f"{out}: --int8 makes ONNX models alone; choose a file that ends in .onnx")
        save_model(out, loaded.net, loaded.variant, half=True)
        typer.echo(f"{out}: {out.stat().st_size:,} bytes")
        return
    if loaded.config.kind == "lines":
        from pipeline_src.systems.gomoku_zero.models import export_table

        target = model.with_suffix(LINES) if out is None else out
        if int8 or target.suffix != LINES:
            raise ZugwerkError(f"{model}: a line net is exported as a table, without --int8 and to a file with {LINES}")
        export_table(loaded, target)
        typer.echo(f"{target}: table of a line net, {target.stat().st_size:,} bytes")
        return
    content = export_onnx(loaded)
    if int8:
        content = as_int8(content)
    info = OnnxBackend(content).info
    target = model.with_suffix(".onnx") if out is None else out
    with written_aside(target) as aside:
        aside.write_bytes(content)
    typer.echo(
        f"{target}: {info.game} {info.height}x{info.width} {info.variant}, {info.kind} net, "
        f"{info.positions} positions of history, {len(content):,} bytes"
    )


def warm(game: str | None = typer.Argument(None, help="Game, e.g. amazons.  [default: all, side by side]")) -> None:
    """Compile the kernels of a game's players ahead, so that no first move waits for them."""
    from pipeline_src.games.game import GAMES
    from pipeline_src.parallel import Parallel, run_as_they_come
    from pipeline_src.players.registry import warm as compile_all
    from pipeline_src.project.schedule import cores

    tasks = [(name,) for name in (GAMES if game is None else (game,))]
    for _, done in run_as_they_come(compile_all, tasks, Parallel(workers=cores())):
        made = f"{done.compiled} compiled" if done.compiled else "all of them there"
        typer.echo(f"{done.game}: {done.needed} kernels, {made}, {done.seconds:.1f} s")
        for line in done.left_out:
            typer.echo(f"{done.game}: left out {line}", err=True)


def web(
    games: list[str] = typer.Argument([], metavar="[GAME]...", help="Files of your own games to play, my_game.py."),
    port: int = typer.Option(4210, min=0, max=65535, help="Port of the server; 0 is any free port."),
    host: str = typer.Option(
        "127.0.0.1", help="Address of the server. With an address other than this, other machines can reach it."
    ),
    no_browser: bool = typer.Option(False, "--no-browser", help="Do not open the browser."),
    folder: list[Path] = typer.Option(
        [],
        help="Folder that pages may read (models, records, reports); repeatable.  [default: artifacts]",
    ),
    engines: int = typer.Option(
        4, min=1, max=64, help="Largest number of players that think at the same time, each in a process of its own."
    ),
) -> None:
    """Play, analyse games and inspect the nets in the browser, offline, with a server on this machine."""
    from pipeline_src.games.game import LEARNABLE, load_game
    from pipeline_src.web.server import serve
    from pipeline_src.web.settings import Settings, open_folders

    for game in games:
        if not game.endswith(".py"):
            raise ZugwerkError(f"{game}: expected a file of rules, my_game.py; the packaged games are offered anyway")
        load_game(game)  # whose error is better here than in the browser
    folders = open_folders(folder, (*LEARNABLE, *games))
    serve(Settings(host, port, folders, engines, ahead=True, games=tuple(games)), not no_browser)
