"""Weights in the block formats of GGUF, with random codes, and what the gguf package makes of them."""

import numpy as np

# Byte positions of the float16 numbers in a block; other bytes may be any.
HALVES = {
    "Q4_0": (0,),
    "Q4_1": (0, 2),
    "Q5_0": (0,),
    "Q5_1": (0, 2),
    "Q8_0": (0,),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
}


def packed_rows(kind, shape, seed=0):
    """Bytes `(rows, bytes of a row)` of a weight of that shape, its scales of ordinary size."""
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    block, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType[kind]]
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 256, (shape[0] * shape[1] // block, block_bytes), dtype=np.uint8)
    for place in HALVES[kind]:
        scales = random.uniform(-0.1, 0.1, len(blocks)).astype(np.float16)
        blocks[:, place : place + 2] = scales[:, None].view(np.uint8)
    return blocks.reshape(shape[0], -1)


def dequantized_by_gguf(kind, rows):
    """The float32 weight, by the gguf package."""
    from gguf.constants import GGMLQuantizationType
    from gguf.quants import dequantize

    return dequantize(rows, GGMLQuantizationType[kind])
