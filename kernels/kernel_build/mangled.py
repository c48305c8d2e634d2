"""Short names for kernels: the parts of the mangled name that identify the instance, in order."""

import re

_LITERAL = re.compile(r"L[a-z](n?\d+)E")
_SUBSTITUTION = re.compile(r"S[0-9A-Z]*_")  # reference to an earlier name
_NUMBER = re.compile(r"\d+")


def readable(mangled: str, without: frozenset[str] = frozenset({"mezzotint"})) -> str:
    """Shorten `_ZN9mezzotint5scaleILi64ELb1EEvPf` to `scale.64.1`; names that are not mangled stay as they are."""
    if not mangled.startswith("_Z"):
        return mangled
    words: list[str] = []
    position = 2
    while position < len(mangled):
        if match := _LITERAL.match(mangled, position):
            words.append(match[1].replace("n", "-"))
            position = match.end()
        elif match := _SUBSTITUTION.match(mangled, position):
            position = match.end()
        elif match := _NUMBER.match(mangled, position):
            start, length = match.end(), int(match[0])
            words.append(mangled[start : start + length])
            position = start + length
        else:
            position += 1
    # The name of an anonymous namespace contains a hash of the path of its file.
    kept = (word for word in words if word not in without and not word.startswith("_GLOBAL__N_"))
    return ".".join(kept) or mangled
