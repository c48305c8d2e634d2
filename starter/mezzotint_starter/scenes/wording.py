"""Words for what composed scenes add to the postcards': numbers, sizes, sides, pairs, styles, and plurals."""

NUMBER_WORDS = {2: ("two", "two", "two", "2", "a pair of", "a couple of"), 3: ("three", "three", "three", "3")}

SIZE_WORDS: dict[str, tuple[str, ...]] = {
    "small": ("small", "small", "tiny", "little"),
    "medium": ("medium-sized", "normal-sized"),
    "big": ("big", "big", "large", "huge", "giant"),
}
FAR_PHRASES = ("in the distance", "far away", "in the background")
NEAR_PHRASES = ("up close", "close up", "in the foreground")

SIDE_PHRASES: dict[str, tuple[str, ...]] = {
    "left": ("on the left", "on the left", "to the left", "at the left", "on the left side"),
    "middle": ("in the middle", "in the middle", "in the centre", "in the center"),
    "right": ("on the right", "on the right", "to the right", "at the right", "on the right side"),
}

# Of {first} and {second}: that the first is left of the second, that it is right of it, and that they are two.
LEFT_OF = (
    "{first} to the left of {second}",
    "{first} on the left and {second} on the right",
    "{first} left of {second}",
)
RIGHT_OF = (
    "{first} to the right of {second}",
    "{first} on the right and {second} on the left",
    "{first} right of {second}",
)
BESIDE = ("{first} and {second}", "{first} and {second}", "{first} next to {second}", "{first} beside {second}")

STYLE_WORDS: dict[str, tuple[str, ...]] = {
    "solid": ("3d", "3D", "3d render", "glossy 3d", "3d style", "in 3d", "rendered"),
    "flat": ("flat", "flat style", "flat design", "flat illustration", "in flat style", "flat colours", "vector art"),
    "ink": ("line drawing", "line drawing", "ink drawing", "as a line drawing", "pen sketch", "outline drawing"),
}

OPENINGS = (
    "an image of",
    "a picture of",
    "a postcard of",
    "a scene with",
    "please draw",
    "show me",
    "there is",
    "draw",
)
FILLERS = ("beautiful", "lovely", "quiet", "pretty", "nice", "very", "detailed", "cosy", "cute", "bright", "old")

# Named by a plural, or the same in both numbers.
_UNCOUNTED = {"bacon", "bread", "corn", "garlic", "broccoli", "popcorn", "spaghetti", "sushi"}
_ALIKE = {"sheep", "deer", "moose", "dice", "rhinoceros"} | _UNCOUNTED
_IRREGULAR = {
    "mouse": "mice",
    "wolf": "wolves",
    "goose": "geese",
    "leaf": "leaves",
    "snowman": "snowmen",
    "scarf": "scarves",
}
_SIBILANT = ("s", "x", "ch", "sh", "z")


def plural(name: str) -> str:
    """Return the plural of a thing's name: "cup of tea" becomes "cups of tea"."""
    head, of, rest = name.partition(" of ")
    if of and not head.startswith("Statue"):
        return f"{plural(head)}{of}{rest}"
    first, space, last = name.rpartition(" ")
    return f"{first}{space}{_plural_word(last)}"


def is_plural(name: str) -> bool:
    """Whether a name is a plural already, like "glasses", or of what is not counted: it takes no article."""
    last = name.partition(" of ")[0].rpartition(" ")[2]
    return last in _UNCOUNTED or (last.endswith("s") and not last.endswith(("ss", "us", "is", "os")))


def _plural_word(word: str) -> str:
    if word in _ALIKE or word.endswith("fish") or is_plural(word):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith((*_SIBILANT, "ato")) else "s")
