from __future__ import annotations

import pytest

from tests.unit.approvals.making import SESSION, Clock, act, asks, command, remembering, with_facets
from vaultroom.approvals.grants import GrantBook, Memory, describe, memory_of
from vaultroom.events import Action, Effect, Event, Facet, Verdict

PUSH = command("git", "push")
CWD = PUSH.cwd


@pytest.fixture
def time() -> Clock:
    return Clock()


@pytest.fixture
def book(time: Clock) -> GrantBook:
    return GrantBook(monotonic=time)


def two_commands() -> Event:
    push = Facet(Action.SHELL_EXEC, cmd="git", argv=("git", "push"), cwd=CWD)
    publish = Facet(Action.SHELL_EXEC, cmd="npm", argv=("npm", "publish"), cwd=CWD)
    return with_facets(command("git", "push", raw="git push && npm publish"), push, publish)


def test_a_grant_answers_the_same_act_of_its_session_and_counts(book: GrantBook) -> None:
    (grant,) = book.remember(SESSION, remembering(PUSH), "tui")
    covered = book.answer(SESSION, remembering(command("git", "push")), CWD)
    assert covered is not None and covered.grants == (grant.id,) and covered.by == "grant"
    assert book.answer("another session", remembering(PUSH), CWD) is None
    assert [entry.hits for entry in book.list()] == [1]


@pytest.mark.parametrize(
    "other",
    [
        remembering(command("git", "push", "-f")),
        remembering(PUSH, rule="another-rule"),
        remembering(command("git", "push", cwd="/elsewhere")),
    ],
    ids=["argv", "rule", "cwd"],
)
def test_a_grant_answers_nothing_else(book: GrantBook, other: Memory) -> None:
    book.remember(SESSION, remembering(PUSH), "tui")
    assert book.answer(SESSION, other, CWD) is None


def test_every_asking_facet_needs_a_grant(book: GrantBook) -> None:
    event = two_commands()
    both = memory_of(event, event, asks(event, which=(0, 1)))
    book.remember(SESSION, remembering(PUSH), "tui")
    assert book.answer(SESSION, both, CWD) is None
    assert [entry.hits for entry in book.list()] == [0]
    book.remember(SESSION, remembering(command("npm", "publish")), "tui")
    assert book.answer(SESSION, both, CWD) is not None


def test_allowing_a_compound_act_leaves_a_grant_for_each_part(book: GrantBook) -> None:
    event = two_commands()
    assert len(book.remember(SESSION, memory_of(event, event, asks(event, which=(0, 1))), "tui")) == 2
    assert book.answer(SESSION, remembering(PUSH), CWD) is not None


def test_hosts_are_remembered_by_name_and_port_only(book: GrantBook) -> None:
    def fetch(host: str, port: int) -> Memory:
        return remembering(act(Action.NET_EGRESS, host=host, port=port))

    book.remember(SESSION, fetch("docs.example", 443), "tui")
    assert book.answer(SESSION, fetch("docs.example", 443), CWD) is not None
    for other in (fetch("drop.example", 443), fetch("docs.example", 80), fetch("docs.example", 8443)):
        assert book.answer(SESSION, other, CWD) is None


def unmemorable() -> list[Memory]:
    denied = Verdict(Effect.DENY, rule_name="r", facets=asks(PUSH).facets)
    rate = Verdict(Effect.REQUIRE_APPROVAL, rule_name="budget:rate")
    fewer = with_facets(PUSH, PUSH.as_facet(), PUSH.as_facet())
    return [
        remembering(command("rm", "x", opaque=True)),
        remembering(PUSH, rule="builtin:self-protection"),
        memory_of(PUSH, PUSH, rate),
        memory_of(PUSH, PUSH, denied),
        memory_of(fewer, PUSH, asks(fewer)),
    ]


@pytest.mark.parametrize("memory", unmemorable(), ids=["opaque", "builtin", "rate", "denied", "misaligned"])
def test_what_is_never_remembered(book: GrantBook, memory: Memory) -> None:
    assert not memory.possible
    assert describe(memory) == (memory.refusal,) and memory.refusal
    with pytest.raises(ValueError, match=r"."):
        book.remember(SESSION, memory, "tui")
    book.open_window(SESSION, 5, "tui")
    assert book.answer(SESSION, memory, CWD) is None


def test_minutes_end_a_grant_by_the_monotonic_clock(book: GrantBook, time: Clock) -> None:
    book.remember(SESSION, remembering(PUSH), "tui", minutes=2)
    time.now += 119.9
    assert book.answer(SESSION, remembering(PUSH), CWD) is not None
    time.now += 0.1
    assert book.answer(SESSION, remembering(PUSH), CWD) is None
    assert book.list() == ()


@pytest.mark.parametrize(
    ("cwd", "answered"),
    [
        ("/srv/app", True),
        ("/srv/app/deep", True),
        ("/srv/application", False),
        ("/srv", False),
        ("/srv/app/../x", False),
    ],
)
def test_a_directory_narrows_a_grant(book: GrantBook, cwd: str, answered: bool) -> None:
    fetch = remembering(act(Action.NET_EGRESS, host="h", port=1))
    book.remember(SESSION, fetch, "tui", directory="/srv/app/")
    assert (book.answer(SESSION, fetch, cwd) is not None) is answered


def test_a_window_answers_what_the_session_asks_until_it_ends(book: GrantBook, time: Clock) -> None:
    book.open_window(SESSION, 1, "link")
    covered = book.answer(SESSION, remembering(PUSH), CWD)
    assert covered is not None and covered.by == "auto"
    assert book.answer("another", remembering(PUSH), CWD) is None
    time.now += 60
    assert book.answer(SESSION, remembering(PUSH), CWD) is None


@pytest.mark.parametrize("minutes", [0, 61, -1, True, 1.5])
def test_windows_are_1_to_60_whole_minutes(book: GrantBook, minutes: int) -> None:
    with pytest.raises(ValueError, match="whole minutes"):
        book.open_window(SESSION, minutes, "tui")


def test_revoke_and_drop(book: GrantBook) -> None:
    (grant,) = book.remember(SESSION, remembering(PUSH), "tui")
    book.remember("other", remembering(PUSH), "tui")
    assert book.revoke(grant.id) and not book.revoke(grant.id)
    assert book.answer(SESSION, remembering(PUSH), CWD) is None
    assert book.drop_session("other") == 1 and book.list() == ()


def test_the_least_recently_used_grant_goes_first(time: Clock) -> None:
    book = GrantBook(limit=2, monotonic=time)
    first, second, third = (remembering(command("git", name)) for name in ("a", "b", "c"))
    book.remember(SESSION, first, "tui")
    book.remember(SESSION, second, "tui")
    assert book.answer(SESSION, first, CWD) is not None
    book.remember(SESSION, third, "tui")
    assert book.answer(SESSION, second, CWD) is None
    assert book.answer(SESSION, first, CWD) is not None


def test_allowing_again_replaces_instead_of_piling_up(book: GrantBook) -> None:
    book.remember(SESSION, remembering(PUSH), "tui")
    book.remember(SESSION, remembering(PUSH), "tui", minutes=5)
    assert len(book.list()) == 1


def test_what_will_be_remembered_is_told_before(book: GrantBook) -> None:
    (text,) = describe(remembering(PUSH), minutes=5, directory="/srv")
    assert "$ git push" in text and CWD in text and "git-push-ask" in text and "5 min" in text
    (grant,) = book.remember(SESSION, remembering(PUSH), "tui")
    assert grant.label in text


def test_labels_show_the_masked_event_and_nothing_hostile() -> None:
    judged, masked = command("curl", "-u", "hunter2"), command("curl", "-u", "\x1b[2J•••")
    (key,) = memory_of(judged, masked, asks(judged)).keys
    assert "hunter2" not in repr(key) and "\x1b" not in key.label
