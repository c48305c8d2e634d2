"""The description of a family of flow-matching transformers: all of it that is no code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mezzotint.protocol import GuidancePasses, ModelDefaults

Guidance = Literal["true", "embedded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSpec:
    """What one family is, and what its models are best run with."""

    name: str  # as detection and files have it
    title: str  # as people know it
    pipelines: tuple[str, ...]  # that a folder may name
    components: tuple[str, ...]  # that its pipelines cannot do without
    optional: tuple[str, ...] = ()  # that a model may have besides
    variants: Mapping[str, ModelDefaults]  # what each is run with when nothing is said
    max_tokens: int  # of a prompt in its template
    instruction_tokens: int = 0  # before a prompt, that its text encoder reads and the network never sees
    limits: Mapping[str, int] = field(default_factory=dict)  # of a prompt's own, for text encoders that read fewer
    template: str = "{prompt}"  # what the words are read in; one that comes with a model is a program, and none is run
    patch: int = 2  # latents that are one token, along a side
    guidance: Guidance = "true"  # with negative prompts, or a scale that the network is told
    masks_padding: bool = True  # whether the text encoders are told which tokens are no words
    halves_together: bool = True  # whether one pass can have prompts and negative prompts of unlike lengths
    scheduler: Mapping[str, Mapping[str, object]] = field(default_factory=dict)  # of variants, where a file has none
    references: Mapping[str, int] = field(default_factory=dict)  # how many images each variant can be shown; else none
    in_turn: bool = False  # whether its pipeline has prompts and negative prompts one after the other
    text_layers: int | None = None  # of the text encoder, that are used; None: all

    @property
    def halves(self) -> tuple[GuidancePasses, ...]:
        """How prompts and negative prompts may come; as its pipeline has them first, for the same last bits."""
        if not self.halves_together:
            return ("sequential",)
        return ("sequential", "batched") if self.in_turn else ("batched", "sequential")
