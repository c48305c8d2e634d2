"""Charts: every bar, its figure and its group are there, longest first to last in proportion."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image

from mezzotint.benchmarks.bar_chart import Bar, BarChart, draw
from mezzotint.errors import StorageError

CHART = BarChart(
    title="Speed <of & all>",
    unit="TFLOP/s",
    bars=(
        Bar(group="one", label="theirs", value=200.0, strong=False),
        Bar(group="one", label="ours", value=400.0, strong=True),
        Bar(group="two", label="ours", value=100.0, strong=True),
    ),
)


def svg(chart, folder):
    draw(chart, folder / "chart.svg")
    return ElementTree.fromstring((folder / "chart.svg").read_text("utf-8"))


def test_svg(tmp_path):
    root = svg(CHART, tmp_path)
    texts = [each.text for each in root if each.tag.endswith("text")]
    assert texts == ["Speed <of & all> (TFLOP/s)", "one", "theirs", "200", "ours", "400", "two", "ours", "100"]
    _, *bars = [each for each in root if each.tag.endswith("rect")]
    widths = [float(bar.get("width")) for bar in bars]
    assert widths == pytest.approx([widths[1] / 2, widths[1], widths[1] / 4])
    assert [bar.get("fill") == bars[1].get("fill") for bar in bars] == [False, True, True]
    bottom = max(float(bar.get("y")) + float(bar.get("height")) for bar in bars)
    assert bottom < float(root.get("height"))


def test_png_has_the_same_bars(tmp_path):
    draw(CHART, tmp_path / "chart.png")
    image = Image.open(tmp_path / "chart.png").convert("RGB")
    red, grey = (140, 59, 46), (185, 180, 171)
    columns = {}
    for color in (red, grey):
        mask = [x for x in range(image.width) for y in range(image.height) if image.getpixel((x, y)) == color]
        columns[color] = max(mask) - min(mask)
    assert columns[grey] == pytest.approx(columns[red] / 2, abs=2)


def test_a_chart_of_nothing_is_its_title(tmp_path):
    root = svg(BarChart(title="Nothing", unit="s", bars=()), tmp_path)
    assert re.match(r"[0-9]+$", root.get("height"))


def test_an_old_chart_is_replaced_and_a_lost_folder_is_told(tmp_path):
    (tmp_path / "chart.svg").write_text("old")
    svg(CHART, tmp_path)
    with pytest.raises(StorageError, match="nowhere"):
        draw(CHART, tmp_path / "nowhere" / "chart.png")
