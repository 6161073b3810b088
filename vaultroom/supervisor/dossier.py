"""What a person may want to know before an answer: facets, what would be removed, the difference, who asks.

All of this looks at files and processes: run it on a look-up thread. Everything is bounded in entries,
bytes and time, and every text is made visible.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path

from vaultroom import clock, platform
from vaultroom.approvals.request import ApprovalRequest
from vaultroom.approvals.summary import facet_line
from vaultroom.control.protocol import Dossier, Removal
from vaultroom.events import Action, Event
from vaultroom.visible import visible

MAX_ENTRIES = 50_000
MAX_SECONDS = 1.0
SAMPLE = 5
MAX_FILE = 1024 * 1024
"""Bytes of a file that a difference is made for."""
MAX_DIFFERENCE = 400
"""Lines of a difference at most; the card says when there are more."""
_MAX_FACETS = 200


def dossier_of(request: ApprovalRequest, event: Event, runner_pid: int) -> Dossier:
    """Everything about one question. `event` is the act as it really is; it is not kept."""
    return Dossier(
        facets=tuple(_facet_lines(request)),
        removal=removal_of(event),
        difference=tuple(difference_of(event)),
        chain=tuple(process_chain(event.pid, runner_pid)),
    )


def _facet_lines(request: ApprovalRequest) -> Iterator[str]:
    facets = request.event.judged_facets()
    for verdict in request.verdict.facets[:_MAX_FACETS]:
        if not verdict.counts:
            continue
        by = f"rule {visible(verdict.rule_name)}" if verdict.rule_name else "the default"
        where = f", line {verdict.line}" if verdict.line else ""
        yield f"{facet_line(facets[verdict.index])}: {verdict.effect.value} ({by}{where})"
    left = len(request.verdict.facets) - _MAX_FACETS
    if left > 0:
        yield f"… and {left} more"


def removal_of(event: Event) -> Removal | None:
    """What the deletes of an act would take; None when it deletes nothing."""
    paths = [f.path for f in event.judged_facets() if f.action is Action.FS_DELETE and f.path]
    if not paths:
        return None
    deadline = clock.monotonic() + MAX_SECONDS
    files = size = entries = 0
    sample: list[str] = []
    for path, is_folder, length in _walk(paths):
        entries += 1
        if entries > MAX_ENTRIES or clock.monotonic() > deadline:
            return Removal(files, size, complete=False, sample=tuple(sample))
        if is_folder:
            continue
        files, size = files + 1, size + length
        if len(sample) < SAMPLE:
            sample.append(visible(path))
    return Removal(files, size, complete=True, sample=tuple(sample))


def _walk(paths: list[str]) -> Iterator[tuple[str, bool, int]]:
    """Path, whether it is a folder, and bytes; links are not followed, what cannot be read is passed over."""
    pending = list(dict.fromkeys(paths))[::-1]
    while pending:
        path = pending.pop()
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            continue
        folder = Path(path).is_dir() and not Path(path).is_symlink()
        yield path, folder, found.st_size
        if folder:
            try:
                with os.scandir(path) as entries:
                    pending += [entry.path for entry in entries]
            except OSError:
                continue


def difference_of(event: Event) -> list[str]:
    """A unified diff of the file that a Write or Edit would change; empty where there is none to show."""
    arguments = event.tool_args
    path = next((arguments[n] for n in ("file_path", "filePath", "path") if n in arguments), None)
    if not isinstance(path, str):
        return []
    content, old, new = (arguments.get(name) for name in ("content", "old_string", "new_string"))
    full = os.path.join(event.cwd, path)
    if isinstance(content, str):
        before, after = _text_of(full), content
    elif isinstance(old, str) and isinstance(new, str):
        text = _text_of(full)
        count = -1 if arguments.get("replace_all") is True else 1
        before, after = (text, text.replace(old, new, count)) if old and old in text else (old, new)
    else:
        return []
    lines = list(
        difflib.unified_diff(before.split("\n"), after.split("\n"), "before", "after", lineterm="", n=3)
    )
    shown = [visible(line) for line in lines[2 : MAX_DIFFERENCE + 2]]
    left = len(lines) - 2 - len(shown)
    return [*shown, f"… and {left} more lines"] if left > 0 else shown


def _text_of(path: str) -> str:
    """The file's text; empty where there is no regular file of a sane size."""
    try:
        if not Path(path).is_file() or os.path.getsize(path) > MAX_FILE:
            return ""
        return Path(path).read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def process_chain(pid: int, runner_pid: int) -> list[str]:
    """`git (4250)`, `bash (4245)`, … from the asking process up to the agent."""
    chain = []
    for ancestor in platform.ancestors_of(pid) or []:
        if ancestor in (runner_pid, os.getpid(), 1):
            break
        chain.append(f"{visible(platform.process_name(ancestor) or '?')} ({ancestor})")
    return chain
