"""The agents whose hooks are understood."""

from __future__ import annotations

from collections.abc import Mapping

from vaultroom.intercept.hooks.adapter import Adapter
from vaultroom.intercept.hooks.claude import Claude
from vaultroom.intercept.hooks.codex import Codex
from vaultroom.intercept.hooks.gemini import Gemini
from vaultroom.intercept.hooks.opencode import OpenCode

_ALL: tuple[Adapter, ...] = (Claude(), Codex(), Gemini(), OpenCode())
ADAPTERS: Mapping[str, Adapter] = {adapter.name: adapter for adapter in _ALL}
