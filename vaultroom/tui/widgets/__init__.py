"""Views: each has a `show` method, and none decides anything."""
