"""Qwen-Image-Edit 2509 and 2511: its encoder looks at pictures, and their clean latents stand beside the noise."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PIL import Image

from mezzotint.families.family import Conditioning, LoadedModel, PromptInputs
from mezzotint.families.flow.family import Words
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.qwen_image.family import REFERENCE, QwenImage
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

LEAD = 64  # tokens of the template before the pictures and the words
MAX_TOKENS = 1024  # of what follows
SEEN_AREA = 384 * 384  # pixels of a picture as the encoder sees it
KEPT_AREA = 1024 * 1024  # and as it stands beside the noise
_MULTIPLE = 32  # of their sides
_PICTURE = "Picture {number}: <|vision_start|>{places}<|vision_end|>"
_PLACE = "<|image_pad|>"
_TEMPLATE = (
    "<|im_start|>system\nDescribe the key features of the input image (color, shape, size, texture, objects, "
    "background), then explain how the user's text instruction should alter or modify the image. Generate a new image "
    "that meets the user's requirements while maintaining consistency with the original input where appropriate."
    "<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n"
)


class QwenImageEdit(QwenImage):
    """Changes pictures, or makes one of several."""

    spec = FlowSpec(
        name="qwen-image-edit",
        title="Qwen-Image-Edit",
        pipelines=("QwenImageEditPlusPipeline",),
        components=("transformer", "vae", "text_encoder", "tokenizer", "processor"),
        variants={"base": ModelDefaults(width=1024, height=1024, steps=40, guidance_scale=4.0)},
        max_tokens=LEAD + MAX_TOKENS,
        template=_TEMPLATE,
        in_turn=True,
    )

    def encode_beside(self, model: LoadedModel, inputs: PromptInputs, pictures: Sequence[Image.Image]) -> Conditioning:
        """Words that speak of pictures, and those pictures' latents, as `reference0` and so on, `(k, c, h, w)`."""
        found = self.conditioned(model, inputs, lambda prompt: self.words_beside(model, prompt, pictures))
        rows = found.tensors["text"].shape[0]
        for number, picture in enumerate(pictures):
            latents = self._latents(model, picture).to(model.device, model.dtype)
            found.tensors[f"{REFERENCE}{number}"] = latents.expand(rows, -1, -1, -1)
        return found

    def words_beside(self, model: LoadedModel, prompt: str, pictures: Sequence[Image.Image]) -> Words:
        """The last layer of Qwen2.5-VL, which sees the pictures, too, from where they begin."""
        import torch

        tokenizer, encoder = model.tokenizers["tokenizer"], model.networks["text_encoder"]
        looks = model.tokenizers["processor"]
        small = [picture.resize(_size(picture, SEEN_AREA), Image.Resampling.LANCZOS) for picture in pictures]
        looked = looks(images=small, return_tensors="pt")
        counts = (looked.image_grid_thw.prod(dim=-1) // looks.merge_size**2).tolist()
        told = "".join(_PICTURE.format(number=n, places=_PLACE * count) for n, count in enumerate(counts, 1))
        read = tokenizer([self.spec.template.format(prompt=told + prompt)], return_tensors="pt")
        with torch.no_grad():
            seen = encoder(
                input_ids=read.input_ids.to(encoder.device),
                attention_mask=read.attention_mask.to(encoder.device),
                pixel_values=looked.pixel_values.to(encoder.device),
                image_grid_thw=looked.image_grid_thw.to(encoder.device),
            ).last_hidden_state[:, LEAD:]
        return Words(text=seen, length=seen.shape[1])

    def _latents(self, model: LoadedModel, picture: Image.Image) -> "torch.Tensor":
        import numpy as np
        import torch

        from mezzotint.families.autoencoder import reference_latents

        large = picture.convert("RGB").resize(_size(picture, KEPT_AREA), Image.Resampling.LANCZOS)
        pixels = torch.from_numpy(np.asarray(large, dtype=np.float32) / 255.0).permute(2, 0, 1)[None]
        with torch.no_grad():
            return reference_latents(model.networks["vae"], 2.0 * pixels - 1.0)


def _size(picture: Image.Image, area: int) -> tuple[int, int]:
    """Width and height of so many pixels, in a picture's proportions."""
    ratio = picture.width / picture.height
    width = math.sqrt(area * ratio)
    return round(width / _MULTIPLE) * _MULTIPLE, round(width / ratio / _MULTIPLE) * _MULTIPLE
