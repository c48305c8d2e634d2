"""LoadedJob that runs out of memory is done again with more room, as far down the ladder as it takes."""

import pytest
import torch

from mezzotint.errors import OutOfMemory
from mezzotint.stages.models.recovery import Recovery, Rung


class LoadedJob:
    """Runs out of memory so many times."""

    def __init__(self, failures, error=None):
        self.failures, self.calls, self.resets = failures, 0, 0
        self.error = error or torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 3.00 GiB")

    def make(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "done"

    def reset(self):
        self.resets += 1


def rung(name, times, **how):
    left = iter(range(times))
    return Rung(take=lambda: name if next(left, None) is not None else None, **how)


def run(work, rungs, *, strict=False):
    told = []
    recovery = Recovery(strict=strict, notify=lambda code, message: told.append((code, message)))
    return recovery.run(work.make, work.reset, rungs, "step 3"), recovery, told


def test_what_fits_is_done_once():
    work = LoadedJob(0)
    done, recovery, told = run(work, [rung("a", 1)])
    assert (done, work.calls, work.resets, recovery.taken, told) == ("done", 1, 0, (), [])


def test_each_rung_is_taken_while_it_gives_something():
    work = LoadedJob(4)
    rungs = [rung("caches", 1, silent=True), rung("blocks", 2), rung("one half at a time", 1)]
    done, recovery, told = run(work, rungs)
    assert done == "done" and work.calls == 5 and work.resets == 4
    assert recovery.taken == ("blocks", "one half at a time")
    assert [message.rpartition(": ")[2] for _, message in told] == ["blocks", "blocks", "one half at a time"]
    assert all("step 3 ran out of memory" in message for _, message in told)


def test_the_end_of_the_ladder_is_told_with_numbers():
    with pytest.raises(OutOfMemory, match=r"step 3 .* nothing more can be freed: .* 3\.00 GiB; make a smaller image"):
        run(LoadedJob(3), [rung("a", 2)])


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")])
def test_the_machine_s_own_memory_is_told_with_numbers(error):
    done, recovery, _ = run(LoadedJob(1, error), [rung("caches", 1)])
    assert done == "done" and recovery.taken == ("caches",)
    with pytest.raises(OutOfMemory, match=r"\(.* GB of .* GB are free\)"):
        run(LoadedJob(1, error), [])


def test_strict_takes_nothing_that_changes_the_image():
    changes = rung("smaller tiles", 5, changes_image=True)
    with pytest.raises(OutOfMemory, match="leave out --strict"):
        run(LoadedJob(2), [rung("a", 1), changes], strict=True)
    done, recovery, _ = run(LoadedJob(2), [rung("a", 1), changes])
    assert done == "done" and recovery.taken == ("a", "smaller tiles")


@pytest.mark.parametrize(
    "error", [ValueError("out of memory"), RuntimeError("mat1 and mat2 shapes"), KeyboardInterrupt()]
)
def test_other_errors_pass(error):
    work = LoadedJob(1, error)
    with pytest.raises(type(error)):
        run(work, [rung("a", 5)])
    assert work.calls == 1 and work.resets == 0


def test_what_failed_is_let_go_before_room_is_made():
    """Otherwise the memory that ran short would be held by the traceback."""
    import weakref

    held, alive = [], []

    def make():
        tensor = torch.zeros(8)
        held.append(weakref.ref(tensor))
        if len(held) == 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return True

    def take():
        alive.append(held[0]() is not None)
        return "room"

    Recovery(strict=False, notify=lambda *_: None).run(make, lambda: None, [Rung(take=take)], "a step")
    assert alive == [False]


def test_a_ladder_without_end_ends():
    with pytest.raises(OutOfMemory, match="200 times"):
        run(LoadedJob(10**6), [Rung(take=lambda: "again")])
