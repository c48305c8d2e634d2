"""An instance of attention: what its line in a file of instances says of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import torch
from emulated_kernels import FORWARD, INT8, SHORT_KEYS
from ptx.compiled import FORMATS, NAMES
from ptx.program import Program, kernel_of

KINDS = {"instance": FORWARD, "short_instance": SHORT_KEYS, "int8_instance": INT8}
ENTRIES = {FORWARD: "attention_forward", SHORT_KEYS: "attention_short_keys", INT8: "attention_int8"}
PASSES = "attention/int8/passes.cu"  # what comes before scores of 8 bits
TURING_SHARED_BYTES = 64 * 1024  # that a block may have there


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionKernel:
    """An instance as PTX for one architecture."""

    instance: str  # int8_instance<bfloat16, 72, Shape<1, 4, 64, 2, true>, false>
    architecture: str = "sm_80"

    @property
    def kind(self) -> int:
        """Of any number of keys, of few, or with scores of 8 bits."""
        return KINDS[self.instance.partition("<")[0]]

    @property
    def dtype(self) -> torch.dtype:
        """Of the tensors."""
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
        """Columns of the output that a block makes."""
        return self._numbers[7] if len(self._numbers) > 7 else self.head_dim

    @property
    def masked(self) -> bool:
        """Whether it looks at masks."""
        return self.kind != SHORT_KEYS and bool(self._numbers[6])

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """Queries of a warp by 16, warps, keys at a time, tiles of keys at once, whether registers hold queries."""
        if self.kind == SHORT_KEYS:
            return 1, self._numbers[1], self._numbers[2], 1, 0
        queries, warps, keys, stages, in_registers = self._numbers[1:6]
        return queries, warps, keys, stages, in_registers

    @property
    def tile_m(self) -> int:
        """Queries of a block."""
        return 16 * self.shape[0] * self.shape[1]

    @property
    def tile_n(self) -> int:
        """Keys at a time; of those for few the most."""
        return self.shape[2]

    @property
    def threads(self) -> int:
        """Of a block."""
        return 32 * self.shape[1]

    @property
    def source(self) -> str:
        """Its file of instances."""
        return f"attention/instances/{FORMATS[self.dtype]}_{self.head_dim}.cu"

    @property
    def name(self) -> str:
        """How the PTX's name of it begins."""
        words = [ENTRIES[self.kind], NAMES[self.dtype], self.head_dim]
        if self.kind == SHORT_KEYS:
            words += self._numbers[1:]
        else:
            words += ["Shape", *self.shape, int(self.masked)]
        if self.kind == FORWARD:
            words.append(self.slice_dim)
        return ".".join(map(str, words)) + "."

    @property
    def shared_bytes(self) -> int:
        """What traits.h, short_keys.h and int8/mainloop.h count."""
        _, _, tile_n, stages, in_registers = self.shape
        padded = -(-self.head_dim // 32) * 32
        row = padded if self.kind == INT8 else 2 * self.head_dim
        queries, keys, values = self.tile_m * row, tile_n * row, tile_n * self.slice_dim * 2
        if self.kind == SHORT_KEYS:
            return keys + values + 2 * queries
        return max(queries, stages * keys + values) if in_registers else queries + stages * keys + values

    @property
    def runs(self) -> bool:
        """Whether its architecture has what it needs; others are compiled to nothing."""
        fits = self.dtype is torch.float16 and self.shared_bytes <= TURING_SHARED_BYTES
        return self.architecture != "sm_75" or fits


def programs(
    ptx: Callable[..., str],
    kernel: AttentionKernel,
    instances: tuple[str, ...] = (),
    edit: Callable[[str], str] = lambda text: text,
) -> tuple[Program, tuple[Program, ...]]:
    """A kernel and the passes before it, from PTX that also holds others, and where a test may plant a mistake."""
    text = ptx(kernel.source, kernel.architecture, instances or (kernel.instance,))
    program = kernel_of(edit(text), kernel.name)
    if kernel.kind != INT8:
        return program, ()
    before = ptx(PASSES, kernel.architecture)
    return program, tuple(kernel_of(before, f"{word}.{NAMES[kernel.dtype]}.") for word in ("summarize", "quantize"))
