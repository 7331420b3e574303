"""The pages below docs/reference, written from the code: ``python -m pipeline_src.reference``."""
