"""Variables in paths."""

from __future__ import annotations

import pytest

from vaultroom.policy.matchers.variables import expand_variables


def _expand(text: str) -> str:
    return expand_variables(text, {"A": "x", "A1": "y", "EMPTY": ""}, quote=lambda value: f"<{value}>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "a"), ("$A", "<x>"), ("${A}1", "<x>1"), ("$A1", "<y>"), ("$A/$A", "<x>/<x>"), ("[$]A", "[$]A")],
)
def test_expansion(text: str, expected: str) -> None:
    assert _expand(text) == expected


@pytest.mark.parametrize("text", ["$B", "$EMPTY", "$", "$-", "${A", "${A-x}", "a$"])
def test_what_cannot_be_expanded(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        _expand(text + "/")
