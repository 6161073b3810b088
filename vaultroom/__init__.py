"""Vaultroom: a control room and permission firewall for AI agents."""

__version__ = "0.1.0"
