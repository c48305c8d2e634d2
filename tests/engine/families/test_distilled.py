"""Distilled models told by the names that people publish them under."""

import pytest

from mezzotint.families.distilled import recipe_of


@pytest.mark.parametrize(
    ("words", "variant", "steps", "sampler"),
    [
        ("sd_xl_turbo_1.0_fp16", "turbo", 4, "euler_a"),
        ("dreamshaperXL_turboDPMSDE", "turbo", 4, "euler_a"),
        ("wildcardxXLTURBO_v10", "turbo", 4, "euler_a"),
        ("sdxl_lightning_4step", "lightning", 4, "euler"),
        ("sdxl_lightning_8step", "lightning", 8, "euler"),
        ("juggernautXL_v9Rdphoto2Lightning", "lightning", 4, "euler"),
        ("RealVisXL_V4.0 Lightning 6 steps", "lightning", 6, "euler"),
        ("Hyper-SDXL-8steps", "lightning", 8, "euler"),
        ("hyper_sd_xl", "lightning", 8, "euler"),
        ("LCM_Dreamshaper_XL", "lcm", 4, "lcm"),
        ("someXL-dmd2-4step", "lcm", 4, "lcm"),
    ],
)
def test_names(words, variant, steps, sampler):
    recipe = recipe_of(words, None, "plain")
    assert recipe is not None
    assert (recipe.variant, recipe.steps, recipe.sampler, recipe.guidance_scale) == (variant, steps, sampler, 1.0)


@pytest.mark.parametrize("words", ["sd_xl_base_1.0", "hyperrealismXL", "filmcolors", "calcmeter", "40000 steps", ""])
def test_usual_models(words):
    assert recipe_of(words, None, "plain") is None


@pytest.mark.parametrize("hint", ["turbo", "lcm"])
def test_a_fitting_scheduler_is_kept(hint):
    recipe = recipe_of("model", hint, "plain")
    assert recipe is not None
    assert (recipe.variant, recipe.sampler, recipe.schedule) == (hint, None, None)


def test_a_name_goes_before_a_hint():
    recipe = recipe_of("sdxl_lightning_2step", "turbo", "plain")
    assert recipe is not None
    assert (recipe.variant, recipe.steps, recipe.sampler, recipe.schedule) == ("lightning", 2, "euler", "sgm_uniform")


def test_steps_beyond_any_distilled_model_are_no_count_of_steps():
    recipe = recipe_of("turbo trained 50 steps", None, "plain")
    assert recipe is not None
    assert recipe.steps == 4


def test_only_the_first_turbo_is_small():
    sides = [recipe_of(words, None, "plain").side for words in ("sd_xl_turbo_1.0", "sdxl-turbo", "other-turbo")]
    assert sides == [512, 512, None]


def test_a_network_that_takes_the_guidance_scale_is_guided_by_it():
    recipe = recipe_of("model", None, "embeds_guidance")
    assert recipe is not None
    assert (recipe.variant, recipe.guidance_scale) == ("lcm", 8.0)
