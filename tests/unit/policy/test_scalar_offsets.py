"""Every character of a value leads back to the file, whatever style it is written in."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from vaultroom.policy.scalar_offsets import scalar_offsets
from vaultroom.policy.source import Mapping, Scalar, parse_source

_PIECES = ["a", "b ", "  ", "\n", "\n\n", "'", '"', "\\", "é", "x: ", "😀", "#", " #", "&& ", "||"]


def _value(text: str) -> Scalar:
    root = parse_source(text.encode()).root
    assert isinstance(root, Mapping)
    value = root.entries[0][1]
    assert isinstance(value, Scalar)
    return value


@pytest.mark.parametrize(
    "text",
    [
        "a: one X two\n",
        "a: 'it''s X'\n",
        'a: "tab\\t \\u00e9 X"\n',
        "a: 'one\n\n   two X'\n",
        'a: "one \\\n   two X"\n',
        "a: |\n  one\n    two X\n",
        "a: >-\n  one\n  two\n\n  X three\n",
        "a: >\n    one\n      kept X\n    two\n",
        "a: |2\n   one X\n",
        "a: one\n   two X\n",
    ],
)
def test_the_character_is_found(text: str) -> None:
    value = _value(text)
    offsets = scalar_offsets(text, value)
    assert len(offsets) == len(value.value) + 1
    assert offsets[value.value.index("X")] == text.index("X")


@given(
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=25).map("".join),
    st.sampled_from([None, "'", '"', "|", ">"]),
    st.sampled_from([10, 20, 9999]),
    st.booleans(),
)
@example("a\n b", ">", 80, True)
def test_every_visible_character_is_found(written: str, style: str | None, width: int, plain: bool) -> None:
    text = yaml.dump({"k": written}, default_style=style, width=width, allow_unicode=plain)
    document = parse_source(text.encode())
    if document.root is None or document.findings:
        return
    assert isinstance(document.root, Mapping)
    value = document.root.entries[0][1]
    assert isinstance(value, Scalar)
    offsets = scalar_offsets(text, value)
    assert len(offsets) == len(value.value) + 1
    assert list(offsets) == sorted(offsets)
    assert len(value.value) < 2 or len(set(offsets)) > 1
    for char, offset in zip(value.value, offsets, strict=False):
        assert char in " \n" or text[offset] in (char, "\\")
