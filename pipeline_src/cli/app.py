"""The whole command line. Expected errors become one line on stderr and exit status 1."""

import typer

from pipeline_src import __version__, processes
from pipeline_src.cli import games, go, learn, matches, person, project
from pipeline_src.errors import end_on_interrupt, run_main
from pipeline_src.games.game import GAMES

app = typer.Typer(
    name="zugwerk",
    help="Board-game AI as one reproducible pipeline. Example: zugwerk amazons perft 2",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(games.amazons_app, name="amazons")
app.add_typer(games.gomoku_app, name="gomoku")
app.add_typer(go.go_app, name="go")
app.add_typer(go.joseki_app, name="joseki")
app.add_typer(matches.app, name="engines")
for other in sorted(set(GAMES) - {"amazons", "gomoku", "go"}):
    app.add_typer(games.commands(other), name=other)
app.command("match", epilog=matches.MATCH_EXAMPLE)(matches.match)
app.command("tournament", epilog=matches.TOURNAMENT_EXAMPLE)(matches.tournament)
app.command("play", epilog=person.EXAMPLE)(person.play)
app.command("learn", epilog=learn.EXAMPLE)(learn.learn)
app.command("check", epilog=games.CHECK_EXAMPLE)(games.check)
app.command("levels")(matches.levels)
app.command("players")(matches.players)
app.command("export")(project.export)
app.command("compare", epilog=project.COMPARE_EXAMPLE)(project.compare)
app.command("code", epilog=project.CODE_EXAMPLE)(project.code)
app.command("crawl", epilog=project.CRAWL_EXAMPLE)(project.crawl)
app.command("new")(project.new)
app.command("profile")(project.profile)
app.command("repro", epilog=project.REPRO_EXAMPLE)(project.repro)
app.command("status")(project.status)
app.command("report")(project.report)
app.command("verify")(project.verify)
app.command("warm", epilog=project.WARM_EXAMPLE)(project.warm)
app.command("web", epilog=project.WEB_EXAMPLE)(project.web)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    _: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and exit."),
) -> None:
    """Board-game AI as one reproducible pipeline."""


def main() -> None:
    """Entry point of the command."""
    end_on_interrupt(False)
    processes.watch()
    try:
        run_main(app)
    except (Exception, SystemExit) as error:
        processes.leave_after(error)
        raise
