"""Installing and removing the shims of a session."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.thin.shim_host import ShimHost, shim_host
from vaultroom.intercept.shims import (
    COMPILED_NAME,
    SOURCE_NAME,
    ShimReport,
    base_interpreter,
    install_shims,
    remove_shims,
    shim_script,
)


@pytest.fixture
def host() -> Iterator[ShimHost]:
    with shim_host() as running:
        running.program("tool", 'echo ran "$0" "$@"')
        running.program("other", "true")
        yield running


def install(host: ShimHost, *names: str, folder: Path | None = None) -> ShimReport:
    return install_shims(
        folder or host.shims, names, socket=host.socket_path, shims_root=host.shims_root, path=host.path
    )


def contents(folder: Path) -> dict[str, tuple[int, bytes, int]]:
    return {
        entry.name: (stat.S_IMODE(entry.stat().st_mode), Path(entry).read_bytes(), entry.inode())
        for entry in os.scandir(folder)
    }


def test_one_file_for_each_program_and_nobody_else_reads_them(host: ShimHost) -> None:
    assert install(host, "tool", "no-such-program", "tool", "other") == ShimReport(
        installed=("tool", "other"), skipped=("no-such-program",)
    )
    found = contents(host.shims)
    assert {name: mode for name, (mode, _, _) in found.items()} == {
        "tool": 0o500,
        "other": 0o500,
        COMPILED_NAME: 0o400,
        SOURCE_NAME: 0o400,
    }
    assert stat.S_IMODE(host.shims.stat().st_mode) == 0o700
    assert [entry.name for entry in host.shims_root.iterdir()] == ["session"]


def test_a_second_time_changes_nothing_and_a_third_mends(host: ShimHost) -> None:
    install(host, "tool", "other")
    before = contents(host.shims)
    install(host, "tool", "other")
    assert contents(host.shims) == before
    (host.shims / "tool").chmod(0o755)
    (host.shims / "other").unlink()
    (host.shims / "other").symlink_to("/bin/true")
    (host.shims / "stray").write_text("")
    install(host, "tool", "other")
    mended = contents(host.shims)
    assert {name: value[:2] for name, value in mended.items()} == {
        name: value[:2] for name, value in before.items()
    }
    assert not (host.shims / "other").is_symlink()
    install(host, "other")
    assert "tool" not in contents(host.shims)


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/bin/rm", "../rm", "a\0b", ".hidden", "x" * 256])
def test_names_that_cannot_be_programs(host: ShimHost, name: str) -> None:
    with pytest.raises(ValueError, match="expected the bare name"):
        install(host, "tool", name)
    assert not host.shims.exists()


def test_the_folder_must_be_a_real_one_below_the_root(host: ShimHost) -> None:
    for folder in (host.home / "elsewhere", host.shims_root, host.shims_root / ".." / "elsewhere"):
        with pytest.raises(ValueError, match="expected a folder below"):
            install(host, "tool", folder=folder)
    (host.shims_root / "real").mkdir()
    host.shims.symlink_to("real")
    with pytest.raises(PermissionError, match="expected a folder"):
        install(host, "tool")
    with pytest.raises(ValueError, match="symbolic link"):
        remove_shims(host.shims)


def test_a_program_that_exists_only_as_a_shim_is_skipped(host: ShimHost) -> None:
    install(host, "tool")
    (host.programs / "tool").unlink()
    report = install_shims(
        host.shims_root / "second",
        ["tool"],
        socket=host.socket_path,
        shims_root=host.shims_root,
        path=f"{host.shims}:{host.path}",
    )
    assert report.skipped == ("tool",)


def test_removing(host: ShimHost) -> None:
    install(host, "tool")
    remove_shims(host.shims)
    assert not host.shims.exists()
    remove_shims(host.shims)


def run_script(host: ShimHost, script: bytes) -> subprocess.CompletedProcess[bytes]:
    shim = host.shims / "tool"
    shim.unlink()
    shim.write_bytes(script)
    shim.chmod(0o500)
    return host.run(["tool", "a b"])


def test_the_interpreter_reads_arguments_as_utf_8_in_every_locale(host: ShimHost) -> None:
    """Not every machine has a Latin-1 locale to try it in, so the flag itself is looked at."""
    install(host, "tool")
    first = (host.shims / "tool").read_bytes().split(b"\n")[0].decode()
    assert first == f"#!{base_interpreter()} -ISXutf8"
    probe = "import sys; print(sys.flags.utf8_mode, sys.flags.isolated, sys.flags.no_site)"
    done = subprocess.run([base_interpreter(), "-ISXutf8", "-c", probe], capture_output=True, check=True)
    assert done.stdout == b"1 1 1\n"


def test_an_interpreter_path_that_no_first_line_can_hold(host: ShimHost) -> None:
    install(host, "tool")
    for name in ("with space", "long" * 40):
        folder = host.home / name
        folder.mkdir()
        interpreter = folder / "python"
        interpreter.symlink_to(base_interpreter())
        script = shim_script(
            folder=host.shims,
            socket=host.socket_path,
            shims_root=host.shims_root,
            interpreter=str(interpreter),
        )
        assert script.startswith(b"#!/bin/sh\n")
        done = run_script(host, script)
        assert (done.stdout, done.stderr, done.returncode) == (
            b"ran " + bytes(host.programs) + b"/tool a b\n",
            b"",
            0,
        )
    with pytest.raises(ValueError, match="quotes"):
        shim_script(
            folder=host.shims, socket=host.socket_path, shims_root=host.shims_root, interpreter="/a b'c"
        )


def test_another_interpreter_version_reads_the_source(host: ShimHost) -> None:
    install(host, "tool")
    script = (host.shims / "tool").read_bytes()
    assert script.count(b"sys.hexversion ==") == 1
    (host.shims / COMPILED_NAME).unlink()
    assert run_script(host, script.replace(b"sys.hexversion ==", b"sys.hexversion !=")).returncode == 0


def test_a_shim_without_its_client_refuses(host: ShimHost) -> None:
    install(host, "tool")
    shutil.copy(host.shims / "tool", host.home / "tool")
    (host.shims / COMPILED_NAME).unlink()
    done = host.run(["tool"])
    assert (done.returncode, done.stdout) == (77, b"") and b"fail closed" in done.stderr
    (host.shims / COMPILED_NAME).write_bytes(b"rubbish")
    assert host.run(["tool"]).returncode == 77
