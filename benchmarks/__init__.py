"""Ratios to peers and to the machine's own limits, each measured side by side in one run.

`python -m benchmarks [--quick] [--json] [--data DIR] [NAME…]`, or `make bench`.
"""
