"""The one place where masking touches RE2: texts come from agents, and RE2 cannot be made slow."""

from __future__ import annotations

from typing import Any, Final

import re2  # type: ignore[import-untyped,import-not-found,unused-ignore]

MASK: Final = "‹masked›"
"""What stands in a secret's place. It says nothing about the secret, not even its length."""
MASK_BYTES: Final = MASK.encode()


def compile_bytes(pattern: bytes) -> Any:
    """A compiled RE2 expression over bytes, each seen as one Latin-1 character."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2.compile(pattern, options)
