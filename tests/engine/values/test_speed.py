"""Values of the options that trade fidelity for speed."""

import pytest

from mezzotint.values.basic import Value
from mezzotint.values.speed import AUTO_CACHE, CacheThreshold, DeepShrinkValue, TokenReductionValue

TOKENS, SHRINK, CACHE = TokenReductionValue(), DeepShrinkValue(), CacheThreshold()


@pytest.mark.parametrize(
    ("takes", "words", "value", "setting"),
    [
        (TOKENS, "todo", ("todo", 0.75), "todo:0.75"),
        (TOKENS, "merge", ("merge", 0.5), "merge:0.5"),
        (TOKENS, "todo:0", ("todo", 0.0), "todo:0"),
        (TOKENS, " merge : 0.3", ("merge", 0.3), "merge:0.3"),
        (SHRINK, "2", (2.0, 0.35), "2:0.35"),
        (SHRINK, "1.5:0.5", (1.5, 0.5), "1.5:0.5"),
        (SHRINK, "1:0", (1.0, 0.0), "1:0"),
        (CACHE, "auto", AUTO_CACHE, "auto"),
        (CACHE, "off", 0.0, "off"),
    ],
)
def test_read_written_and_read_again(takes: Value, words, value, setting):
    assert takes.parse(words) == value
    assert takes.to_setting(value) == setting and takes.to_arguments(value) == [setting]
    assert takes.read(setting) == value


def test_a_job_file_may_give_a_factor_as_a_number():
    assert SHRINK.read(2) == SHRINK.read(2.0) == (2.0, 0.35)


@pytest.mark.parametrize(
    "words", ["", "todo:", "todo:x", "todo:1", "todo:-0.1", "merge:nan", "tome", ":0.5", 0.5, None]
)
def test_other_reductions_are_refused_with_an_example(words):
    with pytest.raises(ValueError, match=r"expected todo or merge, .* such as todo:0\.75"):
        TOKENS.read(words)


@pytest.mark.parametrize("words", ["", "x", "0.5", "5", "nan", "2:", "2:1.5", "2:x", ":0.5", True, [2]])
def test_other_factors_are_refused_with_an_example(words):
    with pytest.raises(ValueError, match=r"expected a factor from 1 to 4, .* such as 2:0\.35"):
        SHRINK.read(words)


def test_a_step_cache_has_a_threshold_or_a_word():
    assert CACHE.parse("0.25") == CACHE.read(0.25) == 0.25 and CACHE.to_arguments(0.25) == ["0.25"]
    for wrong in ("1.5", "-0.5", "on", True, None, "nan"):
        with pytest.raises(ValueError, match=r"expected auto, off, or a number from 0 to 1, such as 0\.1"):
            CACHE.read(wrong)
