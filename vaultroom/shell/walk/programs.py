"""What a plain program does: its effects on files and hosts, and the words that hide them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from vaultroom.shell.effects import PROGRAMS, Effects, Touch, effects_of
from vaultroom.shell.expansion import HOLE, Field
from vaultroom.shell.walk.record import Record
from vaultroom.shell.walk.walker import Walker
from vaultroom.shell.words import words

_HARMLESS: Final = words(
    "echo printf test [ [[ true false : sleep seq pwd basename dirname date expr let exit return wait jobs"
    " ls which type whoami id uname nproc hostname tty kill break continue shift times umask ulimit"
    " export local declare typeset readonly cd pushd popd dirs logout getopts hash read unset set"
    " tr cut fold rev nl column fmt yes cal df du free uptime ps stat file realpath readlink tput clear mkdir"
)
"""Programs and builtins whose arguments, whatever they are, do no more than print or set."""

_TEXT_OPTIONS: Final = {
    "git": words("-m --message --author --date --grep --format --pretty"),
    "gh": words("-b --body -t --title --notes --subject"),
}
"""Options whose value is text for people: it may be anything."""


def doubt_unknown_words(record: Record, fields: Sequence[Field]) -> None:
    """Flag a command with arguments that are not known, unless they cannot matter."""
    if record.cmd in _HARMLESS:
        return
    texts = _TEXT_OPTIONS.get(record.cmd, frozenset())
    for index, field in enumerate(fields[1:], start=1):
        if field.too_many:
            record.doubt(f"the pattern {field.shown} matches too much to be looked at")
        if field.known:
            if field.is_glob and any(match.startswith("-") for match in field.matches):
                record.doubt(f"a file that {field.shown} matches has a name like an option")
            continue
        is_text = not field.may_vanish and (
            fields[index - 1].text in texts or field.text.partition("=")[0] in texts
        )
        if not is_text:
            record.doubt(f"the argument {field.shown} is not known")


def add_effects(
    walker: Walker, record: Record, fields: Sequence[Field], *, home: str, recursive: bool = False
) -> None:
    """What the command touches, in every working directory that is possible."""
    if record.cmd not in PROGRAMS:
        return
    argv = [text for field in fields for text in (field.matches or (field.text,))]
    _add(walker, record, argv, home, recursive)
    if any(field.guess is not None and not field.known for field in fields):
        guessed: list[str] = []
        for field in fields:
            if field.known or field.guess is None:
                guessed.extend(field.matches or (field.text,))
            elif field.guess or not field.may_vanish:
                guessed.append(field.guess)
        _add(walker, record, guessed, home, recursive)


def _add(walker: Walker, record: Record, argv: Sequence[str], home: str, recursive: bool) -> None:
    folder = record.folder
    for cwd in (folder.path, *folder.others):
        effects = effects_of(record.cmd, argv, cwd=cwd, view=walker.view, home=home)
        _take(record, effects, recursive)
    if not folder.known and not record.reasons:
        nowhere = effects_of(record.cmd, argv, cwd="/" + HOLE, view=walker.view, home=home)
        if any(HOLE in touch.path for touch in nowhere.touches):
            record.doubt("the working directory is not known here")


def _take(record: Record, effects: Effects, recursive: bool) -> None:
    if effects.opaque:
        record.doubt("it may touch more than its arguments tell")
    for touch in effects.touches:
        if HOLE not in touch.path and HOLE not in touch.host:
            record.touches.append(_widened(touch) if recursive else touch)


def _widened(touch: Touch) -> Touch:
    return replace(touch, recursive=True) if touch.path else touch
