"""Processes and services."""

from __future__ import annotations

import pytest

from tests.kit.effects import foreseen, rows

TABLE = """
crontab -r                  → d:/var/spool/cron/**
crontab -l                  → r:/var/spool/cron/**
crontab f                   → r:/w/f w:/var/spool/cron/**
crontab -                   → w:/var/spool/cron/**
crontab -u x -r             → d:/var/spool/cron/**
systemctl stop x            →
systemctl enable x          → w:/etc/systemd/system/**
systemctl --user enable x   → w:/h/.config/systemd/user/**
systemctl link /x/y.service → w:/etc/systemd/system/** r:/x/y.service
systemctl -H u@h stop x     → n:h:22
kill -9 1                   →
pkill x                     →
killall x                   →
"""


@pytest.mark.parametrize(("line", "expected"), rows(TABLE))
def test_effects(line: str, expected: str) -> None:
    assert foreseen(line) == expected
