"""The processes that think, without pages: what is said too late, and who gives up while a question is written."""

import asyncio

import pytest

from pipeline_src.players.packaged import FOLDER
from pipeline_src.web.engine import pool
from pipeline_src.web.engine.pool import EngineError, Engines, Place, Request, Task
from tests.web.conftest import run

SIX = Place(game="amazons", size=6, variant="standard")


def test_late_stop_does_not_end_next_search():
    async def seconds(late):
        """Of a search that may take 3 s, in the process that has just answered somebody else."""
        engines, begun = Engines(1), asyncio.Event()
        try:
            first = engines.begin(Task(place=SIX, player="random"), lambda _: None)
            assert (await first.chosen()).move
            task = Task(place=SIX, player="alphabeta:movetime=3000")
            second = engines.begin(task, lambda heard: begun.set() if heard.thought else None)
            chosen = asyncio.create_task(second.chosen())
            await begun.wait()
            if late:
                await first.stop()
                await engines._all[0].send(Request(id=first._number))  # as if it had been on its way already
            else:
                await second.stop()
            return (await chosen).thought.seconds
        finally:
            await engines.close()

    assert run(seconds(late=True)) > 2
    assert run(seconds(late=False)) < 2


def test_cancelled_request_leaves_no_process_at_work(monkeypatch):
    async def given_up():
        engines, written, send = Engines(1), asyncio.Event(), pool.Engine.send

        async def stuck(engine, request):
            await send(engine, request)
            if not written.is_set():  # the pipe is full
                written.set()
                await asyncio.sleep(60)

        monkeypatch.setattr(pool.Engine, "send", stuck)
        try:
            task = Task(place=SIX, player="alphabeta:movetime=600000")
            work = asyncio.create_task(engines.begin(task, lambda _: None).last())
            await written.wait()
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            assert engines.has_room
            async with asyncio.timeout(60):
                return await engines.begin(Task(place=SIX, player="random"), lambda _: None).chosen()
        finally:
            await engines.close()

    assert run(given_up()).move


def test_a_changed_net_is_loaded_again(tmp_path):
    net = tmp_path / "net.lines"
    task = Task(place=Place(game="gomoku", size=15, variant="freestyle"), player=f"zero:{net},simulations=2", key="a/0")

    async def play():
        engines = Engines(1)
        try:
            net.write_bytes((FOLDER / "gomoku_zero-15x15-freestyle.lines").read_bytes())
            assert (await engines.begin(task, lambda _: None).chosen()).move
            net.write_bytes((FOLDER / "gomoku_zero-15x15-caro.lines").read_bytes())
            with pytest.raises(EngineError, match="caro"):
                await engines.begin(task, lambda _: None).chosen()
        finally:
            await engines.close()

    run(play())
