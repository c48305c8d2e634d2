"""What docs/python.md shows works as it stands there."""

import re
from pathlib import Path

import pytest
from PIL import Image

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(example):
        exec(compile(example, str(PAGE), "exec"), {"__name__": "__main__"})
        return capsys.readouterr().out

    return run


def test_an_image(said):
    assert "house.png 7 " in said(EXAMPLES[0])
    with Image.open("house.png") as image:
        assert image.size == (128, 128)


@pytest.mark.slow
def test_a_refiner_and_a_second_pass(said):
    assert said(EXAMPLES[1]) == "256 256\n"


def test_cancelling_and_errors(said):
    cancelled, refused = said(EXAMPLES[2]).splitlines()
    assert cancelled == "stopped after 3 steps" and "no-such" in refused


def test_all_examples_are_run():
    assert len(EXAMPLES) == 3
