"""Colour themes from YAML files, read strictly: a broken one is named and left out.

A theme names eleven colours by what they are for. The verdict colours must be told apart by people who
see red and green alike, and a verdict is a text first in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

import yaml
from textual.theme import Theme

from vaultroom.visible import visible

DEFAULT: Final = "vaultroom-dark"
COLOURS: Final = (
    "background",
    "surface",
    "panel",
    "cursor",
    "line",
    "ink",
    "dim",
    "accent",
    "allow",
    "ask",
    "deny",
)
_LARGEST = 16 * 1024
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme: `colours` has exactly the names of COLOURS, as #rrggbb."""

    name: str
    dark: bool
    colours: dict[str, str]

    def theme(self) -> Theme:
        """As Textual wants it; `variables` are what the style sheet names."""
        colours = self.colours
        return Theme(
            name=self.name,
            primary=colours["accent"],
            secondary=colours["accent"],
            accent=colours["accent"],
            success=colours["allow"],
            warning=colours["ask"],
            error=colours["deny"],
            foreground=colours["ink"],
            background=colours["background"],
            surface=colours["surface"],
            panel=colours["panel"],
            dark=self.dark,
            variables=self.variables(),
        )

    def variables(self) -> dict[str, str]:
        colours = self.colours
        return {f"room-{name}": value for name, value in colours.items()} | {
            "scrollbar": colours["line"],
            "scrollbar-hover": colours["dim"],
            "scrollbar-active": colours["accent"],
            "scrollbar-background": colours["background"],
            "scrollbar-background-hover": colours["background"],
            "scrollbar-background-active": colours["background"],
            "scrollbar-corner-color": colours["background"],
            "input-cursor-background": colours["ink"],
            "input-cursor-foreground": colours["background"],
            "input-cursor-text-style": "none",
            "input-selection-background": colours["cursor"],
        }


FALLBACK = Palette(
    DEFAULT,
    True,
    {
        "background": "#15181E",
        "surface": "#1A1E25",
        "panel": "#20252E",
        "cursor": "#2B3340",
        "line": "#343C49",
        "ink": "#DCE0E6",
        "dim": "#939CAB",
        "accent": "#A9BFDD",
        "allow": "#4FA8E8",
        "ask": "#F5D547",
        "deny": "#FF6F61",
    },
)
"""What is used when no theme file can be read."""


def load_themes(folder: Path | None = None) -> tuple[list[Palette], list[str]]:
    """The themes of the folder, the default first, and what is wrong with the others."""
    found: dict[str, Palette] = {}
    problems: list[str] = []
    for path in _theme_files(folder or themes_folder()):
        try:
            palette = read_palette(path)
        except (OSError, ValueError, yaml.YAMLError) as error:
            text = visible(" ".join(str(error).split()))
            problems.append(f"theme {visible(path.name)}: {text[:200]}")
            continue
        found[palette.name] = palette
    if DEFAULT not in found:
        found[DEFAULT] = FALLBACK
    return [found.pop(DEFAULT), *found.values()], problems


def themes_folder() -> Path:
    """The shipped themes: inside the wheel, or beside the package in a checkout."""
    packaged = Path(str(files("vaultroom"))) / "share" / "themes"
    return packaged if packaged.is_dir() else Path(str(files("vaultroom"))).parent / "themes"


def read_palette(path: Path) -> Palette:
    """Raises ValueError, yaml.YAMLError or OSError for whatever is not exactly a theme."""
    data = path.read_bytes()
    if len(data) > _LARGEST:
        raise ValueError(f"expected at most {_LARGEST} bytes, found {len(data)}")
    root = yaml.compose(data.decode(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    values = _mapping(root, "the theme")
    _expect_keys(values, {"name", "dark", "colours"}, "the theme")
    name, dark = _scalar(values["name"], "name"), _scalar(values["dark"], "dark")
    if not _NAME.fullmatch(name):
        raise ValueError(f"expected a name of lower-case letters, digits and hyphens, found {name!r}")
    if dark not in ("true", "false"):
        raise ValueError(f"expected dark to be true or false, found {dark!r}")
    colours = _mapping(values["colours"], "colours")
    _expect_keys(colours, set(COLOURS), "colours")
    read = {key: _scalar(node, key) for key, node in colours.items()}
    for key, value in read.items():
        if not _COLOUR.fullmatch(value):
            raise ValueError(f'expected {key} to be a colour like "#4FA8E8" in quotes, found {value!r}')
    return Palette(name, dark == "true", read)


def _theme_files(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.glob("*.yaml"))
    except OSError:
        return []


def _mapping(node: yaml.Node | None, where: str) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise ValueError(f"expected {where} to be a mapping")
    values: dict[str, yaml.Node] = {}
    for key, value in node.value:
        name = _scalar(key, "a key")
        if name in values:
            raise ValueError(f"found {name!r} twice")
        values[name] = value
    return values


def _scalar(node: yaml.Node, where: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError(f"expected {where} to be a single value")
    return str(node.value)


def _expect_keys(values: dict[str, yaml.Node], expected: set[str], where: str) -> None:
    missing, unknown = sorted(expected - values.keys()), sorted(values.keys() - expected)
    if missing:
        raise ValueError(f"expected {where} to have {', '.join(missing)}")
    if unknown:
        raise ValueError(f"{where} has unknown members: {', '.join(unknown)}")
