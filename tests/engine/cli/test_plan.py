"""`mezzotint plan`: tables that people read, and codes that programs do."""

import subprocess
import sys

import pytest
from fake_engine import FakeCatalog

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli.plan import models_of
from mezzotint.codec import decode
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.probe import machine_facts, ordinary_machine
from mezzotint.protocol import Plan
from mezzotint.stages import planning
from mezzotint.training_protocol import TrainingPlan

GB = 2**30
CARDS = ("RTX 3060", "rtx 4090")


def test_a_plan_is_told_with_its_numbers_and_reasons(command):
    done = command("plan", "sdxl+refiner", "--vram", "6GB", "--ram", "16GB", "--memory", "fast")
    assert done.code == 0
    assert done.out.startswith("needs ")
    assert "you have 6.0 GB" in done.out
    for word in (
        "NETWORK",
        "sdxl/unet",
        "sdxl-refiner/unet",
        "encode",
        "stage 2",
        "decode",
        "page-locked",
        "not measured",
        "load ",
        "total ",
    ):
        assert word in done.out


def test_as_json_it_is_the_plan(command):
    done = command("plan", "flux", "--vram", "8GB", "--ram", "16 GB", "--json", "--size", "512x768", "--steps", "4")
    made = decode(Plan, done.json)
    assert made.fits
    assert (made.vram_bytes, made.ram_bytes) == (8 * GB, 16 * GB)
    assert done.err == ""


def test_a_card_by_its_name_has_its_memory_and_speed(command):
    slow, fast = (
        decode(Plan, command("plan", "sdxl", "--card", name, "--ram", "64GB", "--json").json) for name in CARDS
    )
    assert (slow.vram_bytes, fast.vram_bytes) == (12 * GB, 24 * GB)
    assert slow.seconds > 3 * fast.seconds > 0
    assert any("estimates for RTX 4090, not measured" in reason for reason in fast.reasons)
    done = command("plan", "sdxl", "--vram", "RTX 9999")
    assert done.code == 2 and "RTX 9999" in done.err and "such as 'RTX 4090'" in done.err


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_does_not_fit_ends_with_4_and_the_smallest_that_works(command, form):
    done = command("plan", "flux", "--vram", "512MB", "--ram", "16GB", *form)
    assert done.code == 4
    assert "needs at least" in done.err
    if form:
        smallest = decode(Plan, done.json).smallest_vram_bytes
        enough = f"{smallest // 2**20 + 1}MB"
        assert command("plan", "flux", "--vram", enough, "--ram", "16GB").code == 0


def test_what_is_asked_for_is_honoured(command):
    words = ("plan", "pixart", "--vram", "24GB", "--ram", "64GB", "--quant", "int8", "--quant-text", "int8", "--json")
    made = decode(Plan, command(*words).json)
    assert (made.quantization, made.text_quantization) == ("int8", "int8")


def test_a_machine_without_a_card_says_so(command, monkeypatch):
    monkeypatch.setattr(planning, "this_machine", lambda ram: (machine_facts("cpu", ram_limit=ram), Calibration()))
    done = command("plan", "starter-xl", "--ram", "4GB")
    assert done.code == 0
    assert "no GPU" in done.err
    assert "everything stays loaded" in done.out


def test_this_machine_s_card_is_planned_for(command, monkeypatch):
    asked = []
    monkeypatch.setattr(
        planning,
        "this_machine",
        lambda ram: asked.append(ram) or (ordinary_machine(8 * GB, 32 * GB), Calibration()),
    )
    done = command("plan", "sdxl", "--json")
    assert decode(Plan, done.json).vram_bytes == 8 * GB
    assert asked == [None]
    assert "no GPU" not in done.err


def test_a_card_of_any_size_beside_this_machine_s_ram(command):
    made = decode(Plan, command("plan", "starter-dit", "--vram", "4GB", "--json").json)
    assert made.ram_bytes == machine_facts("cpu").ram_bytes


def test_an_unknown_model_is_looked_for_in_the_catalog(command):
    done = command("plan", "no-such", "--vram", "4GB", "--ram", "8GB")
    assert done.code == 2
    assert "no-such" in done.err


def test_models_are_divided_by_a_plus_unless_a_file_has_it_in_its_name(tmp_path):
    file = tmp_path / "a+b.safetensors"
    file.touch()
    assert models_of("sdxl+refiner") == ("sdxl", "refiner")
    assert models_of("flux") == ("flux",)
    assert models_of(str(file)) == (str(file),)


@pytest.mark.parametrize(
    "words", [("--vram", "16"), ("--ram", "many"), ("--memory", "most"), ("--size", "9"), ("--steps", "0")]
)
def test_nonsense_is_refused(command, words):
    assert command("plan", "sdxl", *words).code == 2


@pytest.fixture
def starters(monkeypatch):
    """The bundled models are found."""
    monkeypatch.setattr(FakeCatalog, "find", lambda _, ref: Catalog.standard().find(ref))


@pytest.mark.slow_after(2)
@pytest.mark.usefixtures("starters")
@pytest.mark.parametrize(
    ("model", "vram", "checkpointing", "quantization"),
    [
        ("sdxl", "24GB", "none", "none"),
        ("sdxl", "8GB", "blocks", "none"),
        ("sdxl", "6GB", "blocks", "int8-weight"),
        ("flux", "12GB", "blocks", "int8-weight"),
        ("starter-dit", "2GB", "none", "none"),
        pytest.param("starter-xl", "RTX 3060", "none", "none", marks=pytest.mark.slow),
    ],
)
def test_a_training_is_planned_for_a_card(command, model, vram, checkpointing, quantization):
    words = ("plan", "--train", model, "--vram", vram, "--ram", "32GB")
    made = decode(TrainingPlan, command(*words, "--json").json)
    assert made.fits and made.peak_bytes <= made.vram_bytes
    assert (made.levers.checkpointing, made.levers.quantization) == (checkpointing, quantization)
    done = command(*words)
    assert done.code == 0 and done.out.startswith("needs ") and "PHASE" in done.out
    assert all(phase.name in done.out for phase in made.phases) and all(each in done.out for each in made.reasons)


@pytest.mark.slow_after(1)
@pytest.mark.usefixtures("starters")
@pytest.mark.parametrize(("model", "vram"), [("flux", "2GB"), ("starter-dit", "300MB")])
def test_a_training_that_does_not_fit_ends_with_4(command, model, vram):
    done = command("plan", "--train", model, "--vram", vram, "--ram", "32GB", "--json")
    made = decode(TrainingPlan, done.json)
    assert done.code == 4 and not made.fits and "does not fit: needs " in done.err
    assert any("are needed" in each for each in made.reasons)


def test_a_training_s_size_and_quantization_are_honoured(command):
    words = ("plan", "--train", "sdxl", "--vram", "24GB", "--size", "512x512", "--quant", "int8", "--json")
    made = decode(TrainingPlan, command(*words).json)
    whole = decode(TrainingPlan, command(*words[:5], "--json").json)
    assert made.levers.quantization == "int8" and made.phases[2].activations < whole.phases[2].activations
    assert command("plan", "--train", "no-such", "--vram", "8GB").code == 2


def test_known_models_on_given_machines_need_no_torch():
    words = ["plan", "sdxl+refiner", "--vram", "8GB", "--ram", "16GB", "--json"]
    code = (
        f"import sys; from mezzotint.cli import main; code = main({words!r}); sys.exit(code or 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_what_would_make_it_faster_is_told_with_its_cost(command):
    done = command("plan", "sdxl", "--vram", "8GB", "--ram", "32GB")
    faster = done.out.partition("faster:")[2]
    assert "--quant int8" in faster and " instead of " in faster
    assert "images differ slightly, how much was not measured on this model" in faster and " %" not in faster
    assert "--step-cache auto" in faster and "depends on the image" in faster
    large = command("plan", "sdxl", "--vram", "24GB", "--size", "2048x2048", "--ram", "32GB").out
    assert "--size 1024x1024 --hires 2" in large and "--tokens todo" in large and "--deep-shrink 2" in large
