"""Counting: the newest prompt, one question at a time, honest words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.library_protocol import TokenCount, TokenRequest
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST, PromptTokens


def count(tokens=5, limit=75, chunks=1, cut=0, weights=True, encoder="text_encoder"):
    return TokenCount(encoder=encoder, tokens=tokens, limit=limit, chunks=chunks, cut=cut, honours_weights=weights)


@pytest.fixture
def tokens(service, qapp):
    return PromptTokens(service)


def asked(service, qtbot, number=1):
    qtbot.waitUntil(lambda: len(service.asked) >= number)
    return service.asked[number - 1].params


def test_a_prompt_is_counted_once_when_typing_stops(tokens, service, qtbot):
    for length in range(1, 9):
        tokens.set("m", "a house"[:length])
    assert asked(service, qtbot) == TokenRequest(model="m", prompt="a house")
    assert len(service.asked) == 1
    with qtbot.waitSignal(tokens.changed):
        service.answer((count(2),))
    assert tokens.line() == "2 of 75 tokens"
    assert not tokens.is_over()


def test_answers_that_came_too_late_are_dropped_and_the_newest_is_asked(tokens, service, qtbot):
    tokens.set("m", "a")
    asked(service, qtbot)
    tokens.set("m", "ab")
    tokens.set("m", "abc")
    service.answer((count(1),))
    assert tokens.line() == ""
    assert asked(service, qtbot, 2).prompt == "abc"
    service.answer((count(3),))
    assert tokens.line() == "3 of 75 tokens"
    assert len(service.asked) == 2


@given(
    st.lists(st.tuples(st.sampled_from(["type", "timer", "answer", "fail"]), st.text("ab", max_size=3)), max_size=30)
)
def test_at_most_one_question_is_open_and_what_is_told_is_of_the_newest(qapp, events):
    from fake_service import FakeService

    service = FakeService()
    tokens = PromptTokens(service)
    typed = ""
    for event, text in [*events, ("timer", ""), ("answer", ""), ("timer", ""), ("answer", "")]:
        if event == "type":
            typed = text
            tokens.set("m", text)
        elif event == "timer":
            tokens._waiting.stop()
            tokens._ask()
        elif service.open():
            prompt = service.open()[0].params.prompt
            if event == "answer":
                service.answer((count(len(prompt)),))
            else:
                service.fail()
        assert len(service.open()) <= 1
    if service.asked:
        assert service.asked[-1].params.prompt == typed
        assert tokens.line() in (f"{len(typed)} of 75 tokens", "Tokens could not be counted")


@pytest.mark.parametrize(
    ("counts", "line", "over"),
    [
        ((count(77, chunks=2),), "77 of 75 tokens: read in 2 parts", False),
        ((count(310, limit=300, cut=10, weights=False),), "310 of 300 tokens: truncated after 300", True),
        ((count(4), count(4, encoder="text_encoder_2")), "4 of 75 tokens", False),
        (
            (count(4), count(5, encoder="text_encoder_2")),
            "text_encoder: 4 of 75 tokens; text_encoder_2: 5 of 75 tokens",
            False,
        ),
    ],
)
def test_the_words(tokens, service, qtbot, counts, line, over):
    tokens.set("m", "a")
    asked(service, qtbot)
    service.answer(counts)
    assert tokens.line() == line
    assert tokens.is_over() is over


@pytest.mark.parametrize(
    ("prompt", "weights", "hinted"),
    [("a (house:1.2)", False, True), ("a house", False, False), ("a (house:1.2)", True, False)],
)
def test_weights_that_nobody_reads_are_told(tokens, service, qtbot, prompt, weights, hinted):
    tokens.set("m", prompt)
    asked(service, qtbot)
    assert tokens.honours_weights() is None
    service.answer((count(weights=weights),))
    assert tokens.honours_weights() is weights
    assert bool(tokens.hint()) is hinted


def test_what_is_too_long_is_told_and_not_asked(tokens, service, qtbot):
    tokens.set("m", "x" * (1 << 20))
    with qtbot.waitSignal(tokens.changed):
        pass
    assert service.asked == []
    assert tokens.is_over()
    assert str(LONGEST) in tokens.line()


def test_another_model_has_other_counts(tokens, service, qtbot):
    tokens.set("m", "a")
    asked(service, qtbot)
    service.answer((count(1),))
    tokens.set("n", "a")
    assert (tokens.counts(), tokens.line()) == ((), "")
    assert asked(service, qtbot, 2).model == "n"


def test_without_a_model_nothing_is_asked(tokens, service, qtbot):
    tokens.set("", "a")
    with qtbot.waitSignal(tokens.changed):
        pass
    assert service.asked == []


def test_a_count_that_failed_says_so_and_the_next_is_asked(tokens, service, qtbot):
    tokens.set("m", "a")
    asked(service, qtbot)
    service.fail("gone", "the librarian ended")
    assert tokens.line() == "Tokens could not be counted"
    tokens.set("m", "ab")
    asked(service, qtbot, 2)
    service.answer((count(1),))
    assert tokens.line() == "1 of 75 tokens"


def test_what_could_not_be_counted_is_asked_again_when_somebody_counts_again(tokens, service, qtbot):
    tokens.set("m", "a house")
    asked(service, qtbot)
    tokens.ask_again()
    service.fail("gone")
    assert "could not be counted" in tokens.line()
    tokens.ask_again()
    assert asked(service, qtbot, 2) == TokenRequest(model="m", prompt="a house")
    service.answer((count(2),))
    assert tokens.line() == "2 of 75 tokens"
