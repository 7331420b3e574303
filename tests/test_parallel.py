import numpy as np
import pytest

from pipeline_src.parallel import Parallel, run_tasks


def draw(seed, group):
    return np.random.default_rng([seed, group]).integers(0, 2**32, 4).tolist()


@pytest.mark.slow
def test_results_and_their_order_do_not_depend_on_the_workers():
    tasks = [(7, group) for group in range(6)]
    alone = run_tasks(draw, tasks, Parallel(workers=1), "test")
    assert alone == [draw(*task) for task in tasks]
    assert run_tasks(draw, tasks, Parallel(workers=2), "test") == alone


def test_no_tasks_and_bad_params():
    assert run_tasks(draw, [], Parallel(), "test") == []
    with pytest.raises(ValueError, match="workers must be at least 1"):
        Parallel(workers=0)
