"""Qwen-Image-Edit: the text encoder sees the reference images, whose clean latents are appended to the noisy ones."""

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.errors import ImageRefused
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, PromptInputs
from mezzotint.families.flow.family import Words
from mezzotint.families.flow.qwen_parts import QWEN2_5_VL_7B_SEEING, QWEN_AE
from mezzotint.families.flow.references import resized
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.name_words import said_in, words_of
from mezzotint.families.qwen_image.family import SCHEDULER, QwenImage
from mezzotint.families.qwen_image.names import INDEX_TIMESTEP_ZERO
from mezzotint.families.qwen_image.vision import encoded_with
from mezzotint.parsed import Guess
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    from PIL import Image

LEAD = 64  # tokens of the template before the images and the prompt
MAX_TOKENS = 512  # of the prompt
KEPT_AREA = 1024 * 1024  # pixels of a reference image for the autoencoder
SEEN_AREA = {"plus": 384 * 384, "first": 1024 * 1024}  # and for the text encoder
SEEN_TOKENS = {"plus": 3 * 232, "first": 1448}  # maximum for all images with their labels
_LABEL_TOKENS = 8  # of an image's label
_MULTIPLE = 32  # pixels, of sides
_MOST_DRAWN_OUT = 200  # aspect ratio; limit of Qwen2.5-VL's image processor
_LABELS = {"plus": "Picture {number}: ", "first": ""}
_PLACE = "<|image_pad|>"
_IMAGE = f"<|vision_start|>{_PLACE}<|vision_end|>"
_TEMPLATE = (
    "<|im_start|>system\nDescribe the key features of the input image (color, shape, size, texture, objects, "
    "background), then explain how the user's text instruction should alter or modify the image. Generate a new image "
    "that meets the user's requirements while maintaining consistency with the original input where appropriate."
    "<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
)
_PLUS = r"25\d\d|26\d\d|plus"  # in file names: 2509, 2511


class QwenImageEdit(QwenImage):
    """The first model, which edits one image; 2509 and 2511 ("plus"), which combine up to three."""

    needs = (QWEN2_5_VL_7B_SEEING, QWEN_AE)
    encodes_references = True

    spec = FlowSpec(
        name="qwen-image-edit",
        title="Qwen-Image-Edit",
        pipelines=("QwenImageEditPlusPipeline", "QwenImageEditPipeline"),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={
            "plus": ModelDefaults(width=1024, height=1024, steps=40, guidance_scale=4.0),
            "first": ModelDefaults(width=1024, height=1024, steps=50, guidance_scale=4.0),
        },
        scheduler={"plus": SCHEDULER, "first": SCHEDULER},
        max_tokens=LEAD + MAX_TOKENS,
        template=_TEMPLATE,
        halves=("sequential", "batched"),
        references=MappingProxyType({"plus": 3, "first": 1}),
    )

    def is_in(self, file: FileCheckpoint, names: Collection[str]) -> bool:
        """Whether name, title or the marker of 2511 say that a file is an edit model; shapes are Qwen-Image's."""
        return super().is_in(file, names) and (said_in(_said(file), "edit") is not None or _has_mark(names))

    def guess(self, checkpoint: Checkpoint, variant: str) -> Guess | None:
        """Also that a file is an edit model at all, if only its name says so."""
        by_name = isinstance(checkpoint, FileCheckpoint) and not _has_mark(checkpoint.header.tensors)
        edit = Guess(assumed="Qwen-Image-Edit", reason="its name or title") if by_name else None
        return super().guess(checkpoint, variant) or edit

    def variant_of_file(self, file: FileCheckpoint) -> str:
        """The variant by marker, name and title; the first model has no number in its name."""
        return "plus" if _has_mark(file.header.tensors) or said_in(_said(file), _PLUS) else "first"

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant by pipeline class."""
        return "first" if folder.pipeline_class == "QwenImageEditPipeline" else "plus"

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint, with the text encoder's vision tower."""
        found = super().sources(checkpoint, detected)
        if not isinstance(checkpoint, FolderCheckpoint):
            return found
        config = {**checkpoint.components["text_encoder"].config}
        config.pop("architectures", None)
        encoder = replace(found.components["text_encoder"], class_name="Qwen2_5_VLModel", config=config)
        return replace(found, components={**found.components, "text_encoder": encoder})

    def text_tokens(self, sources: ModelSources) -> int:
        """Maximum number of tokens of the text, its template, and the encoded images."""
        return self.spec.max_tokens + SEEN_TOKENS[sources.detected.variant]

    def read_tokens(self, sources: ModelSources, encoder: str) -> int:  # noqa: ARG002  there is one
        """Maximum number of tokens of a prompt in its template."""
        return self.spec.max_tokens

    def reference_size(self, width: int, height: int, area: int) -> tuple[int, int]:  # noqa: ARG002  always the same
        """Size of a reference image, about a million pixels; raises ImageRefused if its aspect ratio is too extreme."""
        if max(width, height) > _MOST_DRAWN_OUT * min(width, height):
            raise ImageRefused(
                f"a reference image of {width}x{height} is over {_MOST_DRAWN_OUT} times as long as wide; cut it"
            )
        return _size(width / height, KEPT_AREA)

    def fit_reference(self, image: "Image.Image", area: int) -> "Image.Image":
        """Resize a reference image to its `reference_size`."""
        return resized(image, self.reference_size(*image.size, area))

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Encode the prompts, each together with the reference images."""
        return self.conditioned(model, inputs, partial(self._words_beside, model, inputs.images))

    def _words_beside(self, model: LoadedModel, images: "Sequence[Image.Image]", prompt: str) -> Words:
        """Qwen2.5-VL's last hidden states, including the images, without the template's first tokens."""
        variant = model.sources.detected.variant
        area = SEEN_AREA[variant]
        small = [resized(image, _size(image.width / image.height, area)) for image in images]
        told = "".join(_LABELS[variant].format(number=number) + _IMAGE for number in range(1, len(images) + 1))
        ids = model.tokenizers["tokenizer"](
            [self.spec.template.format(prompt=told + prompt)],
            max_length=self.spec.max_tokens + len(images) * _LABEL_TOKENS,
            truncation=True,
        ).input_ids[0]
        place = model.tokenizers["tokenizer"].convert_tokens_to_ids(_PLACE)
        seen = encoded_with(model.networks["text_encoder"], ids, place, small)[:, LEAD:]
        return Words(text=seen, length=seen.shape[1])


def _said(file: FileCheckpoint) -> str:
    """Name and titles of a file, in whole words."""
    titles = (file.header.metadata.get(key, "") for key in ("modelspec.title", "general.name"))
    return " ".join(map(words_of, (file.path.stem, *titles)))


def _has_mark(names: Collection[str]) -> bool:
    return any(name.endswith(INDEX_TIMESTEP_ZERO) for name in names)


def _size(ratio: float, area: int) -> tuple[int, int]:
    """Width and height with about this area and aspect ratio, rounded to multiples."""
    width = math.sqrt(area * ratio)
    across, down = (max(round(side / _MULTIPLE), 1) * _MULTIPLE for side in (width, width / ratio))
    return across, down
