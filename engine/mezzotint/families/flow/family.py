"""Base class of the flow-matching transformer families: each adds a spec and three methods."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint, published_name
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.families.detected import Detected, variant_guess
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network, PromptInputs
from mezzotint.families.flow.files import file_sources
from mezzotint.families.flow.references import cropped, scaled, within
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.loading.sources import folder_sources
from mezzotint.families.name_words import said_in, words_of
from mezzotint.families.samplers import FlowSteps
from mezzotint.parsed import Guess

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from mezzotint.families.flow.original import OriginalNetwork
    from mezzotint.families.flow.parts import PartNeeded

MAX_REFERENCE = 1024 * 1024  # pixels
MULTIPLE = 16  # pixels, of the sides of a reference image


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A prompt as encoded by the text encoders."""

    text: "torch.Tensor"  # (1, n, d)
    length: int | None = None  # tokens without padding, if the network takes the length
    others: "Mapping[str, torch.Tensor]" = field(default_factory=dict)  # (1, ...) each


class FlowFamily(ABC):
    """Implements `Family`; subclasses add `words`, `ask` and `blank`, and override what differs."""

    spec: FlowSpec
    denoiser_component = "transformer"
    honours_weights = False
    honours_embeddings = False
    honours_clip_skip = False
    encodes_references = False  # whether the text encoder also takes the reference images

    @property
    def name(self) -> str:
        """The family's name, as used by detection."""
        return self.spec.name

    # ---- abstract methods

    @abstractmethod
    def words(self, model: LoadedModel, prompt: str) -> Words:
        """Encode a prompt."""

    @abstractmethod
    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """The velocity `(n, c, h, w)` predicted for latents of that shape at timesteps `(n,)` from 0 to 1000."""

    @abstractmethod
    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Shapes of the conditioning for `rows` prompts of `tokens` tokens, to trace the network without a prompt."""

    # ---- defaults

    original: "OriginalNetwork | None" = None  # the transformer in single files; None: folders only
    namings: "tuple[OriginalNetwork, ...]" = ()  # other names of the transformer's tensors in single files
    needs: "tuple[PartNeeded, ...]" = ()  # the other components of a model in single files
    bundled_tokenizers: Mapping[str, str] = MappingProxyType({})  # component to class, for single files
    stored_tokenizers: Mapping[str, str] = MappingProxyType({})  # those that come with their text encoder's file
    pad_tokens: Mapping[str, str] = MappingProxyType({})  # of CLIP tokenizers

    def detect(self, checkpoint: Checkpoint) -> Detected:
        """Detect the variant of a folder or file, and its defaults."""
        variant = self._variant_of(checkpoint)
        return replace(self.detected_as(variant), variant_guess=self.guess(checkpoint, variant))

    def _variant_of(self, checkpoint: Checkpoint) -> str:
        return self.variant_of_file(checkpoint) if isinstance(checkpoint, FileCheckpoint) else self.variant(checkpoint)

    def guess(self, checkpoint: Checkpoint, variant: str) -> Guess | None:
        """The variant if only the name says it, or nothing does; None if shapes or configurations do."""
        is_file = isinstance(checkpoint, FileCheckpoint)
        where = checkpoint.path.with_stem("model") if is_file else Path("model")
        if self._variant_of(replace(checkpoint, path=where)) != variant:
            reason = f"its name, {plain(published_name(checkpoint.path), 100)}"
        elif isinstance(checkpoint, FileCheckpoint) and self.tells_by_name and self._named(checkpoint) is None:
            reason = f"a name that says neither {' nor '.join(self.spec.variants)}"
        else:
            return None
        return variant_guess(variant, self.spec.variants[variant], reason)

    @property
    def tells_by_name(self) -> bool:
        """Whether the variants of files have the same shapes."""
        return len(self.spec.variants) > 1 and type(self).variant_of_file is FlowFamily.variant_of_file

    def _named(self, file: FileCheckpoint) -> str | None:
        words = words_of(file.path.stem)
        return next((name for name in self.spec.variants if said_in(words, name)), None)

    def detected_as(self, variant: str) -> Detected:
        """What a model of a variant is."""
        return Detected(
            family=self.name,
            variant=variant,
            defaults=self.spec.variants[variant],
            prediction_type="flow_prediction",
            zero_terminal_snr=False,
            sampler=None,
            schedule=None,
            references=self.spec.references.get(variant, 0),
            guidance=self.spec.guidance_of.get(variant, self.spec.guidance),
        )

    def is_in(self, file: FileCheckpoint, names: Collection[str]) -> bool:  # noqa: ARG002  for families of one shape
        """Whether a file with these tensor names contains the transformer."""
        networks = () if self.original is None else (self.original, *self.namings)
        return any(network.prefix_in(names) is not None for network in networks)

    def variant_of_file(self, file: FileCheckpoint) -> str:
        """The variant by file name, since all have the same shapes."""
        return self._named(file) or next(iter(self.spec.variants))

    def variant(self, folder: FolderCheckpoint) -> str:  # noqa: ARG002  for families of several
        """The variant of a folder."""
        return next(iter(self.spec.variants))

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one is missing."""
        if isinstance(checkpoint, FileCheckpoint):
            found = file_sources(self, checkpoint, detected)
        else:
            optional = [name for name in self.spec.optional if name in checkpoint.components]
            found = folder_sources(checkpoint, detected, (*self.spec.components, *optional))
        if self.spec.text_layers is None:
            return found
        return with_layers(found, self.spec.text_layers)

    def multiple(self, sources: ModelSources) -> int:
        """Width and height must be multiples of this many pixels."""
        return sources.vae_factor * self.spec.patch

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:
        """Sigmas from 1 down to 1 / steps, and the shift (mu) for the number of image tokens."""
        import numpy as np

        side = self.multiple(sources)
        tokens = (width // side) * (height // side)
        sigmas = tuple(float(sigma) for sigma in np.linspace(1.0, 1 / steps, steps))
        return FlowSteps(sigmas=sigmas, mu=self.mu(sources.scheduler, tokens, steps))

    def mu(self, scheduler: Mapping[str, object], tokens: int, steps: int) -> float:  # noqa: ARG002  for some
        """Log of the timestep shift: linear in the number of image tokens, by the scheduler's configuration."""
        low, high = _number(scheduler, "base_image_seq_len", 256), _number(scheduler, "max_image_seq_len", 4096)
        least, most = _number(scheduler, "base_shift", 0.5), _number(scheduler, "max_shift", 1.15)
        slope = (most - least) / (high - low) if high != low else 0.0
        return tokens * slope + (least - slope * low)

    def text_tokens(self, sources: ModelSources) -> int:  # noqa: ARG002  for families of several
        """Maximum number of text tokens that the network takes."""
        return self.spec.max_tokens

    def read_tokens(self, sources: ModelSources, encoder: str) -> int:
        """Maximum number of tokens of a prompt in its template for a text encoder, without special tokens."""
        return self.spec.limits.get(encoder, self.text_tokens(sources))

    def has_halves(self, sources: ModelSources, guidance_scale: float, true_cfg_scale: float | None = None) -> bool:
        """Whether there is an unconditional pass: by the true CFG scale, if the other one is embedded."""
        return (guidance_scale if sources.detected.guidance == "cfg" else true_cfg_scale or 1) > 1

    def reference_size(self, width: int, height: int, area: int) -> tuple[int, int]:  # noqa: ARG002  for some
        """Size in pixels to which a reference image is resized and cropped; `area` is that of the model's images."""
        return cropped(*scaled(width, height, MAX_REFERENCE), MULTIPLE)

    def fit_reference(self, image: "Image.Image", area: int) -> "Image.Image":  # noqa: ARG002  for some
        """Resize and crop a reference image for the model."""
        return within(image, MAX_REFERENCE, MULTIPLE)

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Encode the prompts: `text` `(k, n, d)` and further tensors of the family, k of 1 or 2."""
        return self.conditioned(model, inputs, partial(self.words, model), partial(self.negative_words, model))

    def conditioned(
        self,
        model: LoadedModel,
        inputs: PromptInputs,
        words: Callable[[str], Words],
        negative_words: Callable[[str], Words] | None = None,
    ) -> Conditioning:
        """Conditioning from the encoded prompt, and from the negative prompt if there is guidance."""
        import torch

        guided = self.has_halves(model.sources, inputs.guidance_scale, inputs.true_cfg_scale)
        rows = [(negative_words or words)(inputs.negative_prompt)] if guided else []
        rows.append(words(inputs.prompt))
        longest = max(row.text.shape[1] for row in rows)
        text = torch.cat([torch.nn.functional.pad(row.text, (0, 0, 0, longest - row.text.shape[1])) for row in rows])
        tensors = {"text": text} | {name: torch.cat([row.others[name] for row in rows]) for name in rows[0].others}
        if model.sources.detected.guidance == "embedded":
            tensors["guidance"] = torch.full((len(rows),), inputs.guidance_scale, dtype=torch.float32)
        return Conditioning(
            guided=guided,
            tensors={
                name: each.to(model.device, self.number_format(name, each, model)) for name, each in tensors.items()
            },
            lengths=tuple(row.length for row in rows if row.length is not None),
        )

    def as_read(self, prompt: str) -> str:
        """The prompt as the text encoders read it."""
        return prompt

    def read(self, model: LoadedModel, prompt: str) -> "tuple[torch.Tensor, torch.Tensor]":
        """Token ids and mask `(1, max_tokens)` of a prompt in its template, on the text encoder's device."""
        read = model.tokenizers["tokenizer"](
            [self.spec.template.format(prompt=prompt)],
            padding="max_length",
            max_length=self.spec.max_tokens,
            truncation=True,
            return_tensors="pt",
        )
        device = model.networks["text_encoder"].device
        return read.input_ids.to(device), read.attention_mask.to(device)

    def negative_words(self, model: LoadedModel, prompt: str) -> Words:
        """Encode a negative prompt."""
        return self.words(model, prompt)

    def number_format(self, name: str, tensor: "torch.Tensor", model: LoadedModel) -> "torch.dtype":  # noqa: ARG002
        """Dtype of a conditioning tensor: the model's, except for masks."""
        return model.dtype if tensor.is_floating_point() else tensor.dtype

    def join(self, conditionings: Sequence[Conditioning]) -> Conditioning:
        """Join conditionings of the same shape for images that are denoised together."""
        from mezzotint.families.text.conditionings import joined

        return joined(conditionings)

    def predict(
        self, model: LoadedModel, sample: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """The transformer's guided velocity for a sample `(n, c, h, w)`, of the same shape."""
        from mezzotint.families.control.controlled_transformer import controlled
        from mezzotint.families.guidance import guided_output

        network = model.networks[self.denoiser_component]

        def asked(rows: "torch.Tensor", conditioning: Conditioning) -> "torch.Tensor":
            latents, times = rows.to(model.dtype), timestep.to(rows.device).expand(rows.shape[0])
            answered = controlled(self.ask, model, network, latents, times, conditioning)
            return self.ask(answered, latents, times, conditioning)

        passes = model.passes if model.passes in self.spec.halves else self.spec.halves[0]
        return guided_output(asked, sample, conditioning, passes, model.at_once, self.guide)

    def traced_call(self, config: Mapping[str, object], channels: int) -> "Callable[[Network, int, int, int], object]":
        """Return `call(network, side, rows, tokens)` for tracing without a prompt; side in latents, tokens of text."""
        import torch

        def call(network: Network, side: int, rows: int, tokens: int) -> object:
            like = next(network.parameters())

            def numbers(*shape: int) -> torch.Tensor:
                return torch.empty(shape, dtype=like.dtype, device=like.device)

            tensors = {name: numbers(*shape) for name, shape in self.blank(config, rows, tokens).items()}
            beside = self.seen_beside(config, channels).items()
            tensors |= {name: numbers(rows, several, side, side) for name, several in beside}
            conditioning = Conditioning(guided=False, tensors=tensors, lengths=(tokens,) * rows)
            return self.ask(network, numbers(rows, channels, side, side), numbers(rows), conditioning)

        return call

    def seen_beside(self, config: Mapping[str, object], channels: int) -> Mapping[str, int]:  # noqa: ARG002  for some
        """Channels of further inputs that the network takes beside latents with `channels` channels."""
        return {}

    def guide(self, output: "torch.Tensor", scale: float, rescale: float) -> "torch.Tensor":
        """Combine `(2b, c, h, w)`, unconditional half first, into `(b, c, h, w)`."""
        from mezzotint.families.guidance import guide

        return guide(output, scale, rescale)


def guided_from_prompt(output: "torch.Tensor", scale: float, rescale: float) -> "torch.Tensor":
    """Guidance as p + (scale - 1) (p - n), which is `guide` in exact arithmetic but not in the last bits."""
    from mezzotint.families.guidance import restored

    unconditional, conditional = output.chunk(2)
    return restored(conditional + (scale - 1) * (conditional - unconditional), conditional, rescale)


def with_layers(sources: ModelSources, layers: int) -> ModelSources:
    """Drop the text encoder's layers above the last one used, and its final norm."""
    encoder = sources.components["text_encoder"]
    said = encoder.config.get("num_hidden_layers")
    if not isinstance(said, int) or said < layers:
        return sources
    config = {**encoder.config, "num_hidden_layers": layers, "tie_last_hidden_states": False}
    kinds = config.get("layer_types")
    if isinstance(kinds, list):
        config["layer_types"] = kinds[:layers]
    return replace(sources, components={**sources.components, "text_encoder": replace(encoder, config=config)})


def _number(settings: Mapping[str, object], key: str, usual: float) -> float:
    said = settings.get(key)
    return float(said) if isinstance(said, int | float) else usual
