"""What a host finds of the one before it (design section 1).

Sessions whose agents live go on under this host, in a further segment of their chain; the others are
sealed. What was left unanswered is recorded as withdrawn: losing the host is never permission.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from vaultroom import tasks
from vaultroom.audit import record
from vaultroom.audit.inherited import Unsealed
from vaultroom.audit.reader import AuditReader
from vaultroom.errors import PolicyError, StoreError
from vaultroom.supervisor.session_files import SessionFile, SessionFiles
from vaultroom.supervisor.unanswered import unanswered_of
from vaultroom.supervisor.watch import process_end

if TYPE_CHECKING:
    from vaultroom.supervisor.supervisor import Supervisor


async def take_over(supervisor: Supervisor, files: SessionFiles) -> None:
    """Go on with or seal every session of the log that is unsealed.

    Raises StoreError when the log cannot be read or written. A single session that cannot go on is sealed.
    """
    known = {facts.id: facts for facts in files}
    for left in supervisor.log.sessions_unsealed():
        await _take_over_one(supervisor, left, known.pop(left.id, None))
    for facts in known.values():
        if facts.audit_db == str(supervisor.audit_db):
            files.remove(facts.id)


async def _take_over_one(supervisor: Supervisor, left: Unsealed, facts: SessionFile | None) -> None:
    text = await asyncio.to_thread(_policy_text, supervisor.audit_db, left.policy_hash)
    lost = await asyncio.to_thread(unanswered_of, supervisor.audit_db, left.id)
    opening = record.SessionStart(
        id=left.id,
        agent_name=left.agent_name,
        agent_command=left.agent_command,
        policy_hash=left.policy_hash,
        policy_text=text,
        start_cwd=left.start_cwd,
        segment=left.segment + 1,
    )
    await asyncio.wrap_future(supervisor.log.open_session(opening))
    for act in lost:
        await supervisor.log.append(act.withdrawal())
    if facts is None or not facts.alive():
        await supervisor.forget(left.id, reason="host-lost", code=None)
        return
    try:
        policy = await supervisor.load(text, facts.policy_name, facts.environ, facts.home)
        await supervisor.serve(facts, policy, text)
    except (PolicyError, OSError):
        # The agent lives and cannot be judged: its shims stay and refuse until it has ended.
        tasks.spawn(_forget_at_the_end(supervisor, facts), name=f"await the end of {facts.id}")


async def _forget_at_the_end(supervisor: Supervisor, facts: SessionFile) -> None:
    await process_end(facts.runner)
    await process_end(facts.child)
    with contextlib.suppress(StoreError):
        await supervisor.forget(facts.id, reason="not-taken-over", code=None)


def _policy_text(audit_db: Path, policy_hash: str) -> bytes:
    with AuditReader(audit_db) as log:
        text = log.policy(policy_hash)
    if text is None:
        raise StoreError(
            f"expected the log {audit_db} to hold policy {policy_hash}, it does not",
            advice="Check the log with: vaultroom verify",
        )
    return text
