import pytest
import torch

from mezzotint_starter.state import load_tensors, save_tensors

STATES = [({"a": torch.full((2,), float(number))}, {"step": number}) for number in range(3)]


@pytest.fixture
def path(tmp_path):
    for tensors, numbers in STATES[:2]:
        save_tensors(tmp_path / "state", tensors, numbers, keep_previous=True)
    return tmp_path / "state"


def steps_at(path):
    found = load_tensors(path)
    assert found is not None
    assert found[0]["a"].tolist() == [found[1]["step"]] * 2
    return found[1]["step"]


def test_the_last_state_is_read(path):
    assert steps_at(path) == 1


@pytest.mark.parametrize("damage", ["cut", "empty", "gone"])
def test_the_state_before_is_read_instead_of_a_damaged_one(path, damage):
    content = path.read_bytes()
    path.unlink()
    if damage != "gone":
        path.write_bytes(content[:50] if damage == "cut" else b"")
    assert steps_at(path) == 0
    save_tensors(path, *STATES[2], keep_previous=True)
    path.write_bytes(b"")  # the state before is still a good one
    assert steps_at(path) == 0
