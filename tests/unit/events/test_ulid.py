from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from vaultroom import clock
from vaultroom.events import is_ulid, new_ulid


def test_ids_of_one_thread_sort_in_the_order_they_were_made() -> None:
    with clock.frozen(1_700_000_000_000_000_000):
        made = [new_ulid() for _ in range(1000)]
    assert made == sorted(made)
    assert all(map(is_ulid, made))


def test_ids_of_many_threads_differ() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: new_ulid(), range(20_000)))
    assert len(set(made)) == len(made)


def test_the_time_stands_in_front() -> None:
    with clock.frozen(1_700_000_000_000_000_000):
        assert new_ulid().startswith("01HF7YAT00")


def test_what_is_no_ulid() -> None:
    for text in ("", "01HF7YAT00", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01hf7yat000000000000000000", "U" * 26):
        assert not is_ulid(text)
