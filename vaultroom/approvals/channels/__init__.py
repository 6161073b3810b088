"""Ways to reach a person. Adding a channel is adding a file here."""
