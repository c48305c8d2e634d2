"""Variants of starter-dit: made from its weights, resumed, and read by the engine."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from diffusers import PixArtTransformer2DModel

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.architectures.dense_weights import dense_name, load_dense
from mezzotint.families.architectures.table import Architecture
from mezzotint.families.detection import detect
from mezzotint.paths import assets_folder
from mezzotint_starter import recipe, sheets
from mezzotint_starter.__main__ import main, parser, plan_from
from mezzotint_starter.plan import Plan, miniature
from mezzotint_starter.variants.low_rank import merge_low_rank
from mezzotint_starter.variants.recipe import (
    TRUNK,
    VARIANTS,
    Student,
    base_folder,
    base_pipeline,
    lesson_of,
    network_on,
    weights_of,
)
from mezzotint_starter.variants.refine import REFINERS

BASE = assets_folder() / "starter" / "dit"
WEIGHTS = "diffusion_pytorch_model.safetensors"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(sheets, "PROMPTS", sheets.PROMPTS[:1])
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def plan(tmp_path):
    return replace(miniature(tmp_path / "work", tmp_path / "out", steps=1), variant_steps=2, large_images=4)


def test_the_trunk_has_twice_the_size_of_the_base_and_its_weights_and_positions(plan):
    pipeline, weights = base_pipeline(plan), weights_of(BASE)
    network, new = network_on(weights, pipeline, Architecture())
    assert (type(network), new) == (PixArtTransformer2DModel, ())
    assert all(torch.equal(value, weights[name]) for name, value in network.state_dict().items())
    positions = network.pos_embed.pos_embed.unflatten(1, (16, 16))[:, ::2, ::2].flatten(1, 2)
    torch.testing.assert_close(positions, pipeline.transformer.pos_embed.pos_embed)


def test_the_base_is_what_the_recipe_has_made_otherwise_the_bundled_model(plan):
    assert base_folder(plan) == BASE
    (plan.out / "dit").mkdir(parents=True)
    assert base_folder(plan) == BASE  # it holds no model yet
    (plan.out / "dit" / "model_index.json").touch()
    assert base_folder(plan) == plan.out / "dit"


@pytest.mark.slow
def test_a_variant_is_made_resumed_and_read(plan):
    """From a trunk and a base beside it; its file holds only what differs, and gives the weights that were trained."""
    for name in ("dit", TRUNK):
        shutil.copytree(assets_folder() / "starter" / name, plan.out / name)
    folder = recipe.run(plan, "local") / "local"
    file, trunk = folder / "transformer" / WEIGHTS, weights_of(plan.out / TRUNK)
    first = weights_of(folder)
    recipe.run(plan, "local")
    again = weights_of(folder)
    assert all(torch.equal(first[name], value) for name, value in again.items())
    changed = {name for name, value in first.items() if not torch.equal(value, trunk[name])}
    assert {name.split(".", 2)[2].partition(".")[0] for name in changed} == {"attn1", "scale_shift_table"}
    assert file.stat().st_size < 250_000
    index = json.loads((folder / "model_index.json").read_text("utf-8"))
    assert index["transformer"] == ["mezzotint", "PixArtVariantTransformer2DModel"]
    note = json.loads((folder / "mezzotint.json").read_text("utf-8"))
    assert (note["name"], note["trained"]["variant_steps"]) == ("starter-local", 2)
    detected = detect(open_checkpoint(folder))
    assert (detected.family, detected.defaults.width) == ("pixart", 256)


def test_all_are_made_one_after_another_the_trunk_first(tmp_path, monkeypatch):
    made = []
    for kind in ("make_trunk", "make_variant", "make_refiner"):
        monkeypatch.setattr(recipe, kind, lambda _, name=TRUNK: made.append(name))
    plan = plan_from(parser().parse_args(["--work", str(tmp_path), "--only", "architectures"]))
    recipe.run(plan, "architectures")
    assert made == [TRUNK, *VARIANTS, *REFINERS]
    assert plan.variant_steps is None


@pytest.fixture(scope="module")
def base():
    plan = Plan(work=Path(), out=Path("/nowhere"))
    return base_pipeline(plan), weights_of(BASE)


@pytest.mark.slow_after(16)
@pytest.mark.parametrize("name", list(VARIANTS))
def test_each_variant_begins_as_the_trunk_and_trains_what_is_new(name, base):
    pipeline, weights = base
    lesson = lesson_of(VARIANTS[name])
    network = Student.on(weights, pipeline, VARIANTS[name], lesson, seed=0).parts.denoiser
    assert 0 < lesson.steps <= 2000
    before = {key: value.clone() for key, value in network.named_parameters() if value.requires_grad}
    assert sum(value.numel() for value in before.values()) > 0
    low_rank = {key for key in before if ".parametrizations." in key}
    changes = merge_low_rank(network)
    assert {key.partition(".parametrizations.")[0] + ".weight" for key in low_rank} == set(changes)
    new = load_dense(network, weights)
    learnt = (set(before) - low_rank) | set(changes)
    assert learnt >= set(new) - {key for key, _ in network.named_buffers()}
    assert not set(new) & set(changes)
    taken = {key: dense_name(network, key) for key in network.state_dict() if key not in new}
    assert all(source in weights or "modulation" in key for key, source in taken.items())


def test_only_the_changed_part_of_a_block_is_trained_and_matches_the_teachers(plan, base):
    pipeline, weights = base
    student = Student.on(weights, pipeline, VARIANTS["depthwise"], lesson_of(VARIANTS["depthwise"]), seed=0)
    learning = {name for name, value in student.parts.denoiser.named_parameters() if value.requires_grad}
    assert {name.split(".", 2)[2].partition(".")[0] for name in learning} == {"ff", "scale_shift_table"}
    assert student.lesson.matches_blocks


def test_an_mbconv_begins_with_the_layers_of_the_mlp(base):
    pipeline, weights = base
    network, new = network_on(weights, pipeline, VARIANTS["mbconv"])
    first, last = network.transformer_blocks[2].ff.layers[0], network.transformer_blocks[2].ff.layers[5]
    assert torch.equal(first.weight.flatten(1), weights["transformer_blocks.2.ff.net.0.proj.weight"])
    assert torch.equal(last.weight.flatten(1), weights["transformer_blocks.2.ff.net.2.weight"])
    depthwise = network.transformer_blocks[2].ff.layers[2]
    image = torch.randn(1, 768, 4, 4)
    torch.testing.assert_close(depthwise(image), image + depthwise.bias.view(1, -1, 1, 1))
    assert {name.split(".")[4] for name in new} == {"2", "4"}


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
