"""Step cache: a denoiser's blocks are skipped while the first of them changes little from step to step.

The first block always runs. If what it adds differs from what it added in the last step that was computed by less than
a threshold, relative in the mean absolute value, then what the other blocks added in that step is added again. They are
not even called, so their weights are not copied if they are streamed. This is ParaAttention's first-block cache, after
TeaCache (arXiv 2411.19108).

Of a U-Net the first level always runs, down and up. While what it finds changes little, it is given again what the
levels below gave it in the last computed step (DeepCache, arXiv 2312.00858, which skips every so many steps instead).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from mezzotint.acceleration.trunks import TRUNKS

_FEWEST = 2  # blocks

Output: TypeAlias = Tensor | tuple[Tensor | None, Tensor]  # hidden states, or text states and image states
Block: TypeAlias = Callable[..., Output]
Level: TypeAlias = Callable[..., Any]  # of a U-Net


@dataclass(frozen=True, slots=True)
class _Computed:
    """What blocks added in the last computed step of a call."""

    first: Tensor  # the first block, to the hidden states
    others: Output


class StepCache:
    """Decides in each call of a network whether its blocks are skipped, and counts both."""

    def __init__(self, threshold: float) -> None:
        self._threshold = threshold
        self.computed = self.skipped = 0
        self._step = -1
        self._conditioning: object = None
        self._calls: dict[int, _Computed] = {}  # by their order in a step: the guidance halves, parts of a batch
        self._before: dict[int, _Computed] = {}  # the same before the current step
        self._call = -1
        self._skips = False
        self._first: tuple[Tensor, Output] | None = None  # what the first block added, and its output

    def begin_step(self, index: int, conditioning: object) -> None:
        """Begin a step, or repeat it: then it has the same result. Another conditioning begins anew."""
        if index == 0 or conditioning is not self._conditioning:
            self._before = {}
        elif index != self._step:
            self._before = dict(self._calls)
        self._calls, self._call = dict(self._before), -1
        self._step, self._conditioning = index, conditioning

    @property
    def kept_bytes(self) -> int:
        """Bytes of what is kept."""
        kept = [each for call in self._calls.values() for each in (call.first, *_tensors(call.others))]
        return sum(each.nbytes for each in kept)

    def blocks(self, listed: list[nn.Module], *, is_first: bool, is_last: bool) -> Iterator[Block]:
        """The blocks to call of a list of blocks; decided while the network iterates over it."""
        if is_first:
            self._call += 1
            yield partial(self._run_first, listed[0])
            listed = listed[1:]
        if not self._skips:
            yield from listed[:-1] if is_last else listed
        if is_last:
            yield self._reuse if self._skips else partial(self._run_last, listed[-1])

    def _run_first(self, block: Block, *args: Any, **words: Any) -> Output:  # noqa: ANN401  of any network
        output = block(*args, **words)
        added = _hidden(output) - (args[0] if args else words["hidden_states"])
        self._decide(added)
        self._first = (added, output)
        return output

    def _decide(self, found: Tensor) -> None:
        """Skip or compute, by what the first block found."""
        known = self._calls.get(self._call)
        self._skips = known is not None and _is_close(found, known.first, self._threshold)
        self.skipped += self._skips
        self.computed += not self._skips

    def _run_last(self, block: Block, *args: Any, **words: Any) -> Output:  # noqa: ANN401
        output = block(*args, **words)
        first, self._first = self._first, None
        if first is not None:
            self._calls[self._call] = _Computed(first[0], _difference(output, first[1]))
        return output

    def _reuse(self, *args: Any, **words: Any) -> Output:  # noqa: ANN401
        """Stand in for all blocks but the first; takes and returns what the last block would."""
        added, hidden = self._calls[self._call].others, args[0] if args else words["hidden_states"]
        self._first = None
        if isinstance(added, Tensor):
            return hidden + added  # type: ignore[no-any-return]
        text = None if added[0] is None else (args[1] if len(args) > 1 else words["encoder_hidden_states"]) + added[0]
        return text, hidden + added[1]


class LevelCache(StepCache):
    """The same for a U-Net, whose levels below the first are skipped."""

    def run_first(self, forward: Level, *args: Any, **words: Any) -> Any:  # noqa: ANN401
        """The way down of the first level: features, and the inputs of its way up."""
        self._call += 1
        found, skips = forward(*args, **words)
        self._decide(found)
        self._first = (found, found)
        return found, skips

    def run_down(self, forward: Level, skips: int, *args: Any, **words: Any) -> Any:  # noqa: ANN401
        """The way down of another level; `skips`: how many outputs it has beside the features."""
        if not self._skips:
            return forward(*args, **words)
        return words["hidden_states"], (torch.empty(0),) * skips

    def run_middle(self, forward: Level, *args: Any, **words: Any) -> Any:  # noqa: ANN401
        """The innermost level."""
        return args[0] if self._skips else forward(*args, **words)

    def run_up(self, forward: Level, is_last: bool, *args: Any, **words: Any) -> Any:  # noqa: ANN401
        """The way up of another level; `is_last`: it leads to the first."""
        if self._skips:
            return self._calls[self._call].others if is_last else words["hidden_states"]
        output = forward(*args, **words)
        if is_last and self._first is not None:
            self._calls[self._call], self._first = _Computed(self._first[0], output), None
        return output


@contextmanager
def _caching_levels(network: Any, threshold: float) -> Iterator[StepCache]:  # noqa: ANN401  diffusers has no types
    cache = LevelCache(threshold)
    first, *others = network.down_blocks
    *deep, last, _ = network.up_blocks
    calls = {first: partial(cache.run_first, first.forward)}
    for level in others:
        skips = len(level.resnets) + len(level.downsamplers or ())
        calls[level] = partial(cache.run_down, level.forward, skips)
    if network.mid_block is not None:
        calls[network.mid_block] = partial(cache.run_middle, network.mid_block.forward)
    calls |= {level: partial(cache.run_up, level.forward, level is last) for level in (*deep, last)}
    try:
        for module, call in calls.items():
            module.forward = call
        yield cache
    finally:
        for module in calls:
            vars(module).pop("forward", None)


@contextmanager
def caching_steps(network: nn.Module, threshold: float) -> Iterator[StepCache]:
    """Skip blocks of a transformer, or levels of a U-Net, in this context where the cache allows."""
    if hasattr(network, "down_blocks"):
        with _caching_levels(network, threshold) as levels:
            yield levels
        return
    cache = StepCache(threshold)
    names = [name for name in TRUNKS[type(network).__name__].blocks if len(getattr(network, name))]
    plain = {name: getattr(network, name) for name in names}
    if sum(map(len, plain.values())) < _FEWEST:
        plain = {}
    try:
        for name, blocks in plain.items():
            chosen = partial(cache.blocks, is_first=name == names[0], is_last=name == names[-1])
            setattr(network, name, _ChosenBlocks(blocks, chosen))
        yield cache
    finally:
        for name, blocks in plain.items():
            setattr(network, name, blocks)


class _ChosenBlocks(nn.ModuleList):
    """Stands in for a list of blocks: the same modules under the same names, of which iteration calls some."""

    def __init__(self, blocks: nn.ModuleList, choose: Callable[[list[nn.Module]], Iterator[Block]]) -> None:
        super().__init__()
        self._modules = blocks._modules
        self._choose = choose

    def __iter__(self) -> Iterator[Any]:
        return self._choose(list(self._modules.values()))


def _is_close(added: Tensor, before: Tensor, threshold: float) -> bool:
    """Whether the mean absolute difference is below this part of the mean absolute value; waits for the device."""
    if added.shape != before.shape:
        return False
    return bool(((added - before).abs().mean() / before.abs().mean()).item() < threshold)


def _hidden(output: Output) -> Tensor:
    return output if isinstance(output, Tensor) else output[1]


def _difference(last: Output, first: Output) -> Output:
    """What the blocks after the first added; single-stream ones take text and image states as one sequence."""
    if isinstance(last, Tensor):
        return last - (first if isinstance(first, Tensor) else torch.cat([_tensor(each) for each in first], dim=1))
    text, before = last[0], first[0]
    return None if text is None else text - _tensor(before), last[1] - _hidden(first)


def _tensor(each: Tensor | None) -> Tensor:
    if each is None:
        raise TypeError("the first block returned no text states")
    return each


def _tensors(output: Output) -> list[Tensor]:
    return [output] if isinstance(output, Tensor) else [each for each in output if each is not None]
