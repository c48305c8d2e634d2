"""The simulated GPU: its computation, accounting and refusals; injected faults of ordering, memory and driver."""

import pytest
import torch
from fake_card.install import fake_card
from fake_card.state import Hazard
from streamed_networks import case
from torch.utils._device import _device_constructors

CUDA = torch.device("cuda:0")


@pytest.fixture
def card():
    with fake_card(2**30) as made, torch.inference_mode():
        yield made


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", ["pixart", "sdxl", "flux"])
def test_networks_compute_the_very_same_without_a_wait(card, name):
    one = case.__wrapped__(name)  # a separate one, since it is moved
    weights = sum(each.numel() * each.element_size() for each in one.network.state_dict().values())
    one.network.to(CUDA)
    assert card.device().allocated >= weights
    card.waits.clear()
    answer = one.call_on(CUDA)
    assert answer.device == CUDA
    assert [what for what, _ in card.waits] in ([], ["copy from host"]), card.waits
    assert torch.equal(answer.cpu(), one.answer)
    before = card.device().allocated
    del answer
    assert card.device().allocated < before
    assert torch.cuda.max_memory_allocated() > weights


def test_bytes_are_counted_as_torch_s_allocator_does_and_given_back(card):
    made = torch.empty(1000, dtype=torch.uint8, device=CUDA)
    assert torch.cuda.memory_allocated() == 1024
    view = made[10:20].view(torch.int16)
    assert (torch.cuda.memory_allocated(), view.device) == (1024, CUDA)
    del made, view
    assert (torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()) == (0, 1024)
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == 0


def test_a_cap_is_never_passed():
    with fake_card(2**20, cap=10 * 4096):
        kept = [torch.empty(4096, dtype=torch.uint8, device=CUDA) for _ in range(10)]
        with pytest.raises(torch.OutOfMemoryError, match="Tried to allocate"):
            torch.empty(1, device=CUDA)
        kept.pop()
        torch.empty(1, device=CUDA)
        assert torch.cuda.max_memory_allocated() == 10 * 4096


def test_what_other_programs_take_is_not_free():
    with fake_card(2**20) as card:
        card.device().others = 2**20 - 4096
        assert torch.cuda.mem_get_info() == (4096, 2**20)
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(8192, dtype=torch.uint8, device=CUDA)
        card.device().others = 0
        torch.empty(8192, dtype=torch.uint8, device=CUDA)


def test_the_workspace_of_operations_counts_while_they_run():
    with fake_card(2**20) as card:
        x = torch.ones(8, 8, device=CUDA)
        card.workspace = {"mm": lambda args, made: 2**19}
        x.mm(x)
        assert torch.cuda.max_memory_allocated() >= 2**19 > torch.cuda.memory_allocated()
        card.workspace = {"mm": lambda args, made: 2**21}
        with pytest.raises(torch.OutOfMemoryError):
            x.mm(x)


def test_devices_are_not_mixed(card):
    x = torch.ones(4, 4, device=CUDA)
    with pytest.raises(RuntimeError, match="same device"):
        x @ torch.ones(4, 4)
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(4)
    with pytest.raises(RuntimeError, match="same device"):
        torch.cat([x, torch.ones(4, 4)])
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(4).add_(x[0])
    assert torch.equal((x * torch.tensor(2.0)).cpu(), torch.full((4, 4), 2.0)), "CUDA takes scalars of the host"
    assert x[torch.tensor([1, 2])].shape == (2, 4), "and indices"
    assert (torch.tensor([7, 8], device=CUDA, dtype=torch.uint8) & 3).tolist() == [3, 0], "and numbers"


def test_several_devices_have_memory_of_their_own_and_are_not_mixed():
    with fake_card(2**20, count=2):
        first, second = (torch.ones(4, device=f"cuda:{index}") for index in range(2))
        assert [torch.cuda.memory_allocated(index) for index in range(2)] == [512, 512]
        with pytest.raises(RuntimeError, match="cuda:0 and cuda:1"):
            first + second
        moved = first.to("cuda:1")
        assert (moved.device.index, (moved + second).cpu().tolist()) == (1, [2.0] * 4)
        with torch.cuda.device(1):
            assert torch.empty(1, device="cuda").device.index == torch.cuda.current_device() == 1
        assert torch.cuda.current_device() == 0


def waits(card, work):
    card.waits.clear()
    work()
    return [what for what, _ in card.waits]


def test_waits_of_the_host_are_counted_with_their_line(card):
    x, here = torch.arange(6.0).to(CUDA), torch.randn(6)
    assert waits(card, lambda: x.sum().item()) == ["_local_scalar_dense"]
    assert waits(card, lambda: bool(x[0] > 1)) == ["_local_scalar_dense"]
    assert waits(card, x.cpu) == ["copy to host"]
    assert waits(card, x.nonzero) == ["nonzero"]
    assert waits(card, lambda: x[x > 2]) == ["index"]
    assert waits(card, lambda: here.to(CUDA, non_blocking=True)) == ["pageable copy from host"]
    assert waits(card, lambda: torch.tensor([1.0, 2.0], device=CUDA)) == ["copy from host"]
    locked = here.pin_memory()
    assert waits(card, lambda: x.copy_(locked, non_blocking=True)) == []
    assert waits(card, lambda: x.mul(2).add_(1).softmax(0)) == []
    assert waits(card, torch.cuda.synchronize) == ["synchronize"]
    assert all(where.startswith("layout/test_fake_card.py:") for _, where in card.waits)


def test_generators_are_the_card_s(card):
    made = [torch.randn(4, device=CUDA, generator=torch.Generator("cuda").manual_seed(3)) for _ in range(2)]
    assert torch.Generator("cuda").device == CUDA
    assert torch.equal(made[0].cpu(), made[1].cpu())
    assert made[0].std() > 0


# ---- order


def stream_blocks(*, wait=True, mark=True, strict=True):
    """Run four blocks through one slot, as a streamed network does."""
    with fake_card(2**20, strict=strict) as card, torch.inference_mode():
        blocks = [torch.randn(8, 8, generator=torch.Generator().manual_seed(n)).pin_memory() for n in range(4)]
        copying, slot, x = torch.cuda.Stream(), torch.empty(8, 8, device=CUDA), torch.ones(8, 8).to(CUDA)
        used = torch.cuda.Event()
        used.record()
        for block in blocks:
            with torch.cuda.stream(copying):
                if mark:
                    copying.wait_event(used)
                slot.copy_(block, non_blocking=True)
                done = copying.record_event()
            if wait:
                torch.cuda.current_stream().wait_event(done)
            x = x @ slot
            used = torch.cuda.current_stream().record_event()
        right = torch.ones(8, 8)
        for block in blocks:
            right = right @ block
        return torch.equal(x.cpu(), right), card.hazards, sum(card.waits.values())


def test_what_is_ordered_by_events_is_no_hazard_and_waits_once():
    assert stream_blocks() == (True, [], 2)  # to copy x to the GPU, and to read it


@pytest.mark.parametrize("fault", ["wait", "mark"])
def test_a_forgotten_wait_is_a_hazard_either_way(fault):
    with pytest.raises(Hazard, match="is not ordered after"):
        stream_blocks(**{fault: False})
    same, hazards, _ = stream_blocks(**{fault: False}, strict=False)
    assert len(hazards) >= 3
    assert same == (fault == "mark"), "copies are late: who does not wait for them computes with old bytes"


def test_staging_memory_that_is_written_too_early_changes_what_arrives(card):
    staging, target = torch.ones(8).pin_memory(), torch.zeros(8, device=CUDA)
    with torch.cuda.stream(torch.cuda.Stream()) as _:
        torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
        target.copy_(staging, non_blocking=True)
        event = torch.cuda.current_stream().record_event()
        staging.fill_(7)
    torch.cuda.current_stream().wait_event(event)
    assert target.cpu().tolist() == [7.0] * 8


@pytest.mark.parametrize("told", [False, True])
def test_memory_freed_while_another_stream_is_at_it(card, told):
    side, gone = torch.cuda.Stream(), torch.empty(8, device=CUDA)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        gone.copy_(torch.ones(8).pin_memory(), non_blocking=True)
    if told:
        gone.record_stream(side)
    del gone
    assert ([each.partition(":")[0] for each in card.hazards]) == (
        [] if told else ["freed while stream 1 may still be at it"]
    )


# ---- faults


def test_a_lost_device_stays_lost(card):
    x = torch.ones(2, 2, device=CUDA)
    card.fail("mm", after=1)
    x.mm(x)
    with pytest.raises(torch.AcceleratorError, match="unspecified launch failure"):
        x.mm(x)
    for work in (x.cpu, torch.cuda.synchronize, torch.cuda.empty_cache, lambda: torch.empty(1, device=CUDA)):
        with pytest.raises(torch.AcceleratorError, match="unspecified launch failure"):
            work()
    card.revive()
    assert x.sum().item() == 4


def test_an_error_that_is_told_once_is_over(card):
    x = torch.ones(2, 2, device=CUDA)
    card.fail("mm", error="invalid configuration argument", lost=False)
    with pytest.raises(torch.AcceleratorError, match="invalid configuration"):
        x.mm(x)
    assert x.mm(x).sum().item() == 8


def test_refused_page_locking_leaves_an_error_for_the_next_launch():
    with fake_card(2**20, wddm=True):
        x, here = torch.ones(2, device=CUDA), torch.zeros(4096, dtype=torch.uint8)
        assert torch.cuda.cudart().cudaHostRegister(here.data_ptr(), 4096, 0) == 2
        with pytest.raises(torch.AcceleratorError, match="out of memory"):
            x.add(1)
        assert x.add(1).tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError):
            here.pin_memory()


def test_windows_spills_into_shared_memory_up_to_a_cap():
    with fake_card(8192, wddm=True) as card:
        card.device().cap = 2**20
        kept = torch.empty(16384, dtype=torch.uint8, device=CUDA)
        assert card.device().spilled == len(kept) - 8192
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(2**20, dtype=torch.uint8, device=CUDA)
    with fake_card(8192), pytest.raises(torch.OutOfMemoryError):
        torch.empty(16384, dtype=torch.uint8, device=CUDA)


def test_apple_s_has_neither_numbers_of_64_bits_nor_a_product_of_integers():
    with fake_card(2**20, device_type="mps"), torch.inference_mode():
        x = torch.ones(4, 4, device="mps")
        assert (x.device.type, (x @ x).sum().item()) == ("mps", 64)
        for wide in (lambda: x.double(), lambda: torch.zeros(1, dtype=torch.float64, device="mps")):
            with pytest.raises(TypeError, match="doesn't support"):
                wide()
        with pytest.raises(RuntimeError, match="no kernel for MPS"):
            torch._int_mm(x.to(torch.int8), x.to(torch.int8))
        assert torch.mps.driver_allocated_memory() > 0 and not torch.cuda.is_available()
    assert not torch.backends.mps.is_available()


def test_without_it_there_is_no_card():
    with fake_card(2**20):
        assert torch.cuda.is_available()
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0


def test_networks_without_numbers_are_built_after_it_as_before():
    _device_constructors.cache_clear()
    with fake_card(), torch.device("meta"):
        assert torch.empty(1).is_meta
    with torch.device("meta"):
        assert torch.empty(1).is_meta
