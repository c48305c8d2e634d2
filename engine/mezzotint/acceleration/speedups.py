"""The options that trade fidelity for speed, for one stage: fewer tokens, sparse attention, deep shrink, step cache."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from torch import nn

from mezzotint.acceleration.deep_shrink import ShrunkFeatures, shrinking
from mezzotint.acceleration.sparse_attention import attending_sparsely
from mezzotint.acceleration.step_cache import StepCache, caching_steps
from mezzotint.acceleration.token_reduction import reducing_tokens
from mezzotint.attention.session import AttentionSession
from mezzotint.sampling_protocol import Sampling


@dataclass(frozen=True, slots=True, kw_only=True)
class Speedups:
    """Those in use that depend on the step."""

    shrunk: ShrunkFeatures | None = None
    cache: StepCache | None = None

    def begin_step(self, index: int, done: float, conditioning: object) -> None:
        """Begin, or repeat, step `index` of a stage; `done`: the part of the whole schedule before it."""
        if self.shrunk is not None:
            self.shrunk.begin_step(done)
        if self.cache is not None:
            self.cache.begin_step(index, conditioning)


NO_SPEEDUPS = Speedups()


@contextmanager
def speeding_up(
    network: nn.Module, session: AttentionSession, sampling: Sampling, size: tuple[int, int]
) -> Iterator[Speedups]:
    """Use a stage's options in its denoiser; `size`: rows and columns of image tokens, or of a U-Net's latents."""
    with ExitStack() as stack:
        if sampling.tokens is not None:
            stack.enter_context(reducing_tokens(network, session, sampling.tokens, size))
        if sampling.sparse_attention is not None:
            stack.enter_context(attending_sparsely(network, session, sampling.sparse_attention, size))
        shrunk = cache = None
        if sampling.deep_shrink is not None:
            shrunk = stack.enter_context(shrinking(network, sampling.deep_shrink))
        if sampling.step_cache:
            cache = stack.enter_context(caching_steps(network, sampling.step_cache))
        yield Speedups(shrunk=shrunk, cache=cache)


def why_not_captured(sampling: Sampling) -> str:
    """Why steps with these options cannot be captured as CUDA graphs; '' if they can."""
    if sampling.step_cache:
        return "the step cache decides in each step which blocks run"
    return "deep shrink changes sizes during the schedule" if sampling.deep_shrink is not None else ""
