"""What a model family supplies: where its weights are, how prompts are encoded, how the network is called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from mezzotint.checkpoints.opening import Checkpoint
from mezzotint.families.autoencoder_space import LatentLayout, latent_layout
from mezzotint.families.detected import Detected
from mezzotint.families.samplers import FlowSteps
from mezzotint.families.text.prompt_cache import PromptCache
from mezzotint.protocol import GuidancePasses, Sampling

if TYPE_CHECKING:
    import torch
    from PIL import Image

    from mezzotint.attention.session import AttentionSession
    from mezzotint.families.loading.original_names import Form
    from mezzotint.families.lora.adapters import Adapters
    from mezzotint.memory.host import Source
    from mezzotint.quantization.policy import Choice

# The libraries of networks publish no types that a strict checker could follow.
Network: TypeAlias = Any
Tokenizer: TypeAlias = Any
Scheduler: TypeAlias = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A network's naming in a file of its first publication."""

    prefix: str  # of all its tensors
    place: Callable[[str], tuple[tuple[str, "Form"], ...]]  # a name without it to parameters, and what part each is


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSource:
    """One network or tokenizer of a model, before anything is read."""

    name: str
    library: str
    class_name: str
    config: Mapping[str, object]
    folder: Path | None  # of a tokenizer; None: bundled
    files: tuple[Path, ...]  # of weights; none for a tokenizer
    bytes: int  # of weights
    replaced: bool = False  # its weights come from a file of their own, in whatever naming
    original: "Original | None" = None  # what its tensors are called in files that are not diffusers'


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSources:
    """All parts of a model, and how it was trained to see noise."""

    family: str
    detected: Detected
    checkpoint: Checkpoint
    components: Mapping[str, ComponentSource]
    scheduler: Mapping[str, object]
    settings: Mapping[str, object]  # of the pipeline, such as force_zeros_for_empty_prompt

    @property
    def vae_factor(self) -> int:
        """Pixels per latent, along a side."""
        return self._latents.factor

    @property
    def latent_channels(self) -> int:
        """Those of the latents that are sampled."""
        return self._latents.channels

    @property
    def takes_mask(self) -> bool:
        """Whether the denoiser sees a mask and the latents of the masked image beside the sample, to inpaint."""
        return self.mask_channels > 0

    @property
    def mask_channels(self) -> int:
        """Channels of that mask: one, or a pixel of a latent's square each (FLUX.1 Fill); 0: the denoiser sees none."""
        if "unet" in self.components:
            return int(self.components["unet"].config.get("in_channels") == 2 * self.latent_channels + 1)
        network, pixels = self.components.get("transformer"), self.vae_factor**2
        beside = 4 * (2 * self.latent_channels + pixels)
        return pixels if network is not None and network.config.get("in_channels") == beside else 0

    @property
    def _latents(self) -> LatentLayout:
        vae = self.components["vae"]
        return latent_layout({**vae.config, "_class_name": vae.class_name})


@dataclass(slots=True, kw_only=True)
class LoadedModel:
    """A model whose networks are in memory, each as soon as it was asked for."""

    sources: ModelSources
    device: "torch.device"  # that computes
    home: "torch.device | None" = None  # where weights rest; None: on the device
    from_disk: frozenset[str] = frozenset()  # components whose weights stay in their files, and are read in passing
    on_disk: "dict[str, Mapping[str, Source]]" = field(default_factory=dict)  # of those, where each weight comes from
    identity: str = ""  # the catalog's name for it
    stamps: "Mapping[Path, tuple[int, int]]" = field(default_factory=dict)  # sizes and dates of files as they were read
    shares: bool = False  # some of its networks are those of another model too
    dtype: "torch.dtype"
    networks: dict[str, Network] = field(default_factory=dict)
    tokenizers: dict[str, Tokenizer] = field(default_factory=dict)
    quantization: "Mapping[str, Choice]" = field(default_factory=dict)  # of components that are quantized as they load
    loras: "Adapters | None" = None  # what LoRAs are in the networks; None: there never were any
    passes: GuidancePasses = "batched"  # of the halves of the guidance
    at_once: int = 0  # images in one pass, of those that are denoised together; 0: all
    prompt_cache: PromptCache = field(default_factory=PromptCache)  # encoded prompts
    vae_tile: int = 0  # pixels of the side of the squares that images are decoded in; 0: whole
    lowered: bool = False  # quantized further in a job that ran out of memory
    attention: "AttentionSession | None" = None  # what attends in the networks now; None: what diffusers put there


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """What the prompt became: the tensors a denoiser is given beside the latents.

    With guidance each tensor holds the negative prompt first, then the prompt: `(2, ...)`; without, `(1, ...)`. Of n
    images that are denoised together all negative prompts come first, then all prompts: `(2n, ...)`.
    """

    guided: bool
    tensors: "dict[str, torch.Tensor]"
    lengths: tuple[int, ...] = ()  # of the rows of `text` what is no padding; none: that is in the tensors, or nowhere
    sampling: Sampling = field(default_factory=Sampling)  # of the stage that it is for


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInputs:
    """What a stage's conditioning is made of."""

    prompt: str
    negative_prompt: str
    width: int  # pixels
    height: int
    guidance_scale: float
    clip_skip: int
    embeddings: tuple[Path, ...]
    images: "tuple[Image.Image, ...]" = ()  # reference images, where text encoders look at them


class Family(Protocol):
    """The class that each family's file holds."""

    @property
    def name(self) -> str:
        """The name that detection uses."""

    @property
    def denoiser_component(self) -> str:
        """The part that takes the noise away."""

    @property
    def honours_weights(self) -> bool:
        """Whether it honours prompt weights, `(text:1.2)`."""

    @property
    def honours_embeddings(self) -> bool:
        """Whether textual-inversion files mean something to it."""

    @property
    def honours_clip_skip(self) -> bool:
        """Whether earlier layers of its text encoder mean something to it."""

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """Name the parts of a checkpoint; ModelRefused when one is missing."""

    def multiple(self, sources: ModelSources) -> int:
        """The number of pixels that width and height must be multiples of."""

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:
        """How its own pipeline lays out the steps of a flow at a size in pixels; None: as the scheduler does alone."""

    def has_halves(self, sources: ModelSources, guidance_scale: float) -> bool:
        """Whether guidance of that scale asks the network without the prompt, too, or with the negative one."""

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Encode the prompts."""

    def join(self, conditionings: Sequence[Conditioning]) -> Conditioning:
        """That of several images, which are denoised together, of conditionings of one shape."""

    def predict(
        self, model: LoadedModel, sample: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """The network's guided output for a scaled sample `(n, c, h, w)`, of the same shape."""
