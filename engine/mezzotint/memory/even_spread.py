"""The blocks of a network that are resident: spread as evenly as possible, in plans and in their execution."""

from functools import lru_cache


@lru_cache(maxsize=1024)
def spread(count: int, chosen: int) -> tuple[bool, ...]:
    """Which of `count` blocks are resident, spread as evenly as possible (Bresenham's line)."""
    return tuple((index + 1) * chosen // count > index * chosen // count for index in range(count))
