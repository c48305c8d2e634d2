"""The description of a family of flow-matching transformers, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mezzotint.model_protocol import Guidance
from mezzotint.protocol import GuidancePasses, ModelDefaults


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSpec:
    """What makes up a family, and the defaults of its models."""

    name: str  # as detection and files have it
    title: str  # as people know it
    pipelines: tuple[str, ...]  # class names that model_index.json may give
    components: tuple[str, ...]  # required by its pipelines
    optional: tuple[str, ...] = ()  # that a model may have in addition
    variants: Mapping[str, ModelDefaults]  # defaults of each
    max_tokens: int  # of a prompt in its template
    instruction_tokens: int = 0  # of the template before a prompt, cut off after encoding
    limits: Mapping[str, int] = field(default_factory=dict)  # tokens by text encoder, where one takes fewer
    template: str = "{prompt}"  # the prompt's; a chat template in a model's files is a program, and is never run
    patch: int = 2  # side of a patch in latents
    guidance: Guidance = "cfg"  # or a scale that is embedded by the network
    masks_padding: bool = True  # whether the text encoders get an attention mask
    halves: tuple[GuidancePasses, ...] = ("batched", "sequential")  # supported; that of its pipeline first
    scheduler: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # by variant, for single files
    references: Mapping[str, int] = field(default_factory=dict)  # the most reference images by variant; else none
    text_layers: int | None = None  # of the text encoder that are used; None: all


def flow_scheduler(**others: object) -> Mapping[str, object]:
    """A scheduler's configuration whose timestep shift grows with the image, and where a model's own differs."""
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
