"""Damaged input for everything that reads files: seeded mutations of small valid files, and what may come of them.

`python -m tests.fuzz` (`make fuzz`) is the long run; `test_fuzz.py` is the bounded one of the suite. A new kind of
input is one `Target`, added to the table in `targets.py`.
"""
