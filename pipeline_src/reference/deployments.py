"""prefect.yaml: the flows as deployments, of the whole graph and of each system that declares a flow."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_src.project.graph import GRAPH, read_graph
from pipeline_src.project.systems import systems

HEAD = """# Written by `make docs` from dvc.yaml and the declarations of the systems.
# The flows as deployments on the process work pool `zugwerk`, which `make serve` creates with room for one run at a
# time: one writer a checkout. `make serve` applies this file each time it starts. Schedules are not in here: those made
# in the browser, or by `prefect deployment schedule create`, stay as they are, as does the nightly one of `make serve`.
name: zugwerk
prefect-version: 3.8.0

deployments:
"""
MEASURE = ("_baselines", "_evaluate", "_match", "_calibration", "_page")
"""Ends of the names of stages that measure."""


def deployments(folder: Path = Path()) -> str:
    """Return the file's text, for the dvc.yaml of ``folder``."""
    return HEAD + "\n".join(_entries(list(read_graph(folder / GRAPH))))


def _entries(stages: list[str]) -> Iterator[str]:
    crawls = [name for name in stages if name.endswith("_crawl")]
    measured = "".join(f"\n        - {name}" for name in stages if name.endswith(MEASURE))
    for name, about, parameters in (
        (
            "local",
            "Fetch the games that are new, bring the whole graph up to date, publish the headline figures.",
            " { refresh_crawl: true }",
        ),
        (
            "crawl",
            "Fetch the games that are new, and nothing else; runs when asked to.",
            f" {{ targets: [{', '.join(crawls)}], refresh_crawl: true }}",
        ),
        (
            "evaluation",
            "All evaluations and the report, and of what they depend on only what has changed; runs when asked to.",
            f"\n      targets:{measured}",
        ),
    ):
        yield _entry(name, "reproduce", about, parameters)
    for system, declared in systems().items():
        if flow := declared.flow:
            yield _entry("local", system, flow.deployment, " { refresh_crawl: true }" if flow.crawls else "")


def _entry(name: str, flow: str, about: str, parameters: str) -> str:
    lines = [f"  - name: {name}", f"    entrypoint: flows/systems.py:{flow}", f"    description: {about}"]
    lines += ["    work_pool: { name: zugwerk }", *([f"    parameters:{parameters}"] if parameters else [])]
    return "\n".join(lines) + "\n"
