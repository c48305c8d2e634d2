"""Trainings with a streamed base and offloaded activations end in the same file to the bit."""

import pytest
from safetensors import safe_open

from mezzotint.errors import UsageError
from mezzotint.jobs.training.planning import levers_of
from mezzotint.training_protocol import TrainingLevers, TrainingStep


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.slow
def test_the_file_is_the_same_also_when_resumed_with_other_levers(train, request_of, tmp_path):
    usual = {"prompts": ("a house",), "validation": 0.25}
    whole, _ = train(request_of(**usual))
    plain, samples = _tensors(whole.lora), _samples(tmp_path)
    for path in (tmp_path / "mine.training", tmp_path / "mine.safetensors"):
        path.rename(path.with_name(f"first-{path.name}"))

    def kill(event):
        if isinstance(event, TrainingStep) and event.step == 4:
            raise Killed

    with pytest.raises(Killed):
        train(request_of(**usual, checkpointing="sqrt", offload_activations=True), on_event=kill)
    made, _ = train(request_of(**usual, stream_blocks=1000, offload_activations=True), resume=True)
    assert _tensors(made.lora) == plain
    assert [each.validation for each in made.epochs] == [each.validation for each in whole.epochs]
    assert _samples(tmp_path) == samples


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("kind", ["dora", "lokr"])
def test_other_kinds_and_a_quantized_base_as_well(train, request_of, tmp_path, kind):
    found = []
    for number, how in enumerate(({}, {"stream_blocks": 2})):
        made, _ = train(request_of(kind=kind, quantization="int8-weight", **how))
        found.append(_tensors(made.lora))
        for path in (tmp_path / "mine.training", tmp_path / "mine.safetensors"):
            path.rename(path.with_name(f"{number}-{path.name}"))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"stream_blocks": 2, "checkpointing": "none"},
            "--stream-blocks needs checkpointing by whole blocks, not none",
        ),
        ({"offload_activations": True, "checkpointing": "selective"}, "--offload-activations needs checkpointing"),
        ({"stream_blocks": 2, "shard": "parameters"}, "leave --stream-blocks out"),
    ],
)
def test_levers_that_exclude_each_other_are_told(train, request_of, settings, message):
    with pytest.raises(UsageError, match=message):
        train(request_of(**settings))


def test_the_record_of_an_earlier_version_is_read():
    planned = TrainingLevers(checkpointing="blocks", stream_blocks=7, optimizer="adamw-8bit", offload_activations=True)
    levers = levers_of({"levers": {"optimizer": "lion", "quantization": "int8"}}, planned)
    assert (levers.optimizer, levers.quantization) == ("lion", "int8")
    assert (levers.checkpointing, levers.stream_blocks, levers.offload_activations) == ("blocks", 7, True)


def _samples(folder):
    return {path.name: path.read_bytes() for path in (folder / "mine.training" / "samples").iterdir()}


def _tensors(path):
    with safe_open(path, "np") as file:
        return {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118
