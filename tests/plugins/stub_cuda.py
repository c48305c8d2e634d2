"""The library over the stub of CUDA: fictitious devices, and the calls that the library made."""

import ctypes
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kernel_params import Fields, read_params

from mezzotint_kernels.abi import (
    AttentionArgs,
    AttentionBackwardArgs,
    AttentionPlanStruct,
    LinearArgs,
    QuantizeArgs,
    Status,
)
from mezzotint_kernels.block_scaled_abi import BlockScaledLinearArgs
from mezzotint_kernels.group_norm_abi import GroupNormArgs
from mezzotint_kernels.library import Library
from mezzotint_kernels.linear_attention_abi import LinearAttentionArgs

_INT = ctypes.c_int32


class _Card(ctypes.Structure):
    _fields_: ClassVar[Fields] = [
        *((name, _INT) for name in ("major", "minor", "multiprocessors", "shared_bytes")),
        ("name", ctypes.c_char * 32),
    ]


class _Failure(ctypes.Structure):
    _fields_: ClassVar[Fields] = [("name", ctypes.c_char * 32), ("passes", _INT), ("error", _INT), ("sticky", _INT)]


class _Call(ctypes.Structure):
    _fields_: ClassVar[Fields] = [
        ("name", ctypes.c_char * 32),
        ("device", _INT),
        ("error", _INT),
        ("value", ctypes.c_int64),
    ]


class _Launch(ctypes.Structure):
    _fields_: ClassVar[Fields] = [
        ("kernel", ctypes.c_char * 400),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_int64),
        *((name, _INT) for name in ("allowed_shared_bytes", "device", "error", "most_threads")),
        ("stream", ctypes.c_void_p),
        ("parameters", _INT),
        ("bytes", _INT),
        ("argument", ctypes.c_ubyte * 1024),
    ]


class _Stub(ctypes.Structure):
    _fields_: ClassVar[Fields] = [
        *(("driver_version", _INT), ("cards", _INT), ("card", _Card * 4), ("failure", _Failure)),
        *((name, _INT) for name in ("kernels", "calls", "launches")),
        *(("call", _Call * 256), ("launch", _Launch * 32)),
    ]


class BackwardPlanInfo(ctypes.Structure):
    """The launches of a backward pass that the library would make (stub_plans.cpp)."""

    _fields_: ClassVar[Fields] = [
        *((name, _INT) for name in ("splits", "part_dim", "tile_m", "threads", "shared_bytes")),
        *((name, ctypes.c_char * 400) for name in ("prepare", "kernel", "finish")),
    ]


class PlanInfo(ctypes.Structure):
    """The launch that the library would make (stub_plans.cpp)."""

    _fields_: ClassVar[Fields] = [
        *((name, _INT) for name in ("kind", "head_dim", "slice_dim", "dtype", "masked")),
        *((name, _INT) for name in ("tile_m", "tile_n", "threads", "shared_bytes")),
        ("name", ctypes.c_char * 400),
    ]

    @property
    def kernel(self) -> str:
        """The kernel's name in C++."""
        return str(self.name.decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A device: the properties that the library queries."""

    architecture: int  # of the code it runs
    multiprocessors: int
    shared_bytes: int

    @property
    def capability(self) -> tuple[int, int]:
        """Its compute capability."""
        return self.architecture // 10, self.architecture % 10


CARDS = {
    75: Card(architecture=75, multiprocessors=40, shared_bytes=65536),
    80: Card(architecture=80, multiprocessors=108, shared_bytes=166912),
    86: Card(architecture=86, multiprocessors=84, shared_bytes=101376),
    89: Card(architecture=89, multiprocessors=128, shared_bytes=101376),
    90: Card(architecture=90, multiprocessors=132, shared_bytes=232448),
    100: Card(architecture=100, multiprocessors=148, shared_bytes=232448),
    120: Card(architecture=120, multiprocessors=170, shared_bytes=101376),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call to CUDA; `value` is an attribute's value, or the device concerned."""

    name: str
    device: int
    error: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A kernel launch; `most_threads` and `parameters` come from its code."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int
    allowed_shared_bytes: int
    device: int
    error: int
    most_threads: int
    stream: int | None
    parameters: int
    told: dict[str, object]


class StubCuda:
    """The library at `path`, loaded separately, so that its state is its own."""

    def __init__(self, path: Path, folder: Path) -> None:
        # The loader identifies libraries by file, so a copy is a separate library.
        number = sum(1 for _ in folder.glob("loaded*.so"))
        self.library = Library(Path(shutil.copyfile(path, folder / f"loaded{number}.so")))
        self._handle = ctypes.CDLL(str(self.library.path))
        self._handle.mzt_stub.restype = ctypes.POINTER(_Stub)
        self._state = self._handle.mzt_stub().contents
        self.kernels: int = self._state.kernels
        self.driver(13000)
        self.insert(CARDS[89])

    def driver(self, version: int) -> None:
        """Install a driver for this CUDA version; 0 is none."""
        self._state.driver_version = version

    def insert(self, *cards: Card) -> None:
        """Install these devices and no others."""
        self._state.cards = len(cards)
        for number, card in enumerate(cards):
            name = f"Paper Card {number}".encode()
            self._state.card[number] = _Card(*card.capability, card.multiprocessors, card.shared_bytes, name)

    def use(self, device: int) -> None:
        """Make a device the calling thread's current one."""
        self._handle.mzt_stub_use(device)

    @property
    def used(self) -> int:
        """The calling thread's current device."""
        return int(self._handle.mzt_stub_used())

    @contextmanager
    def failing(self, name: str, error: int, passes: int = 0, sticky: bool = False) -> Iterator[None]:
        """Make a call of this name fail after `passes` successes; a sticky error fails all later calls too."""
        self._state.failure = _Failure(name.encode(), passes, error, int(sticky))
        yield
        self._state.failure = _Failure()

    @property
    def calls(self) -> list[Call]:
        """All calls to CUDA in order, except the version query."""
        every = self._state.call[: self._state.calls]
        return [Call(name=each.name.decode(), device=each.device, error=each.error, value=each.value) for each in every]

    @property
    def asked(self) -> list[str]:
        """Names of the calls."""
        return [call.name for call in self.calls]

    @property
    def launches(self) -> list[Launch]:
        """All launches in order."""
        return [_launch(each) for each in self._state.launch[: self._state.launches]]

    def forget(self) -> None:
        """Clear the recorded calls and launches."""
        self._state.calls = self._state.launches = 0

    def attention(self, args: AttentionArgs, device: int = 0, stream: int | None = None) -> tuple[Status, str]:
        """Launch attention; return the status and the message."""
        return self._said(self.library.attention_forward(ctypes.byref(args), device, stream))

    def backward(self, args: AttentionBackwardArgs, device: int = 0, stream: int | None = None) -> tuple[Status, str]:
        """Launch attention's backward pass."""
        return self._said(self.library.backward(ctypes.byref(args), device, stream))

    def backward_plan(self, args: AttentionBackwardArgs, device: int = 0) -> AttentionPlanStruct:
        """Return the library's plan of a backward pass."""
        plan = AttentionPlanStruct()
        self.library.check(self.library.backward_plan(ctypes.byref(args), device, ctypes.byref(plan)))
        return plan

    def backward_launches(self, args: AttentionBackwardArgs, card: Card) -> BackwardPlanInfo:
        """Return what the library chooses on a card."""
        found = BackwardPlanInfo()
        facts = (card.architecture, card.multiprocessors, card.shared_bytes)
        assert self._handle.mzt_stub_backward(ctypes.byref(args), *facts, ctypes.byref(found))
        return found

    def linear_attention(
        self, args: LinearAttentionArgs, device: int = 0, stream: int | None = None
    ) -> tuple[Status, str]:
        """Launch linear attention."""
        return self._said(self.library.linear_attention(ctypes.byref(args), device, stream))

    def linear_attention_plan(self, args: LinearAttentionArgs, device: int = 0) -> AttentionPlanStruct:
        """Return the library's plan of linear attention."""
        plan = AttentionPlanStruct()
        self.library.check(self.library.linear_attention_plan(ctypes.byref(args), device, ctypes.byref(plan)))
        return plan

    def group_norm(self, args: GroupNormArgs, device: int = 0, stream: int | None = None) -> tuple[Status, str]:
        """Launch GroupNorm."""
        return self._said(self.library.group_norm(ctypes.byref(args), device, stream))

    def linear(self, args: LinearArgs, device: int = 0, stream: int | None = None) -> tuple[Status, str]:
        """Launch a linear layer."""
        return self._said(self.library.linear(ctypes.byref(args), device, stream))

    def block_scaled_linear(
        self, args: BlockScaledLinearArgs, device: int = 0, stream: int | None = None
    ) -> tuple[Status, str]:
        """Launch a linear layer with block scales."""
        return self._said(self.library.block_scaled_linear(ctypes.byref(args), device, stream))

    def quantize(self, args: QuantizeArgs, device: int = 0, stream: int | None = None) -> tuple[Status, str]:
        """Launch a quantization."""
        return self._said(self.library.quantize(ctypes.byref(args), device, stream))

    def attention_plan(self, args: AttentionArgs, device: int = 0) -> AttentionPlanStruct:
        """Return the library's plan."""
        plan = AttentionPlanStruct()
        self.library.check(self.library.attention_plan(ctypes.byref(args), device, ctypes.byref(plan)))
        return plan

    def instance(self, number: int, card: Card) -> PlanInfo:
        """Return the instance with a plan's number."""
        found = PlanInfo()
        assert self._handle.mzt_stub_attention(number, int(card.architecture < 80), ctypes.byref(found))
        return found

    def instances(self) -> Iterator[PlanInfo]:
        """Yield all attention instances."""
        found, number = PlanInfo(), 0
        while self._handle.mzt_stub_attention(number, 0, ctypes.byref(found)):
            yield found
            found, number = PlanInfo(), number + 1

    def linear_plan(self, args: LinearArgs, card: Card) -> PlanInfo:
        """Return the launch that the library would make for a linear layer on a device."""
        found = PlanInfo()
        facts = (card.architecture, card.multiprocessors, card.shared_bytes)
        assert self._handle.mzt_stub_linear(ctypes.byref(args), *facts, ctypes.byref(found))
        return found

    def _said(self, status: int) -> tuple[Status, str]:
        return Status(status), self.library.last_error()


def _launch(found: _Launch) -> Launch:
    kernel = found.kernel.decode()
    names = ("shared_bytes", "allowed_shared_bytes", "device", "error", "most_threads", "stream", "parameters")
    return Launch(
        kernel=kernel,
        grid=tuple(found.grid),
        block=tuple(found.block),
        told=read_params(kernel, bytes(found.argument[: found.bytes])),
        **{name: getattr(found, name) for name in names},
    )


def differences(seen: Sequence[Launch], wanted: Sequence[dict[str, object]]) -> list[str]:
    """Return a line per difference between launches and expectations; fields absent from `wanted` are ignored."""
    if len(seen) != len(wanted):
        return [f"{len(seen)} launches in the place of {len(wanted)}: {[launch.kernel for launch in seen]}"]
    return [
        f"launch {number}, {line}"
        for number, (launch, fields) in enumerate(zip(seen, wanted, strict=True))
        for name, value in fields.items()
        for line in _unlike(name, getattr(launch, name), value)
    ]


def _unlike(name: str, found: object, wanted: object) -> Iterator[str]:
    """Yield a line for a value that differs, or for each differing field within it."""
    if not (isinstance(found, dict) and isinstance(wanted, dict)):
        if found != wanted:
            yield f"{name}: {found} in the place of {wanted}"
        return
    for each in found | wanted:
        yield from _unlike(f"{name}.{each}", found.get(each, "nothing"), wanted.get(each, "nothing"))
