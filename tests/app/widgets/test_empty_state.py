"""What a page says where there is nothing yet."""

from mezzotint_app.widgets.empty_state import EmptyState


def test_words_are_whole_and_a_button_is_there_if_it_leads_somewhere(qtbot):
    state = EmptyState("gallery")
    qtbot.addWidget(state)
    state.resize(500, 500)
    state.show_words("Your images appear here", "Every image is kept. " * 8, "Create images")
    state.show()
    qtbot.waitExposed(state)
    words = state._words
    assert words.height() >= words.heightForWidth(words.width())
    assert state.button.isVisible()
    state.show_words("Nothing", "")
    assert not state.button.isVisible()
    assert not words.isVisible()
    assert state.title() == "Nothing"
