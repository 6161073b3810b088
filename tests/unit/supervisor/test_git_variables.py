from __future__ import annotations

import pytest

from vaultroom.events import Environment
from vaultroom.supervisor.git_variables import redirects_git

CWD = "/home/dev/proj/src"


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": ""},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "alias.p", "GIT_CONFIG_VALUE_0": "push"},
        {"GIT_CONFIG_PARAMETERS": "'core.hooksPath'='/dev/null' 'gc.auto'='0'"},
        {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"},
        {"GIT_DIR": "/home/dev/proj/.git", "GIT_INDEX_FILE": ".git/index"},
        {"GIT_DIR": "../.git", "GIT_WORK_TREE": ".."},
    ],
)
def test_what_agents_and_hooks_set_is_harmless(environ: dict[str, str]) -> None:
    assert not redirects_git(Environment(environ), CWD, "push")


@pytest.mark.parametrize(
    "environ",
    [
        {"GIT_DIR": "/elsewhere/.git"},
        {"GIT_DIR": "/home/dev/proj/src/../../other/.git"},
        {"GIT_WORK_TREE": "/protected"},
        {"GIT_WORK_TREE": "/home/dev/pro"},
        {"GIT_EXEC_PATH": "/tmp/evil"},
        {"GIT_CONFIG_GLOBAL": "/tmp/evil"},
        {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "Url.x.insteadOf", "GIT_CONFIG_VALUE_0": "y"},
        {"GIT_CONFIG_KEY_7": "remote.origin.pushurl", "GIT_CONFIG_VALUE_7": "x"},
        {"GIT_CONFIG_PARAMETERS": "'gc.auto=0' 'remote.o.url'='x'"},
        {"GIT_CONFIG_PARAMETERS": "'url.x.insteadOf=y'"},
    ],
)
def test_what_redirects(environ: dict[str, str]) -> None:
    assert redirects_git(Environment(environ), CWD, "push")
    assert not redirects_git(Environment(environ), CWD, "status")
