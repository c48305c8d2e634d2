"""Editing of prompt weights in the text: `(words:1.2)`. Pure functions."""

import re
from dataclasses import dataclass

STEP = 0.1
FINE_STEP = 0.05
LIMIT = 10.0  # the engine clamps weights to -10..10
_PLAIN_BRACKETS = 1.1  # weight of (words) without a number

_LEXEME = re.compile(
    r"(?P<escaped>\\[\\()\[\]])"
    r"|(?P<weight>:\s*+(?P<number>[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++))\s*+\))"
    r"|(?P<open>\()|(?P<close>\))"
    r"|[^\\():]++|[\\:]"
)
_BREAK = re.compile(r"\bBREAK\b")
_BETWEEN_WORDS = frozenset(" \t\n\r\f\v\u00a0\u2028\u2029,;()[]{}|")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightEdit:
    """A text edit: `start` to `end` is replaced with `text`, then a range is selected."""

    start: int
    end: int
    text: str
    select_start: int
    select_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A pair of parentheses: `text[start:end]` includes them, `text[inner_start:inner_end]` is the content."""

    start: int
    inner_start: int
    inner_end: int  # start of `:1.2)` or `)`
    end: int
    weight: float


def changed_weight(text: str, start: int, end: int, step: float) -> WeightEdit | None:
    """Return the edit that adds `step` to the weight of the selection, or the word or group at the cursor; or None."""
    found = groups(text)
    if start == end:
        around = [group for group in found if group.start < start < group.end]
        if around:
            return _regrouped(text, max(around, key=lambda group: group.start), step)
        start, end = word_at(text, start)
    else:
        start, end = _trimmed(text, start, end)
    start, end = _whole_escapes(text, start, end)
    if start >= end or text[start:end] == "BREAK":
        return None
    same = _group_of(found, start, end)
    if same is not None:
        return _regrouped(text, same, step)
    return None if _cuts(found, start, end) else _wrapped(text, start, end, step)


def groups(text: str) -> tuple[Group, ...]:
    """Return all pairs of parentheses as the engine parses them, in linear time."""
    found: list[Group] = []
    opened: list[int] = []
    for lexeme in _LEXEME.finditer(text):
        if lexeme["open"]:
            opened.append(lexeme.start())
        elif (lexeme["close"] or lexeme["weight"]) and opened:
            start = opened.pop()
            weight = float(lexeme["number"]) if lexeme["weight"] else _PLAIN_BRACKETS
            found.append(
                Group(
                    start=start,
                    inner_start=start + 1,
                    inner_end=lexeme.start(),
                    end=lexeme.end(),
                    weight=weight,
                )
            )
    return tuple(found)


def has_weights(text: str) -> bool:
    """Whether any part of the prompt is weighted."""
    return bool(groups(text)) or _square_brackets(text)


def word_at(text: str, position: int) -> tuple[int, int]:
    """Return the range of the word at or just before a position; empty between words."""
    start = end = max(0, min(position, len(text)))
    while start > 0 and text[start - 1] not in _BETWEEN_WORDS:
        start -= 1
    while end < len(text) and text[end] not in _BETWEEN_WORDS:
        end += 1
    return start, end


def _regrouped(text: str, group: Group, step: float) -> WeightEdit | None:
    weight = _stepped(group.weight, step)
    if weight == group.weight:
        return None
    inner = text[group.inner_start : group.inner_end]
    bare = _edit(group.start, group.end, "", inner, "")
    if weight == 1.0 and _reads_same(text, bare, groups_more=-1):
        return bare
    return _edit(group.start, group.end, "(", inner, f":{weight:g})")


def _wrapped(text: str, start: int, end: int, step: float) -> WeightEdit | None:
    weight = _stepped(1.0, step)
    edit = _edit(start, end, "(", text[start:end], f":{weight:g})")
    if weight == 1.0 or not _reads_same(text, edit, groups_more=1):
        return None
    paired = any((one.start, one.end) == (start, start + len(edit.text)) for one in groups(_applied(text, edit)))
    return edit if paired else None


def _applied(text: str, edit: WeightEdit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def _reads_same(text: str, edit: WeightEdit, *, groups_more: int) -> bool:
    """Whether the words stay the same: an unmatched bracket could be paired, or a `:1.2` become a weight."""
    after = _applied(text, edit)
    before_groups, after_groups = groups(text), groups(after)
    as_many = len(after_groups) == len(before_groups) + groups_more
    if not as_many or len(_BREAK.findall(text)) != len(_BREAK.findall(after)):
        return False
    return _words(text, before_groups) == _words(after, after_groups)


def _words(text: str, found: tuple[Group, ...]) -> str:
    """Return the text without the parentheses and weights of its groups."""
    marks = sorted(mark for one in found for mark in ((one.start, one.inner_start), (one.inner_end, one.end)))
    ends = [0, *(end for _, end in marks)]
    starts = [*(start for start, _ in marks), len(text)]
    return "".join(text[begin:stop] for begin, stop in zip(ends, starts, strict=True))


def _edit(start: int, end: int, before: str, inner: str, after: str) -> WeightEdit:
    selected = start + len(before)
    return WeightEdit(
        start=start,
        end=end,
        text=before + inner + after,
        select_start=selected,
        select_end=selected + len(inner),
    )


def _stepped(weight: float, step: float) -> float:
    return max(-LIMIT, min(LIMIT, round(weight + step, 2)))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _whole_escapes(text: str, start: int, end: int) -> tuple[int, int]:
    r"""Extend a range so that it does not split `\(`, and no backslash before it escapes the added parentheses."""
    if _backslashes(text, start) % 2:
        start -= 1
    if _backslashes(text, end) % 2 and end < len(text) and text[end] in "()[]\\":
        end += 1
    return start, end


def _backslashes(text: str, end: int) -> int:
    start = end
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    return end - start


def _group_of(found: tuple[Group, ...], start: int, end: int) -> Group | None:
    """Return the group whose content, whole or weight contains the range, or None."""
    for group in found:
        inside = (start, end) == (group.inner_start, group.inner_end)
        number = group.inner_end <= start and end <= group.end
        if inside or number or (start, end) == (group.start, group.end):
            return group
    return None


def _cuts(found: tuple[Group, ...], start: int, end: int) -> bool:
    """Whether parentheses around the range would break up an existing pair."""
    for group in found:
        opens = start <= group.start < end
        closes = start < group.end <= end
        in_number = group.inner_end < start < group.end or group.inner_end < end < group.end
        if opens != closes or in_number:
            return True
    return False


def _square_brackets(text: str) -> bool:
    opened = False
    for lexeme in re.finditer(r"\\[\\()\[\]]|[\[\]]", text):
        if lexeme[0] == "[":
            opened = True
        elif lexeme[0] == "]" and opened:
            return True
    return False
