"""More weights than memory: streamed they give the same numbers under a limit that loading them whole does not bear."""

import re
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit a process's private memory")
def test_300_mib_of_weights_in_200_mib(script, monkeypatch, capsys):
    words = "--weights 300 --limit 200 --above-imports --width 576 --steps 2"
    monkeypatch.setattr(sys, "argv", ["stream_from_disk.py", *words.split()])
    assert script.main() == 0
    told = capsys.readouterr().out
    weights = int(re.search(r"(\d+) MiB of weights", told)[1])
    peak, imports = re.search(r"^streamed: peak RSS (\d+) MiB, of which imports (\d+)", told, re.MULTILINE).groups()
    assert weights > 280 and int(peak) - int(imports) < 150
    assert "loaded whole: out of memory" in told and "the same numbers" in told
