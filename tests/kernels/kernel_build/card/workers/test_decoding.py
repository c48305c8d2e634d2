"""The decoder by our kernels is measured beside diffusers'; what is wrong shows."""

import io

import pytest
from fake_group_norm import FakeGroupNorm

from kernel_build.card import stub
from kernel_build.card.beside import with_peers
from kernel_build.card.protocol import Row, Teller, told
from kernel_build.card.row_text import failure_of, text_of
from kernel_build.card.workers import decoding
from kernel_build.targets import DECODING_TARGET
from mezzotint.benchmarks import decoding as bench
from mezzotint.benchmarks.decoding import DECODER, DIFFUSERS, OURS
from mezzotint.normalization.compiled import CompiledGroupNorm

OUR, PEER = (f"{DECODER.name}: {name}" for name in (OURS, DIFFUSERS))


@pytest.fixture(autouse=True)
def once(monkeypatch):
    """Each is run once: its time means nothing here."""

    def call(calls, device, **_):
        assert (len(calls), device.type) == (1, "cpu")
        calls[0]()
        return 1.5

    monkeypatch.setattr(bench, "milliseconds", call)


def rows_of(monkeypatch, library, done=()):
    monkeypatch.setattr(stub, "group_norm", lambda: CompiledGroupNorm(library))
    out = io.StringIO()
    decoding.run(Teller(done, out), (), True)
    rows = [row for row in map(told, out.getvalue().splitlines()) if isinstance(row, Row)]
    fields = ("item", "outcome", "problem", "measured")
    return {row.item: {"part": "times-decoding", **{name: getattr(row, name) for name in fields}} for row in rows}


def test_both_decoders_are_measured(monkeypatch):
    library = FakeGroupNorm()
    rows = rows_of(monkeypatch, library)
    assert list(rows) == [PEER, OUR]
    assert {row["outcome"] for row in rows.values()} == {"ok"}
    assert all(0 < row["measured"]["error"] < 0.05 for row in rows.values())
    compared = with_peers(list(rows.values()))
    assert [row["item"] for row in compared if "times as fast as diffusers'" in text_of(row)] == [OUR]
    assert [row["item"] for row in compared if failure_of(row)] == []
    assert not all(each.silu for each in library.launches), "the norm before the decoder's attention as well"
    assert list(rows_of(monkeypatch, FakeGroupNorm(), done=[OUR])) == [PEER]


def test_what_is_wrong_is_told(monkeypatch):
    assert failure_of(rows_of(monkeypatch, FakeGroupNorm("wrong"), [PEER])[OUR])


def test_the_target_is_what_is_measured():
    assert DECODING_TARGET.what == OUR
