"""FLUX.2 Klein: hidden states of three layers of Qwen3, and latents that are already 2x2 patches."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint, published_name
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.family import FlowFamily, Words
from mezzotint.families.flow.parts import FLUX2_AE, QWEN3_THREE_STATES
from mezzotint.families.flow.references import with_tokens
from mezzotint.families.flow.spec import FlowSpec, flow_scheduler
from mezzotint.families.flux2.names import TRANSFORMER
from mezzotint.families.name_words import said_in, words_of
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

TAPS = (9, 18, 27)  # layers of Qwen3 whose hidden states are used, of 36 in both sizes
_APART = 10  # offset between images, on the first axis of position ids
_LONG = 4300  # image tokens above which the number of steps no longer matters
_SCHEDULER = flow_scheduler(shift=3.0, max_image_seq_len=4096)


class Flux2Klein(FlowFamily):
    """Klein in both sizes, distilled to four steps without guidance, and Base."""

    original = TRANSFORMER
    needs = (QWEN3_THREE_STATES, FLUX2_AE)
    bundled_tokenizers = MappingProxyType({"tokenizer": "Qwen2Tokenizer"})

    spec = FlowSpec(
        name="flux2-klein",
        title="FLUX.2 Klein",
        pipelines=("Flux2KleinPipeline",),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={
            "distilled": ModelDefaults(width=1024, height=1024, steps=4, guidance_scale=1.0),
            "base": ModelDefaults(width=1024, height=1024, steps=50, guidance_scale=4.0),
        },
        scheduler=dict.fromkeys(("distilled", "base"), _SCHEDULER),
        max_tokens=512,
        template=(  # Qwen3's, without thinking
            "<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
        ),
        patch=1,
        references={"distilled": 4, "base": 4},
        text_layers=TAPS[-1],
    )

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant by the pipeline's `is_distilled`, else by folder name, since both have the same shapes."""
        distilled = folder.options.get("is_distilled")
        if not isinstance(distilled, bool):
            distilled = said_in(words_of(published_name(folder.path)), "base") is None
        return "distilled" if distilled else "base"

    @property
    def tells_by_name(self) -> bool:
        """Whether the variants of files have the same shapes: Klein's do."""
        return True

    def variant_of_file(self, file: FileCheckpoint) -> str:
        """The variant by file name; raises ModelRefused for FLUX.2 dev, which has the same class."""
        if any(name.endswith("guidance_in.in_layer.weight") for name in file.header.tensors):
            raise ModelRefused(
                f"{file.path}: a transformer with guidance_in, which FLUX.2 dev has, cannot be run; get FLUX.2 Klein"
            )
        return super().variant_of_file(file)

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one is missing or the encoder is too shallow."""
        found = super().sources(checkpoint, detected)
        layers = found.components["text_encoder"].config.get("num_hidden_layers")
        if isinstance(layers, int) and layers < TAPS[-1]:
            raise ModelRefused(
                f"{checkpoint.path}: the text encoder has {layers} layers, and {self.spec.title} takes the states of "
                f"layer {TAPS[-1]}"
            )
        return found

    def mu(self, scheduler: Mapping[str, object], tokens: int, steps: int) -> float:  # noqa: ARG002  it is Klein's own
        """Log of the timestep shift, fitted to tokens and steps: interpolated between the lines for 10 and 200 steps.

        Computed in the same order as diffusers' `compute_empirical_mu`, so that the last bits match.
        """
        many = 0.00016927 * tokens + 0.45666666
        if tokens > _LONG:
            return many
        few = 8.73809524e-05 * tokens + 1.89833333
        slope = (many - few) / 190.0
        return slope * steps + (many - 200.0 * slope)

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """Hidden states of three layers of Qwen3, concatenated; the transformer also attends to the padding."""
        import torch

        ids, mask = self.read(model, prompt)
        with torch.no_grad():
            states = model.networks["text_encoder"](
                input_ids=ids, attention_mask=mask, output_hidden_states=True, use_cache=False
            ).hidden_states
        return Words(text=torch.cat([states[layer] for layer in TAPS], dim=-1))

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity; each latent is one token."""
        text = conditioning.tensors["text"]
        tokens, places = with_tokens(rows, conditioning, _tokens, _places)
        seen = network(
            hidden_states=tokens,
            encoder_hidden_states=text,
            timestep=timestep / 1000,
            img_ids=places,
            txt_ids=_order(text.shape[1], rows.device),
            return_dict=False,
        )[0]
        size = rows.shape[-2:]
        velocity: torch.Tensor = seen[:, : size.numel()].transpose(1, 2).unflatten(2, size)
        return velocity

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Text with three times Qwen3's width."""
        width = config.get("joint_attention_dim")
        return {"text": (rows, tokens, width if isinstance(width, int) else 7680)}


def _tokens(latents: "torch.Tensor") -> "torch.Tensor":
    """Tokens `(n, h w, c)` of latents `(n, c, h, w)`."""
    return latents.flatten(2).transpose(1, 2)


def _places(latents: "torch.Tensor", image: int) -> "torch.Tensor":
    """Position ids `(h w, 4)` (image, row, column, text position) of the tokens of latents `(n, c, h, w)`."""
    import torch

    (height, width), device = latents.shape[-2:], latents.device
    places = torch.zeros(height * width, 4, dtype=torch.int64, device=device)
    places[:, 0] = image * _APART
    places[:, 1] = torch.arange(height, device=device).repeat_interleave(width)
    places[:, 2] = torch.arange(width, device=device).repeat(height)
    return places


def _order(tokens: int, device: "torch.device") -> "torch.Tensor":
    """Position ids of text tokens, `(n, 4)`."""
    import torch

    order = torch.zeros(tokens, 4, dtype=torch.int64, device=device)
    order[:, 3] = torch.arange(tokens, device=device)
    return order
