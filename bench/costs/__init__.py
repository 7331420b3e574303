"""What each stage costs at three sizes, and so at the published one: `python -m bench.costs`."""
