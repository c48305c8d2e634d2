"""Methods of the library service for the cards of models and LoRAs."""

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.atomic import atomic_write
from mezzotint.errors import Cancelled, MezzotintError, UsageError
from mezzotint.library.cards.found import READ, stem_of, with_found
from mezzotint.library.cards.own import save_card, save_picture, with_own
from mezzotint.library.params import PathsParams
from mezzotint.library_protocol import CardPicture, ModelCard, SaveCard
from mezzotint.paths import cache_folder
from mezzotint.protocol import IsCancelled, OnEvent
from mezzotint.rpc.server import Method

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog

_MOST = 10_000  # files at once
_KEPT = 256 << 10  # characters of an entry that are kept in memory
_THUMBNAIL = "data:image/jpeg;base64,"

MakeCatalog = Callable[[], "Catalog"]


def card_methods(make_catalog: MakeCatalog) -> dict[str, Method]:
    """Return the methods by name."""
    return {
        "loras": Method(
            params=None, run=lambda _, __, cancelled: lora_cards(make_catalog().loras(), cancelled), job=True
        ),
        "cards": Method(params=PathsParams, run=_cards, lane="apart"),
        "save_card": Method(params=SaveCard, run=_save, lane="waiting"),
        "card_picture": Method(params=CardPicture, run=_save_picture, lane="waiting"),
    }


def lora_cards(files: Mapping[str, Path], cancelled: IsCancelled = lambda: False) -> tuple[ModelCard, ...]:
    """The cards of all LoRA files, by name."""
    found = []
    for _, path in sorted(files.items(), key=lambda item: item[0].casefold()):
        if cancelled():
            raise Cancelled("stopped")
        found.append(lora_card(path))
    return tuple(found)


def lora_card(path: Path) -> ModelCard:
    """The card of a LoRA; one that cannot be used says why."""
    card = ModelCard(path=str(path), name=stem_of(path))
    try:
        status = path.stat()
        size, base, families, metadata = _read_lora(path, status.st_size, status.st_mtime_ns)
    except (MezzotintError, OSError) as error:
        return with_own(with_found(replace(card, problem=str(error)), path, {}))
    card = with_found(replace(card, bytes=size, base=base, families=families), path, metadata)
    if card.picture is None:
        card = replace(card, picture=_embedded(metadata))
    return with_own(card)


@lru_cache(maxsize=2000)
def _read_lora(path: Path, _size: int, _changed: int) -> tuple[int, str, tuple[str, ...], Mapping[str, str]]:
    """Size, base, families and used metadata of a LoRA: a search for a thousand reads each file's header once."""
    from mezzotint.families.lora.dialects import families_named
    from mezzotint.families.lora.file import open_lora

    file = open_lora(path)
    metadata = {name: text for name, text in file.header.metadata.items() if name in READ and len(text) <= _KEPT}
    if file.base is None:
        return file.header.bytes, "", families_named(metadata), metadata
    return file.header.bytes, file.base.words, file.base.families, metadata


def model_card(path: Path) -> ModelCard:
    """The card of a model's file or folder."""
    from mezzotint.checkpoints.header import read_header

    metadata: Mapping[str, str] = {}
    if path.suffix.lower() == ".safetensors":
        with suppress(MezzotintError):
            metadata = read_header(path).metadata
    card = with_found(ModelCard(path=str(path), name=stem_of(path)), path, metadata)
    if card.picture is None:
        card = replace(card, picture=_embedded(metadata))
    return with_own(card)


def _embedded(metadata: Mapping[str, str]) -> str | None:
    """The picture in a file's metadata, as a file in the cache; its header is bounded, and so is this."""
    text = metadata.get("modelspec.thumbnail", "")
    if not text.startswith(_THUMBNAIL):
        return None
    try:
        data = base64.b64decode(text.removeprefix(_THUMBNAIL), validate=True)
    except (binascii.Error, ValueError):
        return None
    path = cache_folder() / "model_pictures" / f"{hashlib.sha256(data).hexdigest()[:32]}.jpg"
    with suppress(MezzotintError, OSError):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(path, data, overwrite=True)
        return str(path)
    return None


def _cards(asked: PathsParams, _tell: OnEvent, cancelled: IsCancelled) -> tuple[ModelCard, ...]:
    if len(asked.paths) > _MOST:
        raise UsageError(f"{len(asked.paths)} files at once; at most {_MOST} are read")
    found = []
    for path in asked.paths:
        if cancelled():
            raise Cancelled("stopped")
        found.append(model_card(Path(path)))
    return tuple(found)


def _save(asked: SaveCard, _tell: OnEvent, _cancelled: IsCancelled) -> None:
    save_card(asked)


def _save_picture(asked: CardPicture, _tell: OnEvent, _cancelled: IsCancelled) -> str:
    return save_picture(asked.path, asked.picture)
