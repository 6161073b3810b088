"""`settings.yaml` in the configuration folder: what is not policy (design section 6).

Strict: an unknown key, a key that stands twice or a value of the wrong kind refuses the file, with line and
column; who reads it says so and goes on with the defaults. Nothing here decides about an act.

    theme: vaultroom-light
    keymap: {allow-once: y}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from vaultroom.errors import VaultroomError

LARGEST = 64 * 1024
"""Bytes in the file at most."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it was built
_TEXT = "tag:yaml.org,2002:str"


class SettingsError(VaultroomError):
    """Settings that cannot be used."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`theme` is a theme's name, empty for the default. `keymap` gives actions of the room other keys."""

    theme: str = ""
    keymap: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def load_settings(path: Path) -> Settings:
    """The settings in `path`; the defaults when there is no such file. Raises SettingsError."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror or error}") from None
    return parse_settings(data, name=str(path))


def parse_settings(data: bytes, *, name: str) -> Settings:
    """The settings in a file's bytes. Raises SettingsError: `file:line:column: what is wrong`."""
    if len(data) > LARGEST:
        raise SettingsError(f"{name}: expected at most {LARGEST} bytes")
    try:
        loader = _LOADER(data.decode("utf-8"))
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise SettingsError(f"{name}{place}: {error.problem or 'no valid YAML'}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{name}: no valid YAML: {type(error).__name__}") from None
    if node is None:
        return Settings()
    found = _mapping(node, name, known={"theme", "keymap"})
    theme = _text(found["theme"], name) if "theme" in found else ""
    keymap = {}
    if "keymap" in found:
        keymap = {key: _text(value, name) for key, value in _mapping(found["keymap"], name).items()}
    return Settings(theme=theme, keymap=MappingProxyType(keymap))


def _mapping(node: yaml.Node, name: str, known: set[str] | None = None) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        raise _wrong(node, name, "expected a mapping, found something else")
    found: dict[str, yaml.Node] = {}
    for key_node, value in node.value:
        key = _text(key_node, name)
        if known is not None and key not in known:
            raise _wrong(key_node, name, f"expected one of {', '.join(sorted(known))}, found {key!r}")
        if key in found:
            raise _wrong(key_node, name, f"the key {key!r} stands twice")
        found[key] = value
    return found


def _text(node: Any, name: str) -> str:
    if not isinstance(node, yaml.ScalarNode) or node.tag != _TEXT:
        raise _wrong(node, name, "expected a text (quote it)")
    return str(node.value)


def _wrong(node: yaml.Node, name: str, message: str) -> SettingsError:
    return SettingsError(f"{name}:{node.start_mark.line + 1}:{node.start_mark.column + 1}: {message}")
