"""One line about the memory of a training, asked when what decides it changes."""

import pytest
from fake_service import FakeService
from train_made import plan, request

from mezzotint.training_protocol import TrainingSettings
from mezzotint_app.viewmodel.train.memory import TrainingMemory, memory_line


@pytest.fixture
def parts(qtbot):
    service = FakeService()
    return service, TrainingMemory(service)


def test_only_what_decides_it_asks_again(parts):
    service, memory = parts
    memory.ask(request("a"))
    memory.ask(request("b", trigger="zibble", dataset="/other"))
    assert service.methods() == ["training_plan"] and memory.line() == ""
    service.answer(plan())
    assert memory.line() == memory_line(plan())
    memory.ask(request(settings=TrainingSettings(resolution=512)))
    assert service.methods() == ["training_plan"] * 2 and memory.line() == ""
    memory.ask(None)
    assert memory.line() == ""


def test_an_answer_that_comes_too_late_is_dropped(parts):
    service, memory = parts
    memory.ask(request())
    memory.ask(request(settings=TrainingSettings(rank=64)))
    service.answer(plan(need=1 << 30), call=1)
    assert memory.line() == ""
    service.answer(plan(), call=2)
    assert memory.line() == memory_line(plan())


def test_after_a_failure_it_is_asked_again(parts):
    service, memory = parts
    memory.ask(request())
    service.fail("gone")
    memory.ask(request())
    assert memory.line() == "" and len(service.open("training_plan")) == 1


def test_the_line_has_the_parts_and_what_is_done_to_fit():
    assert memory_line(plan()) == (
        "Memory: 6.0 GB of 8.0 GB (5.0 GB of weights, 3.0 MB of gradients and optimizer, 512.0 MB of activations)"
    )
    levers = {"checkpointing": "blocks", "optimizer": "adamw-8bit", "quantization": "int4", "text_on_cpu": True}
    assert memory_line(plan(**levers, vae_tile=512)).endswith(
        ", some activations computed twice, optimizer in few bits, 4-bit weights, captions encoded on the CPU, images "
        "encoded in tiles"
    )


def test_what_does_not_fit_says_what_needs_less():
    line = memory_line(plan(need=9 << 30))
    assert line.startswith("Does not fit: 9.0 GB of memory are needed, 8.0 GB are free (5.0 GB of weights, ")
    assert line.endswith("A lower resolution, batch size or rank, or another model needs less.")
