"""``python -m pipeline_src.cli`` is ``zugwerk``, also where nothing is installed."""

from pipeline_src.cli.app import main

main()
