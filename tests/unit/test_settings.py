from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.settings import Settings, SettingsError, load_settings, parse_settings


def test_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "settings.yaml"
    assert load_settings(path) == Settings()
    path.write_text("theme: vaultroom-light\nkeymap:\n  allow-once: y\n")
    settings = load_settings(path)
    assert (settings.theme, dict(settings.keymap)) == ("vaultroom-light", {"allow-once": "y"})
    assert parse_settings(b"# nothing\n", name="s") == Settings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("themes: x", "s:1:1: expected one of keymap, theme, found 'themes'"),
        ("theme: x\ntheme: y", "s:2:1: the key 'theme' stands twice"),
        ("theme: [x]", "s:1:8: expected a text"),
        ("theme: yes", "s:1:8: expected a text"),
        ("keymap: x", "s:1:9: expected a mapping"),
        ("- theme", "s:1:1: expected a mapping"),
        ("theme: {", "s:"),
        ("theme: !!python/name:os.system x", "s:1:8: expected a text"),
        ("theme: x\n---\ntheme: y\n", "s:2:1"),
        ("\x00", "no valid YAML"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(text.encode(), name="s")
    assert said in str(caught.value)


def test_a_folder_or_a_giant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot read"):
        load_settings(tmp_path)
    with pytest.raises(SettingsError, match="at most"):
        parse_settings(b" " * 70_000, name="s")


@given(st.binary(max_size=200))
def test_rubbish_is_a_settings_error(data: bytes) -> None:
    try:
        parse_settings(data, name="s")
    except SettingsError:
        pass
