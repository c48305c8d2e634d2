"""The step cache: beside that of diffusers, and which blocks it calls."""

import itertools

import pytest
import torch
from small_networks import small_networks

from mezzotint.acceleration.step_cache import caching_steps
from mezzotint.acceleration.trunks import TRUNKS
from mezzotint.memory.footprints import forward_calls

SIDE, TEXT, STEPS = 8, 5, 8
# Thresholds between the changes of these networks; diffusers' cache fails where the last block returns no text states.
THEIRS = {"FluxTransformer2DModel": 0.46, "QwenImageTransformer2DModel": 0.2, "PixArtTransformer2DModel": 0.015}
TRANSFORMERS = (*THEIRS, "SD3Transformer2DModel")


@pytest.fixture(autouse=True)
def _without_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture(params=(*TRANSFORMERS, "UNet2DConditionModel"))
def network(request):
    return small(request.param)


@pytest.fixture(params=TRANSFORMERS)
def transformer(request):
    return small(request.param)


def small(name, seed=0):
    torch.manual_seed(seed)
    return small_networks()[name]().eval()


@pytest.fixture
def answer(monkeypatch):
    """Answers of a network to inputs that change from step to step, the more the larger `pace` is."""
    step = [0.0]

    def moved(_, *shape):
        start = torch.randn(shape)
        return start + step[0] * torch.randn(shape)

    monkeypatch.setattr(forward_calls, "_numbers", moved)

    def ask(network, now, half=0, side=SIDE):
        step[0] = now
        torch.manual_seed(half)
        return forward_calls.known_call(type(network).__name__, network, side, 2, TEXT)[0]

    return ask


def blocks_of(network):
    """Its blocks, of a U-Net the first of each level but the last, which always runs, too."""
    if hasattr(network, "down_blocks"):
        return [level.resnets[0] for level in (*network.down_blocks, network.mid_block, *network.up_blocks[:-1])]
    return [block for name in TRUNKS[type(network).__name__].blocks for block in getattr(network, name)]


def counted(network):
    """The calls of each block so far."""
    calls = [0] * len(blocks_of(network))
    for index, block in enumerate(blocks_of(network)):
        block.register_forward_pre_hook(lambda *_, index=index: calls.__setitem__(index, calls[index] + 1))
    return calls


@pytest.mark.parametrize(("name", "threshold"), THEIRS.items())
def test_the_same_decisions_and_outputs_as_diffusers(name, threshold, answer):
    from diffusers.hooks import FirstBlockCacheConfig, apply_first_block_cache
    from diffusers.hooks.hooks import CacheContext, _set_cache_context

    ours, theirs, plain = small(name), small(name), small(name)
    apply_first_block_cache(theirs, FirstBlockCacheConfig(threshold=threshold))
    _set_cache_context(theirs, CacheContext("prompt"))
    skipped, last = [], 0
    with caching_steps(ours, threshold) as cache:
        for index in range(STEPS):
            cache.begin_step(index, "prompt")
            expected = answer(theirs, 0.02 * index)
            assert torch.equal(answer(ours, 0.02 * index), expected)
            skipped.append(cache.skipped > last)
            assert skipped[-1] != torch.equal(answer(plain, 0.02 * index), expected)
            last = cache.skipped
    assert not skipped[0] and 0 < sum(skipped) < STEPS - 1


def test_a_threshold_of_nothing_is_the_same_to_the_bit(network, answer):
    plain = [answer(network, 0.01 * index) for index in range(3)]
    with caching_steps(network, 0.0) as cache:
        for index in range(3):
            cache.begin_step(index, "prompt")
            assert torch.equal(answer(network, 0.01 * index), plain[index])
    assert (cache.computed, cache.skipped) == (3, 0)


def test_a_large_threshold_skips_all_but_the_first_step_and_each_first_block(network, answer):
    calls = counted(network)
    with caching_steps(network, 1000.0) as cache:
        made = []
        for index in range(STEPS):
            cache.begin_step(index, "prompt")
            made.append(answer(network, 0.0))
    for each in made[1:]:
        torch.testing.assert_close(each, made[0])
    assert calls == [STEPS] + [1] * (len(calls) - 1)
    assert (cache.computed, cache.skipped) == (1, STEPS - 1)
    assert torch.equal(answer(network, 0.0), made[0])
    assert calls == [STEPS + 1] + [2] * (len(calls) - 1)  # outside, all blocks run again


def test_guidance_halves_are_kept_apart(transformer, answer):
    with caching_steps(transformer, 1000.0) as cache:
        first = []
        for index in range(3):
            cache.begin_step(index, "prompt")
            both = [answer(transformer, 0.0, half) for half in (0, 1)]
            first = first or both
            for now, then in zip(both, first, strict=True):
                torch.testing.assert_close(now, then)
    assert (cache.computed, cache.skipped) == (2, 4)


def test_another_conditioning_and_another_job_begin_anew(transformer, answer):
    with caching_steps(transformer, 1000.0) as cache:
        for index, words in [(0, "a"), (1, "a"), (2, "b"), (3, "b"), (0, "b")]:
            cache.begin_step(index, words)
            answer(transformer, 0.0)
    assert (cache.computed, cache.skipped) == (3, 2)


def test_another_size_is_computed(transformer, answer):
    with caching_steps(transformer, 1000.0) as cache:
        for index, side in enumerate((SIDE, SIDE, 2 * SIDE, 2 * SIDE)):
            cache.begin_step(index, "prompt")
            answer(transformer, 0.0, side=side)
    assert (cache.computed, cache.skipped) == (2, 2)


def test_a_repeated_step_has_the_same_result(network, answer):
    """Whether it computed or skipped, and whether or not it came to its end."""
    plain = []
    for failing in itertools.chain([None], range(4)):
        made = []
        with caching_steps(network, 0.05) as cache:
            for index in range(4):
                if index == failing:
                    cache.begin_step(index, "prompt")
                    answer(network, 0.1 * index)
                cache.begin_step(index, "prompt")
                made.append(answer(network, 0.1 * index))
        plain = plain or made
        assert all(torch.equal(one, other) for one, other in zip(made, plain, strict=True))


def test_what_is_kept_is_counted(network, answer):
    with caching_steps(network, 0.1) as cache:
        assert cache.kept_bytes == 0
        cache.begin_step(0, "prompt")
        answer(network, 0.0)
        assert cache.kept_bytes >= 2 * 2 * (SIDE // 2) ** 2 * 4  # both of at least one number per image token


def test_a_single_block_is_left_alone(answer):
    from diffusers import PixArtTransformer2DModel

    network = PixArtTransformer2DModel(**{**small("PixArtTransformer2DModel").config, "num_layers": 1}).eval()
    with caching_steps(network, 1000.0) as cache:
        for index in range(2):
            cache.begin_step(index, "prompt")
            answer(network, 0.0)
    assert (cache.computed, cache.skipped) == (0, 0)


def test_the_modules_keep_their_names(network):
    names = [name for name, _ in network.named_modules()]
    with caching_steps(network, 0.1):
        assert [name for name, _ in network.named_modules()] == names
        assert len(blocks_of(network)) > 0
    assert not any("forward" in vars(each) for each in network.modules())
    trunk = TRUNKS.get(type(network).__name__)
    assert all(type(getattr(network, name)) is torch.nn.ModuleList for name in (trunk.blocks if trunk else ()))
