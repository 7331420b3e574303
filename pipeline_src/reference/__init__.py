"""Descriptions of everything: pages of docs (``python -m pipeline_src.reference``), comparison, packaged nets."""
