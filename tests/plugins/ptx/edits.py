"""Bugs injected into PTX text by patterns; if a pattern matches nothing, the test fails."""

import re
from dataclasses import dataclass

_PRODUCT = r"(mma\.sync\S+\s*"
_GROUP = r"\{[^}]*\}\s*,\s*"


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of every match, or of the first `count`."""

    pattern: str
    becomes: str
    count: int = 0

    def __call__(self, text: str) -> str:
        changed, times = re.subn(self.pattern, self.becomes, text, count=self.count)
        assert times and changed != text, f"nothing matches: plant the mistake anew\n{self.pattern}"
        return changed


def exchanged(group: int, first: int, *, of: str = "") -> Edit:
    """Swap two adjacent registers in one of the four groups of an mma, for products of some types."""
    before = r"[^,}]+,\s*" * first
    product = _PRODUCT.replace(r"\S+", rf"\S+{re.escape(of)}\S*") if of else _PRODUCT
    return Edit(rf"{product}{_GROUP * group}\{{{before})([^,}}]+), ([^,}}]+)", r"\1\3, \2")


RESULT, LEFT, RIGHT = range(3)  # operand groups of an mma
EXCHANGED_FACTORS = Edit(rf"(mma\.sync\.aligned\.m8n8k16\S+\s*{_GROUP})({{%\w+}}), ({{%\w+}})", r"\1\3, \2")
NO_TRANSPOSE = Edit(r"(ldmatrix\S+)\.trans", r"\1")
TRANSPOSED_TOO = Edit(r"(ldmatrix\.sync\.aligned\.m8n8\.x4)\.shared", r"\1.trans.shared")
EXCHANGED_MATRICES = Edit(r"(ldmatrix\S+\s*\{[^,]+), ([^,]+), ([^,]+),", r"\1, \3, \2,")
ALWAYS_COPIED = Edit(r"(cp\.async\.cg[^;]*\], 16), %\w+", r"\1, 16")
NEVER_COPIED = Edit(r"(cp\.async\.cg[^;]*\], 16), %\w+", r"\1, 0")
# Threads beyond the first 16 of a block skip every barrier.
MISSED_BARRIERS = Edit(
    r"bar\.sync\s+0;",
    "{.reg .pred few; .reg .b32 here; mov.u32 here, %tid.x; setp.lt.u32 few, here, 16; @few bar.sync 0;}",
)
# The second vote on a tile's keys repeats the first one.
REPEATED_VOTES = Edit(
    r"(?s)(vote\.sync\.ballot\.b32\s+%\w+, )(%\w+)(.*?vote\.sync\.ballot\.b32\s+%\w+, )%\w+", r"\1\2\3\2"
)
NO_FIRST_COMMIT = Edit(r"cp\.async\.commit_group;", "", 1)
NO_COMMIT = Edit(r"cp\.async\.commit_group;", "")


def waits(count: int, becomes: int) -> Edit:
    """Wait for a different number of groups."""
    return Edit(rf"wait_group {count};", f"wait_group {becomes};")


def shuffled(distance: int) -> Edit:
    """Shuffle over a different distance."""
    return Edit(r"(shfl\.sync\.bfly\.b32\s+[^,]+, [^,]+), [^,]+", rf"\1, {distance}")


def replaced(name: str, becomes: str) -> Edit:
    """Replace one instruction by another."""
    return Edit(re.escape(name), becomes)
