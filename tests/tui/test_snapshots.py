"""What the room looks like, as pictures in `snapshots`. VAULTROOM_UPDATE_SNAPSHOTS=1 draws them anew.

Look at a new picture before it is kept: these tests only say that something changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.kit import views
from tests.kit.fake_control import FakeControl
from tests.tui.bench import Bench, busy_state, log_file, room
from vaultroom.tui.widgets.timeline import TimelineBody

FOLDER = Path(__file__).with_name("snapshots")
UPDATE = bool(os.environ.get("VAULTROOM_UPDATE_SNAPSHOTS"))


@dataclass(frozen=True)
class Scene:
    name: str
    size: tuple[int, int] = (80, 24)
    theme: str = "vaultroom-dark"
    keys: Sequence[str] = ()
    empty: bool = False
    lost: bool = False


SCENES = (
    Scene("room-80"),
    Scene("room-120", (120, 30)),
    Scene("room-160", (160, 48)),
    Scene("room-80-light", theme="vaultroom-light"),
    Scene("room-160-light", (160, 48), theme="vaultroom-light"),
    Scene("room-80-contrast", theme="vaultroom-contrast"),
    Scene("room-80-difference", keys=("j", "j", "space")),
    Scene("room-80-reason", keys=("e",)),
    Scene("room-80-grants", keys=("g",)),
    Scene("room-80-stop", keys=("x",)),
    Scene("room-80-help", keys=("question_mark",)),
    Scene("room-80-empty", empty=True),
    Scene("room-120-lost", (120, 30), lost=True),
    Scene("timeline-80", keys=("2",)),
    Scene("tiny", (30, 8)),
)


@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
async def test_the_picture_is_the_same(scene: Scene, tmp_path: Path) -> None:
    async with log_file(tmp_path / "audit.db") as log:
        log.day(4)
        state = busy_state(str(log.path))
        if scene.empty:
            host = replace(state.host, audit_db=str(tmp_path / "none.db"))
            state = views.state(host=host, sessions=(), requests=(), grants=())
        async with room(size=scene.size, theme=scene.theme, control=FakeControl(shown=state)) as bench:
            await prepare(bench, scene)
            path = FOLDER / f"{scene.name}.svg"
            for _ in range(40):  # a loaded machine may paint late; what never comes to look right fails
                picture = normalised(bench.app.export_screenshot())
                if UPDATE or (path.exists() and path.read_text() == picture):
                    break
                await bench.settle(2)
            compare(scene.name, picture)


async def prepare(bench: Bench, scene: Scene) -> None:
    body = bench.screen.query_one(TimelineBody)
    await bench.until(lambda: len(body.lines) == (1 if scene.empty else 41), "the rows")
    if scene.name != "tiny":
        await bench.arm()
    if scene.lost:
        bench.control.gone = True
        bench.app.link.doubt()
        await bench.until(lambda: bench.app.link.phase.lost, "that the host is gone")
    await bench.press(*scene.keys)
    if "x" in scene.keys:
        await bench.until(lambda: bench.app.second_guard.on_screen, "the question")
    bench.clock.pass_(0.5)
    await bench.settle(4)


def normalised(picture: str) -> str:
    """Without what differs between two runs, and without fonts from elsewhere."""
    picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    picture = re.sub(r"terminal-\d+", "terminal", picture)
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def compare(name: str, picture: str) -> None:
    path = FOLDER / f"{name}.svg"
    if UPDATE:
        FOLDER.mkdir(exist_ok=True)
        path.write_text(picture)
    assert path.exists(), f"no picture {path.name}: draw it with VAULTROOM_UPDATE_SNAPSHOTS=1"
    if path.read_text() != picture:
        new = path.with_suffix(".new.svg")
        new.write_text(picture)
        raise AssertionError(f"{path.name} looks different; the new picture is {new.name}, beside it")
