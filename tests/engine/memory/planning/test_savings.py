"""What plans say of options that trade fidelity for speed."""

import pytest

from mezzotint.memory.footprints.footprint import ScalingLaw
from mezzotint.memory.planning.savings import NO_SAVINGS, Savings

WORK = ScalingLaw(per_position=100.0, per_position_squared=1.0)  # half of the work at 100 positions is attention


@pytest.mark.parametrize(
    ("savings", "share"),
    [
        (NO_SAVINGS, 1.0),
        (Savings(tokens=("todo", 0.75)), 0.5 + 0.5 * 0.25),
        (Savings(tokens=("merge", 0.5)), 0.5 + 0.5 * 0.25),
        (Savings(tokens=("todo", 0.0)), 1.0),
        (Savings(deep_shrink=(2.0, 0.5)), 0.5 + 0.5 * (0.125 + 0.5 / 16)),
        (Savings(deep_shrink=(1.0, 1.0)), 1.0),
        (Savings(step_cache=0.1), 1.0),
        (Savings(sparse_attention=("window", 0.25)), 0.5 + 0.5 * 0.25),
        (Savings(sparse_attention=("topk", 0.25)), 0.5 + 0.5 * (0.25 + 1 / 4096)),
        (Savings(sparse_attention=("pooled", 0.25)), 0.5 + 0.5 * (0.25 + 1 / 64 + 1 / 4096)),
        (Savings(sparse_attention=("pooled", 1.0)), 1.0),
        (Savings(sparse_attention=("tiles", 0.25)), 1.0),  # 5 x 5 tokens are not divided
        (Savings(sparse_attention=("pooled", None)), 1.0),  # too few tokens
    ],
)
def test_the_operations_left(savings, share):
    assert savings.operations(WORK, 100, 2) == pytest.approx(share * WORK.at(100, 2))


def test_only_a_step_cache_keeps_memory():
    assert Savings(step_cache=0.1).kept_bytes(100) == 40
    assert Savings(step_cache=0.0, tokens=("todo", 0.5)).kept_bytes(100) == 0


def test_reasons_name_what_is_saved_and_what_is_not_known():
    assert list(NO_SAVINGS.reasons(WORK, 100)) == []
    (both,) = Savings(tokens=("todo", 0.75), deep_shrink=(2.0, 0.5)).reasons(WORK, 100)
    assert both == "--tokens and --deep-shrink: a step takes about 61 % less computing"
    (unknown,) = Savings(step_cache=0.1).reasons(WORK, 100)
    assert "depends on the image" in unknown


def test_plans_tell_it_and_count_it():
    from mezzotint.protocol import PlanRequest
    from mezzotint.stages.planning import planned

    def of(**how):
        request = PlanRequest(models=("flux",), width=2048, height=2048, vram_bytes=80 << 30, ram_bytes=80 << 30, **how)
        return planned(request, lambda: pytest.fail("no catalog is needed"))

    plain, reduced, cached = of(), of(tokens=("todo", 0.75)), of(step_cache=0.1)
    assert reduced.seconds < 0.8 * plain.seconds and any("--tokens" in reason for reason in reduced.reasons)
    assert reduced.peak_vram_bytes == plain.peak_vram_bytes
    assert cached.seconds == plain.seconds and any("--step-cache" in reason for reason in cached.reasons)
    denoising = [plan.phases[1].activation_bytes for plan in (plain, cached)]
    assert denoising[0] < denoising[1] < 1.5 * denoising[0]


@pytest.mark.parametrize(
    ("family", "positions", "left"),
    [("flux", 39_999, 1.0), ("flux", 40_000, 0.25), ("sd15", 10_000, 0.88 * 0.25 + 0.12),
     ("sdxl", 40_000, 0.57 / 4 + 0.43), ("sdxl", 160_000, 0.25)],
)  # fmt: skip
def test_a_kinds_own_density_counts_where_a_layer_has_enough_tokens(family, positions, left):
    assert Savings(family=family, sparse_attention=("window", None)).attention(positions) == pytest.approx(left)


@pytest.mark.parametrize(("family", "share"), [("flux", 1.0), ("sd15", 0.88), ("sdxl", 0.57)])
@pytest.mark.parametrize(("density", "sides"), [(0.25, (1 / 2, 3 / 8)), (1 / 16, (1 / 4, 7 / 32))])
def test_tiles_count_in_the_largest_layers_as_they_are_and_shifted(family, share, density, sides):
    left = sum(side**2 for side in sides) / 2
    found = Savings(family=family, sparse_attention=("tiles", density)).attention(40_000)
    assert found == pytest.approx(share * left + 1 - share)


def test_reasons_tell_of_sparse_attention():
    (saved,) = Savings(sparse_attention=("window", 0.25)).reasons(WORK, 100)
    assert saved == "--sparse-attention: a step takes about 38 % less computing"
    (nothing,) = Savings(sparse_attention=("pooled", None)).reasons(WORK, 100)
    assert nothing == "--sparse-attention: nothing is saved below 10000 image tokens, unless a density is given"
