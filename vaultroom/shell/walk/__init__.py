"""From the syntax tree to the commands that it runs: folders, variables, functions, wrappers."""
