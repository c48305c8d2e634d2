"""An attention instance, as described by its line in an instance file."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import torch
from emulated_kernels import DROPOUT, FORWARD, HALF_SUMS, HOPPER, INT8, INT8_ALL, INT8_FP8, SHORT_KEYS
from ptx.compiled import FORMATS, NAMES
from ptx.program import Program, kernel_of

KINDS = {
    "instance": FORWARD,
    "dropout_instance": DROPOUT,
    "short_instance": SHORT_KEYS,
    "int8_instance": INT8,
    "int8_all_instance": INT8_ALL,
    "half_sums_instance": HALF_SUMS,
    "int8_fp8_instance": INT8_FP8,
    "hopper_instance": HOPPER,
}
ENTRIES = {
    FORWARD: "attention_forward",
    DROPOUT: "attention_dropout",
    SHORT_KEYS: "attention_short_keys",
    INT8: "attention_int8",
    INT8_ALL: "attention_int8_all",
    HALF_SUMS: "attention_half_sums",
    INT8_FP8: "attention_int8_fp8",
    HOPPER: "attention_hopper",
}
PASSES = "attention/int8/passes.cu"  # the passes before 8-bit products
BEFORE = {
    INT8: ("summarize", "quantize"),
    INT8_ALL: ("summarize", "quantize_all"),
    HALF_SUMS: ("summarize_values", "halve"),
    INT8_FP8: ("summarize", "quantize_fp8"),
}
JOIN = "attention/splits/join.cu"  # what joins parts of the keys
TURING_SHARED_BYTES = 64 * 1024  # limit per block


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionKernel:
    """An instance in PTX for one architecture."""

    instance: str  # int8_instance<bfloat16, 72, Shape<1, 4, 64, 2, true>, false>
    architecture: str = "sm_80"

    @property
    def kind(self) -> int:
        """The kind: any number of keys, few keys, 8-bit scores, 8-bit values, too, values summed in float16, ..."""
        return KINDS[self.instance.partition("<")[0]]

    @property
    def dtype(self) -> torch.dtype:
        """Dtype of the tensors."""
        name = re.split("[<,]", self.instance)[1]
        return next(dtype for dtype, each in FORMATS.items() if each == name)

    @property
    def _numbers(self) -> list[int]:
        words = re.findall(r"\b(?:\d+|true|false)\b", self.instance)
        return [int(word) if word.isdigit() else int(word == "true") for word in words]

    @property
    def head_dim(self) -> int:
        """Columns of queries and keys."""
        return self._numbers[0]

    @property
    def slice_dim(self) -> int:
        """Output columns per block."""
        return self._numbers[7] if len(self._numbers) > 7 else self.head_dim

    @property
    def masked(self) -> bool:
        """Whether it supports masks."""
        return self.kind in (FORWARD, INT8, HALF_SUMS) and bool(self._numbers[6])

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """Query tiles of 16 per warp, warps, keys per tile, stages of keys, whether queries are in registers."""
        if self.kind == SHORT_KEYS:
            return 1, self._numbers[1], self._numbers[2], 1, 0
        if self.kind == HOPPER:  # four warps a group
            return 1, 4 * self._numbers[1], self._numbers[2], 2, 0
        queries, warps, keys, stages, in_registers = self._numbers[1:6]
        return queries, warps, keys, stages, in_registers

    @property
    def tile_m(self) -> int:
        """Queries per block."""
        return 16 * self.shape[0] * self.shape[1]

    @property
    def tile_n(self) -> int:
        """Keys per tile; for few keys the maximum number."""
        return self.shape[2]

    @property
    def threads(self) -> int:
        """Threads per block."""
        return 32 * (self.shape[1] + 4 * (self.kind == HOPPER))  # four of which copy

    @property
    def source(self) -> str:
        """Its instance file."""
        prefix = "hopper_" if self.kind == HOPPER else ""
        return f"attention/instances/{prefix}{FORMATS[self.dtype]}_{self.head_dim}.cu"

    @property
    def name(self) -> str:
        """Prefix of its name in PTX."""
        words = [ENTRIES[self.kind], NAMES[self.dtype], self.head_dim]
        if self.kind in (SHORT_KEYS, HOPPER):
            words += ["HopperShape"] * (self.kind == HOPPER) + self._numbers[1:]
        else:
            words += ["Shape", *self.shape, *([] if self.kind in (DROPOUT, INT8_ALL, INT8_FP8) else [int(self.masked)])]
        if self.kind == FORWARD:
            words.append(self.slice_dim)
        return ".".join(map(str, words)) + "."

    @property
    def shared_bytes(self) -> int:
        """Shared memory as computed by traits.h, short_keys.h and int8/mainloop.h."""
        _, _, tile_n, stages, in_registers = self.shape
        if self.kind == HOPPER:  # and barriers: two of the queries, and of each stage of keys and values
            return 2 * self.head_dim * (self.tile_m + 2 * stages * tile_n) + 8 * (2 + 4 * stages)
        padded = -(-self.head_dim // 32) * 32
        row = padded if self.kind in (INT8, INT8_ALL, INT8_FP8) else 2 * self.head_dim
        value = 1 if self.kind in (INT8_ALL, INT8_FP8) else 2
        queries, keys, values = self.tile_m * row, tile_n * row, tile_n * self.slice_dim * value
        if self.kind == SHORT_KEYS:
            return keys + values + 2 * queries
        return max(queries, stages * keys + values) if in_registers else queries + stages * keys + values

    @property
    def runs(self) -> bool:
        """Whether its architecture supports it; otherwise the kernel is empty."""
        fits = self.dtype is torch.float16 and self.shared_bytes <= TURING_SHARED_BYTES
        if self.kind == HOPPER:
            return self.architecture == "sm_90a"
        return (
            self.architecture in ("sm_89", "sm_120") if self.kind == INT8_FP8 else self.architecture != "sm_75" or fits
        )


def join_of(
    ptx: Callable[..., str], kernel: AttentionKernel, edit: Callable[[str], str] = lambda text: text
) -> Program:
    """Return what follows a kernel whose keys are split."""
    return kernel_of(edit(ptx(JOIN, kernel.architecture)), f"join_splits.{NAMES[kernel.dtype]}.")


def programs(
    ptx: Callable[..., str],
    kernel: AttentionKernel,
    instances: tuple[str, ...] = (),
    edit: Callable[[str], str] = lambda text: text,
) -> tuple[Program, tuple[Program, ...]]:
    """Return a kernel and its preceding passes from PTX, which `edit` may modify to inject a bug."""
    text = ptx(kernel.source, kernel.architecture, instances or (kernel.instance,))
    program = kernel_of(edit(text), kernel.name)
    if kernel.kind not in BEFORE:
        return program, ()
    before = ptx(PASSES, kernel.architecture)
    return program, tuple(kernel_of(before, f"{word}.{NAMES[kernel.dtype]}.") for word in BEFORE[kernel.kind])
