"""The interface of a model family: where its weights are, how prompts are encoded, how the denoiser is called."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from mezzotint.checkpoints.opening import Checkpoint
from mezzotint.checkpoints.stored_bytes import StoredBytes
from mezzotint.families.autoencoder_space import LatentLayout, latent_layout
from mezzotint.families.control.settings import ControlSettings
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
    from mezzotint.families.text.textual_inversion import Inversion
    from mezzotint.memory.host import Source
    from mezzotint.quantization.policy import Choice

# diffusers and transformers publish no types that a strict checker could follow.
Network: TypeAlias = Any
Tokenizer: TypeAlias = Any
Scheduler: TypeAlias = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """How a network's tensors are named in the files of its original release."""

    prefix: str  # of all its tensors
    place: Callable[[str], tuple[tuple[str, "Form"], ...]]  # name without prefix -> parameters and their forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """A control LoRA, which changes some parameters as they are loaded."""

    file: Path
    scale: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentSource:
    """A network or tokenizer of a model, before anything is loaded."""

    name: str
    library: str
    class_name: str
    config: Mapping[str, object]
    folder: Path | None  # of a tokenizer; None: bundled
    files: tuple[Path, ...]  # of weights; empty for a tokenizer
    bytes: int  # of weights
    replaced: bool = False  # its weights come from a separate file, in any naming
    pieces: StoredBytes | None = None  # the sentencepiece model of a tokenizer that is not bundled
    original: "Original | None" = None  # tensor naming in files that are not in diffusers format
    patch: Patch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSources:
    """All components of a model, and its scheduler config."""

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
        """Channels of the sampled latents."""
        return self._latents.channels

    @property
    def takes_mask(self) -> bool:
        """Whether the denoiser takes a mask and the masked image's latents beside the sample, for inpainting."""
        return self.mask_channels > 0

    @property
    def mask_channels(self) -> int:
        """Channels of that mask: 1, or one per pixel of a latent (FLUX.1 Fill); 0 if the denoiser takes no mask."""
        if "unet" in self.components:
            return int(self.components["unet"].config.get("in_channels") == 2 * self.latent_channels + 1)
        network, pixels = self.components.get("transformer"), self.vae_factor**2
        beside = 4 * (2 * self.latent_channels + pixels)
        return pixels if network is not None and network.config.get("in_channels") == beside else 0

    @property
    def takes_control(self) -> bool:
        """Whether the denoiser takes the latents of a control image beside the sample (FLUX.1 Canny and Depth)."""
        network = self.components.get("transformer")
        return network is not None and network.config.get("in_channels") == 8 * self.latent_channels

    @property
    def _latents(self) -> LatentLayout:
        vae = self.components["vae"]
        return latent_layout({**vae.config, "_class_name": vae.class_name})


@dataclass(slots=True, kw_only=True)
class LoadedModel:
    """A model whose networks are in memory, each loaded on first use."""

    sources: ModelSources
    device: "torch.device"  # that runs the networks
    home: "torch.device | None" = None  # where idle weights are kept; None: on the device
    from_disk: frozenset[str] = frozenset()  # components whose weights are streamed from their files
    on_disk: "dict[str, Mapping[str, Source]]" = field(default_factory=dict)  # for those, the source of each weight
    identity: str = ""  # its name in the catalog
    stamps: "Mapping[Path, tuple[tuple[int, int], ...]]" = field(default_factory=dict)  # sizes and mtimes when loaded
    shares: bool = False  # some of its networks are shared with another model
    dtype: "torch.dtype"
    networks: dict[str, Network] = field(default_factory=dict)
    tokenizers: dict[str, Tokenizer] = field(default_factory=dict)
    quantization: "Mapping[str, Choice]" = field(default_factory=dict)  # of components that are quantized on load
    loras: "Adapters | None" = None  # LoRAs in the networks; None if there never were any
    passes: GuidancePasses = "batched"  # of the guidance halves
    at_once: int = 0  # images per pass, of those that are denoised together; 0: all
    prompt_cache: PromptCache = field(default_factory=PromptCache)  # encoded prompts
    vae_tile: int = 0  # side in pixels of the tiles that images are decoded in; 0: untiled
    lowered: bool = False  # quantized further after a job ran out of memory
    attention: "AttentionSession | None" = None  # attention now in the networks; None: that of diffusers


@dataclass(frozen=True, slots=True, kw_only=True)
class CutText:
    """The end of a text that a text encoder does not read, because it is too long."""

    encoder: str
    limit: int  # tokens that it reads, with special ones
    tokens: int  # that were lost
    text: str  # as the tokenizer has it
    read_by: tuple[str, ...] = ()  # other text encoders of the model, which read all of it


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditioning:
    """The encoded prompts: the tensors that a denoiser takes beside the latents.

    With guidance each tensor has the negative prompt first, then the prompt: `(2, ...)`; without, `(1, ...)`. For n
    images that are denoised together, all negative prompts come first, then all prompts: `(2n, ...)`.
    """

    guided: bool
    tensors: "dict[str, torch.Tensor]"
    lengths: tuple[int, ...] = ()  # of the rows of `text` without padding; empty: given by a mask, or not at all
    sampling: Sampling = field(default_factory=Sampling)  # settings of its stage
    controls: tuple[ControlSettings, ...] = ()  # whose images are among the tensors
    spans: tuple[int, ...] = ()  # tokens of `text` of the image's prompt and of each region's; empty: no regions
    later: "tuple[tuple[int, Conditioning], ...]" = ()  # prompts that replace its own from an evaluation on, in order
    cut: tuple[CutText, ...] = ()  # what the text encoders did not read of the prompts
    prompted: "Conditioning | None" = None  # of a half of negative prompts with control images: that of the prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptInputs:
    """The inputs of a stage's conditioning."""

    prompt: str
    negative_prompt: str
    width: int  # pixels
    height: int
    guidance_scale: float
    true_cfg_scale: float | None = None  # beside embedded guidance
    clip_skip: int
    embeddings: tuple[Path, ...]
    inversions: "tuple[Inversion, ...]" = ()  # further learned words, in memory
    gradients: bool = False  # whether they pass through CLIP text encoders, where they are enabled
    images: "tuple[Image.Image, ...]" = ()  # reference images, for text encoders that see them


class Family(Protocol):
    """The interface that each family implements."""

    @property
    def name(self) -> str:
        """The family's name, as used by detection."""

    @property
    def denoiser_component(self) -> str:
        """Name of the denoiser component."""

    @property
    def honours_weights(self) -> bool:
        """Whether prompt weights such as `(text:1.2)` have an effect."""

    @property
    def honours_embeddings(self) -> bool:
        """Whether textual-inversion files have an effect."""

    @property
    def honours_clip_skip(self) -> bool:
        """Whether CLIP skip has an effect."""

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one is missing."""

    def multiple(self, sources: ModelSources) -> int:
        """Width and height must be multiples of this many pixels."""

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:
        """How the reference pipeline spaces timesteps at a size in pixels; None: as the scheduler does by default."""

    def has_halves(self, sources: ModelSources, guidance_scale: float, true_cfg_scale: float | None = None) -> bool:
        """Whether guidance at those scales also needs an unconditional (or negative-prompt) pass."""

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Encode the prompts."""

    def join(self, conditionings: Sequence[Conditioning]) -> Conditioning:
        """Join conditionings of the same shape for images that are denoised together."""

    def predict(
        self, model: LoadedModel, sample: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """The denoiser's guided output for a scaled sample `(n, c, h, w)`, of the same shape."""
