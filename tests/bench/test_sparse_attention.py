"""The table of sparse attention's times."""


def test_each_kind_is_timed_against_dense_attention(script, capsys, monkeypatch):
    monkeypatch.setattr(script.torch, "set_num_threads", lambda _: None)
    script.main((16,))
    head, row = capsys.readouterr().out.splitlines()
    assert head.startswith("tokens | dense | pooled:0.25 |")
    assert row.startswith("256 | ") and row.count("|") == head.count("|") == 9
