"""Attention kernels on the emulator: run them on tensors and compare with the expected output."""

import ctypes
import math
import mmap
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from attention_arguments import dropout_of, packed
from backward_tiles import Dropout
from block_tables import GivenTable, table_of
from emulator_build import Conditions
from guarded_memory import guarded
from linear_instances import Card

from mezzotint.attention.int8_reference import int8_all_reference, int8_fp8_reference, int8_scores_reference
from mezzotint.attention.masks import Masks

CODES = {torch.float16: 0, torch.bfloat16: 1, torch.float32: 2}
CAUSAL, INT8_SCORES, INT8_VALUES, HALF_SUM_FLAG, FP8_VALUES = 1, 2, 8, 16, 32
FORWARD, SHORT_KEYS, INT8, DROPOUT, INT8_ALL, HALF_SUMS, INT8_FP8, HOPPER = range(8)  # kinds of instances
MAP_NORESERVE = 0x4000  # Linux's value; Python exports it from 3.13 on
_STEPS, _FLIPPED = 0.3, 1e-3  # of RMS: the output's rounding, and 8-bit roundings that float32 decides otherwise
_FLIPPED_FLOATS = 3e-3  # those of weights in e4m3, of which one step of a row's largest is an eighth of it
LOWEST_SUM = -1e38  # lower LSE values are from rows in which every key has the lowest bias


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One attention call, and the emulator's behaviour."""

    head_dim: int
    dtype: torch.dtype = torch.bfloat16
    batch: int = 1
    heads: int = 2
    kv_heads: int = 2
    nq: int = 70
    nk: int = 90
    tokens_first: bool = False  # (b, n, h, d) in memory instead of (b, h, n, d)
    fused: bool = False  # q, k and v in one tensor, (b, n, 3, h, d)
    causal: bool = False
    key_lengths: tuple[int, ...] | None = None
    key_mask: str | None = None  # random; late: the second half; ones: all; none_seen: the first batch sees no key
    # full, heads, keys, column: the dimensions not broadcast; lowest: 0 or the lowest value, for keys; moved: starts
    # one element after an aligned address; padded: rows with an even number of elements
    bias: str | None = None
    bias_float: bool = True
    outliers: bool = False
    same_keys: bool = False
    same_values: bool = False
    values_by: float = 1.0
    uneven: bool = False  # tokens with magnitudes from 1/8 to 1
    creeping: bool = False  # scores that increase slightly with each key
    far: str | None = None  # batch, head or token: the dimension whose last half lies beyond 2^31 elements
    scale: float | None = None
    int8: bool = False
    int8_all: bool = False
    half_sums: bool = False
    int8_fp8: bool = False
    turing: bool = False
    late_copies: bool = True
    late_reads: bool = False  # by products of four warps, when they are waited for
    hopper: bool = False  # only kernels of Hopper's own
    stubborn: bool = False  # one warp always runs as long as it can
    dropout: Dropout | None = None
    table: str | None = None  # a name of block_tables.py
    table_queries: int = 64  # of a row of the table
    table_in_order: bool = False  # its rows are taken as they are, not the longest first
    tiles_per_block: int = 0  # query tiles, for kernels with few keys; 0: as the library chooses
    splits: int = 1  # of the keys, of a 16-bit kernel
    seed: int = 0

    @property
    def masked(self) -> bool:
        """Whether it needs a kernel with mask support."""
        return self.key_mask is not None or self.bias is not None or self.table is not None

    @property
    def quantized(self) -> bool:
        """Whether its scores are of 8-bit products."""
        return self.int8 or self.int8_all or self.int8_fp8

    @property
    def flags(self) -> int:
        """Flags of the library's arguments."""
        int8 = INT8_SCORES * self.quantized | INT8_VALUES * self.int8_all | FP8_VALUES * self.int8_fp8
        return CAUSAL * self.causal | int8 | HALF_SUM_FLAG * self.half_sums


@dataclass
class Tensors:
    """A problem's tensors, each followed by an inaccessible page."""

    problem: Problem
    kept: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        problem = self.problem
        generator = torch.Generator().manual_seed(problem.seed)
        if problem.fused:
            self.q, self.k, self.v = self._random(generator, 3 * problem.heads, problem.nq, swap=True).chunk(3, dim=1)
        else:
            self.q = self._random(generator, problem.heads, problem.nq, swap=problem.tokens_first)
            self.k = self._random(generator, problem.kv_heads, problem.nk, swap=problem.tokens_first)
            self.v = self._random(generator, problem.kv_heads, problem.nk, swap=problem.tokens_first)
        if problem.same_keys:
            self.k[:] = self.k[:, :, :1].clone()
        if problem.same_values:
            self.v[:] = self.v[:, :, :1].clone()
        self.v *= problem.values_by
        if problem.uneven:
            for tensor in (self.q, self.k):
                tensor *= 2.0 ** -torch.randint(4, tensor.shape[:3], generator=generator).unsqueeze(-1)
        if problem.outliers:  # one outlier channel in the keys, as in real models, and one large row
            self.k[..., 3] += 30
            self.q[..., :, 0, :] *= 8
        if problem.creeping:
            self.q[..., 0] = problem.head_dim**0.5
            self.k[..., 0] = torch.linspace(problem.nk / 100, 0, problem.nk)
        self.out = self._guarded(self.q.shape, problem.dtype, swap=problem.tokens_first)
        self.out.fill_(float("nan"))
        self.lse = self._guarded((problem.batch, problem.heads, problem.nq), torch.float32).fill_(float("nan"))
        self.lengths = self._lengths()
        for batch, length in enumerate(problem.key_lengths or ()):  # kernels must not read beyond the lengths
            self.k[batch, :, max(length, 0) :] = self.v[batch, :, max(length, 0) :] = float("nan")
        self.mask = self._mask(generator)
        self.bias = self._bias(generator)
        self.table = self._table()

    def _table(self) -> GivenTable | None:
        problem = self.problem
        if problem.table is None:
            return None
        sizes = (problem.nq, problem.nk, problem.batch, problem.heads, problem.table_queries)
        table = table_of(problem.table, *sizes)
        return GivenTable(replace(table, row_order=None) if problem.table_in_order else table, self.kept)

    def _random(self, generator: torch.Generator, heads: int, tokens: int, *, swap: bool) -> torch.Tensor:
        problem = self.problem
        shape = (problem.batch, heads, tokens, problem.head_dim)
        made = self._guarded(shape, problem.dtype, swap=swap)
        return made.copy_(torch.randn(shape, generator=generator))

    def _guarded(self, shape: tuple[int, ...], dtype: torch.dtype, *, swap: bool = False) -> torch.Tensor:
        """Allocate a tensor that ends at an inaccessible page, optionally with heads and tokens swapped in memory."""
        if self.problem.far is not None and len(shape) == 4:
            return self._far(shape, dtype)
        stored = (shape[0], shape[2], shape[1], shape[3]) if swap else shape
        count = math.prod(stored)
        if count == 0:
            return torch.empty(shape, dtype=dtype)
        flat = torch.frombuffer(guarded(count * dtype.itemsize, self.kept, alignment=16), dtype=dtype, count=count)
        tensor = flat.view(stored)
        return tensor.transpose(1, 2) if swap else tensor

    def _far(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Allocate a tensor whose last half is beyond 32-bit offsets; the gap uses no memory."""
        axis = ("batch", "head", "token").index(str(self.problem.far))
        strides = [shape[3] * shape[2] * shape[1], shape[3] * shape[2], shape[3], 1]
        strides[axis] = -(-(2**32) // max(shape[axis] - 1, 1) // 64) * 64 + 64
        count = 1 + sum((side - 1) * stride for side, stride in zip(shape, strides, strict=True))
        memory = mmap.mmap(-1, count * dtype.itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE)
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        self.kept.append(memory)
        return torch.frombuffer(memory, dtype=dtype, count=count).as_strided(shape, strides)

    def _lengths(self) -> torch.Tensor | None:
        if self.problem.key_lengths is None:
            return None
        return self._guarded((self.problem.batch,), torch.int32).copy_(torch.tensor(self.problem.key_lengths))

    def _mask(self, generator: torch.Generator) -> torch.Tensor | None:
        problem = self.problem
        if problem.key_mask is None:
            return None
        mask = self._guarded((problem.batch, problem.nk), torch.uint8)
        mask.copy_(torch.rand(mask.shape, generator=generator) < 0.6)
        if problem.key_mask == "ones":
            mask[:] = 1
        if problem.key_mask == "late":
            mask[:] = torch.arange(problem.nk) >= problem.nk // 2
        if problem.key_mask == "none_seen":
            mask[0] = 0
        return mask

    def _bias(self, generator: torch.Generator) -> torch.Tensor | None:
        problem = self.problem
        full = (problem.batch, problem.heads, problem.nq, problem.nk)
        shapes = {
            **dict.fromkeys(("full", "moved", "padded"), full),
            "heads": (1, problem.heads, problem.nq, problem.nk),
            "keys": (problem.batch, 1, 1, problem.nk),
            "column": (1, problem.heads, problem.nq, 1),
            "lowest": (problem.batch, 1, 1, problem.nk),
        }
        if problem.bias is None:
            return None
        dtype = torch.float32 if problem.bias_float else problem.dtype
        *others, keys = shapes[problem.bias]
        row = keys + (problem.bias == "padded" and keys % 2)
        first = int(problem.bias == "moved")
        count = math.prod(others) * row + first - (row - keys)  # the last row has no padding
        flat = torch.frombuffer(guarded(count * dtype.itemsize, self.kept, alignment=16), dtype=dtype, count=count)
        strides = tuple(math.prod((*others[axis + 1 :], row)) for axis in range(len(others)))
        made = flat[first:].as_strided((*others, keys), (*strides, 1), first)
        made.copy_(torch.randn(made.shape, generator=generator) * 2)
        if problem.bias == "lowest":  # the way many models mask keys
            made.copy_((made > 0) * torch.finfo(dtype).min)
        return made.expand(full)

    @property
    def scale(self) -> float:
        """The factor of the scores."""
        return self.problem.scale or self.problem.head_dim**-0.5

    def arguments(self) -> ctypes.Structure:
        """Return the argument struct of the library."""
        from mezzotint_kernels.abi import AttentionArgs

        problem = self.problem
        strides = {f"{name}_stride": getattr(self, name).stride()[:3] for name in ("q", "k", "v", "out")}
        return AttentionArgs(
            dtype=CODES[problem.dtype],
            flags=problem.flags,
            batch=problem.batch,
            heads=problem.heads,
            kv_heads=problem.kv_heads,
            nq=problem.nq,
            nk=problem.nk,
            head_dim=problem.head_dim,
            **{name: getattr(self, name).data_ptr() for name in ("q", "k", "v", "out", "lse")},
            **strides,
            key_lengths=None if self.lengths is None else self.lengths.data_ptr(),
            key_mask=None if self.mask is None else self.mask.data_ptr(),
            key_mask_stride=0 if self.mask is None else self.mask.stride(0),
            bias=None if self.bias is None else self.bias.data_ptr(),
            bias_dtype=CODES[torch.float32 if self.bias is None else self.bias.dtype],
            bias_stride=(0,) * 4 if self.bias is None else self.bias.stride(),
            scale=self.scale,
            dropout=dropout_of(problem),
            table=self._table_address(),
        )

    def _table_address(self) -> int | None:
        if self.table is None:
            return None
        self.kept.append(struct := self.table.struct())
        return ctypes.addressof(struct)

    def dropped(self) -> torch.Tensor | float:
        """Return the factors of the weights by dropout, (b, h, nq, nk); 1 if there is none."""
        problem = self.problem
        if problem.dropout is None:
            return 1.0
        return problem.dropout.weights(problem.batch, problem.heads, problem.nq, problem.nk)

    def workspace(self, size: int) -> int:
        """Return the address of this many bytes, filled with NaN."""
        memory = guarded(size, self.kept, alignment=16)
        torch.frombuffer(memory, dtype=torch.uint8).fill_(255)
        return ctypes.addressof(ctypes.c_char.from_buffer(memory))

    # ---- expected output

    def hidden(self) -> torch.Tensor:
        """Return where keys are masked, (b, h, nq, nk)."""
        problem = self.problem
        hidden = torch.zeros(problem.batch, problem.heads, problem.nq, problem.nk, dtype=torch.bool)
        keys = torch.arange(problem.nk)
        if problem.causal:
            hidden |= keys > torch.arange(problem.nq).unsqueeze(1) + problem.nk - problem.nq
        if self.lengths is not None:
            hidden |= (keys >= self.lengths.unsqueeze(1)).view(problem.batch, 1, 1, problem.nk)
        if self.mask is not None:
            hidden |= (self.mask == 0).view(problem.batch, 1, 1, problem.nk)
        if self.table is not None:
            hidden |= ~self.table.table.seen_positions()
        return hidden

    def wanted(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return output and LSE in float64."""
        q, k, v = (self._shared_heads(tensor.double()) for tensor in self._seen())
        scores = q @ k.transpose(-1, -2) * self.scale
        if self.bias is not None:
            scores = scores + self.bias.double()
        scores = scores.masked_fill(self.hidden(), -math.inf)
        weights = torch.softmax(scores, dim=-1).nan_to_num(0.0) * self.dropped()
        return weights @ v, torch.logsumexp(scores, dim=-1)

    def plain(self) -> torch.Tensor:
        """Return the output computed naively in the problem's dtype."""
        dtype = self.problem.dtype
        q, k, v = (self._shared_heads(tensor) for tensor in self._seen())
        scores = (q * self.scale).to(dtype) @ k.transpose(-1, -2)
        if self.bias is not None:
            scores = scores + self.bias.to(dtype)
        scores = scores.masked_fill(self.hidden(), -math.inf)
        weights = (torch.softmax(scores.float(), dim=-1).nan_to_num(0.0) * self.dropped()).to(dtype)
        return weights @ v

    def rounded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return output and LSE with the same 8-bit products in plain torch, in float64."""
        q, k, v = (tensor.double() for tensor in self._seen())
        shown = torch.zeros(self.hidden().shape, dtype=torch.float64).masked_fill(self.hidden(), -math.inf)
        masks = Masks(bias=shown if self.bias is None else shown + self.bias.double(), key_lengths=self.lengths)
        problem = self.problem
        eight = int8_all_reference if problem.int8_all else int8_fp8_reference
        attend = int8_scores_reference if problem.int8 else eight
        return attend(q, k, v, masks, self.scale)

    def _seen(self) -> tuple[torch.Tensor, ...]:
        """Return queries, keys and values with padding replaced by zeros."""
        if self.problem.key_lengths is None:
            return self.q, self.k, self.v
        return self.q, self.k.nan_to_num(0.0), self.v.nan_to_num(0.0)

    def _shared_heads(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.repeat_interleave(self.problem.heads // tensor.shape[1], dim=1)


class _Report(ctypes.Structure):
    _fields_ = (
        ("bank_conflicts", ctypes.c_int64),
        ("matrix_loads", ctypes.c_int64),
        ("products", ctypes.c_int64),
        ("error", ctypes.c_char * 240),
    )


class InstanceInfo(ctypes.Structure):
    """Properties of an instance."""

    _fields_ = tuple(
        (name, ctypes.c_int32)
        for name in ("head_dim", "slice_dim", "dtype", "masked", "kind", "tile_m", "tile_n", "threads", "shared_bytes")
    )

    def serves(self, problem: Problem) -> bool:
        """Whether the instance supports the problem, on any device."""
        if self.kind == HOPPER or problem.hopper:
            return self._serves_hopper(problem)
        asked = [problem.int8, problem.dropout is not None, problem.int8_all, problem.half_sums, problem.int8_fp8]
        kind = next((INT8 + number for number, wants in enumerate(asked) if wants), FORWARD)
        wanted = (problem.head_dim, CODES[problem.dtype], int(problem.masked), kind)
        short_enough = self.kind != SHORT_KEYS or problem.nk <= self.tile_n
        fits = problem.table is None or (problem.table_queries % self.tile_m == 0 and 64 % self.tile_n == 0)
        found = (self.head_dim, self.dtype, self.masked, FORWARD if self.kind == SHORT_KEYS else self.kind)
        return found == wanted and short_enough and fits

    def _serves_hopper(self, problem: Problem) -> bool:
        other = problem.masked or problem.flags & ~CAUSAL or problem.dropout is not None or problem.key_lengths
        fits = problem.head_dim <= self.head_dim <= 2 * problem.head_dim and self.dtype == CODES[problem.dtype]
        return problem.hopper and self.kind == HOPPER and fits and not other


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The library's plan."""

    instance: InstanceInfo | None  # None: no kernel supports it
    workspace_bytes: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """Tensors and report after a run."""

    tensors: Tensors
    report: _Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Errors of a run as multiples of the allowed error, and its counters."""

    output: float  # largest error / allowed error; above 1 is wrong
    lse: float
    bank_conflicts: int
    matrix_loads: int
    error: str

    @property
    def right(self) -> bool:
        """Whether the run was correct."""
        return not self.error and self.output <= 1 and self.lse <= 1 and self.bank_conflicts == 0


class Emulator:
    """The attention part of a library made by build()."""

    def __init__(self, library: Path) -> None:
        self._library = ctypes.CDLL(str(library))
        self.instances: list[InstanceInfo] = []
        info = InstanceInfo()
        while self._library.emulator_instance(len(self.instances), ctypes.byref(info)):
            self.instances.append(info)
            info = InstanceInfo()

    def numbers(self, problem: Problem) -> list[int]:
        """Return the instances that support the problem."""
        return [number for number, each in enumerate(self.instances) if each.serves(problem)]

    def verdicts(self, problems: Iterable[Problem]) -> list[Verdict]:
        """Run the problems, each on every instance that supports it."""
        return [self.run(problem, number) for problem in problems for number in self.numbers(problem)]

    def compute(self, problem: Problem, number: int, order: int | None = None) -> Computed:
        """Run one instance on one problem; `order` seeds the scheduling of warps."""
        tensors = Tensors(problem)
        report = _Report()
        seed = problem.seed if order is None else order
        conditions = Conditions(
            late_copies=problem.late_copies,
            seed=seed,
            turing=problem.turing,
            tiles_per_block=problem.tiles_per_block,
            stubborn=problem.stubborn,
            late_reads=problem.late_reads,
        )
        arguments = tensors.arguments()
        size = self._library.emulator_workspace_bytes
        size.restype = ctypes.c_int64
        if (bytes_needed := size(ctypes.byref(arguments), problem.splits)) > 0:
            arguments.workspace_bytes, arguments.workspace = bytes_needed, tensors.workspace(bytes_needed)
        self._library.emulator_forward(ctypes.byref(arguments), number, ctypes.byref(conditions), ctypes.byref(report))
        return Computed(tensors=tensors, report=report)

    def plan(self, problem: Problem, card: Card, **changes: int) -> Plan:
        """Return the library's plan for a device; `changes` override fields of its arguments, without tensors."""
        from mezzotint_kernels.abi import AttentionArgs, AttentionPlanStruct, BlockTableArgs

        fields = ("batch", "heads", "kv_heads", "nq", "nk", "head_dim")
        sizes = {name: getattr(problem, name) for name in fields} | changes
        pointers = {"bias": 16 * (problem.bias is not None), "key_mask": 16 * (problem.key_mask is not None)}
        strides = packed(sizes) if problem.hopper else {}
        flags = int(sizes.pop("flags", problem.flags))
        options = {"dtype": CODES[problem.dtype], "flags": flags, "scale": 0.125}
        arguments = AttentionArgs(**options, **sizes, **pointers, **strides)
        table = BlockTableArgs(block_q=problem.table_queries, block_k=64)
        if problem.table is not None:
            arguments.table = ctypes.addressof(table)
        plan = AttentionPlanStruct()
        self._library.emulator_plan(
            ctypes.byref(arguments), card.architecture, card.multiprocessors, card.shared_bytes, ctypes.byref(plan)
        )
        instance = self.instances[plan.kernel] if plan.supported else None
        return Plan(instance=instance, workspace_bytes=plan.workspace_bytes, text=plan.text.decode())

    def run(self, problem: Problem, number: int) -> Verdict:
        """Run one instance on one problem and compare."""
        computed = self.compute(problem, number)
        output, lse = judge(computed.tensors)
        return Verdict(
            output=output,
            lse=lse,
            bank_conflicts=computed.report.bank_conflicts,
            matrix_loads=computed.report.matrix_loads,
            error=computed.report.error.decode(),
        )


def judge(tensors: Tensors) -> tuple[float, float]:
    """FlashAttention's criterion: at most twice the error of the naive computation in this dtype, plus a few roundings.

    Kernels with 8-bit products are compared with the error and the result of the same rounding in plain torch.
    """
    wanted, sums = tensors.wanted()
    problem = tensors.problem
    rounded = wanted.to(problem.dtype)
    quantized = problem.quantized and problem.nk > 0
    plain, plain_sums = tensors.rounded() if quantized else (tensors.plain(), sums)
    roundings = ((rounded + 0.3 - 0.3).double() - rounded.double()).abs().max()
    allowed = 2 * (plain.to(problem.dtype).double() - wanted).abs().max() + 2 * roundings + 1e-6
    output = _worst((tensors.out.double() - wanted).abs(), allowed)
    if quantized:
        flipped = _FLIPPED_FLOATS if problem.int8_fp8 else _FLIPPED
        output = max(output, _distance(tensors.out.double(), plain, _STEPS * torch.finfo(problem.dtype).eps + flipped))
    seen = torch.isfinite(sums)
    same = torch.equal(torch.isfinite(tensors.lse), seen) and bool((tensors.lse[~seen] == -math.inf).all())
    got, sums, plain_sums = (each.double().clamp(min=LOWEST_SUM)[seen] for each in (tensors.lse, sums, plain_sums))
    off = (got - sums).abs() / (1 + sums.abs() / 1e3)
    allowed_sums = 2e-3 + 2 * (plain_sums - sums).abs().max() if bool(seen.any()) else torch.tensor(1.0)
    return output, _worst(off, allowed_sums) if same else math.inf


def _distance(got: torch.Tensor, same: torch.Tensor, allowed: float) -> float:
    """RMS distance of outputs that only differ by roundings, relative to the allowed share of their RMS."""
    if got.numel() == 0:
        return 0.0
    off = float((got - same).norm() / (allowed * same.norm() + 1e-9))
    return math.inf if math.isnan(off) else off


def _worst(errors: torch.Tensor, allowed: torch.Tensor) -> float:
    if errors.numel() == 0:
        return 0.0
    return math.inf if bool(errors.isnan().any()) else float(errors.max() / allowed)
