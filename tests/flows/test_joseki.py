from flows.joseki import joseki
from flows.targets import read_targets
from tests.layout.imports import ROOT


def test_the_graph_s_own_targets_come_in_their_order():
    assert read_targets(ROOT, "joseki") == ["joseki_records", "joseki_build", "joseki_evaluate"]


def test_the_flow_has_no_crawl_to_refresh():
    assert set(joseki.parameters.properties) == {"targets", "limit_minutes", "retries", "checkout"}
