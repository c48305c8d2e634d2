"""GroupNorm is tested, then it and what is around products is measured; what is wrong shows."""

import io

import pytest
from fake_group_norm import FakeGroupNorm

from kernel_build.card import stub
from kernel_build.card.beside import with_peers
from kernel_build.card.protocol import Row, Teller, told
from kernel_build.card.row_text import text_of
from kernel_build.card.workers import fused
from kernel_build.targets import FUSED_TARGETS
from mezzotint.normalization.compiled import CompiledGroupNorm

TEST = "mezzotint self-test, GroupNorm, bfloat16"


def rows_of(monkeypatch, library=None, done=()):
    monkeypatch.setattr(stub, "group_norm", lambda: CompiledGroupNorm(library or FakeGroupNorm()))
    out = io.StringIO()
    fused.run(Teller(done, out), (), True)
    return {row.item: row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)}


def test_every_target_is_measured_beside_its_peer(monkeypatch):
    rows = rows_of(monkeypatch)
    assert {row.outcome for row in rows.values()} == {"ok"} and next(iter(rows)) == TEST
    assert {target.what for target in FUSED_TARGETS} <= set(rows)
    parts = [
        {"part": "times-fused", "item": row.item, "outcome": "ok", "problem": None, "measured": row.measured}
        for row in rows.values()
        if row.measured
    ]
    lines = {row["item"]: text_of(row) for row in with_peers(parts)}
    assert all("times torch " in lines[t.what] or "% of a copy" in lines[t.what] for t in FUSED_TARGETS)
    assert set(rows_of(monkeypatch, done=[TEST])) == set(rows) - {TEST}


@pytest.mark.parametrize(("fault", "problem"), [("wrong", "the error against"), ("launch", "the launch failed")])
def test_what_is_wrong_is_told(monkeypatch, fault, problem):
    row = rows_of(monkeypatch, FakeGroupNorm(fault))[TEST]
    assert row.outcome == "failed" and problem in row.problem
