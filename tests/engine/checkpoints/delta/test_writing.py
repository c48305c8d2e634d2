"""What is written as a delta file is read again, to 8 bits."""

import torch
from delta_files import NAME, PLACE, trunk_tensors, write_trunk

from mezzotint.checkpoints.delta.layout import trunks_of
from mezzotint.checkpoints.delta.reading import read_delta
from mezzotint.checkpoints.delta.writing import write_delta
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.weight_file import read_weights, weight_specs


def test_written_tensors_are_read(tmp_path):
    write_trunk(tmp_path)
    path = tmp_path / "fast" / NAME
    path.parent.mkdir(parents=True)
    torch.manual_seed(2)
    own = {"small": torch.randn(5, 3), "large": torch.randn(64, 16, 2, 2), "long": torch.randn(5000)}
    own["large"][3] = 0
    up, down = torch.randn(6, 2) * torch.tensor([100, 0.01]), torch.randn(2, 4)
    taken = {"x": "a.weight", "c.bias": "c.bias"}
    write_delta(path, trunk=PLACE, taken=taken, own=own, low_rank={"x": (up, down)})
    stored = {name: spec.dtype for name, spec in read_header(path).tensors.items()}
    assert (stored["small"], stored["long"], stored["large"], stored["large.scale"]) == ("F16", "F16", "I8", "F32")
    found = dict(read_delta(path, on_bytes=lambda _: None, cancelled=lambda: False))
    assert found.keys() == {*own, *taken}
    assert torch.equal(found["small"], own["small"].half()) and torch.equal(found["c.bias"], trunk_tensors()["c.bias"])
    steps = own["large"].abs().amax((1, 2, 3), keepdim=True) / 127
    assert ((found["large"].float() - own["large"]).abs() <= 0.51 * steps + 1e-3 * own["large"].abs()).all()
    added = found["x"].float() - trunk_tensors()["a.weight"].float()
    assert (added - up @ down).norm() / (up @ down).norm() < 0.02


def test_a_file_needs_no_trunk(tmp_path):
    path, own = tmp_path / "small.safetensors", {"a": torch.ones(64, 64) / 3}
    write_delta(path, own=own, exact={"a"})
    assert path.stat().st_size > 8192
    write_delta(path, own=own)
    assert path.stat().st_size < 6000 and not trunks_of(path)
    assert {name: (spec.shape, spec.bytes) for name, spec in weight_specs(path).items()} == {"a": ((64, 64), 8192)}
    (found,) = read_weights([path], on_bytes=lambda _: None, cancelled=lambda: False)
    assert found[0] == "a" and torch.equal(found[1], own["a"].half())
