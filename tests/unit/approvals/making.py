"""Events, verdicts and requests for the tests of this folder."""

from __future__ import annotations

from dataclasses import replace

from vaultroom.approvals.asking import new_request
from vaultroom.approvals.grants import Memory, memory_of
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.approvals.scripts import FileDigest, no_files
from vaultroom.events import Action, Effect, Event, Facet, FacetVerdict, Source, Verdict, new_ulid

SESSION = "01SESSION"


class Clock:
    """A monotonic clock in seconds that moves only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def command(*argv: str, cwd: str = "/home/dev/proj", raw: str | None = None, **more: object) -> Event:
    values = {
        "id": new_ulid(),
        "session_id": SESSION,
        "ts": 1,
        "source": Source.SHIM,
        "action": Action.SHELL_EXEC,
        "cmd": argv[0].rpartition("/")[2],
        "argv": argv,
        "raw": " ".join(argv) if raw is None else raw,
        "cwd": cwd,
        "pid": 4242,
        "agent": "opencode",
    }
    return Event(**(values | more))


def act(action: Action, **more: object) -> Event:
    values = {"id": new_ulid(), "session_id": SESSION, "ts": 1, "source": Source.HOOK, "action": action}
    return Event(**(values | {"cwd": "/home/dev/proj", "agent": "opencode"} | more))


def asks(event: Event, rule: str = "git-push-ask", which: tuple[int, ...] = (0,)) -> Verdict:
    facets = tuple(
        FacetVerdict(
            index=at,
            effect=Effect.REQUIRE_APPROVAL if at in which else Effect.ALLOW,
            rule_name=rule if at in which else "",
            line=31,
        )
        for at in range(len(event.judged_facets()))
    )
    return Verdict(Effect.REQUIRE_APPROVAL, rule_name=rule, line=31, facets=facets)


def remembering(event: Event, rule: str = "git-push-ask", digest: FileDigest = no_files) -> Memory:
    return memory_of(event, event, asks(event, rule), digest)


def request_for(
    event: Event | None = None,
    *,
    masked: Event | None = None,
    rule: str = "git-push-ask",
    timeout_s: float = 60,
    clock: Clock | None = None,
) -> ApprovalRequest:
    event = event or command("git", "push", "origin", "main")
    return new_request(
        event,
        masked or event,
        asks(event, rule),
        memory=memory_of(event, masked or event, asks(event, rule)),
        timeout_s=timeout_s,
        rule_text="- name: git-push-ask",
        monotonic=clock or Clock(),
    )


def with_facets(event: Event, *facets: Facet) -> Event:
    return replace(event, facets=facets)
