"""Benchmarks: ratios against a plain hand-written baseline in the same run. `python -m benchmarks` prints them."""
