"""The table of sparse attention's times."""

import sparse_attention


def test_each_kind_is_timed_against_dense_attention(capsys, monkeypatch):
    monkeypatch.setattr(sparse_attention.torch, "set_num_threads", lambda _: None)
    sparse_attention.main((16,))
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("tokens | dense | pooled:0.25 |")
    assert row.startswith("256 | ") and row.count("|") == head.count("|") == 7
