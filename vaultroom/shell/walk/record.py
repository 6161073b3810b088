"""What a walk finds: one record for each command that may run."""

from __future__ import annotations

from dataclasses import dataclass, field

from vaultroom.events import Action
from vaultroom.shell.effects import Touch
from vaultroom.shell.walk.state import Folder


@dataclass(slots=True)
class Record:
    """One command (or, without `argv`, a redirection on its own or a text that could not be read).

    `argv` is as a rule should see it: values where they are known, words as written where not. `reasons`
    say in plain words why the command is opaque; none means it is not. `touches` are what it does to paths
    and hosts.
    """

    cmd: str
    argv: tuple[str, ...]
    folder: Folder
    reasons: list[str] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    action: Action = Action.SHELL_EXEC
    subcommand: str = ""

    def doubt(self, reason: str) -> None:
        """The command may do more than can be told, for this reason."""
        if reason not in self.reasons:
            self.reasons.append(reason)
