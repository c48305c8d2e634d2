"""The prompts of a stage at each of its steps: those that change while the image is made are encoded once per text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import UsageError
from mezzotint.families.family import Conditioning, PromptInputs
from mezzotint.stages.schedule import plan_schedules
from mezzotint.stages.setup import CascadeSetup, StageSetup
from mezzotint.values.prompt_editing import EditedPrompt, Segment, segments

_SHOWN = 4  # parts of the schedule in a notice
_LONGEST = 60  # characters of a prompt in it


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePrompts:
    """The prompts of a stage at some step."""

    prompt: str
    negative_prompt: str
    regions: tuple[str, ...]

    def inputs(self, others: PromptInputs) -> Iterator[PromptInputs]:
        """The inputs of the text encoders for the prompt and those of the regions."""
        for prompt in (self.prompt, *self.regions):
            yield replace(others, prompt=prompt, negative_prompt=self.negative_prompt)


@dataclass(frozen=True, slots=True, kw_only=True)
class EditedPrompts:
    """A stage's prompts, from one step on until the next begins."""

    written: StagePrompts
    parts: tuple[Segment, ...]  # by the steps of all stages that share a schedule
    steps: int  # of these stages
    begin: int  # the first of this stage
    order: int  # evaluations of a step

    def evaluation(self, step: int) -> int:
        """The evaluation of the stage with which a step begins."""
        return (step - self.begin) * self.order

    def notices(self) -> Sequence[tuple[str, str]]:
        """Code and text of what is told of prompts that change, to say how they were read."""
        written = (self.written.prompt, self.written.negative_prompt, *self.written.regions)
        return [
            ("prompt_edited", f"{_name(number)} is read as {self._described(number)}")
            for number, prompt in enumerate(written)
            if EditedPrompt(prompt).changes
        ]

    def _described(self, number: int) -> str:
        """The steps and texts of one of the prompts."""
        texts: list[tuple[int, str]] = []
        for part in self.parts:
            if not texts or texts[-1][1] != part.prompts[number]:
                texts.append((part.first, part.prompts[number]))
        shown = [f"'{plain(text, _LONGEST)}' from step {first + 1}" for first, text in texts[:_SHOWN]]
        more = f" and {len(texts) - _SHOWN} more changes" if len(texts) > _SHOWN else ""
        return f"{', '.join(shown)}{more}, of {self.steps} steps"


def edited_prompts(setup: CascadeSetup, index: int, stage: StageSetup) -> EditedPrompts:
    """The prompts of a stage like the cascade's stage `index`; stages that continue a schedule share its steps."""
    regions = tuple(region.prompt for region in stage.regions)
    written = StagePrompts(prompt=stage.prompt, negative_prompt=stage.negative_prompt, regions=regions)
    every = (stage.prompt, stage.negative_prompt, *regions)
    if not any(EditedPrompt(prompt).changes for prompt in every):
        return EditedPrompts(written=written, parts=(Segment(0, every),), steps=1, begin=0, order=1)
    schedules = plan_schedules(setup, torch.device("cpu"))
    orders = [int(schedule.scheduler.order) for schedule in schedules]
    counts = [-(-len(one.timesteps) // order) for one, order in zip(schedules, orders, strict=True)]
    chain = _chain(setup, index)
    begin, steps = sum(counts[chain.start : index]), sum(counts[chain.start : chain.stop])
    parts = segments(every, range(begin, begin + counts[index]), steps)
    return EditedPrompts(written=written, parts=parts, steps=steps, begin=begin, order=orders[index])


def changing(edited: EditedPrompts, encode: Callable[[StagePrompts], Conditioning]) -> Conditioning:
    """The conditioning of prompts, each different text encoded once. Raises UsageError for regions of other lengths."""
    known: dict[tuple[str, ...], Conditioning] = {}
    for part in edited.parts:
        if part.prompts not in known:
            prompt, negative_prompt, *regions = part.prompts
            known[part.prompts] = encode(
                StagePrompts(prompt=prompt, negative_prompt=negative_prompt, regions=tuple(regions))
            )
    first, *later = ((edited.evaluation(part.first), known[part.prompts]) for part in edited.parts)
    if any(each.spans != first[1].spans for _, each in later):
        raise UsageError(
            "the prompts of regions change to texts of another length in tokens, which is impossible with this model: "
            "leave [from:to:when] out, or the regions"
        )
    cut = tuple(dict.fromkeys(one for each in known.values() for one in each.cut))
    return replace(first[1], later=tuple(later), cut=cut)


def _chain(setup: CascadeSetup, index: int) -> range:
    """The stages that share the schedule of a stage: each but the first continues where the one before stopped."""
    starts = [number for number in range(len(setup.stages)) if not number or _is_fresh(setup, number)]
    first = max(start for start in starts if start <= index)
    return range(first, min((start for start in starts if start > index), default=len(setup.stages)))


def _is_fresh(setup: CascadeSetup, number: int) -> bool:
    return setup.transitions[number - 1].strength is not None


def _name(number: int) -> str:
    return ("the prompt", "the negative prompt")[number] if number < 2 else f"the prompt of region {number - 1}"
