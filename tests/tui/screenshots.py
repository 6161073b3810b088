"""`python -m tests.tui.screenshots`: draw docs/img anew, from the real room on a fake host."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from tests.kit.fake_control import FakeControl
from tests.tui.bench import busy_state, log_file, room
from tests.tui.test_snapshots import Scene, prepare

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "img"
PICTURES = {
    "room.svg": Scene("room-160", (160, 48)),
    "room-80.svg": Scene("room-80"),
    "room-light.svg": Scene("room-160-light", (160, 48), theme="vaultroom-light"),
    "room-contrast.svg": Scene("room-80-contrast", theme="vaultroom-contrast"),
}


async def draw(name: str, scene: Scene) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with log_file(Path(folder) / "audit.db") as log:
            log.day(4)
            control = FakeControl(shown=busy_state(str(log.path)))
            async with room(size=scene.size, theme=scene.theme, control=control) as bench:
                await prepare(bench, scene)
                picture = bench.app.export_screenshot(title="Vaultroom")
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text("\n".join(line.rstrip() for line in picture.splitlines()) + "\n")


def main() -> None:
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    for name, scene in PICTURES.items():
        asyncio.run(draw(name, scene))
        print(FOLDER.name + "/" + name)


if __name__ == "__main__":
    main()
