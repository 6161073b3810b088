"""Agents, timeline, grants, output, and what the room does with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit import views
from tests.tui.bench import OTHER, THIRD, busy_state, log_file, room
from vaultroom.control.protocol import Steer
from vaultroom.errors import VaultroomError
from vaultroom.tui.screens.dialogs import Confirm, Help
from vaultroom.tui.widgets.choices import Choices
from vaultroom.tui.widgets.output import MAX_LINES, OutputLog
from vaultroom.tui.widgets.prompt import Entry, Prompt
from vaultroom.tui.widgets.timeline import TimelineBody


def picture(bench: object) -> str:
    return bench.app.export_screenshot().replace("&#160;", " ")  # type: ignore[attr-defined]


async def test_freeze_and_thaw_mean_the_selected_agent() -> None:
    async with room(busy_state()) as bench:
        await bench.arm()
        await bench.press("z")
        assert bench.control.steered == [(views.SESSION_ID, Steer.FREEZE)], "the one that asks"
        bench.screen.query_one("#agents-list").focus()
        await bench.press("down", "down", "z")
        assert bench.control.steered[1:] == [(OTHER, Steer.THAW)]


async def test_stop_is_asked_first_and_yes_has_to_be_meant() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press("x")
        assert isinstance(bench.app.screen, Confirm)
        await bench.tap("y")
        await bench.settle()
        assert bench.control.steered == [], "too soon"
        await bench.press("escape")
        assert bench.control.steered == []
        await bench.press("x")
        await bench.press("y")
        assert bench.control.steered == [(views.SESSION_ID, Steer.STOP)]


async def test_without_an_agent_the_keys_say_so() -> None:
    async with room(views.state(sessions=(), requests=(), grants=())) as bench:
        await bench.press("z")
        assert "No agent runs." in picture(bench)
        assert "vaultroom run -- claude" in picture(bench)


async def test_the_timeline_follows_until_the_person_looks_up(tmp_path: Path) -> None:
    async with log_file(tmp_path / "audit.db") as log:
        log.day(5)
        async with room(busy_state(str(log.path))) as bench:
            body = bench.screen.query_one(TimelineBody)
            await bench.until(lambda: len(body.lines) == 51, "the rows")
            await bench.settle()
            assert body.at_end and "git push origin main" in picture(bench)
            body.focus()
            await bench.press("up", "up")
            assert not body.following
            top = body.scroll_offset.y
            log.day(1)
            await bench.until(lambda: body.unseen == 11, "the count of what is new")
            await bench.settle()
            assert body.scroll_offset.y == top and "11 new below" in picture(bench)
            await bench.press("end")
            assert body.following and body.at_end and len(body.lines) == 62


async def test_a_selected_agent_has_its_own_timeline(tmp_path: Path) -> None:
    async with log_file(tmp_path / "audit.db") as log:
        log.day(4)
        async with room(busy_state(str(log.path))) as bench:
            body = bench.screen.query_one(TimelineBody)
            await bench.until(lambda: len(body.lines) == 41, "the rows")
            bench.screen.query_one("#agents-list").focus()
            await bench.press("end")
            assert bench.screen.selected == THIRD
            await bench.until(lambda: len(body.lines) == 20, "one agent's rows")
            log.add("shell.exec", "shim", {"raw": "only-gemini"}, "allow", session=THIRD)
            await bench.until(lambda: len(body.lines) == 21, "its new row")
            await bench.settle()
            assert "only-gemini" in picture(bench) and "of gemini" in picture(bench)


async def test_a_log_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    path.write_bytes(b"this is no database at all, " * 400)
    async with room(busy_state(str(path)), size=(160, 48)) as bench:
        await bench.until(lambda: "not a database" in picture(bench), "the trouble")


async def test_the_hosts_trouble_is_a_banner() -> None:
    state = views.state()
    host = replace(state.host, trouble="The log cannot be written: the disk is full.")
    async with room(replace(state, host=host)) as bench:
        await bench.settle()
        assert "the disk is full" in picture(bench)


async def test_grants_are_listed_and_taken_back() -> None:
    async with room(busy_state()) as bench:
        await bench.arm()
        await bench.press("g")
        assert "answered 5×" in picture(bench) and "10:1" in picture(bench)
        await bench.press("down", "delete")
        assert bench.control.revoked == ["01J0000000000000000000000H"]
        await bench.press("escape")
        assert "Timeline" in picture(bench)


async def test_an_agent_is_started_and_its_output_shown() -> None:
    async with room(busy_state()) as bench:
        await bench.arm()
        bench.control.printed = "hello\nworld\n"
        await bench.press("n")
        await bench.tap(*"run", "tab", *"me")
        await bench.press("enter")
        assert bench.started == [("run", "me")]
        assert bench.screen.selected == views.SESSION_ID


async def test_a_start_that_fails_says_why() -> None:
    def refuse(command_line: str, agent: str) -> str:
        raise VaultroomError("no such program: run", advice="Look at PATH.")

    async with room(start_agent=refuse) as bench:
        await bench.arm()
        await bench.press("n")
        await bench.tap(*"run")
        await bench.press("enter")
        await bench.until(lambda: "no such program: run Look at PATH." in picture(bench), "the reason")


async def test_a_flood_of_output_is_kept_up_with() -> None:
    lines = 40_000
    async with room(busy_state()) as bench:
        await bench.arm()
        bench.control.printed = "".join(f"line {number} of the flood\n" for number in range(lines))
        bench.control.closed = True
        bench.screen._select(THIRD)
        await bench.press("o")
        log = bench.screen.query_one(OutputLog)
        for _ in range(12):
            await bench.until(lambda: bench.screen._output.closed or True, "the end")
            if bench.screen._output.closed:
                break
            await bench.settle(6)
        assert bench.screen._output.closed
        assert log.line_count <= MAX_LINES
        assert any(f"line {lines - 1} of" in line for line in log.lines[-3:])


async def test_an_agent_with_its_own_terminal_has_no_output_here() -> None:
    async with room(busy_state()) as bench:
        await bench.arm()
        bench.screen._select(views.SESSION_ID)
        await bench.press("o")
        assert "terminal of its own" in picture(bench)


async def test_while_something_is_typed_no_key_answers() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press("n")
        assert bench.screen.query(Prompt)
        await bench.press("a", "d", "z", "x", "q")
        assert bench.control.answers == [] and bench.control.steered == []
        assert bench.screen.query(Entry).first().value == "adzxq"
        await bench.press("escape")


async def test_a_megabyte_pasted_into_a_field_is_bounded_and_visible() -> None:
    from textual import events

    async with room() as bench:
        await bench.arm()
        await bench.press("e")
        entry = bench.screen.query(Entry).first()
        bench.app.post_message(events.Paste("\x1b[2J" + "x" * 1_000_000 + "\nallow"))
        await bench.until(lambda: bool(entry.value), "the paste")
        assert len(entry.value) == 500 and entry.value.startswith("␛[2Jxx")
        assert bench.control.answers == []


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_lists_every_key(key: str) -> None:
    async with room(size=(100, 70)) as bench:
        await bench.press(key)
        assert isinstance(bench.app.screen, Help)
        assert "Deny this act." in picture(bench) and "What counts" in picture(bench)


async def test_closing_asks_while_agents_run_under_this_host() -> None:
    async with room() as bench:
        await bench.arm()
        await bench.press("q")
        assert isinstance(bench.app.screen, Confirm) and "refused until a room" in picture(bench)
        await bench.press("escape")
        assert not isinstance(bench.app.screen, Confirm)
        await bench.press("ctrl+q")
        await bench.press("y")
        assert bench.app.return_value == 0


async def test_an_attached_room_just_closes() -> None:
    async with room(attached=True) as bench:
        await bench.press("q")
        assert bench.app.return_value == 0


async def test_the_other_screens_say_what_will_be_there(tmp_path: Path) -> None:
    async with room() as bench:
        for key, text in (("2", "The whole log"), ("3", "policy check"), ("4", "Test environments")):
            await bench.press(key)
            assert text in picture(bench)
        await bench.press("1")
        assert "git push origin main" in picture(bench)


async def test_windows_of_every_size_and_a_storm_of_resizes() -> None:
    async with room(busy_state()) as bench:
        for width, height in ((20, 5), (1, 1), (300, 100), (40, 12), (79, 13), (110, 12), (80, 24)):
            await bench.pilot.resize_terminal(width, height)
            bench.app._draw()
            bench.app.export_screenshot()
        await bench.press("g", "question_mark")
        for width, height in ((20, 5), (120, 30), (5, 2), (80, 24)):
            await bench.pilot.resize_terminal(width, height)
            bench.app.export_screenshot()


async def test_the_cursor_of_a_list_stays_with_its_item() -> None:
    async with room(busy_state(), size=(120, 40)) as bench:
        await bench.arm()
        await bench.press("j")
        chosen = bench.screen.query_one("#queue-list", Choices).chosen
        state = bench.control.shown
        bench.control.push(replace(state, requests=state.requests[1:]))
        await bench.settle()
        assert bench.screen.query_one("#queue-list", Choices).chosen == chosen


async def test_twenty_agents_fit_and_the_cursor_stays_in_view() -> None:
    sessions = tuple(
        views.session_view(id=f"01J000000000000000000000{number:02d}", agent=f"agent-{number}")
        for number in range(20)
    )
    for size in ((80, 24), (120, 30)):
        async with room(views.state(sessions=sessions, requests=()), size=size) as bench:
            bench.screen.query_one("#agents-list").focus()
            await bench.press("end")
            assert "agent-19" in picture(bench)
            assert "Timeline" in picture(bench)


async def test_a_crash_shows_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        async with room() as bench:
            bench.app.call_later(lambda: 1 // 0)
            await bench.settle()
    assert isinstance(bench.app.crash, ZeroDivisionError)
    captured = capsys.readouterr()
    assert "Traceback" not in captured.out + captured.err
