"""Parameters that stay in 32 bits."""

import pytest

from mezzotint.memory.fp32_parameters import keep_in_fp32


@pytest.mark.parametrize(
    ("class_name", "parameter", "expected"),
    [
        ("Krea2Transformer2DModel", "transformer_blocks.0.attn.norm_q.weight", True),
        ("Krea2Transformer2DModel", "transformer_blocks.0.attn.to_q.weight", False),
        ("QwenImageTransformer2DModel", "transformer_blocks.0.attn.norm_q.weight", False),
    ],
)
def test_by_the_names_of_their_modules(class_name, parameter, expected):
    assert keep_in_fp32(class_name, parameter) is expected
