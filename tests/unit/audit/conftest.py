from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.audit.audit_kit import Log, build_log


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """A valid log that no test changes."""
    return build_log(tmp_path_factory.mktemp("audit") / "audit.db")


@pytest.fixture
def log(pristine: Log, tmp_path: Path) -> Log:
    """A copy of it, to attack."""
    return pristine.copy_to(tmp_path)
