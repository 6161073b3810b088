"""The control room: what agents do, what they ask, and one key for each answer.

The only package that knows Textual. It looks through `vaultroom.control.protocol` and reads the log; it
decides nothing and holds no state of the host's.
"""
