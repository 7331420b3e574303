"""``zugwerk web``: the pages in the browser."""

from pathlib import Path

import typer

EXAMPLE = "Example: zugwerk web --port 4210"


def web(
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
    from pipeline_src.web.server import serve
    from pipeline_src.web.settings import Settings, open_folders

    serve(Settings(host, port, open_folders(folder), engines), not no_browser)
