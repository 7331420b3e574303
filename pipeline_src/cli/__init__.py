"""The command ``zugwerk``: `main` is its entry point; a module a group of commands."""

from pipeline_src.cli.app import main

__all__ = ["main"]
