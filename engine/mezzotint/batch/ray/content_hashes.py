"""Verify that every node of a Ray cluster has the same models, and other files that affect an image."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_folder
from mezzotint.checkpoints.weight_file import with_trunks
from mezzotint.errors import MezzotintError
from mezzotint.families.control.checkpoint import control_files
from mezzotint.families.control.files import files_of
from mezzotint.paths import cache_folder
from mezzotint.protocol import GenerateRequest, ModelRef

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog

Kind = Literal["model", "file"]
HashOf = Callable[[Kind, str], str]  # the sha256 of a model's weights or of a file; raises MezzotintError if absent

_WORDS = {"model": "the model", "file": "the file"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A model by its id, or a file by its path, and the hash that it must have."""

    kind: Kind
    name: str
    sha256: str


class ContentHashes:
    """Hashes of the models and files of this machine, each computed once."""

    def __init__(self, hash_of: HashOf, default_model: str, control: Callable[[str], str] = str) -> None:
        """`control`: the file of a control network, by its name."""
        self._hash_of, self._default, self._control = hash_of, default_model, control
        self._known: dict[tuple[Kind, str], str] = {}
        self._lock = threading.Lock()  # only one worker does the slow hashing

    def required(self, requests: Iterable[GenerateRequest]) -> tuple[Need, ...]:
        """Return what the requests need, each item once. Raises MezzotintError if this machine itself lacks one."""
        names = dict.fromkeys(name for request in requests for name in self._names(request))
        with self._lock:
            return tuple(Need(kind=kind, name=name, sha256=self._hash(kind, name)) for kind, name in names)

    def mismatch(self, needs: Iterable[Need]) -> str | None:
        """Describe the first need that this machine does not meet, or None if it meets all."""
        for need in needs:
            try:
                with self._lock:
                    here = self._hash(need.kind, need.name)
            except MezzotintError as error:
                return f"{_WORDS[need.kind]} {plain(need.name, 200)} cannot be used there ({error})"
            if here != need.sha256:
                return (
                    f"{_WORDS[need.kind]} {plain(need.name, 200)} has different content there "
                    f"(sha256 {here[:12]}..., here {need.sha256[:12]}...)"
                )
        return None

    def _hash(self, kind: Kind, name: str) -> str:
        if (kind, name) not in self._known:
            self._known[kind, name] = self._hash_of(kind, name)
        return self._known[kind, name]

    def _names(self, request: GenerateRequest) -> Iterator[tuple[Kind, str]]:
        for index, stage in enumerate(request.cascade.stages):
            if stage.model is not None or not index:
                yield "model", self._default if stage.model is None else stage.model.id
            yield from (("file", path) for path in (stage.model.parts if stage.model is not None else ()))
            if stage.weights is not None:
                yield "file", stage.weights
            yield from (("file", lora.path) for lora in stage.loras or ())
        yield from (("file", lora.path) for lora in request.loras)
        yield from (("file", path) for path in request.embeddings)
        yield from (
            ("file", str(file))
            for one in request.controls
            if one.model
            for file in control_files(Path(self._control(one.model)), one.encoder)
        )
        detectors = (Path(one.model) for one in request.details if one.model is not None)
        yield from (
            ("file", str(file)) for path in detectors if is_folder(path) for file in files_of(path, "transformers")
        )


def standard_hashes(catalog: "Catalog") -> ContentHashes:
    """Return the hashes for the models of a catalog and the files of this machine."""
    return ContentHashes(lambda kind, name: _hash_of(catalog, kind, name), catalog.default().id, catalog.control)


def _hash_of(catalog: "Catalog", kind: Kind, name: str) -> str:
    from mezzotint.families.model_sources import sources_of

    cache = cache_folder() / "fingerprints.json"
    if kind == "file":
        return fingerprint(Path(name).expanduser(), cache).sha256
    found = catalog.find(ModelRef(id=name))
    sources = sources_of(found.checkpoint, found.detected)
    files = dict.fromkeys(path for source in sources.components.values() for path in source.files)
    hashes = [fingerprint(path, cache).sha256 for path in with_trunks(files)]
    return hashlib.sha256("\n".join(hashes).encode("ascii")).hexdigest()
