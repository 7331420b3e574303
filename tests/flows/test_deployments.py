"""The targets of the deployments in prefect.yaml are stages of dvc.yaml."""

import yaml

from flows import CHECKOUT

STAGES = yaml.safe_load((CHECKOUT / "dvc.yaml").read_text())["stages"].keys()
TARGETS = {
    deployment["name"]: deployment["parameters"]["targets"]
    for deployment in yaml.safe_load((CHECKOUT / "prefect.yaml").read_text())["deployments"]
    if "targets" in deployment.get("parameters", {})
}


def test_the_crawl_has_a_deployment_of_its_own():
    assert TARGETS["crawl"] == [stage for stage in STAGES if stage.endswith("_crawl")]


def test_the_evaluation_has_every_stage_that_measures():
    kinds = ("_baselines", "_evaluate", "_match", "_calibration", "_page")
    assert sorted(TARGETS["evaluation"]) == sorted(stage for stage in STAGES if stage.endswith(kinds))
