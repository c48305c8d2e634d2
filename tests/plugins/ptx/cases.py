"""Kernels whose PTX is run by `make test`, and problems for them, which cover all inline PTX in the sources."""

from dataclasses import replace

import torch
from backward_tiles import Dropout
from emulated_kernels import Problem as Attention
from emulated_linear import Problem as Product
from emulated_linear_attention import Problem as Sums
from emulated_quantize import Problem as Rows
from ptx.attention_kernel import AttentionKernel
from ptx.linear_launch import LinearKernel

from mezzotint_kernels.abi import Activation, Preparation
from mezzotint_kernels.linear_attention_abi import FeatureMap

FLOAT, BRAIN = torch.float16, torch.bfloat16
WIDE = "Shape<1, 4, 64, 2, true>"


def of(instance: str, architecture: str = "sm_80") -> AttentionKernel:
    """Return an attention instance."""
    return AttentionKernel(instance=instance, architecture=architecture)


PLAIN = of(f"instance<float16, 64, {WIDE}, false>")
MASKED = of(f"instance<float16, 64, {WIDE}, true>")
TEXT = of("short_instance<float16, 64, 4, 80>")
WITH_REST = of(f"instance<bfloat16, 72, {WIDE}, false>")
INT8 = of(f"int8_instance<bfloat16, 72, {WIDE}, false>")
INT8_ALL = of(f"int8_all_instance<bfloat16, 72, {WIDE}>")
HALF_SUMS = of(f"half_sums_instance<bfloat16, 64, {WIDE}, false>", "sm_89")
INT8_FP8 = of(f"int8_fp8_instance<bfloat16, 64, {WIDE}>", "sm_89")
TURING_HALF_SUMS = of(f"half_sums_instance<float16, 64, {WIDE}, false>", "sm_75")
DROPPING = of("dropout_instance<float16, 64, Shape<1, 4, 64, 2, true>>")
TURING = of(f"instance<float16, 72, {WIDE}, false>", "sm_75")
TURING_INT8 = of(f"int8_instance<float16, 72, {WIDE}, false>", "sm_75")
TURING_INT8_ALL = of(f"int8_all_instance<float16, 72, {WIDE}>", "sm_75")

HOPPER = of("hopper_instance<bfloat16, 64, HopperShape<3, 128>>", "sm_90a")
WIDE_HOPPER = of("hopper_instance<float16, 96, HopperShape<2, 176>>", "sm_90a")

ATTENTION = {
    "float16": (PLAIN, Attention(head_dim=64, dtype=FLOAT, nk=150, outliers=True)),
    "causal, lengths": (PLAIN, Attention(head_dim=64, dtype=FLOAT, batch=2, causal=True, key_lengths=(0, 70))),
    "masked": (MASKED, Attention(head_dim=64, dtype=FLOAT, batch=2, nq=40, key_mask="none_seen", bias="full")),
    "masked, bias of 16 bits": (
        MASKED,
        Attention(head_dim=64, dtype=FLOAT, nq=40, bias="padded", bias_float=False, nk=97),
    ),
    "masked, bias between pairs": (MASKED, Attention(head_dim=64, dtype=FLOAT, nq=40, bias="moved", bias_float=False)),
    "a block table": (
        MASKED,
        Attention(head_dim=64, dtype=FLOAT, nq=140, nk=200, table="random heads", key_lengths=(180,)),
    ),
    "keys in parts": (PLAIN, Attention(head_dim=64, dtype=FLOAT, nq=40, nk=290, splits=3, outliers=True)),
    "a text": (TEXT, Attention(head_dim=64, dtype=FLOAT, nq=250, nk=77, tiles_per_block=3)),
    "head size with a rest": (WITH_REST, Attention(head_dim=72, heads=4, kv_heads=2, nk=70)),
    "int8": (INT8, Attention(head_dim=72, nk=70, int8=True, uneven=True)),
    "all int8": (INT8_ALL, Attention(head_dim=72, nk=70, int8_all=True, uneven=True)),
    "sums in float16": (HALF_SUMS, Attention(head_dim=64, nk=150, half_sums=True, values_by=1e5)),
    "sums in float16 on Turing": (TURING_HALF_SUMS, Attention(head_dim=64, dtype=FLOAT, half_sums=True)),
    "8-bit floats": (INT8_FP8, Attention(head_dim=64, nk=70, int8_fp8=True, uneven=True)),
    "dropout": (DROPPING, Attention(head_dim=64, dtype=FLOAT, nq=40, nk=70, dropout=Dropout(kept=200, seed=2**40 + 1))),
    "Turing": (TURING, Attention(head_dim=72, dtype=FLOAT)),
    "int8 on Turing": (TURING_INT8, Attention(head_dim=72, dtype=FLOAT, int8=True)),
    "all int8 on Turing": (TURING_INT8_ALL, Attention(head_dim=72, dtype=FLOAT, int8_all=True)),
    "Hopper": (HOPPER, Attention(head_dim=64, heads=1, kv_heads=1, nq=200, nk=300, hopper=True, tiles_per_block=2)),
    "Hopper, filled up, causal": (
        WIDE_HOPPER,
        Attention(head_dim=88, dtype=FLOAT, heads=2, kv_heads=1, nq=70, nk=380, hopper=True, causal=True),
    ),
}

BYTES = LinearKernel(bits=8, dtype=FLOAT)
PACKED = LinearKernel(bits=4, dtype=BRAIN)
INT4 = LinearKernel(bits=4, x_bits=4, dtype=FLOAT)
HOPPER_INT4 = LinearKernel(bits=4, x_bits=4, dtype=BRAIN, architecture="sm_90")
TURING_INT4_PRODUCT = LinearKernel(bits=4, x_bits=4, dtype=FLOAT, architecture="sm_75")
GROUPED = LinearKernel(bits=4, x_bits=4, dtype=BRAIN, by_group=True)
HOPPER_GROUPED = LinearKernel(bits=4, x_bits=4, dtype=FLOAT, by_group=True, architecture="sm_90")
CODEBOOK = LinearKernel(bits=4, dtype=BRAIN, codebook=True)
FLOATS = LinearKernel(bits=8, dtype=FLOAT, floats=True, architecture="sm_89")
BLACKWELL_FLOATS = LinearKernel(bits=8, dtype=BRAIN, floats=True, architecture="sm_120")
GATED = LinearKernel(bits=8, dtype=BRAIN, gated=True)
SPLIT = LinearKernel(bits=8, dtype=BRAIN, split=True)
CONVOLUTION = LinearKernel(bits=8, dtype=FLOAT, convolution=True)
TURING_CONVOLUTION = replace(CONVOLUTION, architecture="sm_75")
TURING_BYTES = LinearKernel(bits=8, dtype=FLOAT, architecture="sm_75")
TURING_PACKED = LinearKernel(bits=4, dtype=FLOAT, architecture="sm_75")

LINEAR = {
    "int8": (BYTES, Product(depth=448, rows=65, gap=1)),
    "int8, branch and ends": (BYTES, Product(bias=True, gate=9, residual="given", rank=48)),
    "a convolution": (
        CONVOLUTION,
        Product(image=(5, 13, 1), rows=65, depth=64, columns=24, bias=True, gate=65, residual="out", gap=1),
    ),
    "a convolution on Turing": (TURING_CONVOLUTION, Product(image=(7, 5, 2), rows=24, depth=64, columns=8)),
    "int4": (PACKED, Product(bits=4, dtype=BRAIN, depth=320, residual="out", rank=48)),
    "4 bits of both": (INT4, Product(bits=4, x_bits=4, depth=448, rows=65, gap=1, bias=True)),
    "4 bits of both on Hopper": (
        HOPPER_INT4,
        Product(bits=4, x_bits=4, dtype=BRAIN, depth=320, rank=48, hopper=True),
    ),
    "4 bits of both on Turing": (TURING_INT4_PRODUCT, Product(bits=4, x_bits=4, depth=320)),
    "by group": (GROUPED, Product(bits=4, x_bits=4, by_group=True, dtype=BRAIN, depth=448, rows=65, gap=1, rank=32)),
    "by group on Hopper": (
        HOPPER_GROUPED,
        Product(bits=4, x_bits=4, by_group=True, depth=320, bias=True, hopper=True),
    ),
    "codebook": (CODEBOOK, Product(bits=4, codebook=True, dtype=BRAIN, depth=320, bias=True)),
    "floats of 8 bits": (FLOATS, Product(floats=True, depth=448, rows=65, gap=1, bias=True)),
    "floats of 8 bits on Blackwell": (
        BLACKWELL_FLOATS,
        Product(floats=True, shared_scale=True, dtype=BRAIN, depth=80, rank=48),
    ),
    "int8, GELU": (BYTES, Product(bias=True, activation=Activation.ACTIVATE_GELU_TANH)),
    "gated by GELU": (
        GATED,
        Product(dtype=BRAIN, depth=320, rows=65, gap=1, bias=True, activation=Activation.GATED_GELU),
    ),
    "gated by SiLU": (GATED, Product(dtype=BRAIN, depth=80, activation=Activation.GATED_SILU)),
    "int8 on Turing": (TURING_BYTES, Product(depth=320, rank=48)),
    "int4 on Turing": (TURING_PACKED, Product(bits=4, depth=320, bias=True)),
}

QUANTIZE = {
    "as they are": Rows(pattern="ties"),
    "bfloat16": Rows(columns=3072, rows=2, dtype=BRAIN),
    "4 bits": Rows(bits=4, columns=320, rows=7, gap=1, group=64),
    "by group": Rows(bits=4, by_group=True, smooth=True, columns=320, rows=7, gap=1, group=64),
    "4 bits, GELU": Rows(bits=4, columns=512, dtype=BRAIN, preparation=Preparation.GELU_TANH),
    "floats of 8 bits": Rows(floats=True, columns=272, rows=7, gap=1),
    "floats of 8 bits, LayerNorm": Rows(
        floats=True, columns=320, dtype=BRAIN, group=64, preparation=Preparation.LAYER_NORM, rows_per_batch=2
    ),
    "rotated": Rows(columns=512, rows=7, gap=1, group=256, pattern="integers"),
    "LayerNorm": Rows(preparation=Preparation.LAYER_NORM, columns=320, weights="wb", group=64),
    "RMSNorm, modulated": Rows(preparation=Preparation.RMS_NORM, dtype=BRAIN, weights="w", rows_per_batch=2),
    "SiLU": Rows(preparation=Preparation.SILU, group=16),
    "GELU": Rows(preparation=Preparation.GELU_TANH, dtype=BRAIN),
    "GEGLU": Rows(preparation=Preparation.GEGLU, columns=264, pattern="outliers"),
}

_one = {"heads": 1, "kv_heads": 1, "nq": 20}
LINEAR_ATTENTION = {
    "relu": Sums(**_one, nk=130, splits=2),
    "elu": Sums(**_one, map=FeatureMap.ELU_PLUS_ONE, dtype=FLOAT, head_dim=40, key_lengths=(70,)),
    "features, masked": Sums(
        **_one, map=FeatureMap.IDENTITY, features=72, nk=70, divided=False, batch=2, key_mask=True
    ),
    "Turing": Sums(**_one, dtype=FLOAT, head_dim=72, turing=True),
}
