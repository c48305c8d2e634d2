"""Foreign scheduler settings: what passes, what is filled in, what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.errors import ModelRefused
from mezzotint.families.scheduler_config import checked_config, with_own_noise

KEYS = (
    "num_train_timesteps",
    "beta_start",
    "beta_schedule",
    "trained_betas",
    "shift",
    "use_karras_sigmas",
    "solver_p",
    "variance_type",
    "other",
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(KEYS), JSON))
def test_any_json_passes_or_is_refused_in_one_line(config):
    try:
        settings = checked_config(config)
    except ModelRefused as error:
        assert str(error).isprintable()
        assert len(str(error)) < 400
    else:
        assert settings == config
        assert 1 <= (settings.get("num_train_timesteps") or 1000) <= 100_000


def test_private_keys_are_left_out():
    assert checked_config({"_class_name": "X", "_use_default_values": ["a"], "beta_start": 0.1}) == {"beta_start": 0.1}


def test_betas_are_one_for_each_timestep():
    assert checked_config({"num_train_timesteps": 2, "trained_betas": [0.1, 0.2]})
    with pytest.raises(ModelRefused, match="a list of 2 numbers"):
        checked_config({"num_train_timesteps": 2, "trained_betas": [0.1]})


@pytest.mark.parametrize(
    "name", ["EulerDiscreteScheduler", "HeunDiscreteScheduler", "LCMScheduler", "TCDScheduler", "DDIMScheduler"]
)
def test_unsaid_noise_is_that_of_the_class(name):
    import diffusers

    said = with_own_noise(name, {})
    config = getattr(diffusers, name)().config
    assert {key: config[key] for key in said} == said
    assert with_own_noise(name, {"beta_start": 0.5})["beta_start"] == 0.5
