from __future__ import annotations

import tomllib

import pytest

from vaultroom.install.toml_text import NotToml, append_block, has_block, remove_block

BODY = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "x || exit 2"\n'


@pytest.mark.parametrize(
    "text",
    [
        "",
        'model = "x" # mine\n',
        'model = "x"',
        'model = "x"\n\n',
        "a = 1\r\n[b]\r\nc = 2\r\n",
        '[[hooks.PreToolUse]]\nmatcher = "Bash"\n[[hooks.PreToolUse.hooks]]\ncommand = "y"\n',
        '[hooks.state."k:pre_tool_use:0:0"]\ntrusted_hash = "sha256:00"\n',
    ],
)
def test_in_and_out_again(text: str) -> None:
    inside = append_block(text, BODY)
    assert inside.startswith(text)
    assert has_block(inside)
    hooks = tomllib.loads(inside)["hooks"]["PreToolUse"]
    assert hooks[-1]["hooks"][0]["command"] == "x || exit 2"
    assert remove_block(inside, BODY) == (text if text.endswith("\n") or not text else text + "\n")
    later = inside + "\n[later]\na = 1\n"
    taken = remove_block(later, BODY)
    assert taken is not None
    assert tomllib.loads(taken) == tomllib.loads(text) | {"later": {"a": 1}}


def test_a_changed_block_is_not_taken_out() -> None:
    inside = append_block("", BODY).replace("exit 2", "true")
    assert remove_block(inside, BODY) is None
    assert has_block(inside)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = \n", 1),
        ("a = 1\n[b\n", 2),
        ("a = 1\nhooks = { PreToolUse = [] }\n", 2),
        ("x = 0\n\n[hooks]\nPreToolUse = [{ hooks = [] }]\n", 3),
    ],
)
def test_a_file_that_cannot_take_it_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(NotToml) as caught:
        append_block(text, BODY)
    assert caught.value.line == line
