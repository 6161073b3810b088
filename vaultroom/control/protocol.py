"""What a front end and the host say to each other: snapshots out, commands in.

Both ends of the control socket, and the in-process handle, speak these frozen values. On the socket
they travel as the frames of `vaultroom.wire`:

    {"n":1,"op":"state","args":{}}                                     command
    {"n":1,"ok":true,"value":…}                                        answer
    {"n":1,"ok":false,"error":{"kind":…,"message":…,"advice":…}}       refusal
    {"push":"state","value":…}                                         snapshot, after `watch`
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

PROTOCOL = 1
"""Raised when an older client would misunderstand a newer host."""


@dataclass(frozen=True, slots=True)
class SessionStart:
    """What a runner asks for: one agent's run.

    `policy` is the policy's bytes as read by the client, `policy_name` the path it was read from (for
    messages). `cwd` is absolute. `path` is the PATH in which the real programs are found.
    """

    agent_name: str
    agent_command: tuple[str, ...]
    cwd: str
    policy: bytes
    policy_name: str
    path: str
    home: str
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Only the variables that the policy's paths and channels may name; never logged."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "agent_name": self.agent_name,
            "agent_command": list(self.agent_command),
            "cwd": self.cwd,
            "policy": base64.b64encode(self.policy).decode(),
            "policy_name": self.policy_name,
            "path": self.path,
            "home": self.home,
            "environ": dict(self.environ),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SessionStart:
        """Raises ValueError, KeyError or TypeError for any other shape."""
        return cls(
            agent_name=_text(data["agent_name"]),
            agent_command=_texts(data["agent_command"]),
            cwd=_text(data["cwd"]),
            policy=base64.b64decode(_text(data["policy"]), validate=True),
            policy_name=_text(data["policy_name"]),
            path=_text(data["path"]),
            home=_text(data["home"]),
            environ={_text(name): _text(value) for name, value in dict(data["environ"]).items()},
        )


@dataclass(frozen=True, slots=True)
class SessionGrant:
    """What the host hands back: the session's id and what goes into the child's environment.

    `environ` is added; `withheld` names the variables that must not reach the child. `warnings` are for
    the user's eyes. `prompts` says whether approvals are to be asked on the runner's terminal. `brand` is
    the mark that the runner takes before it starts the child (platform.take_brand).
    """

    id: str
    environ: Mapping[str, str]
    withheld: tuple[str, ...]
    warnings: tuple[str, ...]
    prompts: bool
    brand: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "environ": dict(self.environ),
            "withheld": list(self.withheld),
            "warnings": list(self.warnings),
            "prompts": self.prompts,
            "brand": self.brand,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SessionGrant:
        return cls(
            id=data["id"],
            environ=dict(data["environ"]),
            withheld=tuple(data["withheld"]),
            warnings=tuple(data["warnings"]),
            prompts=data["prompts"],
            brand=data["brand"],
        )


@dataclass(frozen=True, slots=True)
class Removal:
    """What a delete would remove: `files` and `bytes` counted so far, `complete` when that is all.

    `sample` holds a few paths, visible() already.
    """

    files: int
    bytes: int
    complete: bool
    sample: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dossier:
    """What a person may want to see before an answer. All texts are visible() already.

    `facets`: one line for each thing that the act does, with the rule that decides it. `removal`: what a
    delete would take. `difference`: a unified diff of a file that would change. `chain`: the processes that
    ask, from the asking one up to the agent. `deliveries`: who was asked where, and whether it arrived.
    """

    facets: tuple[str, ...] = ()
    removal: Removal | None = None
    difference: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    deliveries: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        removal = self.removal
        return {
            "facets": list(self.facets),
            "removal": None
            if removal is None
            else {
                "files": removal.files,
                "bytes": removal.bytes,
                "complete": removal.complete,
                "sample": list(removal.sample),
            },
            "difference": list(self.difference),
            "chain": list(self.chain),
            "deliveries": list(self.deliveries),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Dossier:
        removal = data["removal"]
        return cls(
            facets=tuple(data["facets"]),
            removal=None if removal is None else Removal(**{**removal, "sample": tuple(removal["sample"])}),
            difference=tuple(data["difference"]),
            chain=tuple(data["chain"]),
            deliveries=tuple(data["deliveries"]),
        )


@dataclass(frozen=True, slots=True)
class RequestView:
    """A waiting request as a front end sees it. All texts are visible() already; times are RFC 3339.

    `card` is everything that a surface draws (approvals.card), as plain data. `seconds_left` counts from
    when the snapshot was taken. `dossier` is what a full card adds.
    """

    id: str
    state: str
    session: str
    agent: str
    rule: str
    action: str
    summary: str
    created_at: str
    expires_at: str
    seconds_left: float
    unreachable: bool
    card: Mapping[str, Any]
    dossier: Dossier = Dossier()

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _REQUEST_FIELDS} | {
            "card": dict(self.card),
            "dossier": self.dossier.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RequestView:
        return cls(
            **{name: data[name] for name in _REQUEST_FIELDS},
            card=dict(data["card"]),
            dossier=Dossier.from_dict(data["dossier"]),
        )


_REQUEST_FIELDS = tuple(name for name in RequestView.__dataclass_fields__ if name not in ("card", "dossier"))
LISTED_FIELDS = (
    "id",
    "state",
    "session",
    "agent",
    "rule",
    "action",
    "summary",
    "created_at",
    "expires_at",
)
"""The members of a request in `approve list --json` (design section 7)."""


@dataclass(frozen=True, slots=True)
class SessionView:
    """One agent's run as a front end sees it. Texts are visible() already.

    `state` is starting, running, frozen or stopped (its questions are refused). `per_minute` is how many
    acts came in the last 60 s. `launched` agents were started by the host and have their output kept.
    """

    id: str
    agent: str
    command: tuple[str, ...]
    cwd: str
    policy: str
    policy_hash: str
    started_at: str
    state: str
    child_pid: int
    allowed: int
    denied: int
    asked: int
    waiting: int
    per_minute: int
    launched: bool

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _SESSION_FIELDS} | {"command": list(self.command)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SessionView:
        return cls(**{name: data[name] for name in _SESSION_FIELDS}, command=tuple(data["command"]))


_SESSION_FIELDS = tuple(name for name in SessionView.__dataclass_fields__ if name != "command")


@dataclass(frozen=True, slots=True)
class EndedView:
    """A request that ended lately: its final state, and who answered (empty when nobody did)."""

    id: str
    state: str
    by: str

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "state": self.state, "by": self.by}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EndedView:
        return cls(id=data["id"], state=data["state"], by=data["by"])


@dataclass(frozen=True, slots=True)
class GrantView:
    """A remembered answer: what it is (`label`), who gave it, how often it answered.

    `seconds_left` is None when it holds until the session ends. A `window` answers all that is asked.
    """

    id: str
    session: str
    label: str
    rule: str
    by: str
    directory: str
    seconds_left: float | None
    hits: int
    window: bool

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GrantView:
        return cls(**{name: data[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True, slots=True)
class HostView:
    """The host itself. `head` is `seq:hash` of the newest durable row, empty before the first.

    `surfaces` are the places where somebody can be asked now. `trouble` says what is wrong with the log,
    empty when nothing is.
    """

    pid: int
    audit_db: str
    rows: int
    head: str
    surfaces: tuple[str, ...]
    trouble: str

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {
            "surfaces": list(self.surfaces)
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> HostView:
        values = {name: data[name] for name in cls.__dataclass_fields__}
        return cls(**{**values, "surfaces": tuple(data["surfaces"])})


@dataclass(frozen=True, slots=True)
class State:
    """Everything that a front end shows, at one moment. A newer state replaces an older one whole."""

    version: int
    rooms: int
    host: HostView
    sessions: tuple[SessionView, ...]
    requests: tuple[RequestView, ...]
    grants: tuple[GrantView, ...] = ()
    ended: tuple[EndedView, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "rooms": self.rooms,
            "host": self.host.to_dict(),
            "grants": [grant.to_dict() for grant in self.grants],
            "sessions": [session.to_dict() for session in self.sessions],
            "requests": [request.to_dict() for request in self.requests],
            "ended": [request.to_dict() for request in self.ended],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> State:
        return cls(
            version=data["version"],
            rooms=data["rooms"],
            host=HostView.from_dict(data["host"]),
            grants=tuple(GrantView.from_dict(item) for item in data["grants"]),
            sessions=tuple(SessionView.from_dict(item) for item in data["sessions"]),
            requests=tuple(RequestView.from_dict(item) for item in data["requests"]),
            ended=tuple(EndedView.from_dict(item) for item in data["ended"]),
        )


@dataclass(frozen=True, slots=True)
class AnswerCommand:
    """A person's answer on its way to the broker.

    `kind` is one of allow_once, allow_rule, deny, respond, stop; `by` the surface (tui, tty, cli);
    `shown` the digest of the card that the person saw, empty for surfaces that answer by id alone.
    """

    request: str
    kind: str
    by: str
    reason: str = ""
    shown: str = ""
    minutes: int = 0
    directory: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AnswerCommand:
        return cls(
            **{name: _text(data[name]) for name in ("request", "kind", "by", "reason", "shown", "directory")},
            minutes=int(data["minutes"]),
        )


@dataclass(frozen=True, slots=True)
class Output:
    """What a launched agent printed: `text` lies at byte offsets `start` to `end` of its whole output.

    `start` is greater than what was asked for when older output was dropped. `closed` after the last byte.
    """

    start: int
    end: int
    text: str
    closed: bool

    def to_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Output:
        return cls(**{name: data[name] for name in cls.__dataclass_fields__})


class Steer(StrEnum):
    """What a person can do to an agent's processes."""

    FREEZE = "freeze"
    """SIGSTOP to its process group, until thawed."""
    THAW = "thaw"
    STOP = "stop"
    """End it: SIGTERM, then SIGKILL; all that it asks is refused meanwhile."""


class Control(Protocol):
    """The only handle that a front end holds. Every call may be made from any thread and blocks.

    All raise HostUnavailable when the host is gone, and VaultroomError with the host's own text when it
    refuses.
    """

    def open_session(self, start: SessionStart) -> SessionGrant: ...

    def rejoin_session(self, session_id: str) -> bool:
        """Tell a new host that this runner still holds the session. False: the host does not know it."""
        ...

    def child_started(self, session_id: str, pid: int) -> None: ...

    def close_session(self, session_id: str, code: int) -> None: ...

    def answer(self, command: AnswerCommand) -> str:
        """`accepted`, `unknown`, `already:<state>`, `changed: <why>` or `refused: <why>`."""
        ...

    def state(self) -> State: ...

    def launch(self, start: SessionStart, environ: Mapping[str, str]) -> str:
        """Start an agent that the host runs itself: stdin closed, output kept. Gives the session's id."""
        ...

    def output(self, session_id: str, after: int) -> Output:
        """What a launched agent printed after byte `after`, at most 64 KiB at a time."""
        ...

    def steer(self, session_id: str, what: Steer) -> None: ...

    def revoke(self, grant_id: str) -> bool:
        """Forget a grant; False when there was none."""
        ...

    def watch(self, receive: Callable[[State], None], surface: str = "") -> Callable[[], None]:
        """Call `receive` with the present state and after every change (from another thread; changes
        that come faster are skipped, the last one always arrives). Returns what ends it.

        A `surface` (`tty`, `tui`) says that somebody can be asked here while it lasts.
        """
        ...

    def close(self) -> None: ...


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list of texts, found a {type(value).__name__}")
    return tuple(_text(item) for item in value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found a {type(value).__name__}")
    return value
