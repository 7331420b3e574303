"""The command ``zugwerk``: `main` is its entry point, and each module has a group of commands."""

from pipeline_src.cli.app import main

__all__ = ["main"]
