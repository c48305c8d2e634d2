"""FLUX.1: T5's text tokens, CLIP's pooled embedding, and a guidance scale that the network embeds."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.clip_t5_parts import CLIP_L, SECOND_T5_XXL
from mezzotint.families.flow.family import MULTIPLE, FlowFamily, Words
from mezzotint.families.flow.packing import packed, unpacked
from mezzotint.families.flow.parts import AE
from mezzotint.families.flow.references import closest, cropped, resized, scaled, with_tokens
from mezzotint.families.flow.spec import FlowSpec, flow_scheduler
from mezzotint.families.flux1.names import GUIDANCE, IMAGE_IN, NUNCHAKU, TRANSFORMER
from mezzotint.families.loading.stored_layers import logical_header
from mezzotint.families.name_words import said_in, words_of
from mezzotint.families.tokenizers import END
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch
    from PIL import Image

_USUAL, _SCHNELL = 512, 256  # most tokens of T5
_CONTROLS = ("canny", "depth")  # variants that take a control image
_CLIP_TOKENS = 77
_WIDE = ((1568, 672), (1504, 688), (1456, 720), (1392, 752), (1328, 800), (1248, 832), (1184, 880), (1104, 944))
# Sizes in pixels that Kontext (arXiv 2506.15742) was trained on: `PREFERRED_KONTEXT_RESOLUTIONS` of diffusers.
_KONTEXT_SIZES = (*_WIDE, (1024, 1024), *((height, width) for width, height in _WIDE))
_SCHEDULER = flow_scheduler(shift=3.0, max_image_seq_len=4096)
_CHANNELS = 64  # of the transformer's input tokens: 16 latent channels times 2x2
_CONTROL_CHANNELS = 128  # those, and the control image's
_FILL_CHANNELS = 384  # those, the masked image's, and an 8x8-pixel mask for each latent
_UNDISTILLED = "open ?flux|libre ?flux|de ?distill(?:ed)?|undistilled"  # OpenFLUX.1, LibreFLUX, dev-de-distill
_SHOWN = "shown"  # the control image when tracing
_MARKS = {"text_encoder": 2, "text_encoder_2": 1}  # special tokens that the tokenizers add


class Flux1(FlowFamily):
    """Dev (guidance-distilled), Kontext (edits a reference image), Fill (inpaints), and schnell (four steps).

    The undistilled variants are models that were trained on from schnell or dev until they need CFG: they have no
    guidance embedder, and their noise is shifted by the size of the image, as dev's.
    """

    original, namings = TRANSFORMER, (NUNCHAKU,)
    needs = (CLIP_L, SECOND_T5_XXL, AE)
    bundled_tokenizers = MappingProxyType({"tokenizer": "CLIPTokenizer", "tokenizer_2": "T5Tokenizer"})
    pad_tokens = MappingProxyType({"tokenizer": END})

    spec = FlowSpec(
        name="flux",
        title="FLUX.1",
        pipelines=(
            "FluxPipeline",
            "FluxImg2ImgPipeline",
            "FluxKontextPipeline",
            "FluxFillPipeline",
            "FluxControlPipeline",
        ),
        components=("transformer", "vae", "text_encoder", "tokenizer", "text_encoder_2", "tokenizer_2"),
        variants={
            "dev": ModelDefaults(width=1024, height=1024, steps=28, guidance_scale=3.5),
            "kontext": ModelDefaults(width=1024, height=1024, steps=28, guidance_scale=2.5),
            "fill": ModelDefaults(width=1024, height=1024, steps=50, guidance_scale=30.0),
            "canny": ModelDefaults(width=1024, height=1024, steps=50, guidance_scale=30.0),
            "depth": ModelDefaults(width=1024, height=1024, steps=30, guidance_scale=10.0),
            "schnell": ModelDefaults(width=1024, height=1024, steps=4, guidance_scale=1.0),
            "undistilled": ModelDefaults(width=1024, height=1024, steps=28, guidance_scale=3.5),
            "edit": ModelDefaults(width=1024, height=1024, steps=28, guidance_scale=3.5),
        },
        scheduler={
            "dev": _SCHEDULER,
            "kontext": _SCHEDULER,
            "fill": _SCHEDULER,
            **dict.fromkeys(_CONTROLS, _SCHEDULER),
            "schnell": flow_scheduler(use_dynamic_shifting=False, max_image_seq_len=4096),
            "undistilled": _SCHEDULER,
        },
        max_tokens=_USUAL,
        guidance="embedded",
        guidance_of={"undistilled": "cfg", "edit": "cfg"},
        masks_padding=False,
        references={"kontext": 1, "edit": 1},
    )

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant of a folder: schnell has no guidance embedder; Kontext has the same shapes as dev."""
        config = folder.components["transformer"].config
        if config.get("in_channels") == _FILL_CHANNELS:
            return "fill"
        if config.get("in_channels") == _CONTROL_CHANNELS:
            return _control_variant(folder.path.name)
        distilled = bool(config.get("guidance_embeds"))
        if folder.pipeline_class == "FluxKontextPipeline":
            return "kontext" if distilled else "edit"
        if distilled:
            return "dev"
        shifted = folder.components["scheduler"].config.get("use_dynamic_shifting")
        return "undistilled" if shifted else "schnell"

    def variant_of_file(self, file: FileCheckpoint) -> str:
        """The variant by guidance layers, Kontext by file name; raises ModelRefused for other numbers of channels."""
        tensors = logical_header(file.header).tensors
        channels = next(spec.shape[-1] for name, spec in tensors.items() if name.endswith(IMAGE_IN))
        if channels == _FILL_CHANNELS:
            return "fill"
        if channels == _CONTROL_CHANNELS:
            return _control_variant(file.path.stem)
        if channels != _CHANNELS:
            raise ModelRefused(
                f"{plain(file.path, 300)}: a transformer with {channels} input channels cannot be run; get one with "
                f"{_CHANNELS} (dev, Krea-dev, Kontext, schnell), {_CONTROL_CHANNELS} (Canny, Depth) or "
                f"{_FILL_CHANNELS} (Fill)"
            )
        words = words_of(file.path.stem)
        if not any(name.endswith(GUIDANCE) for name in tensors):
            return "undistilled" if said_in(words, _UNDISTILLED) else "schnell"
        return "kontext" if said_in(words, "kontext") else "dev"

    def text_tokens(self, sources: ModelSources) -> int:
        """Maximum number of text tokens: T5's, or fewer if the folder's mezzotint.json says so."""
        most = _SCHNELL if sources.detected.variant == "schnell" else _USUAL
        said = (
            sources.checkpoint.settings.get("max_tokens") if isinstance(sources.checkpoint, FolderCheckpoint) else None
        )
        return min(most, said) if isinstance(said, int) else most

    def read_tokens(self, sources: ModelSources, encoder: str) -> int:
        """Maximum number of tokens of a prompt for a text encoder, without special tokens."""
        most = _CLIP_TOKENS if encoder == "text_encoder" else self.text_tokens(sources)
        return most - _MARKS[encoder]

    def reference_size(self, width: int, height: int, area: int) -> tuple[int, int]:
        """That of Kontext's training sizes with the closest aspect ratio, smaller for a model of smaller images."""
        fitting = closest(width, height, _KONTEXT_SIZES)
        return cropped(*scaled(*fitting, area), MULTIPLE) if 2 * area < math.prod(fitting) else fitting

    def fit_reference(self, image: "Image.Image", area: int) -> "Image.Image":
        """Resize a reference image to its `reference_size`."""
        return resized(image, self.reference_size(*image.size, area))

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """T5's last hidden states, padding included, and CLIP's pooled embedding."""
        import torch

        clip, t5 = model.networks["text_encoder"], model.networks["text_encoder_2"]
        short = _ids(model.tokenizers["tokenizer"], prompt, _CLIP_TOKENS)
        long = _ids(model.tokenizers["tokenizer_2"], prompt, self.text_tokens(model.sources))
        with torch.no_grad():
            pooled = clip(short.to(clip.device)).pooler_output
            text = t5(long.to(t5.device))[0]
        return Words(text=text, others={"pooled": pooled})

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity from latents packed into 2x2 tokens; some take a control image, or a masked one, too."""
        import torch

        from mezzotint.families.control.redux_prompt import with_image_words

        tensors, text = conditioning.tensors, with_image_words(conditioning.tensors["text"], conditioning)
        tokens, places = with_tokens(rows, conditioning, packed, _places)
        if "mask" in tensors:
            tokens = torch.cat([tokens, packed(tensors["masked"]), packed(tensors["mask"])], dim=2)
        if network.config.in_channels == _CONTROL_CHANNELS:
            own = (one.tensor for one in conditioning.controls if one.kind == "flux-control")
            tokens = torch.cat([tokens, packed(tensors[next(own, _SHOWN)])], dim=2)
        seen = network(
            hidden_states=tokens,
            encoder_hidden_states=text,
            pooled_projections=tensors["pooled"],
            timestep=timestep / 1000,
            guidance=tensors["guidance"] if network.config.guidance_embeds else None,
            img_ids=places,
            txt_ids=rows.new_zeros(text.shape[1], 3),
            return_dict=False,
        )[0]
        return unpacked(seen[:, : rows.shape[-2:].numel() // 4], rows.shape[-2])

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Text with T5's width, CLIP's pooled embedding, and the guidance scale."""
        width, pooled = config.get("joint_attention_dim"), config.get("pooled_projection_dim")
        return {
            "text": (rows, tokens, width if isinstance(width, int) else 4096),
            "pooled": (rows, pooled if isinstance(pooled, int) else 768),
            "guidance": (rows,),
        }

    def seen_beside(self, config: Mapping[str, object], channels: int) -> Mapping[str, int]:
        """Fill's masked image and mask, or a control image."""
        if config.get("in_channels") == _CONTROL_CHANNELS:
            return {_SHOWN: channels}
        fill = config.get("in_channels") == _FILL_CHANNELS
        return {"masked": channels, "mask": _FILL_CHANNELS // 4 - 2 * channels} if fill else {}


def _control_variant(name: str) -> str:
    """Canny and Depth have the same shapes."""
    return "depth" if said_in(words_of(name), "depth") else "canny"


def _ids(tokenizer: Network, prompt: str, most: int) -> "torch.Tensor":
    """Tokens of a prompt `(1, most)`, truncated or padded."""
    read = tokenizer([prompt], padding="max_length", max_length=most, truncation=True, return_tensors="pt")
    ids: torch.Tensor = read.input_ids
    return ids


def _places(latents: "torch.Tensor", image: int) -> "torch.Tensor":
    """Position ids `(h/2 w/2, 3)` (image, row, column) of the tokens of latents `(n, c, h, w)`."""
    import torch

    (height, width), device = (side // 2 for side in latents.shape[-2:]), latents.device
    places = torch.zeros(height * width, 3, dtype=torch.int64, device=device)
    places[:, 0] = image
    places[:, 1] = torch.arange(height, device=device).repeat_interleave(width)
    places[:, 2] = torch.arange(width, device=device).repeat(height)
    return places
