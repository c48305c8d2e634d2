"""Transformers takes torch for one without distribution, and nobody else does."""

import subprocess
import sys

import pytest

CODE = """
import sys

import pytest
import torch
there = torch.distributed.is_available()
from mezzotint.families.loading.one_process import tell_transformers
tell_transformers()
assert torch.distributed.is_available() == there
from transformers import T5Config, T5EncoderModel
assert "torch.distributed.tensor" not in sys.modules or not there
made = T5EncoderModel(T5Config(d_model=8, num_layers=1, num_heads=2, d_kv=4, d_ff=8, vocab_size=8))
made.save_pretrained(sys.argv[1])
read = T5EncoderModel.from_pretrained(sys.argv[1])
assert all(a.equal(b) for a, b in zip(made.state_dict().values(), read.state_dict().values(), strict=True))
"""


@pytest.mark.slow
def test_its_networks_are_read_and_written_as_ever(tmp_path):
    # The compiler, which is not told to wait here, imports all that is distributed of its own accord.
    code = f"from mezzotint.libraries import defer_imports\ndefer_imports()\n{CODE}"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
