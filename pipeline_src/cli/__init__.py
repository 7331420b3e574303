"""The command ``zugwerk``: `main` is its entry point, and each module has a group of commands."""

from pipeline_src.errors import end_on_interrupt


def main() -> None:
    """Entry point of the command."""
    end_on_interrupt(True)
    from pipeline_src.cli.app import main as run

    run()
