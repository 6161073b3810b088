"""`vaultroom verify`: is the audit log what the host wrote? (specification section 4.1, design section 7)

Exit codes: 0 valid, 3 tampered, 1 could not check everything.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vaultroom.cli.exit_codes import Exit

if TYPE_CHECKING:
    from vaultroom.audit.report import Property, Report, SessionReport


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="check one session only")
    parser.add_argument("--db", metavar="F", type=Path, help="the log to check (default: this home's)")
    parser.add_argument("--witness", metavar="F", type=Path, help="published heads, one JSON object a line")
    parser.add_argument(
        "--key", metavar="F", type=Path, help="the install.pub of the installation that wrote the log"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print what was found; the exit code says whether the log is valid. Raises StoreError."""
    from vaultroom.audit.verify import read_witness, verify
    from vaultroom.paths import find_home

    home = find_home()
    db_path = args.db or home.audit_db
    report = verify(
        db_path,
        _install_key(args.key, home.keys),
        session=args.session,
        witness=read_witness(args.witness) if args.witness else None,
    )
    text = json.dumps(as_json(report), indent=2) if args.json else as_text(report, db_path)
    sys.stdout.write(text + "\n")
    return Exit(report.exit_code)


def as_json(report: Report) -> dict[str, object]:
    """The object of `--json`."""
    return {
        "ok": report.ok,
        "exit": report.exit_code,
        "rows": report.rows,
        "sessions": [
            {
                "id": session.id,
                "state": session.state.value,
                "rows": session.rows,
                "first_bad_seq": session.first_bad_seq,
                "reason": session.reason,
            }
            for session in report.sessions
        ],
        "properties": [
            {
                "name": item.check.value,
                "outcome": item.outcome.value,
                "detail": item.detail,
                "proves": item.proves,
                "against": item.against,
            }
            for item in report.properties
        ],
        "notices": list(report.notices),
    }


def as_text(report: Report, db_path: Path) -> str:
    """The report for a person: one line for each session, two for each property, one for the sum."""
    from vaultroom.visible import visible

    lines = [visible(str(db_path)), ""]
    lines += [visible(_session_line(session)) for session in report.sessions] or ["no sessions"]
    lines.append("")
    for item in report.properties:
        lines += map(visible, _property_lines(item))
    lines += [visible(f"note: {notice}") for notice in report.notices]
    lines += ["", _sum(report)]
    return "\n".join(lines)


def _install_key(named: Path | None, folder: Path) -> bytes | None:
    from vaultroom.errors import StoreError
    from vaultroom.signing import install_public_key

    if named is None:
        return install_public_key(folder)
    try:
        raw = bytes.fromhex(named.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise StoreError(f"expected a public key in hex in {named}: {error}") from error
    if len(raw) != 32:
        raise StoreError(f"expected a public key of 32 bytes in {named}, found {len(raw)}")
    return raw


def _session_line(session: SessionReport) -> str:
    from vaultroom.audit.report import SealState

    if session.state is SealState.SEALED:
        found = f"{_count(session.rows, 'row')}"
    elif session.state is SealState.UNSEALED:
        found = f"up to seq {session.rows}"
    elif session.first_bad_seq is None:
        found = session.reason
    else:
        found = f"first bad seq {session.first_bad_seq}: {session.reason}"
    name = f"  ({session.agent_name})" if session.agent_name else ""
    return f"{session.state.value:<9} {session.id}  {found}{name}"


def _property_lines(item: Property) -> list[str]:
    from vaultroom.audit.report import CheckOutcome

    if item.outcome is CheckOutcome.HOLDS:
        return [f"{item.outcome:<12} {item.check:<10} {item.proves}", f"{'':23} against {item.against}"]
    return [f"{item.outcome:<12} {item.check:<10} {item.detail}"]


def _sum(report: Report) -> str:
    counted = f"{_count(len(report.sessions), 'session')}, {_count(report.rows, 'row')}"
    if report.tampered:
        return f"TAMPERED: {counted}"
    if not report.complete:
        return f"NOT FULLY CHECKED: {counted}; what was checked holds"
    return f"valid: {counted}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
