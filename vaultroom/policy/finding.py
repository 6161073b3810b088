"""Finding: one thing to say about a policy, with its place in the file (design section 7, `policy check`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from vaultroom.errors import PolicyError
from vaultroom.events import Event


class Severity(StrEnum):
    """An error refuses the whole policy; warnings and information are shown and change nothing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """`code` names the kind of finding; `rule` is a rule's name or empty.

    `line` and `column` are 1-based and count characters. `covered_by` names earlier rules that explain the
    finding; `witness` is an event that shows it.
    """

    code: str
    severity: Severity
    rule: str
    line: int
    column: int
    message: str
    covered_by: tuple[str, ...] = ()
    witness: Event | None = None

    @property
    def place(self) -> tuple[int, int]:
        """Line and column: findings are listed in this order."""
        return self.line, self.column


class PolicyInvalid(PolicyError):
    """A policy with at least one error. `findings` holds all of them, warnings too, in file order.

    The text has one line for each error: `file:line:col: message`.
    """

    def __init__(self, name: str, findings: tuple[Finding, ...]) -> None:
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        lines = [f"{name}:{error.line}:{error.column}: {error.message}" for error in errors]
        super().__init__("\n".join(lines), advice=f"Check it again with: vaultroom policy check {name}")
        self.name = name
        self.findings = findings
