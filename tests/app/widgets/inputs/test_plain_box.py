"""Foreign text to read."""

from mezzotint_app.widgets.inputs.plain_box import PlainBox


def test_text_is_shown_as_it_is_and_not_edited(qtbot):
    box = PlainBox("Prompt")
    qtbot.addWidget(box)
    box.show_text("<b>not bold</b>\n&amp;")
    assert box.toPlainText() == "<b>not bold</b>\n&amp;"
    assert box.isReadOnly()
    assert box.accessibleName() == "Prompt"


def test_a_megabyte_is_cut_and_says_so(qtbot):
    box = PlainBox("Prompt")
    qtbot.addWidget(box)
    box.show_text("x" * 1_000_000)
    assert len(box.toPlainText()) < 30_000
    assert box.toPlainText().endswith("…")


def test_it_is_as_high_as_it_needs_within_bounds(qtbot):
    box = PlainBox("Prompt")
    qtbot.addWidget(box)
    box.resize(300, 100)
    box.show()
    heights = []
    for lines in (1, 4, 8, 50, 500):
        box.show_text("\n".join("a hare" for _ in range(lines)))
        heights.append(box.height())
    assert heights == sorted(heights)
    assert heights[1] > heights[0]
    assert heights[-1] == heights[-2] < 300
