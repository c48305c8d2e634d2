"""Variants of starter-dit: made from its weights, resumed, and read by the engine."""

import json
from dataclasses import replace

import pytest
import torch
from diffusers import PixArtTransformer2DModel
from safetensors.torch import load_file

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.architectures.dense_weights import load_dense
from mezzotint.families.architectures.network import PixArtVariantTransformer2DModel
from mezzotint.families.detection import detect
from mezzotint.paths import assets_folder
from mezzotint_starter import recipe, sheets
from mezzotint_starter.__main__ import main, parser, plan_from
from mezzotint_starter.plan import miniature
from mezzotint_starter.variants.recipe import VARIANTS, WHOLE, base_folder, freeze, lesson_of, variant_parts

BASE = assets_folder() / "starter" / "dit"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(sheets, "PROMPTS", sheets.PROMPTS[:1])
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", ["reversible", "linformer"])
def test_a_variant_begins_with_the_weights_of_the_base(name):
    parts = variant_parts(BASE, VARIANTS[name])
    assert isinstance(parts.denoiser, PixArtVariantTransformer2DModel)
    expected = load_file(BASE / "transformer" / "diffusion_pytorch_model.safetensors")
    found = parts.denoiser.state_dict()
    assert all(torch.equal(found[name], value.float()) for name, value in expected.items())


def test_the_base_is_what_the_recipe_has_made_otherwise_the_bundled_model(tmp_path):
    plan = miniature(tmp_path / "work", tmp_path / "out", steps=1)
    assert base_folder(plan) == BASE
    (tmp_path / "out" / "dit").mkdir(parents=True)
    assert base_folder(plan) == BASE  # it holds no model yet
    (tmp_path / "out" / "dit" / "model_index.json").touch()
    assert base_folder(plan) == tmp_path / "out" / "dit"


def test_a_variant_is_made_resumed_and_read(tmp_path):
    plan = replace(miniature(tmp_path / "work", tmp_path / "out", steps=1), variant_steps=2, images=4)
    folder = recipe.run(plan, "reversible") / "reversible"
    first = load_file(folder / "transformer" / "diffusion_pytorch_model.safetensors")
    recipe.run(plan, "reversible")
    again = load_file(folder / "transformer" / "diffusion_pytorch_model.safetensors")
    assert all(torch.equal(first[name], value) for name, value in again.items())
    assert {value.dtype for value in first.values()} == {torch.float16}
    index = json.loads((folder / "model_index.json").read_text("utf-8"))
    assert index["transformer"] == ["mezzotint", "PixArtVariantTransformer2DModel"]
    note = json.loads((folder / "mezzotint.json").read_text("utf-8"))
    assert (note["name"], note["trained"]["variant_steps"]) == ("starter-reversible", 2)
    detected = detect(open_checkpoint(folder))
    assert (detected.family, detected.defaults.width) == ("pixart", 128)


def test_all_variants_are_made_one_after_another(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(recipe, "make_variant", lambda _, name: made.append(name))
    plan = plan_from(parser().parse_args(["--work", str(tmp_path), "--only", "architectures"]))
    recipe.run(plan, "architectures")
    assert made == list(VARIANTS)
    assert plan.variant_steps is None


@pytest.mark.parametrize("name", list(VARIANTS))
def test_each_variant_begins_trains_what_is_new_and_learns(name):
    dense, parts = PixArtTransformer2DModel.from_pretrained(BASE / "transformer"), variant_parts(BASE, VARIANTS[name])
    network, lesson = parts.denoiser, lesson_of(VARIANTS[name])
    new = load_dense(network, dense.state_dict())
    freeze(network, lesson)
    learning = {name for name, value in network.named_parameters() if value.requires_grad}
    assert learning >= set(new) - {name for name, _ in network.named_buffers()}
    assert (lesson is WHOLE) == (learning == {name for name, _ in network.named_parameters()})
    assert 0 < lesson.steps <= 6000


def test_only_the_changed_part_of_a_block_is_trained_and_matches_the_teachers(tmp_path):
    plan = replace(miniature(tmp_path / "work", tmp_path / "out", steps=1), variant_steps=2, images=4)
    folder = recipe.run(plan, "depthwise") / "depthwise"
    weights = load_file(folder / "transformer" / "diffusion_pytorch_model.safetensors")
    state = load_file(tmp_path / "work" / "depthwise.safetensors")
    expected = load_file(BASE / "transformer" / "diffusion_pytorch_model.safetensors")
    trained = {name.removeprefix("average.") for name in state if name.startswith("average.")}
    assert {name.split(".", 2)[2].partition(".")[0] for name in trained} == {"ff", "scale_shift_table"}
    kept = [name for name in weights if name not in trained]
    assert kept
    assert all(torch.equal(weights[name], expected[name]) for name in kept)
    assert any(weights[name].any() for name in trained if name.endswith("ff.layers.2.1.weight"))


def test_on_several_devices_each_process_has_its_own_and_one_part(monkeypatch, tmp_path):
    options = parser().parse_args(["--devices", "0,2", "--work", str(tmp_path)])
    for rank, device in enumerate(("cuda:0", "cuda:2")):
        for name, value in (("RANK", rank), ("LOCAL_RANK", rank), ("WORLD_SIZE", 2)):
            monkeypatch.setenv(name, str(value))
        monkeypatch.setattr("mezzotint_starter.__main__.choose_precision", lambda device: device)
        plan = plan_from(options)
        assert (plan.device, plan.parts, plan.precision) == (device, 1, device)


@pytest.mark.parametrize("names", ["0,1,2,3,4", "0,,1", ""])
def test_lists_of_devices_that_cannot_be_are_refused(names, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["--devices", names])
    assert "is not a list of up to 4 devices" in capsys.readouterr().err


def test_several_devices_are_processes_that_run_this_command(monkeypatch):
    started = []
    monkeypatch.setattr("mezzotint_starter.__main__.launch", lambda command, count: started.append((command, count)))
    main(["--devices", "cpu,cpu", "--only", "reversible"])
    ((command, count),) = started
    assert command[1:] == ["-P", "-m", "mezzotint_starter", "--devices", "cpu,cpu", "--only", "reversible"]
    assert count == 2
