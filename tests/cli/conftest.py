"""`invoke` runs a command in this process; `output` is what it prints."""

from typer.testing import CliRunner

from pipeline_src.cli.app import app


def invoke(*words, **options):
    """The result of a command."""
    return CliRunner().invoke(app, [*map(str, words)], **options)


def output(*words):
    """What a command prints; its error is raised."""
    result = invoke(*words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output
