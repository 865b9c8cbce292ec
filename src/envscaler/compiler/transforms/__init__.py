"""LibCST transforms that turn a checked body into Python. Each module holds one matter, and its before and after as `CASES`."""

from envscaler.compiler.transforms.base import Case, Lowering, Names
from envscaler.compiler.transforms.lower import ALL_CASES, Lowered, lower

__all__ = ["ALL_CASES", "Case", "Lowered", "Lowering", "Names", "lower"]
