"""The page that `dvc plots` puts its plots into, with the drawing libraries inside, so that it opens offline.

DVC's own page loads Vega from a content delivery network. `make setup` writes this one to .dvc/plots.html, where
.dvc/config names it.
"""

from pathlib import Path

from pipeline_src.errors import run_main
from pipeline_src.files import written_aside

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
    from vl_convert import javascript_bundle

    bundle = javascript_bundle("window.vegaEmbed = vegaEmbed;").replace("</script", "<\\/script")
    with written_aside(page) as aside:
        aside.write_text(_PAGE % bundle, encoding="utf-8")


if __name__ == "__main__":
    run_main(main)
