"""`invoke` runs a command in this process; `output` is what it prints."""

from typer.testing import CliRunner

from pipeline_src.cli.app import app
from pipeline_src.errors import ZugwerkError
from tests.arena import fakes  # noqa: F401 - registers the players


def invoke(*words, **options):
    """The result of a command."""
    return CliRunner().invoke(app, [*map(str, words)], **options)


def refusal(*words):
    """The one line of the error that ends a command."""
    result = invoke(*words)
    assert (result.exit_code, isinstance(result.exception, ZugwerkError)) == (1, True), result.output
    assert "\n" not in str(result.exception)
    return str(result.exception)


def output(*words):
    """What a command prints; its error is raised."""
    result = invoke(*words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output
