from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultroom.install.json_text import (
    NotPlainJson,
    find_elements,
    insert_element,
    parse,
    remove_element,
)

PATH = ("hooks", "PreToolUse")
ELEMENT: dict[str, Any] = {"matcher": "*", "hooks": [{"type": "command", "command": "'/a b/x' || exit 2"}]}


def _expected(value: Any) -> Any:
    value = json.loads(json.dumps(value))
    value.setdefault("hooks", {}).setdefault("PreToolUse", []).append(ELEMENT)
    return value


def _replaced(before: str, after: str) -> str:
    """The part of `before` that is no longer there, given that one piece was put in."""
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    return before[start : len(before) - end]


def _shared(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (left, right) in pairs if left != right), min(len(one), len(other)))


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{}\n",
        "{\n}\n",
        '{"a": 1}',
        '{\n  "a": 1\n}\n',
        '{\n\t"a": {\n\t\t"b": [1, 2]\n\t}\n}\n',
        '{\r\n    "a": 1\r\n}\r\n',
        '{\n  "hooks": {}\n}\n',
        '{\n  "hooks": {\n    "PreToolUse": []\n  },\n  "z": 0\n}\n',
        '{\n  "hooks": {\n    "PreToolUse": [\n      {"matcher": "Bash"}\n    ],\n    "Stop": []\n  }\n}\n',
        '{"hooks":{"PreToolUse":[{"matcher":"Bash"}]}}',
        '\n  {  "a"  :  "\\u00e9 \\" // no comment" , "hooks" : { } }  \n',
    ],
)
def test_in_and_out_again(text: str) -> None:
    inside = insert_element(text, PATH, ELEMENT)
    assert json.loads(inside) == _expected(json.loads(text))
    assert find_elements(inside, PATH)[-1] == ELEMENT
    assert ("\r\n" in text) == ("\r\n" in inside)
    assert inside.count("\r") == (inside.count("\n") if "\r" in text else 0)
    assert _replaced(text, inside).strip() == "", "more was changed than put in"
    outside = remove_element(inside, PATH, ELEMENT)
    assert outside is not None
    without = json.loads(outside)
    before = json.loads(text)
    if not before.get("hooks", {}).get("PreToolUse", True):
        before["hooks"].pop("PreToolUse")
    if before.get("hooks") == {}:
        before.pop("hooks")
    assert without == before
    assert remove_element(outside, PATH, ELEMENT) is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text().filter(lambda key: key != "hooks"), _VALUES, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_object_survives(value: dict[str, Any], indent: int | str | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    inside = insert_element(text, PATH, ELEMENT)
    assert json.loads(inside) == _expected(value)
    outside = remove_element(inside, PATH, ELEMENT)
    assert outside is not None
    assert json.loads(outside) == value


@given(_VALUES)
def test_the_reader_agrees_with_json(value: Any) -> None:
    text = json.dumps(value, indent=2)
    assert parse(text).value == json.loads(text)


@given(st.text(alphabet='{}[]",: \n/*#tru0-1e.\\', max_size=30))
def test_what_json_refuses_is_refused(text: str) -> None:
    try:
        found: Any = parse(text).value
    except NotPlainJson as error:
        assert 1 <= error.line <= text.count("\n") + 1
        return
    assert json.loads(text) == found


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", 1, "the end of the file"),
        ('{\n  "a": 1, // mine\n  "b": 2\n}', 2, "a comment"),
        ('{\n  /* x */\n  "b": 2\n}', 2, "a comment"),
        ('{\n  "a": 1,\n}', 3, "a key in quotes"),
        ('{\n  "a": 1\n}\nmore', 4, "the end of the file"),
        ('{\n  "a": 1,\n  "a": 2\n}', 3, "once"),
        ('{\n  "a": \n', 3, "a JSON value"),
        ('{"a": "x\ny"}', 1, "a whole text in quotes"),
        ("\ufeff{}", 1, "a JSON value"),
        ('{"a": NaN}', 1, "a JSON value"),
        ("[" * 200, 1, "at most"),
        ("[1]", 1, "expected an object"),
        ('{\n "hooks": []\n}', 2, "expected an object at hooks"),
        ('{\n "hooks": {\n "PreToolUse": {}\n}}', 3, "expected a list at hooks.PreToolUse"),
        ('{\n "hooks": null\n}', 2, "found nothing"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(text: str, line: int, said: str) -> None:
    with pytest.raises(NotPlainJson, match=said) as caught:
        insert_element(text, PATH, ELEMENT)
    assert caught.value.line == line
