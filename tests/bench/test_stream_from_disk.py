"""The model that is written, and what is told of the three runs; the runs themselves are tests/e2e's."""

import sys

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.protocol import ModelRef

LIMIT = 1000  # MiB, as is usual
STREAMED = {
    "sha256": "a",
    "peak_rss": 900 * 2**20,
    "imports_rss": 2**28,
    "seconds": 3,
    "denoise": 1,
    "plan": ["x: disk"],
}
WHOLE = {"problem": "out of memory (MemoryError)"}
FREE = STREAMED | {"peak_rss": 2**31, "plan": []}


@pytest.mark.slow
def test_the_model_is_as_large_as_asked_and_is_known(script, tmp_path):
    written = script.write_model(tmp_path / "model", 120, 128)
    assert 100 * 2**20 < written < 140 * 2**20
    files = [path.stat().st_size for path in (tmp_path / "model").rglob("*.safetensors")]
    assert written < sum(files) < written + 2**20
    found = Catalog.standard().find(ModelRef(id=str(tmp_path / "model")))
    assert found.info.problem is None and found.detected.family == "sdxl"


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({}, 0, ["the same pixels", "stayed below the limit", "x: disk"]),
        ({"streamed": STREAMED | {"sha256": "b"}}, 1, ["NOT the same pixels"]),
        ({"streamed": STREAMED | {"peak_rss": 2**30}}, 1, ["ABOVE the limit"]),
        ({"streamed": {}}, 1, ["streamed: ended early", "NOT the same pixels"]),
        ({"whole": {"sha256": "", "problem": "99 tensors fit"}}, 1, ["99 tensors fit"]),
    ],
)
def test_what_comes_of_the_runs(script, monkeypatch, capsys, changes, code, said):
    found = {"streamed": STREAMED, "whole": WHOLE, "unlimited": FREE} | changes
    monkeypatch.setattr(sys, "argv", ["stream_from_disk.py"])
    monkeypatch.setattr(script, "write_model", lambda *_: 2**30)
    monkeypatch.setattr(script, "_child", lambda _, how: found[how])
    assert script.main() == code
    told = capsys.readouterr().out
    assert all(words in told for words in said), told
