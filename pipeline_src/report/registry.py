"""All systems and their headline figures, as they declare them (`project.systems`)."""

from pipeline_src.project.systems import systems

SYSTEMS = systems()
REGISTRY = {name: system.figures for name, system in SYSTEMS.items()}
