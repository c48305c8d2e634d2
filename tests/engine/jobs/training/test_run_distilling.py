"""Learning from pairs that the model itself makes of a file's prompts."""

import pytest

from mezzotint.errors import Cancelled, StorageError, UsageError
from mezzotint.training_protocol import Preparing, TrainingStep

USUAL = {"distill": 6, "steps": 4, "batch": 2, "rank": 2, "regularization": None}


@pytest.fixture
def prompts(tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("a red house\na blue boat\n\na red house\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def flow(tmp_path):
    from tiny_sd3 import write_tiny_sd3

    return write_tiny_sd3(tmp_path / "sd3")


@pytest.fixture(params=["flow", "pixart"])
def model(request):
    """One that learns straight paths, and one that learns consistency."""
    return request.getfixturevalue("flow" if request.param == "flow" else "tiny_pixart_folder")


@pytest.mark.slow
def test_a_lora_comes_out_and_the_same_after_a_pause(train, request_of, prompts, model, tmp_path):
    request = request_of(model, dataset=prompts, prompts=("a house",), **USUAL)
    seen = []
    with pytest.raises(Cancelled, match="paused after step 2 of 4"):
        train(request, cancelled=lambda: len(seen) > 1, on_event=lambda e: seen.append(e) if _is_step(e) else None)
    resumed, events = train(request, resume=True)
    assert {each.phase for each in events if isinstance(each, Preparing)} >= {"captions", "pairs"}
    (tmp_path / "other").mkdir()
    whole, _ = train(request_of(model, dataset=prompts, output=str(tmp_path / "other"), **USUAL))
    assert _factors(resumed.lora) == _factors(whole.lora)


def test_what_cannot_be_distilled(train, request_of, prompts, flow, dataset, tmp_path):
    for wrong in ({"kind": "dora"}, {"validation": 0.5}):
        with pytest.raises(UsageError, match="--distill trains LoRAs of denoisers"):
            train(request_of(flow, dataset=prompts, **USUAL | wrong))
    with pytest.raises(StorageError, match="expected a text file with a prompt on each line"):
        train(request_of(flow, dataset=str(dataset), **USUAL))
    (tmp_path / "prompts.txt").write_text("\n")
    with pytest.raises(UsageError, match="is empty: write a prompt on each line"):
        train(request_of(flow, dataset=prompts, **USUAL))


def _is_step(event):
    return isinstance(event, TrainingStep)


def _factors(path):
    from safetensors import safe_open

    with safe_open(path, "np") as file:
        return {name: file.get_tensor(name).tobytes() for name in file.keys()}  # noqa: SIM118
