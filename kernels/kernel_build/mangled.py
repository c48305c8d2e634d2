"""A short name for a kernel: the words of its mangled name, which tell its instance apart, in their order."""

import re

_LITERAL = re.compile(r"L[a-z](n?\d+)E")
_SUBSTITUTION = re.compile(r"S[0-9A-Z]*_")  # something that was named before
_NUMBER = re.compile(r"\d+")


def readable(mangled: str, without: frozenset[str] = frozenset({"mezzotint"})) -> str:
    """`_ZN9mezzotint5scaleILi64ELb1EEvPf` becomes `scale 64 1`, with points for blanks; others stay as they are."""
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
    # The name of a namespace without one holds a hash of where its file was compiled.
    kept = (word for word in words if word not in without and not word.startswith("_GLOBAL__N_"))
    return ".".join(kept) or mangled
