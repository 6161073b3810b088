"""What words become: braces, tildes, parameters, splitting, globs."""

from vaultroom.shell.expansion.expander import Expander
from vaultroom.shell.expansion.fields import HOLE, Field

__all__ = ["HOLE", "Expander", "Field"]
