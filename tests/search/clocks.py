"""How long calls take, on a machine that may be busy."""

import time


def least_seconds(call, enough, tries=20):
    """Seconds of the quickest of some calls, up to the first below ``enough``.

    Any of them may have to wait for a processor, which other programs have.
    """
    least = float("inf")
    while least >= enough and tries:
        began = time.perf_counter()
        call()
        least, tries = min(least, time.perf_counter() - began), tries - 1
    return least
