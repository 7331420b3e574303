"""``zugwerk crawl``: the only command that sends requests to a live site."""

import typer

EXAMPLE = "Example: zugwerk crawl amazons --dry-run"


def crawl(
    system: str = typer.Argument(
        ..., help="System to fetch games for, by sections crawl and <system>_crawl of params.yaml: amazons or joseki."
    ),
    dry_run: bool = typer.Option(False, "--dry-run", help="Print the planned requests without sending any."),
) -> None:
    """Fetch games from the live site, with polite delays. Each finished game is fetched once and kept.

    Ctrl-C ends it at any time, and the same command continues. The answers are in artifacts/raw/<system>/live.
    """
    from pipeline_src.errors import end_on_interrupt

    end_on_interrupt(True)
    from spiders.live import crawl_system

    end_on_interrupt(False)
    crawl_system(system, ask=not dry_run)
