"""Speeds of schemes by architecture: those of the products that it has."""

from typing import get_args

import pytest

from mezzotint.memory.footprints.footprint import Scheme
from mezzotint.memory.machine.product_rates import PRODUCT_RATES, product_rates, times_16_bits
from mezzotint.memory.machine.speeds import ARCHITECTURES, OTHERS, dequantized_speed, of_architecture, scheme_speed

SCHEMES = get_args(Scheme)


def speed(scheme, architecture):
    return scheme_speed(scheme, of_architecture(architecture).int8_speedup, architecture)


@pytest.mark.parametrize("architecture", [*ARCHITECTURES, *OTHERS, "sm_87", "sm_61", ""])
def test_int8_has_the_speed_that_was_published_and_every_scheme_has_one(architecture):
    figures = of_architecture(architecture)
    assert speed("int8", architecture) == pytest.approx(figures.int8_speedup)
    assert speed("none", architecture) == 1 and speed("int4", architecture) < 1
    assert all(0 < speed(scheme, architecture) < 4 for scheme in SCHEMES)


def test_4_bits_are_faster_only_where_they_are_multiplied():
    for architecture in ("sm_75", "sm_80", "sm_86", "sm_89"):
        assert speed("int4-rot", architecture) > speed("int8", architecture)
    assert speed("int4-rot", "sm_120") == speed("int8", "sm_120") == 1.2


def test_scales_by_group_take_instructions():
    assert speed("int8", "sm_89") < speed("svdquant", "sm_89") < speed("int4-rot", "sm_89")
    assert speed("svdquant", "sm_80") < speed("int8", "sm_80")
    assert speed("int4-codebook", "sm_80") < speed("int4-lowrank", "sm_80") == speed("int8", "sm_80")
    assert speed("int4-codebook", "sm_86") == speed("int8", "sm_86")


def test_8_bit_floats_are_multiplied_on_rtx_40_and_50():
    assert speed("fp8", "sm_86") == speed("fp8", "sm_90") == dequantized_speed("fp8") < 1
    assert 1 < speed("fp8", "sm_89") < speed("int8", "sm_89")


def test_data_center_blackwell_dequantizes_for_its_products_of_16_bits():
    for architecture in ("sm_100", "sm_103"):
        assert all(speed(scheme, architecture) < 1 for scheme in SCHEMES if scheme != "none")
        assert times_16_bits("int8", architecture) is None


def test_4_bit_floats_are_multiplied_on_rtx_50_alone():
    assert speed("nvfp4", "sm_120") > speed("int8", "sm_120") > speed("fp8", "sm_120")
    assert all(speed("nvfp4", each) == dequantized_speed("nvfp4") < 1 for each in ARCHITECTURES if each != "sm_120")


def test_a_share_of_the_time_never_becomes_more_than_all():
    assert scheme_speed("int8", 100.0, "sm_86") == pytest.approx(4)
    assert scheme_speed("int8", 0.6, "sm_86") == scheme_speed("svdquant", 0.6, "sm_86") == 0.6


def test_rates_of_architectures_that_are_not_listed():
    assert product_rates("sm_87") == PRODUCT_RATES["sm_86"]
    assert product_rates("sm_61") is product_rates("gfx1100") is product_rates("") is None
    assert product_rates("sm_130").nvfp4 == 0 < product_rates("sm_121").nvfp4 == product_rates("sm_120").nvfp4
    assert times_16_bits("none", "sm_89") is None
