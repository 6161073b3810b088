"""Agents' pre-tool hooks: one adapter for each agent, one table of what its tools do."""
