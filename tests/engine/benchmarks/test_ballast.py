"""Memory held by another process for as long as it is wanted, and what is told when it cannot be."""

import pytest
from other_process import ends_taking, keeps_nothing, takes

from mezzotint.benchmarks.ballast import limit_gpu_memory
from mezzotint.errors import OutOfMemory
from mezzotint.memory.machine.probe import CONTEXT


def test_another_process_holds_it_until_the_end(tmp_path, monkeypatch):
    monkeypatch.setenv("TAKEN", str(tmp_path / "taken"))
    with limit_gpu_memory(1, CONTEXT + 1000, takes):
        assert (tmp_path / "taken").read_text() == "1 1000"
    assert not (tmp_path / "taken").exists()


@pytest.mark.parametrize(("take", "said"), [(keeps_nothing, "the card is full"), (ends_taking, "ended")])
def test_what_cannot_be_held_is_told(take, said):
    with pytest.raises(OutOfMemory, match=said), limit_gpu_memory(0, 2**33, take):
        pytest.fail("nothing is held")
