"""Themes: strict files, readable colours, a broken one never stops the room."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.tui.bench import room
from vaultroom.tui import theme


def brightness(colour: str) -> float:
    def part(value: int) -> float:
        share = value / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue)


def contrast(one: str, other: str) -> float:
    light, dark = sorted((brightness(one), brightness(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen_without_red_and_green(colour: str) -> tuple[float, float]:
    """Roughly what deuteranopia leaves: yellow-blue, and brightness."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return blue - (0.6 * red + 0.4 * green), brightness(colour)


def test_three_themes_are_shipped_and_the_default_is_the_fallback() -> None:
    palettes, problems = theme.load_themes()
    assert [one.name for one in palettes] == ["vaultroom-dark", "vaultroom-contrast", "vaultroom-light"]
    assert problems == []
    assert palettes[0] == theme.FALLBACK


@pytest.mark.parametrize("name", ["vaultroom-dark", "vaultroom-light", "vaultroom-contrast"])
def test_every_text_can_be_read(name: str) -> None:
    (palette,) = [one for one in theme.load_themes()[0] if one.name == name]
    colours = palette.colours
    for ground in ("background", "surface", "panel", "cursor"):
        for ink in ("ink", "dim", "accent", "allow", "ask", "deny"):
            least = 7.0 if name == "vaultroom-contrast" and ground == "background" else 4.0
            assert contrast(colours[ink], colours[ground]) >= least, (ink, ground)


@pytest.mark.parametrize("name", ["vaultroom-dark", "vaultroom-light", "vaultroom-contrast"])
def test_verdicts_can_be_told_apart_without_red_and_green(name: str) -> None:
    (palette,) = [one for one in theme.load_themes()[0] if one.name == name]
    verdicts = [seen_without_red_and_green(palette.colours[one]) for one in ("allow", "ask", "deny")]
    for at, one in enumerate(verdicts):
        for other in verdicts[at + 1 :]:
            assert abs(one[0] - other[0]) > 0.25 or abs(one[1] - other[1]) > 0.15


GOOD = (theme.themes_folder() / "vaultroom-dark.yaml").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected the theme to be a mapping"),
        ("name: [", "expected"),
        (GOOD.replace("dark: true", "dark: maybe"), "expected dark to be true or false"),
        (GOOD.replace('"#4FA8E8"', "red"), "expected allow to be a colour"),
        (GOOD.replace("  ask:", "  asks:"), "expected colours to have ask"),
        (GOOD + "css: '* {}'\n", "unknown members: css"),
        (GOOD + 'name: "two"\n', "'name' twice"),
        (GOOD.replace("vaultroom-dark", "Dark Vader"), "expected a name"),
        ("x" * 20_000, "expected at most"),
        ("name: \x1b]52;c;x\x07", "theme broken.yaml"),
    ],
)
async def test_a_broken_theme_is_named_and_the_default_used(tmp_path: Path, text: str, said: str) -> None:
    shutil.copy(theme.themes_folder() / "vaultroom-light.yaml", tmp_path)
    (tmp_path / "broken.yaml").write_text(text)
    palettes, problems = theme.load_themes(tmp_path)
    assert [one.name for one in palettes] == ["vaultroom-dark", "vaultroom-light"]
    (problem,) = problems
    assert problem.startswith("theme broken.yaml: ") and said in problem and problem.isprintable()


async def test_themes_change_with_a_key_and_an_unknown_one_is_named() -> None:
    async with room(theme="no-such") as bench:
        assert bench.app.theme == "vaultroom-dark"
        assert "no theme" in bench.app.export_screenshot().replace("&#160;", " ")
        await bench.press("t")
        assert bench.app.theme == "vaultroom-contrast"
        await bench.press("t", "t")
        assert bench.app.theme == "vaultroom-dark"


async def test_no_colour_at_all_still_says_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with room() as bench:
        await bench.settle()
        assert "[ASK]" in bench.app.export_screenshot()
