"""Qwen-Image-Edit 2509 and 2511: the text encoder sees reference images, whose clean latents join the noisy ones."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PIL import Image

from mezzotint.families.family import Conditioning, LoadedModel, PromptInputs
from mezzotint.families.flow.family import Words
from mezzotint.families.flow.references import with_references
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.qwen_image.family import QwenImage
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

LEAD = 64  # tokens of the template before the images and the prompt
MAX_TOKENS = 1024  # of the rest
SEEN_AREA = 384 * 384  # pixels of an image as the encoder sees it
KEPT_AREA = 1024 * 1024  # and of its clean latents
_MULTIPLE = 32  # of their sides
_IMAGE_PROMPT = "Picture {number}: <|vision_start|>{places}<|vision_end|>"
_PLACE = "<|image_pad|>"
_TEMPLATE = (
    "<|im_start|>system\nDescribe the key features of the input image (color, shape, size, texture, objects, "
    "background), then explain how the user's text instruction should alter or modify the image. Generate a new image "
    "that meets the user's requirements while maintaining consistency with the original input where appropriate."
    "<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
)


class QwenImageEdit(QwenImage):
    """Edits an image, or combines several."""

    original = None

    spec = FlowSpec(
        name="qwen-image-edit",
        title="Qwen-Image-Edit",
        pipelines=("QwenImageEditPlusPipeline",),
        components=("transformer", "vae", "text_encoder", "tokenizer", "processor"),
        variants={"base": ModelDefaults(width=1024, height=1024, steps=40, guidance_scale=4.0)},
        max_tokens=LEAD + MAX_TOKENS,
        template=_TEMPLATE,
        halves=("sequential", "batched"),
    )

    def encode_beside(self, model: LoadedModel, inputs: PromptInputs, images: Sequence[Image.Image]) -> Conditioning:
        """The prompt, encoded together with the reference images, and their latents."""
        found = self.conditioned(model, inputs, lambda prompt: self.words_beside(model, prompt, images))
        return with_references(found, [self._latents(model, image) for image in images])

    def words_beside(self, model: LoadedModel, prompt: str, images: Sequence[Image.Image]) -> Words:
        """Qwen2.5-VL's last hidden states, which include the images; without the template's first tokens."""
        import torch

        tokenizer, encoder = model.tokenizers["tokenizer"], model.networks["text_encoder"]
        looks = model.tokenizers["processor"]
        small = [image.resize(_size(image, SEEN_AREA), Image.Resampling.LANCZOS) for image in images]
        looked = looks(images=small, return_tensors="pt")
        counts = (looked.image_grid_thw.prod(dim=-1) // looks.merge_size**2).tolist()
        told = "".join(_IMAGE_PROMPT.format(number=n, places=_PLACE * count) for n, count in enumerate(counts, 1))
        read = tokenizer([self.spec.template.format(prompt=told + prompt)], return_tensors="pt")
        with torch.no_grad():
            seen = encoder(
                input_ids=read.input_ids.to(encoder.device),
                attention_mask=read.attention_mask.to(encoder.device),
                pixel_values=looked.pixel_values.to(encoder.device),
                image_grid_thw=looked.image_grid_thw.to(encoder.device),
            ).last_hidden_state[:, LEAD:]
        return Words(text=seen, length=seen.shape[1])

    def _latents(self, model: LoadedModel, image: Image.Image) -> "torch.Tensor":
        import numpy as np
        import torch

        from mezzotint.families.autoencoder import encode_pixels

        large = image.convert("RGB").resize(_size(image, KEPT_AREA), Image.Resampling.LANCZOS)
        pixels = torch.from_numpy(np.asarray(large, dtype=np.float32) / 255.0).permute(2, 0, 1)[None]
        with torch.no_grad():
            return encode_pixels(model.networks["vae"], 2.0 * pixels - 1.0, None)


def _size(image: Image.Image, area: int) -> tuple[int, int]:
    """Width and height of about this area, at the image's aspect ratio."""
    ratio = image.width / image.height
    width = math.sqrt(area * ratio)
    return round(width / _MULTIPLE) * _MULTIPLE, round(width / ratio / _MULTIPLE) * _MULTIPLE
