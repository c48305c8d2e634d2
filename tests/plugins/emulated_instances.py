"""The kernels' instances on the emulator, by number, like `kernel_build.card.forced` on a GPU."""

import ctypes
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from emulated_kernels import Emulator, _Report
from emulated_linear import LinearEmulator
from emulator_build import KERNELS, Conditions, build
from fake_products import EmulatedProducts

from kernel_build.card.forced import instance_of
from mezzotint.dispatch.library import KernelPlan, Unsupported
from mezzotint_kernels.abi import AttentionArgs, AttentionPlanStruct, BlockTableArgs
from mezzotint_kernels.errors import KernelsError

T = TypeVar("T")

PRODUCTS = ("int8", "int4", "codebook", "w4a4", "svdquant", "fp8", "convolution")
COMPILED = {"bfloat16_64", *(f"bfloat16_{kind}" for kind in PRODUCTS)}
CARD = (80, 108, 163 * 1024)  # the device that is planned for


def build_some(compiled=COMPILED):
    """Build the emulator with a few instance files; the other instances are listed but do nothing."""
    files = (KERNELS / "csrc").glob("**/instances/*.cu")
    left_out = {f"{path.parents[1].name}/{path.stem}" for path in files if path.stem not in compiled}
    return build(left_out=left_out)


class EmulatedInstances:
    """All instances; only those that were compiled can run."""

    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))
        self._attention, self._linear = Emulator(path).instances, LinearEmulator(path).instances

    def attention(self):
        return [instance_of(struct, number) for number, struct in enumerate(self._attention)]

    def linear(self):
        return [instance_of(struct, number) for number, struct in enumerate(self._linear)]

    def run_attention(self, arguments, number, device, stream):
        self._run(self._library.emulator_forward, arguments, number)

    def run_linear(self, arguments, number, device, stream):
        self._run(self._library.emulator_linear, arguments, number)

    def _run(self, call, arguments, number):
        report = _Report()
        call(ctypes.byref(arguments), number, ctypes.byref(Conditions(late_copies=1)), ctypes.byref(report))
        if report.error:
            raise KernelsError(report.error.decode())


class EmulatedAttention:
    """The attention library: plans as for a GPU, runs on the emulator."""

    device_type = "cpu"

    def __init__(self, path):
        self._library, self._instances, self.launches = ctypes.CDLL(str(path)), EmulatedInstances(path), 0

    def new_arguments(self):
        return AttentionArgs()

    def new_table(self):
        return BlockTableArgs()

    def attention_calls(self):
        return None

    def plan(self, arguments, device):
        plan = self._planned(arguments)
        if not plan.supported:
            raise Unsupported(plan.text.decode())
        return KernelPlan(name=plan.text.decode(), workspace_bytes=plan.workspace_bytes)

    def launch(self, arguments, device, stream):
        self.launches += 1
        self._instances.run_attention(arguments, self._planned(arguments).kernel, device, stream)

    def _planned(self, arguments):
        plan = AttentionPlanStruct()
        self._library.emulator_plan(ctypes.byref(arguments), *CARD, ctypes.byref(plan))
        return plan


def emulated_attention():
    """Return the attention library and its instances."""
    path = build_some()
    return EmulatedAttention(path), EmulatedInstances(path)


def emulated_products():
    """Return the linear library and its instances."""
    path = build_some()
    return EmulatedProducts(path), EmulatedInstances(path)


def in_turn(able: Mapping[T, Sequence[int]]) -> dict[T, int]:
    """Choose for each problem one of the instances that can do it, so that all have their turn, the rare ones first."""
    wanted = Counter(number for numbers in able.values() for number in numbers)
    used: Counter[int] = Counter()
    chosen = {}
    for problem, numbers in able.items():
        chosen[problem] = min(numbers, key=lambda number: (used[number], wanted[number]))
        used[chosen[problem]] += 1
    return chosen
