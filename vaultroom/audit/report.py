"""What a verification found: plain values for any front end (design section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SealState(StrEnum):
    """How a session stands: ended and signed, still open (or its host was lost), or not as it was written."""

    SEALED = "sealed"
    UNSEALED = "unsealed"
    TAMPERED = "tampered"


class CheckOutcome(StrEnum):
    """How the check of one property went."""

    HOLDS = "holds"
    BROKEN = "broken"
    NOT_CHECKED = "not checked"


class Check(StrEnum):
    """The properties of a log, each with a short name."""

    ROWS = "rows"
    HEADS = "heads"
    KEYS = "keys"
    LINKS = "links"
    HEAD_FILE = "head file"
    POLICIES = "policies"
    TABLES = "tables"
    WITNESS = "witness"


PROVES: dict[Check, tuple[str, str]] = {
    Check.ROWS: (
        "no row was changed, removed, inserted or moved, and every column says what its payload says",
        "anyone who cannot compute the chain again",
    ),
    Check.HEADS: (
        "every session ends at a row that its own key signed; a seal was made before the key was destroyed",
        "anyone without the key of a session, which existed only in the memory of its host",
    ),
    Check.KEYS: (
        "every session key was signed by this installation's key",
        "a log that was written anew with other keys",
    ),
    Check.LINKS: (
        "the sessions follow each other as they were opened, and no session is missing between them",
        "anyone who removes, adds or swaps whole sessions",
    ),
    Check.HEAD_FILE: (
        "the log reaches at least as far as its .head file, signed at the newest commit",
        "anyone who cuts the log off or brings an old copy back, but not its .head file of the same day",
    ),
    Check.POLICIES: (
        "every policy that judged is kept, byte for byte",
        "anyone who changes the text of a policy afterwards",
    ),
    Check.TABLES: (
        "tables and indexes are the ones Vaultroom made and agree, so that every program sees the same rows",
        "anyone who hides rows from a view of the log",
    ),
    Check.WITNESS: (
        "the log contains every head that was published to the witness",
        "even the same user with all keys, as far as the witness is out of reach",
    ),
}


@dataclass(frozen=True, slots=True)
class SessionReport:
    """One session. `rows` is how many the log holds; `reason` is empty unless it is tampered.

    `first_bad_seq` is the first row that diverges (for a missing row its number); None where the rows are
    whole and something else is wrong.
    """

    id: str
    state: SealState
    rows: int
    first_bad_seq: int | None = None
    reason: str = ""
    agent_name: str = ""


@dataclass(frozen=True, slots=True)
class Property:
    """One property: what it proves, against whom, and how the check went. `detail` says why it did not."""

    check: Check
    outcome: CheckOutcome
    detail: str = ""

    @property
    def proves(self) -> str:
        return PROVES[self.check][0]

    @property
    def against(self) -> str:
        return PROVES[self.check][1]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything. `complete` is False where something that belongs to a full check could not be checked."""

    sessions: tuple[SessionReport, ...]
    properties: tuple[Property, ...]
    rows: int
    complete: bool
    notices: tuple[str, ...] = ()

    @property
    def tampered(self) -> bool:
        return any(item.state is SealState.TAMPERED for item in self.sessions) or any(
            item.outcome is CheckOutcome.BROKEN for item in self.properties
        )

    @property
    def ok(self) -> bool:
        return self.complete and not self.tampered

    @property
    def exit_code(self) -> int:
        """0 valid, 3 tampered, 1 could not check everything."""
        return 3 if self.tampered else 0 if self.complete else 1
