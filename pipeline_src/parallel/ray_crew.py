"""Tasks on a Ray cluster. Ray itself tries a task again whose worker died."""

import contextlib
import logging
import os
import time
from collections.abc import Callable
from typing import Any

from pipeline_src.errors import ZugwerkError
from pipeline_src.parallel.admission import issue, perform, withdraw
from pipeline_src.parallel.crew import ATTEMPTS, Results, Tasks

LOOK_S = 5
"""How often the cluster is looked at while no task finishes."""
EMPTY_S = 180
"""How long it may be without a processor."""
STORE_BYTES = 256 << 20
"""Of the object store of a cluster on this machine; results are small, or files."""
log = logging.getLogger(__name__)


class RayCrew:
    """All processors of a cluster, a task each."""

    def __init__(self, address: str, workers: int) -> None:
        """Join the cluster at ``address``; where that is empty, start one with so many ``workers`` here.

        Raises:
            ZugwerkError: ray is not installed, there is no cluster, or it has another Python or ray.
        """
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when ray is imported, and by what it starts
        try:
            import ray
        except ImportError:
            raise ZugwerkError("parallel.backend ray: not installed; pip install 'zugwerk[cluster]'") from None
        self.ray, self.address = ray, address
        how: dict[str, Any] = {"address": address}
        if not address:
            how = {"address": "local", "num_cpus": workers, "include_dashboard": False}
            how |= {"_node_ip_address": "127.0.0.1", "object_store_memory": STORE_BYTES}
        try:
            ray.init(**how, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:  # ray raises bare ones too
            raise ZugwerkError(
                f"parallel.address {address}: no Ray cluster that can be joined ({_first_line(error)}); start one: "
                f"ray start --head, and make this machine part of it: ray start --address={address}; where it asks for "
                "a token (`ray get-auth-token`), set RAY_AUTH_MODE=token here too"
            ) from None
        self.ticket = issue()

    def run(self, function: Callable[..., Any], tasks: Tasks, at_end: Callable[[], None]) -> Results:
        """See `Crew.run`. Ray's workers end with this process, and so does what they keep: ``at_end`` is not called."""
        del at_end
        from ray.exceptions import GetTimeoutError, OutOfMemoryError, RayError, RayTaskError, WorkerCrashedError

        ray = self.ray
        remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(perform)
        ticket, sent = ray.put(self.ticket), ray.put(function)
        pending = {remote.remote(ticket, sent, task): index for index, task in enumerate(tasks)}
        try:
            seen = time.monotonic()
            while pending:
                done, _ = ray.wait(list(pending), num_returns=1, timeout=LOOK_S)
                if done or ray.cluster_resources().get("CPU"):
                    seen = time.monotonic()
                elif time.monotonic() - seen > EMPTY_S:
                    raise ZugwerkError(
                        f"the Ray cluster has no processor; start some: ray start --address={self.address}"
                    )
                for reference in done:
                    index = pending.pop(reference)
                    try:
                        result = ray.get(reference)
                    except (WorkerCrashedError, OutOfMemoryError):
                        log.warning("task %d ended its workers; given up", index + 1)
                        continue
                    except RayTaskError as error:
                        raise _plain(error) from None
                    except (GetTimeoutError, RayError) as error:
                        raise ZugwerkError(
                            f"the Ray cluster went away ({_first_line(error)}); start it and run this again"
                        ) from None
                    yield index, result
        finally:
            for reference in pending:
                with contextlib.suppress(Exception):
                    ray.cancel(reference, force=True)

    def close(self) -> None:
        """See `Crew.close`."""
        withdraw(self.ticket)
        self.ray.shutdown()


def _plain(error: Any) -> Exception:
    """What the task raised, as it raised it."""
    cause: Exception = error.cause if isinstance(error.cause, Exception) else error
    if isinstance(cause, ZugwerkError) or "pipeline_src" not in str(cause):
        return cause if isinstance(cause, ZugwerkError) else error
    if isinstance(cause, ModuleNotFoundError) or "failed to import" in str(cause):
        return ZugwerkError(
            "a worker of the cluster cannot import pipeline_src as it is here; install this very version of zugwerk in "
            "its environment, then start it anew"
        )
    return error  # type: ignore[no-any-return]


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0]
