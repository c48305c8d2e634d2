"""Which options of a stage are in use in its denoiser."""

import torch
from small_networks import small_networks

from mezzotint.acceleration.speedups import NO_SPEEDUPS, speeding_up, why_not_captured
from mezzotint.attention.session import AttentionSession
from mezzotint.sampling_protocol import Sampling


def speedups_of(name, **sampling):
    torch.manual_seed(0)
    session = AttentionSession(asked="auto", chosen="sdpa", kernels=None, tell=lambda *_: None)
    return speeding_up(small_networks()[name](), session, Sampling(**sampling), (16, 16))


def test_only_what_is_asked_for():
    NO_SPEEDUPS.begin_step(0, 0.0, "prompt")
    with speedups_of("UNet2DConditionModel") as none:
        assert none == NO_SPEEDUPS
    with speedups_of("FluxTransformer2DModel", step_cache=0.0, tokens=("todo", 0.5)) as none:
        assert none == NO_SPEEDUPS


def test_those_that_depend_on_the_step_are_told_of_it():
    with speedups_of("UNet2DConditionModel", deep_shrink=(2.0, 0.35)) as told:
        assert told.cache is None and told.shrunk is not None
        active = [
            (told.begin_step(index, done, "prompt"), told.shrunk.active)[1] for index, done in enumerate((0.3, 0.4))
        ]
    assert active == [True, False]
    with speedups_of("FluxTransformer2DModel", step_cache=0.1) as told:
        assert told.shrunk is None and told.cache is not None
        told.begin_step(0, 0.0, "prompt")


def test_why_steps_are_not_captured():
    assert why_not_captured(Sampling(tokens=("merge", 0.5))) == ""
    assert "step cache" in why_not_captured(Sampling(step_cache=0.1))
    assert "deep shrink" in why_not_captured(Sampling(deep_shrink=(2.0, 0.35)))
