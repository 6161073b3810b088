"""What announced acts lend, and to whom."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tests.kit.events import shell
from vaultroom.approvals.grants import GrantKey, Memory
from vaultroom.events import Action, Event, Source
from vaultroom.gate.lineage import LIFETIME_SECONDS, Lineage, calling_process

AGENT, HOOK, SHIM, STRANGER = 100, 200, 300, 400
CHAINS = {HOOK: [HOOK, 150, AGENT, 50, 1], SHIM: [SHIM, 250, AGENT, 50, 1], STRANGER: [STRANGER, 50, 1]}
NAMES = {150: "sh", 250: "bash", AGENT: "claude", 50: "bash"}
PUSH = Memory(keys=(GrantKey("ask", Action.SHELL_EXEC, "cmd:1", ""),))


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def lineage(clock: Clock | None = None) -> Lineage:
    made = Lineage(ancestors_of=CHAINS.get, process_name=NAMES.get, monotonic=clock or Clock())
    made.saw(hook())
    return made


def hook(*argv: str) -> Event:
    return shell(*(argv or ("git", "push")), source=Source.HOOK, pid=HOOK)


def shim(*argv: str, pid: int = SHIM) -> Event:
    return shell(*(argv or ("git", "push")), pid=pid)


def test_an_approval_answers_the_same_command_once() -> None:
    made = lineage()
    made.announce(hook(), PUSH.keys)
    resolution = made.borrow(shim(), PUSH)
    assert resolution is not None and resolution.by == "hook"
    assert made.borrow(shim(), PUSH) is None


def test_a_plain_allow_lends_nothing() -> None:
    made = lineage()
    made.announce(hook())
    assert made.borrow(shim(), PUSH) is None


def test_only_exactly_the_same() -> None:
    made = lineage()
    made.announce(hook(), PUSH.keys)
    other_rule = Memory(keys=(replace(PUSH.keys[0], rule="other"),))
    both = Memory(keys=(*PUSH.keys, *other_rule.keys))
    assert made.borrow(shim("git", "push", "-f"), PUSH) is None
    assert made.borrow(replace(shim(), cwd="/elsewhere"), PUSH) is None
    assert made.borrow(shim(), other_rule) is None
    assert made.borrow(shim(), both) is None
    assert made.borrow(shim(), Memory()) is None
    assert made.borrow(shim(pid=STRANGER), PUSH) is None
    assert made.borrow(shim(pid=0), PUSH) is None
    assert made.borrow(hook(), PUSH) is None
    assert made.borrow(shim(), PUSH) is not None


def test_it_ends_with_the_acts_lifetime() -> None:
    clock = Clock()
    made = lineage(clock)
    made.announce(hook(), PUSH.keys)
    clock.now = LIFETIME_SECONDS
    assert made.borrow(shim(), PUSH) is None
    assert made.marks(shim()) == {"orphan": True}


def test_marks() -> None:
    silent = Lineage(ancestors_of=CHAINS.get, process_name=NAMES.get)
    assert silent.marks(shim()) == {}, "a session without hooks has no orphans"
    made = lineage()
    assert made.marks(shim()) == {"orphan": True}
    push, build = hook(), hook("make")
    made.announce(push)
    made.announce(build)
    assert made.marks(shim()) == {"caused_by": push.id}
    assert made.marks(shim("cc")) == {"caused_by": build.id}
    assert made.marks(shim(pid=STRANGER)) == {"orphan": True}
    assert made.marks(push) == {}


def test_the_agent_behind_a_hook() -> None:
    def found(pid: int, *names: str) -> int | None:
        return calling_process(pid, frozenset(names), ancestors_of=chains.get, process_name=comm.get)

    chains = {9: [9, 8, 7, 6, 5, 1], 3: [3, 1]}
    comm = {8: "sh", 7: "codex", 6: "node", 5: "zsh"}
    assert found(9) == 7
    assert found(9, "codex", "node") == 6
    assert found(9, "zsh") == 5
    assert found(3) is None
    assert found(0) is None
    assert found(77) is None
