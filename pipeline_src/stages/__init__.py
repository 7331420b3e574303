"""One thin command a DVC stage: ``python -m pipeline_src.stages.<system>_<verb>``."""
