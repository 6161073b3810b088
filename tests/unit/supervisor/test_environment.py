from __future__ import annotations

from vaultroom.supervisor.environment import child_environment, session_variables


def test_secrets_and_own_variables_stay_behind() -> None:
    base = {"A": "1", "TOKEN": "t", "VAULTROOM_HOME": "/h", "VAULTROOM_SERVER_SECRET": "s", "PATH": "/bin"}
    added = session_variables(session_id="S", socket="/s.sock", shims="/shims/S", path="/bin")
    assert child_environment(base, added, ["TOKEN"]) == {
        "A": "1",
        "VAULTROOM_HOME": "/h",
        "PATH": "/shims/S:/bin",
        "VAULTROOM_SESSION": "S",
        "VAULTROOM_SOCK": "/s.sock",
    }


def test_an_empty_path_does_not_become_the_current_folder() -> None:
    assert session_variables(session_id="S", socket="s", shims="/shims", path="")["PATH"] == "/shims"
