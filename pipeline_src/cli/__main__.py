"""``python -m pipeline_src.cli`` is ``zugwerk`` and works without an installation."""

from pipeline_src.cli import main

main()
