"""What a session's socket does with each kind of frame."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vaultroom import clock
from vaultroom.events import Action, Event, Source, new_ulid
from vaultroom.gate.gate import Gate
from vaultroom.gate.judge import Judge, Outcome
from vaultroom.intercept.hooks.adapter import HookCall
from vaultroom.intercept.hooks.hook_events import (
    HookFrame,
    answer_frame,
    hook_event,
    refused_event,
)
from vaultroom.intercept.hooks.hook_events import read_frame as read_hook_frame
from vaultroom.intercept.shim_events import shim_event
from vaultroom.shell import FileView, NoFiles, RealFiles, needs_files
from vaultroom.supervisor.ipc import Frame, verdict_message
from vaultroom.supervisor.lookups import LookupThreads
from vaultroom.supervisor.session_files import SessionFile

FRAME_RULE = "builtin:frame"
"""The rule name that frames are refused under which were not understood."""


class EvalFrames:
    """The frames of a session's shims; files are looked at on threads with a deadline."""

    def __init__(self, facts: SessionFile, gate: Judge, lookups: LookupThreads) -> None:
        self._gate = gate
        self._session_id = facts.id
        self._agent = facts.agent_name
        self._cwd = facts.cwd
        self._lookups = lookups
        self._files = RealFiles()

    async def read(self, frame: dict[str, Any], pid: int) -> Event:
        """Raises FrameError for a frame that makes no sense."""
        event_id, ts = new_ulid(), clock.now_ns()

        def make(view: FileView) -> Event:
            return shim_event(
                frame,
                event_id=event_id,
                session_id=self._session_id,
                ts=ts,
                pid=pid,
                agent=self._agent,
                view=view,
            )

        if not needs_files(_claimed_command(frame)):
            return make(self._files)
        event = await self._lookups.run(lambda: make(self._files))
        if event is None:  # the files did not answer in time: the act stands as what cannot be known
            event = replace(make(NoFiles()), opaque=True, facets=())
        return event

    async def judge(self, event: Event, frame: Frame) -> Outcome:
        return await self._gate.judge(event)

    async def refuse(self, frame: Frame, pid: int, why: str) -> Outcome:
        event = Event(
            id=new_ulid(),
            session_id=self._session_id,
            ts=clock.now_ns(),
            source=Source.SHIM,
            action=Action.SHELL_EXEC,
            cwd=self._cwd,
            pid=pid,
            agent=self._agent,
            opaque=True,
        )
        return await self._gate.refuse(event, FRAME_RULE, why)

    def answer(self, frame: Frame, outcome: Outcome) -> dict[str, Any]:
        return verdict_message(outcome)


class HookFrames:
    """The frames of hooks in one session. A person may take longer than the agent waits: `Gate.judge`."""

    def __init__(self, facts: SessionFile, gate: Gate, lookups: LookupThreads) -> None:
        self._facts = facts
        self._gate = gate
        self._lookups = lookups
        self._files = RealFiles()

    async def read(self, frame: dict[str, Any], pid: int) -> Event:
        """Raises FrameError for a frame or a payload that makes no sense."""
        question = read_hook_frame(frame)
        return await self.event(question, question.call(), pid)

    async def event(self, question: HookFrame, call: HookCall, pid: int) -> Event:
        """The event of a call that was read already. Raises FrameError."""
        event_id, ts = new_ulid(), clock.now_ns()

        def make(view: FileView) -> Event:
            return hook_event(
                call,
                question.adapter,
                event_id=event_id,
                session_id=self._facts.id,
                ts=ts,
                pid=pid,
                agent=self._facts.agent_name,
                view=view,
            )

        event = await self._lookups.run(lambda: make(self._files))
        if event is None:  # the files did not answer in time: what the call does cannot be known
            facets = tuple(replace(facet, opaque=True) for facet in make(NoFiles()).judged_facets())
            event = replace(make(NoFiles()), opaque=True, facets=facets)
        return event

    async def judge(self, event: Event, frame: Frame) -> Outcome:
        return await self._gate.judge(event, patience=float(frame["seconds"]))

    async def refuse(self, frame: Frame, pid: int, why: str) -> Outcome:
        event = refused_event(
            event_id=new_ulid(),
            session_id=self._facts.id,
            ts=clock.now_ns(),
            pid=pid,
            agent=self._facts.agent_name,
            cwd=self._facts.cwd,
        )
        return await self._gate.refuse(event, FRAME_RULE, why)

    def answer(self, frame: Frame, outcome: Outcome) -> dict[str, Any]:
        return answer_frame(frame.get("agent"), outcome)


def _claimed_command(frame: Mapping[str, Any]) -> str:
    event = frame.get("event")
    argv = event.get("argv") if isinstance(event, dict) else None
    first = argv[0] if isinstance(argv, list) and argv and isinstance(argv[0], str) else ""
    return os.path.basename(first)
