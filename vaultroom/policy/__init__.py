"""The policy: it decides and touches nothing (design section 3). No I/O, no threads.

`loader` reads a file, `evaluate` judges with it. The names here are what other packages use.
"""
