"""Gradients are tested, then measured beside SDPA's; what is wrong shows."""

import io

import pytest
from fake_backward import FakeBackward

from kernel_build.card import stub
from kernel_build.card.protocol import Row, Teller, told
from kernel_build.card.row_text import text_of
from kernel_build.card.workers import backward
from mezzotint.attention.compiled_backward import CompiledBackward

TEST = "mezzotint self-test, bfloat16"


def rows_of(monkeypatch, library, done=()):
    monkeypatch.setattr(stub, "attention_backward", lambda: CompiledBackward(library))
    out = io.StringIO()
    backward.run(Teller(done, out), (), True)
    return {row.item: row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)}


def test_the_self_test_then_every_implementation(monkeypatch):
    rows = rows_of(monkeypatch, FakeBackward())
    assert next(iter(rows)) == TEST
    assert {row.outcome for row in rows.values()} == {"ok"}
    names = {item.rpartition(": ")[2] for item in rows if item != TEST}
    assert names == {"sdpa flash", "sdpa math", "mezzotint flash"}
    item = next(each for each in rows if each.endswith(", gradients: mezzotint flash"))
    measured = rows[item].measured
    assert 0 < measured["error"] < 0.02 and measured["milliseconds"] > 0
    assert "times the best SDPA" in text_of({"part": "times-backward", **vars_of(rows[item])})
    assert list(rows_of(monkeypatch, FakeBackward(), done=[*rows][1:])) == [TEST]


def vars_of(row):
    return {name: getattr(row, name) for name in ("item", "outcome", "problem", "measured")}


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "problem"), [("wrong", "the error against"), ("launch", "the launch failed")])
def test_what_is_wrong_is_told(monkeypatch, fault, problem):
    rows = rows_of(monkeypatch, FakeBackward(fault))
    assert rows[TEST].outcome == "failed" and problem in rows[TEST].problem
