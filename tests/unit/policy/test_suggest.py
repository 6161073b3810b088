"""Did you mean."""

from __future__ import annotations

from vaultroom.policy.suggest import did_you_mean


def test_a_near_word_a_synonym_or_nothing() -> None:
    words = ["allow", "deny"]
    assert did_you_mean("Alow", words) == " (did you mean 'allow'?)"
    assert did_you_mean("block", words, {"block": "deny"}) == " (did you mean 'deny'?)"
    assert did_you_mean("xyz", words) == ""
    assert did_you_mean("not-host", ["not_host"]) == " (did you mean 'not_host'?)"
