"""What a file is instead of safetensors; the parts of hostile files stand in test_opening_hostile.py."""

import pytest

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.errors import ModelRefused


@pytest.mark.parametrize("start", [b"!\r!", b"a\tb\nc", b" \n\r\t x \r\n"])
def test_text_in_a_message_stays_one_line(tmp_path, start):
    path = tmp_path / "model.safetensors"
    path.write_bytes(start + b" " * 20)
    with pytest.raises(ModelRefused) as refusal:
        open_checkpoint(path)
    assert str(refusal.value).isprintable()


def test_a_gguf_is_told_its_way_in(tmp_path):
    """With which tests/e2e/test_replaced_weights.py makes images."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"GGUF" + bytes(60))
    with pytest.raises(ModelRefused, match=r"a GGUF file, .* into its model with `--weights FILE`"):
        open_checkpoint(path)
