"""Walking through earlier prompts loses nothing that was written."""

from hypothesis import given
from hypothesis import strategies as st

from mezzotint_app.viewmodel.create.prompting.history import MAX_CHARACTERS, MAX_PROMPTS, PromptHistory, bounded

PROMPTS = st.lists(st.text("ab ", max_size=4), max_size=12)


def test_up_and_down_through_the_list_and_back_to_the_draft():
    history = PromptHistory(("newest", "older"))
    assert history.older("draft") == "newest"
    assert history.older("newest") == "older"
    assert history.older("older") is None
    assert history.newer("older") == "newest"
    assert history.newer("newest") == "draft"
    assert history.newer("draft") is None


def test_what_is_changed_on_the_way_becomes_the_draft():
    history = PromptHistory(("newest", "older"))
    assert history.older("draft") == "newest"
    assert history.newer("newest and more") is None
    assert history.older("newest and more") == "newest"
    assert history.newer("newest") == "newest and more"


def test_the_prompt_that_was_just_used_is_not_shown_as_the_one_before():
    history = PromptHistory(("a house", "a boat"))
    assert history.older("a house") == "a boat"
    assert history.newer("a boat") == "a house"


def test_a_prompt_used_again_moves_to_the_front():
    history = PromptHistory(("b", "a"))
    assert history.remember("a")
    assert history.prompts() == ("a", "b")
    assert not history.remember("a")
    assert not history.remember("  \n")
    history.forget()
    assert history.prompts() == ()


@given(PROMPTS)
def test_the_list_holds_each_prompt_once_the_newest_first(prompts):
    history = PromptHistory()
    for prompt in prompts:
        history.remember(prompt)
    real = [prompt for prompt in prompts if prompt.strip()]
    assert list(history.prompts()) == list(dict.fromkeys(reversed(real)))


@given(PROMPTS, st.lists(st.booleans(), max_size=20))
def test_however_one_walks_the_way_down_ends_at_the_draft(prompts, ways):
    history = PromptHistory(bounded(prompts))
    shown = "the draft"
    for up in ways:
        found = history.older(shown) if up else history.newer(shown)
        shown = shown if found is None else found
    for _ in range(len(prompts) + 1):
        found = history.newer(shown)
        shown = shown if found is None else found
    assert shown == "the draft"


@given(st.lists(st.integers(0, MAX_CHARACTERS), max_size=8))
def test_it_grows_no_larger_than_it_may(lengths):
    kept = bounded([chr(97 + index) * length for index, length in enumerate(lengths)])
    assert sum(map(len, kept)) <= MAX_CHARACTERS


def test_the_oldest_leave_first():
    history = PromptHistory()
    for number in range(MAX_PROMPTS + 5):
        history.remember(str(number))
    assert len(history.prompts()) == MAX_PROMPTS
    assert history.prompts()[0] == str(MAX_PROMPTS + 4)
