"""What other programs read in prompts and we do not, so that it reaches the model as words. No torch."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from mezzotint.checkpoints.plain_text import plain

EMBEDDING_SUFFIXES = (".safetensors", ".pt", ".bin")
_EMBEDDING = re.compile(r"(?<!\w)embedding:([^\s,()\[\]:|]++)", re.IGNORECASE)
_LONGEST = 40  # characters of what was found

_KINDS = (
    (re.compile(r"(?<!\w)AND(?!\w)"), "prompts are not composed by AND; use --region for parts of the image"),
    (
        re.compile(r"\b(?:ADD(?:BASE|COMM|ROW|COL)|(?:COUPLE|MASK|AREA|FEATHER|FILL)(?=\s*\())\b"),
        "regions are given by --region",
    ),
    (re.compile(r"<(?!lora:|lyco:)\w{1,40}:[^<>]{0,200}>"), "only LoRAs can be used, by --lora FILE"),
    (
        re.compile(r"(?<!\\)\{(?:[^{}|]{0,500}+\||[\d -]{1,9}\$\$)|(?<!\\)\$\{\w{1,60}[=:}]"),
        "choices and variables are drawn by the window, by `mezzotint batch` and by `mezzotint queue add`",
    ),
    (
        re.compile(r"(?<!\w)__[\w*](?:(?!__)[\w.*/-]){0,80}__(?!\w)"),
        "wildcards are drawn by the window and by `mezzotint batch --wildcards FOLDER`",
    ),
    (re.compile(r"\.(?:and|blend|swap)\("), "InvokeAI's functions are not known; write [from:to:when] for swap"),
    (re.compile(r"\)(?:\+++|-++|\d?\.\d++)(?=[\s,)]|$)"), "weights are written (words:1.2)"),
    (re.compile(r"(?<![\w.$])-?\d++(?:\.\d++)?::\s*+\w"), "weights are written (words:1.2)"),
    (re.compile(r"(?:^|\s)--[a-z]{1,20}(?= )"), "options are not read in prompts"),
)


def read_as_text(prompts: Sequence[str]) -> Iterator[str]:
    """Yield a line for each kind of syntax in the prompts that is read as text, with its first occurrence."""
    for pattern, why in _KINDS:
        found = next((one for prompt in prompts if (one := pattern.search(prompt)) is not None), None)
        if found is not None:
            yield f"{plain(found[0].strip(), _LONGEST)} in a prompt is read as text: {why}"


def embedding_names(prompt: str) -> list[str]:
    """Return the names in `embedding:NAME`, as ComfyUI has it, without folders and suffixes."""
    paths = (PurePosixPath(found[1].replace("\\", "/")) for found in _EMBEDDING.finditer(prompt))
    return [path.stem if path.suffix.lower() in EMBEDDING_SUFFIXES else path.name for path in paths]


def embedding_notices(prompts: Sequence[str], words: Sequence[str]) -> Iterator[str]:
    """Yield a line for each embedding that is named and not given, or given and not in any prompt.

    `words`: by which the embeddings that are given stand in prompts.
    """
    given = {word.lower() for word in words}
    named = dict.fromkeys(name for prompt in prompts for name in embedding_names(prompt))
    for name in named:
        if name.lower() not in given:
            yield f"embedding:{plain(name, _LONGEST)} in a prompt is read as text: give its file with --embedding FILE"
    for word in words:
        if not any(word_pattern([word]).search(prompt) for prompt in prompts):
            yield f"the embedding {plain(word, _LONGEST)} is not used: no prompt has the word {plain(word, _LONGEST)}"


def word_pattern(words: Sequence[str]) -> re.Pattern[str]:
    """The places of learned words, which are group 1 after `embedding:` and otherwise group 2; the longest first."""
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    suffixes = "|".join(map(re.escape, EMBEDDING_SUFFIXES))
    named = rf"(?<!\w)embedding:(?:[^\s,()\[\]:|/\\]+[/\\])*({either})(?:{suffixes})?(?!\w)"
    return re.compile(rf"{named}|(?<!\w)({either})(?!\w)", re.IGNORECASE)
