"""Real agents from npm, installed once into a cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSTALL_SECONDS = 300


def cache_folder() -> Path:
    """`VAULTROOM_TEST_CACHE`, else `.cache/agents` beside the tests (ignored by git)."""
    return Path(os.environ.get("VAULTROOM_TEST_CACHE") or ROOT / ".cache" / "agents")


def installed(name: str, *packages: str) -> Path:
    """The folder of programs with `packages` and Node.js 22 in it. Skips the test when npm cannot."""
    folder = cache_folder() / name
    programs = folder / "node_modules" / ".bin"
    if (folder / "complete").exists():
        return programs
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, so the real agent cannot be")
    folder.mkdir(parents=True, exist_ok=True)
    # Node.js first: npm picks an agent's version by the Node.js that it runs on itself.
    for wanted in (["node@22"], list(packages)):
        environ = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
        command = ["npm", "install", "--prefix", str(folder), "--no-fund", "--no-audit", "--loglevel=error"]
        try:
            result = subprocess.run(
                [*command, *wanted],
                env=environ,
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=INSTALL_SECONDS,
            )
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm did not install {' '.join(wanted)} within {INSTALL_SECONDS} s")
        if result.returncode != 0:
            pytest.skip(f"npm cannot install {' '.join(wanted)}: {result.stderr.strip()[-300:]}")
    (folder / "complete").touch()
    return programs
