"""Benchmark every instance that supports a shape, next to the one that the library would choose."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from kernel_build.card import stub as stubs
from kernel_build.card.forced import CompiledInstances, Instance, Instances
from kernel_build.card.instances_file import CHOSEN
from kernel_build.card.measured import item_of, row_of
from kernel_build.card.protocol import Teller
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.benchmarks import attention as attention_benchmark
from mezzotint.benchmarks import products as linear_benchmark
from mezzotint.benchmarks.attention import ASKED, Implementation, by_kernels, dtype_for, measure_shape, quiet
from mezzotint.benchmarks.attention_shapes import Shape
from mezzotint.benchmarks.product_shapes import LinearShape
from mezzotint.benchmarks.products import measure_products
from mezzotint.dispatch.library import KernelPlan, Unsupported
from mezzotint.quantization.products.compiled import CompiledLinear


class OneAttention:
    """The attention library restricted to one instance: plans like the library, runs that instance."""

    def __init__(self, library: Any, instances: Instances, number: int) -> None:  # noqa: ANN401  an AttentionLibrary
        self.device_type, self.new_arguments = library.device_type, library.new_arguments
        self.new_table = library.new_table
        self._library, self._instances, self._number = library, instances, number

    def plan(self, arguments: Any, device: int) -> KernelPlan:  # noqa: ANN401
        """Return the library's own plan: all instances use the same workspace."""
        plan: KernelPlan = self._library.plan(arguments, device)
        return plan

    def attention_calls(self) -> None:
        """Return None: the extension would run the library's own choice."""

    def launch(self, arguments: Any, device: int, stream: int) -> None:  # noqa: ANN401
        """Launch the instance."""
        _run(self._instances.run_attention, arguments, self._number, device, stream)


class OneProduct:
    """The linear library restricted to one instance."""

    def __init__(self, library: Any, instances: Instances, number: int) -> None:  # noqa: ANN401  a ProductLibrary
        self.device_type, self.quantize = library.device_type, library.quantize
        self.new_quantize_arguments = library.new_quantize_arguments
        self.new_linear_arguments = library.new_linear_arguments
        self._instances, self._number = instances, number

    def multiply(self, arguments: Any, device: int, stream: int) -> None:  # noqa: ANN401
        """Launch the instance."""
        _run(self._instances.run_linear, arguments, self._number, device, stream)


def run(teller: Teller, words: Sequence[str], stub: bool) -> None:
    """Report a row per instance and shape, for attention or linear layers."""
    device = torch.device("cpu" if stub else "cuda:0")
    dtype = torch.bfloat16 if stub else dtype_for(device)
    with quiet():
        if "attention" in words:
            _attention(teller, device, dtype, stub)
        if "linear" in words:
            _linear(teller, device, dtype, stub)


def _attention(teller: Teller, device: torch.device, dtype: torch.dtype, stub: bool) -> None:
    library, instances = stubs.emulated_attention() if stub else _installed_attention()
    shapes = stubs.smallest_attention() if stub else attention_benchmark.choose((), device)
    masked = {shape.head_dim: shape for shape in reversed(shapes) if not shape.words}  # one per head size
    for shape in shapes:
        for hidden in (False, True) if shape in masked.values() else (False,):
            found = dict(_serving(shape, library, instances, str(dtype).removeprefix("torch."), hidden))
            for row in measure_shape(shape, found, device, dtype, lambda *names: teller.wants(item_of(*names))):
                teller.row(row_of(row, stub))


def _serving(
    shape: Shape,
    library: Any,  # noqa: ANN401  an AttentionLibrary
    instances: Instances,
    dtype: str,
    masked: bool,
) -> Iterator[tuple[str, Implementation]]:
    for asked in (each for each in ASKED if not masked or each not in ("int8-all", "int8-fp8")):
        yield chosen_name(asked, masked), by_kernels(CompiledAttention(library), asked, masked=masked)
        for instance in instances.attention():
            if serves(instance, shape, dtype, asked, masked):
                one = CompiledAttention(OneAttention(library, instances, instance.number))
                yield instance_name(instance), by_kernels(one, asked, masked=masked)


def serves(instance: Instance, shape: Shape, dtype: str, asked: str, masked: bool) -> bool:
    """Whether an instance supports the shape."""
    if not instance.takes_heads(shape.head_dim) or (instance.dtype, instance.masked) != (dtype, masked):
        return False
    if (instance.kind if instance.kind in ASKED else ASKED[0]) != asked:
        return False
    return instance.kind != "short keys" or shape.nk <= instance.tile_n


def chosen_name(asked: str, masked: bool) -> str:
    """Return the name under which the library's own choice is listed."""
    return CHOSEN + ("" if asked == ASKED[0] else f", {asked}") + (", masked" if masked else "")


def instance_name(instance: Instance) -> str:
    """Return the name under which an instance is listed."""
    return f"mezzotint {instance.name} #{instance.number}"


def _linear(teller: Teller, device: torch.device, dtype: torch.dtype, stub: bool) -> None:
    library, instances = stubs.emulated_products() if stub else _installed_products()
    shapes = stubs.smallest_products() if stub else linear_benchmark.choose((), device)
    named = str(dtype).removeprefix("torch.")
    compiled = [each for each in instances.linear() if each.dtype == named and each.is_of_one_layer]
    found: Mapping[str, tuple[str, CompiledLinear]] = {
        f"{CHOSEN}, {scheme}": (scheme, CompiledLinear(library))
        for scheme in dict.fromkeys(each.scheme for each in compiled)
    } | {
        instance_name(each): (each.scheme, CompiledLinear(OneProduct(library, instances, each.number)))
        for each in compiled
    }
    for shape in shapes:
        if isinstance(shape, LinearShape):
            for row in measure_products(shape, found, device, dtype, lambda *names: teller.wants(item_of(*names))):
                teller.row(row_of(row, stub))


def _installed_attention() -> tuple[Any, Instances]:
    from mezzotint.dispatch.library import open_installed
    from mezzotint_kernels.library import library

    return open_installed(), CompiledInstances(library())


def _installed_products() -> tuple[Any, Instances]:
    from mezzotint.dispatch.library import open_installed
    from mezzotint_kernels.library import library

    return open_installed(), CompiledInstances(library())


def _run(call: Any, *arguments: Any) -> None:  # noqa: ANN401
    from mezzotint.dispatch.library import LaunchFailed
    from mezzotint_kernels import errors

    try:
        call(*arguments)
    except errors.Unsupported as error:
        raise Unsupported(str(error)) from error
    except errors.KernelsError as error:
        raise LaunchFailed(str(error)) from error
