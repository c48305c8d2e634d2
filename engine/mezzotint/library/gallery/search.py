"""A gallery query as an SQL condition: words, and terms such as `tag:sea`, `board:"My trip"`, `model:xl`, `stars:3`."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from mezzotint.catalog.place import at_home
from mezzotint.library.gallery.reading import folded
from mezzotint.library_protocol import GalleryQuery

_MOST_WORDS = 16
_TERM = re.compile(r'(?<!\S)(-?)(tag|board|model|stars):(?:"([^"]*)"?|(\S*))', re.IGNORECASE)
_LABELLED = "content IN (SELECT content FROM labels WHERE kind = ? AND folded = ?)"

Value = str | int
Part = tuple[str, list[Value]]  # SQL and the values bound in it
Boards = Mapping[str, str | None]  # folded name: search of smart boards


def condition(query: GalleryQuery, boards: Boards) -> tuple[str, list[Value]]:
    """Return the WHERE clause of a query, which holds only our own terms, and its values."""
    parts: list[Part] = [("readable", []), *_of_search(query.search, boards)]
    if query.board is not None:
        parts.append(_of_board(query.board, boards))
    if query.model is not None:
        parts.append(("model = ?", [query.model]))
    if query.rating > 0:
        parts.append(("rating >= ?", [query.rating]))
    if query.folder is not None:
        inside = str(at_home(Path(query.folder)).absolute() / "x")[:-1]  # ends with the path separator
        parts.append(("path >= ? AND path < ?", [inside, inside[:-1] + chr(ord(inside[-1]) + 1)]))
    return _joined(parts)


def _joined(parts: list[Part]) -> Part:
    return " AND ".join(sql for sql, _ in parts) or "TRUE", [value for _, values in parts for value in values]


def _of_search(search: str, boards: Boards) -> Iterator[Part]:
    terms = list(_TERM.finditer(search))[:_MOST_WORDS]
    for term in terms:
        sql, values = _of_term(term[2].lower(), (term[3] or term[4] or "").strip(), boards)
        yield (f"NOT ({sql})" if term[1] else sql, values)
    for word in folded(_TERM.sub(" ", search)).split()[:_MOST_WORDS]:
        yield "instr(words, ?) > 0", [word]


def _of_term(kind: str, said: str, boards: Boards) -> Part:
    if kind == "board":
        return _of_board(said, boards)
    if kind == "tag":
        return _LABELLED, [kind, folded(said)]
    if kind == "model":
        return "instr(lower(model), ?) > 0", [folded(said)]
    return ("rating >= ?", [int(said)]) if said in tuple("012345") else ("FALSE", [])


def _of_board(name: str, boards: Boards) -> Part:
    """Images on a board; what a smart one finds, in whose search boards are plain ones."""
    search = boards.get(folded(name))
    if search is None:
        return _LABELLED, ["board", folded(name)]
    sql, values = _joined(list(_of_search(search, {})))
    return f"({sql})", values
