"""The walk through the real program: its flows say only what it can do; it finds controls by their names."""

import inspect
import shlex

import pytest


def test_flows_have_only_known_commands_with_what_they_need(script):
    flows = list(script.FLOWS.glob("*.txt"))
    assert flows
    for flow in flows:
        lines = (shlex.split(line, comments=True) for line in flow.read_text("utf-8").splitlines())
        for name, *words in filter(None, lines):
            is_click = name in script.CLICKS
            known = script.place if is_click else script.COMMANDS[name]
            inspect.signature(known).bind(*(() if is_click else (None,)), *words)


def test_a_whole_name_comes_before_a_part_and_the_second_has_a_number(script, monkeypatch):
    boxes = [script.Box(x, 0, 10, 20) for x in range(3)]
    names = ["Generate next", "&Generate", "Generate"]
    monkeypatch.setattr(script, "controls", lambda text, role: iter(zip(names, boxes, strict=True)))
    assert [script.place("Generate").x, script.place("Generate#1").x] == [1, 2]
    with pytest.raises(script.Missing, match="no control is called 'Generate#2'"):
        script.place("Generate#2")
    assert boxes[2].at(0.5, 0.25) == (7, 5)
