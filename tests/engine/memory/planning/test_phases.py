"""How often networks run, and in which order the halves of the guidance may come."""

from dataclasses import replace

import pytest

from mezzotint.memory.footprints.shipped import shipped
from mezzotint.memory.machine.probe import ordinary_machine
from mezzotint.memory.planning.phases import guidance_modes
from mezzotint.memory.planning.planner import plan
from mezzotint.memory.planning.task import task_of

GB = 2**30


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (("batched", "sequential"), None, ("batched", "sequential")),
        (("sequential", "batched"), None, ("sequential", "batched")),
        (("sequential", "batched"), ("batched", "sequential"), ("sequential", "batched")),
        (("batched", "sequential"), ("sequential",), ("sequential",)),
        (("batched",), ("sequential",), ("sequential",)),
    ],
)
def test_the_halves_of_the_guidance_come_as_all_models_can_have_them(first, second, expected):
    models = [replace(shipped("starter-xl"), halves=halves) for halves in (first, second) if halves]
    assert guidance_modes(task_of(models)) == expected


def test_without_guidance_there_are_no_halves():
    model = replace(shipped("starter-xl"), guided=False, halves=("sequential",))
    assert guidance_modes(task_of((model,))) == ("batched",)


def test_a_stage_in_tiles_takes_the_memory_of_one_and_the_time_of_all():
    def of(side, tile=0):
        task = task_of((shipped("starter-dit"),), width=side, height=side)
        return plan(replace(task, stages=(replace(task.stages[0], tile=tile),)), ordinary_machine(8 * GB, 16 * GB))

    whole, tiles, tile = of(1024), of(1024, 256), of(256)
    latents = 8 * 4 * 4 * 128**2  # of the whole image, float32
    assert tiles.phases[1].activation_bytes == tile.phases[1].activation_bytes + latents
    assert tiles.phases[1].activation_bytes < whole.phases[1].activation_bytes
    assert tiles.phases[1].seconds == pytest.approx(25 * tile.phases[1].seconds)
    assert tiles.phases[2].activation_bytes == whole.phases[2].activation_bytes  # it is decoded as a whole
    assert "stage 1 has 25 passes per step, of tiles of 256x256, one at a time" in tiles.reasons
    assert not any("passes per step" in reason for reason in whole.reasons)


@pytest.mark.parametrize(("ram", "expected"), [(64, "sequential"), (16, "batched")])
def test_a_model_made_for_turns_has_them_unless_its_weights_would_come_from_disk_twice(ram, expected):
    assert plan(task_of((shipped("qwen-image"),)), ordinary_machine(8 * GB, ram * GB)).guidance == expected


def test_a_controlnet_runs_before_each_call_of_the_denoiser():
    model = shipped("starter-xl")
    net = replace(model.denoiser, name="controlnet", role="control", given=400.0, shared="")
    controlled = replace(model, components=(*model.components, net))

    def of(each, dtype="bfloat16"):
        return plan(task_of((each,), dtype=dtype), ordinary_machine(8 * GB, 16 * GB))

    alone, both = of(model), of(controlled)
    part = next(part for part in both.components if part.name == "controlnet")
    assert "stage 1" in part.phases
    assert both.phases[1].weights_bytes - alone.phases[1].weights_bytes == part.device_bytes > 0
    assert both.phases[1].seconds == pytest.approx(2 * alone.phases[1].seconds, rel=0.05)
    positions = model.width * model.height // model.vae_factor**2
    given, images = 2 * 2 * 400 * positions, 2 * 3 * model.width * model.height  # numbers, for both guidance halves
    text = 2 * net.kept_text * model.text_tokens
    added = both.phases[1].activation_bytes - alone.phases[1].activation_bytes
    assert added == pytest.approx(2 * (given + images + text), rel=0.01)
    assert both.phases[2].activation_bytes == alone.phases[2].activation_bytes
    assert of(controlled, "float32").phases[1].activation_bytes > both.phases[1].activation_bytes
    once = of(replace(model, components=(*model.components, replace(net, class_name="T2IAdapter"))))
    assert once.phases[1].seconds < 1.5 * alone.phases[1].seconds


def test_further_text_takes_memory_and_time():
    flux = shipped("flux")
    task = task_of((flux,))
    more = replace(task, stages=(replace(task.stages[0], more_text=729, more_positions=4 * 729),))
    plain, seen = (plan(each, ordinary_machine(40 * GB, 64 * GB)) for each in (task, more))
    positions = flux.width * flux.height / flux.vae_factor**2
    per_position = (plain.phases[1].activation_bytes - flux.denoiser.live.at(0, 1)) / positions
    added = seen.phases[1].activation_bytes - plain.phases[1].activation_bytes
    assert added == pytest.approx(4 * 729 * per_position, rel=0.1)
    assert seen.phases[1].seconds > plain.phases[1].seconds
