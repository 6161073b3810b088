"""Which policy counts, and what the user trusts."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest

from vaultroom.cli.choose_policy import choose_policy, is_trusted, read_policy, trust_policy
from vaultroom.errors import PolicyError
from vaultroom.paths import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    base = tmp_path / "home"
    base.mkdir()
    return Home(config=base, data=base, run=base)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_what_is_typed_counts(home: Home, work: Path) -> None:
    (work / "own.yaml").write_bytes(b"typed")
    (work / "vaultroom.yaml").write_bytes(b"local")
    chosen = choose_policy("own.yaml", home=home, cwd=str(work))
    assert (chosen.path, chosen.data) == (work / "own.yaml", b"typed")


def test_a_trusted_local_policy_counts_before_the_users(home: Home, work: Path) -> None:
    local = work / "vaultroom.yaml"
    local.write_bytes(b"local")
    home.user_policy.write_bytes(b"user")
    trust_policy(home, local, b"local")
    assert choose_policy(None, home=home, cwd=str(work)).data == b"local"


def test_an_untrusted_local_policy_is_only_offered(
    home: Home, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (work / "vaultroom.yaml").write_bytes(b"local")
    home.user_policy.write_bytes(b"user")
    assert choose_policy(None, home=home, cwd=str(work)).data == b"user"
    said = capsys.readouterr()
    assert said.out == ""
    assert "vaultroom.yaml is not used" in said.err
    assert "vaultroom policy trust" in said.err


def test_a_change_ends_the_trust(home: Home, work: Path) -> None:
    local = work / "vaultroom.yaml"
    trust_policy(home, local, b"one")
    assert is_trusted(home, local, b"one")
    assert not is_trusted(home, local, b"two")
    trust_policy(home, local, b"two")
    assert not is_trusted(home, local, b"one"), "the older approval of the same place ends"


def test_trust_does_not_travel_to_another_place(home: Home, work: Path) -> None:
    trust_policy(home, work / "a" / "vaultroom.yaml", b"loose")
    assert not is_trusted(home, work / "b" / "vaultroom.yaml", b"loose")


def test_trust_follows_the_real_place(home: Home, work: Path) -> None:
    (work / "link").symlink_to(work)
    trust_policy(home, work / "link" / "vaultroom.yaml", b"x")
    assert is_trusted(home, work / "vaultroom.yaml", b"x")


def test_the_list_of_trusted_policies(home: Home, work: Path) -> None:
    trust_policy(home, work / "vaultroom.yaml", b"x")
    trust_policy(home, work / "other.yaml", b"y")
    lines = home.trusted_policies.read_text().splitlines()
    assert lines[0] == f"{hashlib.sha256(b'x').hexdigest()}  {work / 'vaultroom.yaml'}"
    assert len(lines) == 2
    assert stat.S_IMODE(home.trusted_policies.stat().st_mode) == 0o600
    assert sorted(os.listdir(home.config)) == ["trusted-policies"]


def test_a_list_that_others_may_write_is_not_believed(home: Home, work: Path) -> None:
    trust_policy(home, work / "vaultroom.yaml", b"x")
    home.trusted_policies.chmod(0o622)
    assert not is_trusted(home, work / "vaultroom.yaml", b"x")


def test_no_policy_is_an_error_with_advice(home: Home, work: Path) -> None:
    with pytest.raises(PolicyError, match="expected a policy, found neither") as caught:
        choose_policy(None, home=home, cwd=str(work))
    assert "vaultroom policy trust vaultroom.yaml" in caught.value.advice


def test_a_policy_must_be_a_readable_regular_file(work: Path) -> None:
    with pytest.raises(PolicyError, match="No such file"):
        read_policy(work / "none.yaml")
    with pytest.raises(PolicyError, match="regular file"):
        read_policy(work)
    os.mkfifo(work / "fifo")
    with pytest.raises(PolicyError, match="regular file"):
        read_policy(work / "fifo")
    (work / "big").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(PolicyError, match="at most"):
        read_policy(work / "big")


def test_a_broken_link_in_a_work_tree_is_an_error_and_not_silence(home: Home, work: Path) -> None:
    (work / "vaultroom.yaml").symlink_to("nowhere")
    home.user_policy.write_bytes(b"user")
    with pytest.raises(PolicyError, match="cannot read the policy"):
        choose_policy(None, home=home, cwd=str(work))
