"""Completes what is typed in a prompt; files are read once, and folders every few seconds."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.catalog.place import at_home
from mezzotint.errors import UsageError
from mezzotint.library.completion.tags import Tag, matching, read_tags
from mezzotint.library_protocol import Completion, CompletionKind, CompletionQuery
from mezzotint.values.basic import is_text

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog

_FRESH = 10.0  # seconds for which a folder is not searched again
_LONGEST_WORD = 200
_MOST_WILDCARDS = 10_000
_DEEPEST = 4  # folders of wildcards

Files = Mapping[str, str]  # paths by name


class Completer:
    """Completions by kind, those of one kind in a row. Thread-safe."""

    def __init__(self, make_catalog: "Callable[[], Catalog]", clock: Callable[[], float] = time.monotonic) -> None:
        self._make_catalog, self._clock = make_catalog, clock
        self._lock = threading.Lock()
        self._tags: tuple[object, tuple[Tag, ...]] = ("", ())
        self._files: dict[str, tuple[float, Files]] = {}

    def complete(self, query: CompletionQuery) -> tuple[Completion, ...]:
        """Return at most `limit` completions. Raises UsageError for a tag file that cannot be used."""
        if not 1 <= query.limit <= 100 or len(query.word) > _LONGEST_WORD:
            return ()
        with self._lock:
            found = [one for kind in dict.fromkeys(query.kinds) for one in self._of(kind, query)]
        return tuple(found[: query.limit])

    def _of(self, kind: CompletionKind, query: CompletionQuery) -> Iterator[Completion]:
        if kind == "tag":
            tags = matching(self._read(query.tag_file), query.word, query.limit) if query.tag_file else ()
            yield from (Completion(kind="tag", text=tag.name, detail=_detail(tag, alias)) for tag, alias in tags)
            return
        named = self._named(kind, query.wildcards)
        if kind == "style":  # by the beginnings of their words, so that they do not crowd out tags
            yield from (Completion(kind=kind, text=name) for name in named if _begins(name, query.word))
            return
        yield from (Completion(kind=kind, text=name, path=named[name]) for name in _ranked(named, query.word))

    def _read(self, name: str) -> tuple[Tag, ...]:
        path = at_home(Path(name))
        try:
            stamp = (name, path.stat().st_mtime_ns, path.stat().st_size)
        except (OSError, ValueError):
            raise UsageError(f"there is no tag file {name[:200]}: choose another one in the settings") from None
        if self._tags[0] != stamp:
            self._tags = (stamp, read_tags(path))
        return self._tags[1]

    def _named(self, kind: CompletionKind, wildcards: str) -> Files:
        key = f"{kind} {wildcards if kind == 'wildcard' else ''}"
        known, now = self._files.get(key), self._clock()
        if known is None or now - known[0] > _FRESH:
            known = self._files[key] = (now, self._listed(kind, wildcards))
        return known[1]

    def _listed(self, kind: CompletionKind, wildcards: str) -> Files:
        if kind == "wildcard":
            return dict.fromkeys(wildcard_names(at_home(Path(wildcards))), "") if wildcards else {}
        if kind == "style":
            from mezzotint.library.styles.store import list_styles  # loads what reads pictures

            return {one.name: "" for one in list_styles().styles}
        catalog = self._make_catalog()
        files = catalog.loras() if kind == "lora" else catalog.embeddings()
        return {name: str(path) for name, path in files.items() if is_text(name) and is_text(str(path))}


def _detail(tag: Tag, alias: str) -> str:
    return ", ".join(filter(None, (alias, f"{tag.count:,}".replace(",", " ") if tag.count else "")))


def _begins(name: str, word: str) -> bool:
    wanted, lower = word.strip().lower(), name.lower()
    return lower.startswith(wanted) or any(part.startswith(wanted) for part in lower.split())


def _ranked(names: Files, word: str) -> list[str]:
    """Names that begin with a word, then those that contain it."""
    wanted = word.strip().lower()
    having = sorted(name for name in names if wanted in name.lower())
    return sorted(having, key=lambda name: not name.lower().startswith(wanted))


def wildcard_names(root: Path) -> Iterator[str]:
    """Yield the names of all wildcards in a folder, those of a subfolder with its name before a slash."""
    count = 0
    for folder, inner, files in os.walk(root):
        below = Path(folder).relative_to(root)
        inner[:] = sorted(inner) if len(below.parts) < _DEEPEST else []
        for name in sorted(files):
            whole = (below / name).as_posix().removesuffix(".txt")
            if name.endswith(".txt") and is_text(whole) and count < _MOST_WILDCARDS:
                count += 1
                yield whole
