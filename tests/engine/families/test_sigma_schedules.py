"""Sigmas of the named schedules, against figures of ComfyUI's formulas."""

import numpy as np
import pytest

from mezzotint.families.sigma_schedules import beta_quantiles, flow_levels, named_sigmas, table_levels

BETAS = np.linspace(0.00085**0.5, 0.012**0.5, 1000) ** 2
ABAR = np.cumprod(1 - BETAS)
SDXL = table_levels(np.sqrt((1 - ABAR) / ABAR))
FLOW = flow_levels(3.0, 1000)

# ComfyUI's calculate_sigmas for SD 1.5's table, without the final zero.
OF_SDXL = {
    "beta": [14.6, 11.5, 7.37, 4.37, 2.62, 1.62, 1.03, 0.655, 0.396, 0.199],
    "karras": [14.6146, 10.7468, 7.7666, 5.5061, 3.8188, 2.5829, 1.6968, 1.0783, 0.6590, 0.3846],
}


@pytest.mark.parametrize("schedule", OF_SDXL)
def test_levels_of_a_model_with_betas(schedule):
    steps = 10 if schedule == "beta" else 15
    found = named_sigmas(schedule, SDXL, steps)
    assert len(found) == steps
    if schedule == "beta":
        assert found == pytest.approx(OF_SDXL[schedule], rel=5e-3)
    else:
        ramp = np.arange(steps) / (steps - 1)
        high, low = SDXL.table[-1] ** (1 / 7), SDXL.table[0] ** (1 / 7)
        assert found == pytest.approx((high + ramp * (low - high)) ** 7)


def test_timesteps_of_equal_distance():
    places = {name: timesteps(named_sigmas(name, SDXL, 20)) for name in ("normal", "sgm_uniform", "simple")}
    assert places["normal"] == pytest.approx(np.linspace(999, 0, 20), abs=1e-6)
    assert places["sgm_uniform"][:3] == pytest.approx([999, 949.05, 899.1], abs=1e-6)
    assert places["simple"][:3] == pytest.approx([999, 949, 899], abs=1e-6)


def timesteps(sigmas):
    return np.interp(np.log(sigmas), np.log(SDXL.table), np.arange(1000))


def shifted(times):
    return 3 * times / (1 + 2 * times)


def test_levels_of_a_flow_model():
    assert named_sigmas("simple", FLOW, 20) == pytest.approx(shifted(np.linspace(1, 1 / 20, 20)))
    lowest = shifted(0.001)
    assert named_sigmas("normal", FLOW, 20) == pytest.approx(shifted(np.linspace(1, lowest, 20)))
    assert named_sigmas("normal", FLOW, 20)[-1] == pytest.approx(0.0089, abs=5e-5)
    assert named_sigmas("sgm_uniform", FLOW, 20) == pytest.approx(shifted(np.linspace(1, lowest, 21)[:-1]))
    assert named_sigmas("exponential", FLOW, 3) == pytest.approx([1, lowest**0.5, lowest])


@pytest.mark.parametrize("schedule", ["normal", "karras", "exponential", "sgm_uniform", "simple", "beta", "kl_optimal"])
def test_one_step_begins_at_the_highest_level(schedule):
    for levels in (SDXL, FLOW):
        assert named_sigmas(schedule, levels, 1) == pytest.approx([levels.table[-1]])


def test_beta_beyond_the_trained_timesteps_drops_no_step():
    assert len(named_sigmas("beta", SDXL, 400)) == 400


def test_more_steps_than_levels():
    with pytest.raises(ValueError, match="coincide"):
        named_sigmas("simple", SDXL, 1001)


def test_quantiles_of_the_beta_distribution():
    """Known where the distribution is symmetrical, and by integrating the density numerically."""
    x = np.linspace(0, 1, 2_000_001)[1:-1]
    density = (x * (1 - x)) ** -0.4
    share = np.cumsum(density) / density.sum()
    for wanted in (0.05, 0.3, 0.5, 0.8, 0.95):
        assert float(beta_quantiles(np.array([wanted]))[0]) == pytest.approx(
            x[np.searchsorted(share, wanted)], abs=1e-3
        )
    assert beta_quantiles(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]
