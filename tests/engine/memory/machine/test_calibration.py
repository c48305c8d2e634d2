"""What is learned of a device, kept and read again; damage loses nothing but time."""

import json
import math

import pytest

from mezzotint.memory.machine.calibration import FILE, Calibration, load_calibration, store_calibration


def test_factors_are_those_of_published_peaks_until_something_is_learned():
    fresh = Calibration(reserved=1.0)
    assert (
        fresh.factor("sdxl", "vae", "AutoencoderKL") == fresh.factor("sdxl", "denoiser", "UNet2DConditionModel") == 1.25
    )
    assert (
        fresh.factor("flux", "denoiser", "FluxTransformer2DModel")
        == fresh.factor("sdxl", "text", "CLIPTextModel")
        == 1.2
    )
    learned = fresh.learned("sdxl", "vae", live_bytes=1000, measured_bytes=1400)
    assert learned.factor("sdxl", "vae", "AutoencoderKL") == pytest.approx(1.4)
    assert learned.factor("flux", "vae", "AutoencoderKL") == 1.25


def test_pieces_that_nobody_can_use_are_learned_for_each_network():
    fresh = Calibration()
    known = fresh.learned("sdxl", "vae", live_bytes=1000, measured_bytes=1200, held_bytes=1320)
    assert known.factor("sdxl", "vae", "AutoencoderKL") == pytest.approx(1.32)
    assert known.factor("sdxl", "denoiser", "UNet2DConditionModel") == pytest.approx(1.25 * fresh.reserved)
    once_more = known.learned("sdxl", "vae", live_bytes=1000, measured_bytes=1250)
    assert once_more.factor("sdxl", "vae", "AutoencoderKL") == pytest.approx(1.25 * 1.1), "what is not known stays"
    much = fresh.learned("sdxl", "vae", live_bytes=1000, measured_bytes=1200, held_bytes=5000)
    assert much.factor("sdxl", "vae", "AutoencoderKL") == pytest.approx(1.2 * 1.25)
    less = fresh.learned("sdxl", "vae", live_bytes=1000, measured_bytes=1200, held_bytes=1100)
    assert less.factor("sdxl", "vae", "AutoencoderKL") == pytest.approx(1.2 * fresh.reserved)


@pytest.mark.parametrize("measured", [0, 10, math.nan, math.inf, 5000])
def test_a_mistake_in_measuring_changes_nothing(measured):
    fresh = Calibration()
    assert fresh.learned("sdxl", "vae", live_bytes=1000, measured_bytes=measured) == fresh
    assert fresh.learned("sdxl", "vae", live_bytes=0, measured_bytes=1000) == fresh


def test_times_are_learned_for_each_network_and_precision():
    fresh = Calibration()
    assert fresh.time_factor("sdxl", "denoiser", "none") == 1
    known = fresh.timed("sdxl", "denoiser", "none", expected=0.1, measured=0.15)
    assert known.time_factor("sdxl", "denoiser", "none") == pytest.approx(1.5)
    assert known.time_factor("sdxl", "denoiser", "int8") == pytest.approx(1.5), "a slow card is slow in 8 bits, too"
    assert known.time_factor("flux", "denoiser", "none") == 1
    assert known.has_timed("sdxl", "denoiser", "none") and not known.has_timed("sdxl", "denoiser", "int8")
    both = known.timed("sdxl", "denoiser", "int8", expected=0.1, measured=0.2)
    assert both.time_factor("sdxl", "denoiser", "int8") == pytest.approx(3)


def test_a_card_that_was_slow_once_is_believed_by_half():
    known = Calibration().timed("sdxl", "denoiser", "none", expected=0.1, measured=0.1)
    again = known.timed("sdxl", "denoiser", "none", expected=0.1, measured=0.4)
    assert again.time_factor("sdxl", "denoiser", "none") == pytest.approx(2)
    right = again.timed("sdxl", "denoiser", "none", expected=0.2, measured=0.2)
    assert right.time_factor("sdxl", "denoiser", "none") == pytest.approx(2)


@pytest.mark.parametrize(("expected", "measured"), [(0.1, 0), (0.1, 2), (0.1, math.nan), (0.1, math.inf), (0, 1)])
def test_a_time_that_cannot_be_changes_nothing(expected, measured):
    fresh = Calibration()
    assert fresh.timed("sdxl", "denoiser", "none", expected=expected, measured=measured) == fresh


def test_files_from_before_times_were_learned_are_read(tmp_path):
    (tmp_path / FILE).write_text('{"one": {"allocated": {"sdxl/vae": 1.3}, "reserved": 1.05, "copy_rate": 2e10}}')
    found = load_calibration(tmp_path, "one")
    assert (found.times, found.copy_rate) == ({}, 2e10)
    assert found.factor("sdxl", "vae", "AutoencoderKL") == pytest.approx(1.3 * 1.05)


def test_each_device_has_its_own(tmp_path):
    one = Calibration(copy_rate=2e10, disk_rate=1e9).learned(
        "sdxl", "vae", live_bytes=1000, measured_bytes=1300, held_bytes=1400
    )
    one = one.timed("sdxl", "denoiser", "int8", expected=0.1, measured=0.2)
    other = Calibration(reserved=1.2)
    assert store_calibration(tmp_path / "deep" / "er", "one", one)
    assert store_calibration(tmp_path / "deep" / "er", "other", other)
    assert load_calibration(tmp_path / "deep" / "er", "one") == one
    assert load_calibration(tmp_path / "deep" / "er", "other") == other
    assert load_calibration(tmp_path / "deep" / "er", "third") == Calibration()
    assert [path.name for path in (tmp_path / "deep" / "er").iterdir()] == [FILE]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"one": 3}',
        '{"one": {"times": {"sdxl/denoiser/none": 99, "b": null, "c": true}}}',
        '{"one": {"times": [1], "reserved": 0.1}}',
        '{"one": {"allocated": 7, "reserved": "x", "copy_rate": true}}',
        '{"one": {"allocated": {"sdxl/vae": 1e9, "a": null}, "reserved": 99, "disk_rate": -1}}',
        "[" * 100000,
    ],
)
def test_damage_counts_as_nothing_learned_and_is_written_over(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    assert load_calibration(tmp_path, "one") == Calibration()
    assert store_calibration(tmp_path, "one", Calibration(disk_rate=1e9))
    assert load_calibration(tmp_path, "one").disk_rate == 1e9
    json.loads((tmp_path / FILE).read_text())


def test_bytes_that_are_no_text_and_endless_files_are_passed_over(tmp_path):
    (tmp_path / FILE).write_bytes(b"\xff\xfe{}")
    assert load_calibration(tmp_path, "one") == Calibration()
    (tmp_path / FILE).write_text('{"one": {"disk_rate": 1e9}}' + " " * 2**23)
    assert load_calibration(tmp_path, "one") == Calibration()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    assert not store_calibration(tmp_path / "file", "one", Calibration())
