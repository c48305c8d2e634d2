"""Peak rates: those of the white papers, within what the planner rounds."""

import pytest

from kernel_build.roofline.cards import NAMES, rates_of


@pytest.mark.parametrize(
    ("name", "f16", "int8", "bandwidth"),
    [("RTX 3090", 71, 284, 936), ("RTX 4090", 165, 660, 1008), ("RTX 5090", 209, 838, 1792), ("A100", 312, 624, 2039)],
)
def test_peaks_are_those_of_the_data_sheets(name, f16, int8, bandwidth):
    rates = rates_of(name)
    assert rates.f16 / 1e12 == pytest.approx(f16, rel=0.02)
    assert rates.int8 / 1e12 == pytest.approx(int8, rel=0.02)
    assert rates.bandwidth / 1e9 == pytest.approx(bandwidth, rel=0.16)


def test_half_of_hoppers_peak_by_mma_sync():
    assert rates_of("H200").f16 / 1e12 == pytest.approx(989 / 2, rel=0.02)


def test_data_center_blackwell_has_a_quarter_of_its_peak_by_mma_sync_and_in_16_bits_alone():
    for name in ("B200", "B300"):
        assert rates_of(name).f16 / 1e12 == pytest.approx(2250 / 4, rel=0.02)
        assert rates_of(name).int8 == rates_of(name).int4 == rates_of(name).fp8 == 0
    assert rates_of("B300").exponentials == 2 * rates_of("B200").exponentials


def test_block_scales_on_rtx_50_alone():
    assert rates_of("RTX 5090").nvfp4 / 1e12 == pytest.approx(1676, rel=0.02)
    assert {name for name in NAMES if rates_of(name).mxfp8} == {"RTX 5090"}


@pytest.mark.parametrize("name", NAMES)
def test_clocks_are_plausible(name):
    rates = rates_of(name)
    assert rates.exponentials == (8 if name == "B300" else 4) * rates.instructions
    assert rates.f16 <= rates.f16_sums <= (rates.int8 or rates.f16)
