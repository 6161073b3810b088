"""The subcommands of `vaultroom policy`: one module each, with `add_arguments` and `run`."""
