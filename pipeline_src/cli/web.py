"""``zugwerk web``: the pages in the browser."""

from pathlib import Path

import typer

EXAMPLE = "Example: zugwerk web --port 4210"


def web(
    port: int = typer.Option(4210, min=0, max=65535, help="Where the server listens; 0: any that is free."),
    host: str = typer.Option("127.0.0.1", help="Address to listen at; with any other, other machines can use it."),
    no_browser: bool = typer.Option(False, "--no-browser", help="Do not open the browser."),
    folder: list[Path] = typer.Option(
        [],
        help="Folder that pages may read (models, records, reports); again for more.  [default: artifacts]",
    ),
    engines: int = typer.Option(4, min=1, max=64, help="Processes that think at the same time, at most."),
) -> None:
    """Play, look inside the nets, analyse games in the browser, offline, from a server on this machine alone."""
    from pipeline_src.web.server import serve
    from pipeline_src.web.settings import Settings, open_folders

    serve(Settings(host, port, open_folders(folder), engines, ahead=True), not no_browser)
