"""Costs of each stage at three sizes, extrapolated to the published one: `python -m bench.costs`."""
