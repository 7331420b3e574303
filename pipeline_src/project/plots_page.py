"""The drawing libraries of charts, and the page with them that `dvc plots` puts its plots into and that opens offline.

DVC's own page loads Vega from a content delivery network. `make setup` and `zugwerk new` write this one to
.dvc/plots.html and name it in .dvc/config.local; in a clone without them `dvc plots` uses its own.
"""

import contextlib
from importlib.metadata import version
from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.files import written_aside
from pipeline_src.project.code import cache_root

PAGE = Path(".dvc/plots.html")

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
{refresh_tag}
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Zugwerk: plots</title>
<script>%s</script>
<style>body { font-family: sans-serif; margin: 1rem; } table { border-spacing: 15px; }</style>
</head>
<body>
{plot_divs}
</body>
</html>
"""


def main() -> None:
    """Write the page."""
    write(PAGE)


def write(page: Path) -> None:
    """Write the page to a file."""
    with written_aside(page) as aside:
        aside.write_text(_PAGE % bundle(), encoding="utf-8")


def bundle() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script that sets ``window.vegaEmbed``; it can be inlined in a page.

    vl-convert contains them. It takes seconds to put them together, so the user's cache folder keeps the script.
    """
    kept = cache_root() / f"vega-{version('vl-convert-python')}.js"
    with contextlib.suppress(FileNotFoundError):
        return kept.read_text(encoding="utf-8")
    from vl_convert import javascript_bundle

    script = javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("</script", "<\\/script")
    with contextlib.suppress(OSError), written_aside(kept) as aside:  # on a full or read-only disk, made each time
        aside.write_text(script, encoding="utf-8")
    return script


if __name__ == "__main__":
    run_main(main)
