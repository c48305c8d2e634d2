"""The peak of a training step by depth: constant for reversible trunks."""

import pytest

from mezzotint.benchmarks.training_memory.trunks import trunks


@pytest.mark.slow
def test_reversible_trunks_need_the_same_at_any_depth():
    found = {(row.blocks, row.name): row.peak_bytes for row in trunks(2, (2, 4))}
    assert found[2, "reversible"] == found[4, "reversible"]
    assert found[4, "reversible"] < found[4, "sqrt"] < found[4, "blocks"] < found[4, "none"]
    assert found[2, "none"] < 0.6 * found[4, "none"]
