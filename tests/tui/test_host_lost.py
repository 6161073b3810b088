"""A host that goes away: a banner, nothing can be answered, and the room goes on with the next one."""

from __future__ import annotations

from dataclasses import replace

from tests.kit import views
from tests.kit.fake_control import FakeControl
from tests.tui.bench import request, room
from vaultroom.control.protocol import Control
from vaultroom.errors import HostUnavailable


async def test_a_lost_host_freezes_the_room_and_a_new_one_wakes_it() -> None:
    second = FakeControl(shown=replace(views.state(), version=9, requests=(request(5),)))
    there = False

    def rejoin() -> Control:
        if not there:
            raise HostUnavailable("no host answers")
        return second

    async with room(rejoin=rejoin) as bench:
        bench.app.link._pulse = bench.app.link._retry = 0.02
        await bench.arm()
        bench.control.gone = True
        bench.app.link.doubt()
        await bench.until(lambda: bench.app.link.phase.lost, "that it is gone")
        await bench.settle()
        await bench.press("a", "d", "z")
        assert bench.control.answers == [] and bench.control.steered == []
        assert "The host is gone" in bench.app.export_screenshot().replace("&#160;", " ")
        there = True
        await bench.until(lambda: not bench.app.link.phase.lost, "the new host")
        await bench.settle()
        assert second.surfaces == ["tui"]
        await bench.arm()
        await bench.press("a")
        assert [answer.request for answer in second.answers] == [request(5).id]


async def test_a_host_that_vanishes_under_an_answer_is_noticed() -> None:
    async with room() as bench:
        await bench.arm()
        bench.control.gone = True
        await bench.press("a")
        await bench.until(lambda: bench.app.link.phase.lost, "that it is gone")
        assert bench.control.answers == []
