"""Reading TOML: dotted names are bounded first, since tomllib takes the square of their length."""

import re
import tomllib
from typing import Any

MOST_PARTS = 32  # of a dotted name

SKIPPED = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|' r"'''.*?(?:'''|\Z)|" r'"(?:[^"\\\n]|\\.)*+"?|' r"'[^'\n]*+'?|#[^\n]*+", re.DOTALL
)  # strings and comments
_DOTTED = re.compile(rf"(?:\.[^.=,\[\]{{}}\n]*+){{{MOST_PARTS}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML. Raises ValueError, also for names with too many dots, and RecursionError."""
    too_long = _DOTTED.search(SKIPPED.sub("_", text))
    if too_long is not None:
        raise ValueError(f"a name has more than {MOST_PARTS} parts, separated by dots")
    return tomllib.loads(text)
