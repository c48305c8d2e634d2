"""Encoded images and captions, on disk in the folder of the training, so that a resumed one encodes nothing again."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from mezzotint.checkpoints.weight_file import with_trunks
from mezzotint.errors import MezzotintError
from mezzotint.families.family import Conditioning, ModelSources
from mezzotint.jobs.training.data import Chosen, Geometry
from mezzotint.training.dataset.buckets import Size, crop_for
from mezzotint.training.dataset.pixels import load_mask, load_pixels
from mezzotint.training.state import load_state, save_state
from mezzotint.training.trainer import TrainedImage

_IN_RAM = 2**30  # bytes
Tensors = dict[str, Tensor]
Text = tuple[str, Size]  # a caption, with the image size that some models are told beside it


class EncodedImages:
    """Latents and masks of images, and conditionings of texts; those used last are also kept in RAM."""

    def __init__(self, folder: Path, geometry: Geometry, sources: ModelSources) -> None:
        self._folder, self._geometry = folder, geometry
        self._models = {name: _identity(sources, name) for name in ("vae", "text_encoder")}
        self._kept: OrderedDict[str, tuple[Tensors, dict[str, object]]] = OrderedDict()
        self._kept_bytes = 0
        self._encode_now: Callable[[Text], Conditioning] | None = None

    def encode_now(self, encode: Callable[[Text], Conditioning]) -> None:
        """From now on encode texts whenever they are used, since what encodes them changes."""
        self._encode_now = encode

    def text(self, chosen: Chosen) -> Text:
        """The text of an image."""
        return chosen.caption, self._geometry.bucket(chosen.image)

    def has_text(self, text: Text) -> bool:
        """Whether a text is encoded."""
        return self._has(self._text_key(text))

    def add_text(self, text: Text, conditioning: Conditioning) -> None:
        """Keep the conditioning `(1, ...)` of a text."""
        numbers = {"guided": conditioning.guided, "lengths": list(conditioning.lengths)}
        self._put(self._text_key(text), conditioning.tensors, numbers)

    def has_image(self, chosen: Chosen) -> bool:
        """Whether an image is encoded."""
        return self._has(self._image_key(chosen))

    def add_image(self, chosen: Chosen, encode: Callable[[Tensor, int], Tensor]) -> None:
        """Encode an image; the draw from the VAE's posterior depends on its contents alone."""
        image, flipped = chosen.image, chosen.flipped
        crop = crop_for(image.width, image.height, self._geometry.bucket(image))
        seed = int.from_bytes(hashlib.sha256(image.content.encode()).digest()[:6], "little")
        tensors = {"latents": encode(load_pixels(image, crop, flip=flipped), seed)}
        if image.mask is not None:
            mask = load_mask(image, crop, flip=flipped)[None]
            tensors["mask"] = torch.nn.functional.avg_pool2d(mask, self._geometry.factor)[0]
        self._put(self._image_key(chosen), tensors, {})

    def trained(self, chosen: Sequence[Chosen]) -> list[TrainedImage]:
        """What the trainer takes."""
        return [self._trained(each) for each in chosen]

    def _trained(self, chosen: Chosen) -> TrainedImage:
        image, _ = self._get(self._image_key(chosen))
        text = self.text(chosen)
        conditioning = self._kept_text(text) if self._encode_now is None else self._encode_now(text)
        return TrainedImage(latents=image["latents"], conditioning=conditioning, mask=image.get("mask"))

    def _kept_text(self, text: Text) -> Conditioning:
        tensors, numbers = self._get(self._text_key(text))
        return Conditioning(guided=bool(numbers["guided"]), tensors=tensors, lengths=tuple(numbers["lengths"]))  # type: ignore[arg-type]

    def _text_key(self, text: Text) -> str:
        return _digest(self._models["text_encoder"], *text)

    def _image_key(self, chosen: Chosen) -> str:
        image, bucket = chosen.image, self._geometry.bucket(chosen.image)
        return _digest(self._models["vae"], image.content, image.mask_content, bucket, chosen.flipped)

    # ---- files

    def _has(self, key: str) -> bool:
        """Whether there is such an entry; damaged ones are made anew."""
        try:
            self._get(key)
        except MezzotintError:
            return False
        return True

    def _put(self, key: str, tensors: Tensors, numbers: dict[str, object]) -> None:
        save_state(self._path(key), tensors, numbers)
        self._keep(key, tensors, numbers)

    def _get(self, key: str) -> tuple[Tensors, dict[str, object]]:
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        tensors, numbers = load_state(self._path(key))
        self._keep(key, tensors, numbers)
        return tensors, numbers

    def _keep(self, key: str, tensors: Tensors, numbers: dict[str, object]) -> None:
        self._kept[key] = tensors, numbers
        self._kept_bytes += sum(each.nbytes for each in tensors.values())
        while self._kept_bytes > _IN_RAM and len(self._kept) > 1:
            _, (oldest, _) = self._kept.popitem(last=False)
            self._kept_bytes -= sum(each.nbytes for each in oldest.values())

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.safetensors"


def _identity(sources: ModelSources, prefix: str) -> str:
    """What changes if the files of some components do."""
    parts = [part for name, part in sorted(sources.components.items()) if name.startswith(prefix)]
    stats = [path.stat() for part in parts for path in with_trunks(part.files)]
    return _digest(*((part.class_name, part.bytes) for part in parts), *((s.st_size, s.st_mtime_ns) for s in stats))


def _digest(*key: object) -> str:
    return hashlib.sha256(json.dumps(key).encode()).hexdigest()
