"""Secrets stay out: values that look like secrets become a fixed mask (design, law 8).

What is masked: the values of secret-named options, variables, JSON members and query parameters, passwords
in URLs, Authorization and Cookie headers, and texts with the shape of a known token. Only the value is
replaced, never its name, and never anything that a shell might run: an agent must not be able to hide a
command by dressing it up as a secret. Where a quoted text might be code after all (`sh -c 'Authorization:
x; rm -rf y'`), the mask ends at the first character that is special to a shell.

Everything here is deterministic and idempotent. Expressions run in RE2, over UTF-8 bytes seen as Latin-1,
so that undecodable arguments need no special case.
"""

from vaultroom.masking.arguments import FILE_CONTENTS, MOST_DEPTH, TOO_DEEP, mask_arguments
from vaultroom.masking.commands import mask_argv, mask_path, mask_text
from vaultroom.masking.expressions import MASK
from vaultroom.masking.names import is_secret_name

__all__ = [
    "FILE_CONTENTS",
    "MASK",
    "MOST_DEPTH",
    "TOO_DEEP",
    "is_secret_name",
    "mask_arguments",
    "mask_argv",
    "mask_path",
    "mask_text",
]
