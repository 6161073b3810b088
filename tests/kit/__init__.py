"""Shared by the tests: a throw-away world with a home, a user and a work folder."""
