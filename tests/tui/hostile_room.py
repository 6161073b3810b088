"""A room on a real terminal, fed with one hostile text wherever an agent's words can come from."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from tests.kit import views
from tests.kit.fake_control import FakeControl
from tests.tui.bench import HOSTILE, LogFile, request
from vaultroom.control.protocol import Control, Dossier, GrantView, Removal
from vaultroom.errors import HostUnavailable, VaultroomError
from vaultroom.tui.app import RoomApp


def no_host() -> Control:
    raise HostUnavailable(HOSTILE)


def refuse(command_line: str, agent: str) -> str:
    raise VaultroomError(f"START {HOSTILE}", advice=HOSTILE)


def main(folder: Path) -> int:
    log = LogFile(folder / "audit.db")
    log._connection.execute("UPDATE sessions SET agent_name = ?", (HOSTILE,))
    log.add("shell.exec", "shim", {"raw": f"LOG {HOSTILE}"}, "allow", HOSTILE)
    log.add(HOSTILE, "shim", {"path": HOSTILE}, HOSTILE, HOSTILE)
    log.add("mcp.tool", "mcp", {"server": HOSTILE, "tool": HOSTILE, "tool_args": {"a": HOSTILE}}, "deny")
    texts = [HOSTILE, HOSTILE]
    card = {
        "message": HOSTILE,
        "cwd": HOSTILE,
        "rule": HOSTILE,
        "rule_text": HOSTILE,
        "asks": texts,
        "details": texts,
        "remembers": texts,
    }
    dossier = Dossier(
        (HOSTILE, HOSTILE), Removal(3, 4, False, (HOSTILE,)), (f"+{HOSTILE}",), (HOSTILE,), (HOSTILE,)
    )
    first = request(
        1, f"$ ACT {HOSTILE}", agent=HOSTILE, action=HOSTILE, rule=HOSTILE, card=card, dossier=dossier
    )
    second = request(2, f"$ NEXT {HOSTILE}", agent=HOSTILE)
    session = views.session_view(
        agent=HOSTILE, command=(HOSTILE,), cwd=HOSTILE, policy=f"/p/{HOSTILE}", state=HOSTILE, launched=True
    )
    host = replace(
        views.state().host,
        audit_db=str(log.path),
        head=HOSTILE,
        surfaces=(HOSTILE,),
        trouble=f"TROUBLE {HOSTILE}",
    )
    grant = GrantView("G", session.id, f"GRANT {HOSTILE}", HOSTILE, HOSTILE, HOSTILE, None, 1, False)
    state = views.state(host=host, sessions=(session,), requests=(first, second), grants=(grant,))
    control = FakeControl(shown=state, printed=f"OUT {HOSTILE}\n{HOSTILE}\n", word=f"refused: {HOSTILE}")
    app = RoomApp(
        control,
        attached=True,
        rejoin=no_host,
        start_agent=refuse,
        keymap={HOSTILE: HOSTILE, "answer.deny": HOSTILE},
        theme=HOSTILE,
        notices=(f"NOTICE {HOSTILE}",),
    )
    code = app.run()
    log.close()
    return code if code is not None else 9


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
