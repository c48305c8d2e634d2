"""The description of a family of flow-matching transformers, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mezzotint.model_protocol import Guidance
from mezzotint.protocol import GuidancePasses, ModelDefaults


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSpec:
    """Properties of a family, and the defaults of its models."""

    name: str  # in detection and in files
    title: str  # shown to users
    pipelines: tuple[str, ...]  # class names that model_index.json may give
    components: tuple[str, ...]  # required by its pipelines
    optional: tuple[str, ...] = ()  # that a model may have in addition
    variants: Mapping[str, ModelDefaults]  # defaults of each
    max_tokens: int  # of a prompt in its template
    instruction_tokens: int = 0  # of the template before the prompt, dropped after encoding
    limits: Mapping[str, int] = field(default_factory=dict)  # tokens by text encoder, if it takes fewer
    template: str = "{prompt}"  # chat templates in model files are programs, and never run
    bounds_prompt: bool = False  # whether the limits are of the prompt alone, without its template
    patch: int = 2  # side of a patch in latents
    guidance: Guidance = "cfg"  # or a scale that the network embeds
    guidance_of: Mapping[str, Guidance] = field(default_factory=dict)  # by variant, where it differs
    masks_padding: bool = True  # whether the text encoders get an attention mask
    halves: tuple[GuidancePasses, ...] = ("batched", "sequential")  # supported; that of the reference pipeline first
    scheduler: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # by variant, for single files
    references: Mapping[str, int] = field(default_factory=dict)  # maximum by variant; else none
    text_layers: int | None = None  # used layers of the text encoder; None: all


def flow_scheduler(**others: object) -> Mapping[str, object]:
    """Scheduler configuration with a timestep shift that grows with the image; `others` override it."""
    return {
        "_class_name": "FlowMatchEulerDiscreteScheduler",
        "num_train_timesteps": 1000,
        "shift": 1.0,
        "use_dynamic_shifting": True,
        "base_shift": 0.5,
        "max_shift": 1.15,
        "base_image_seq_len": 256,
        "time_shift_type": "exponential",
    } | others
