"""`python -m vaultroom`."""

from vaultroom.cli.main import entry

if __name__ == "__main__":
    entry()
