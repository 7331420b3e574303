"""prefect.yaml, which `make docs` writes (`tests.reference.test_reference`)."""

from flows import CHECKOUT
from flows.systems import FLOWS
from pipeline_src import yaml12

DEPLOYED = yaml12.parse((CHECKOUT / "prefect.yaml").read_text())["deployments"]


def test_every_flow_has_a_deployment():
    places = [one["entrypoint"].split(":") for one in DEPLOYED]
    assert {name for _, name in places} == FLOWS.keys()
    assert {file for file, _ in places} == {"flows/systems.py"}


def test_only_deployments_of_crawling_flows_refresh_the_crawl():
    for one in DEPLOYED:
        flow = FLOWS[one["entrypoint"].partition(":")[2]]
        assert one.get("parameters", {}).keys() <= flow.parameters.properties.keys()
