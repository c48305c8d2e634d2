"""Linear attention is tested, then measured beside torch's; what is wrong shows."""

import io

import pytest
from fake_linear_attention import FakeLinearAttention

from kernel_build.card import stub
from kernel_build.card.beside import with_peers
from kernel_build.card.protocol import Row, Teller, told
from kernel_build.card.row_text import text_of
from kernel_build.card.workers import kernelized
from mezzotint.attention.linear.compiled import CompiledLinearAttention

TEST = "mezzotint self-test, linear attention, bfloat16"


def rows_of(monkeypatch, library, done=()):
    monkeypatch.setattr(stub, "linear_attention", lambda: CompiledLinearAttention(library))
    out = io.StringIO()
    kernelized.run(Teller(done, out), (), True)
    return {row.item: row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)}


def test_the_self_test_then_every_implementation(monkeypatch):
    rows = rows_of(monkeypatch, FakeLinearAttention())
    items = ["Sana, 32x32, relu: torch", "Sana, 32x32, relu: mezzotint linear attention"]
    assert list(rows) == [TEST, *items]
    assert {row.outcome for row in rows.values()} == {"ok"}
    assert all(0 < rows[item].measured["error"] < 0.01 for item in items)
    assert rows[items[0]].measured["tflops"] > 0
    parts = [{"part": "times-kernelized", **fields(row)} for row in rows.values()]
    assert "times torch" in text_of(with_peers(parts[1:])[1])
    assert list(rows_of(monkeypatch, FakeLinearAttention(), done=items)) == [TEST]


def fields(row):
    return {name: getattr(row, name) for name in ("item", "outcome", "problem", "measured")}


@pytest.mark.parametrize(("fault", "problem"), [("wrong", "the error against"), ("launch", "the launch failed")])
def test_what_is_wrong_is_told(monkeypatch, fault, problem):
    rows = rows_of(monkeypatch, FakeLinearAttention(fault))
    assert rows[TEST].outcome == "failed" and problem in rows[TEST].problem
