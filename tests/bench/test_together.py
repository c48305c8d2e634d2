"""The figures of images made together: in turns, on fresh words, and honest about what falls short."""

import itertools

import pytest
from fake_engine import result_of

from mezzotint.protocol import EngineInfo, Failure, GeneratedImage, GenerateManyResult, ManyOutcome


class Quick:
    """An engine whose calls take seconds of a clock that only it moves."""

    def __init__(self, clock, apart=0):
        self.clock, self.apart, self.calls, self.prompts = clock, apart, [], []

    def info(self):
        return EngineInfo(schema_version=1, version="1", versions={}, devices=(), threads=2)

    def generate(self, request, on_event, cancelled):
        self.calls.append(1)
        self.clock.now += 1.0
        return self._made(request, 0)

    def generate_many(self, asked, on_event, cancelled):
        self.calls.append(len(asked.requests))
        self.clock.now += 0.5 * len(asked.requests)
        apart = self.apart if len(asked.requests) > 1 else 0
        outcomes = tuple(ManyOutcome(result=self._made(each, apart), failure=None) for each in asked.requests)
        return GenerateManyResult(schema_version=1, outcomes=outcomes)

    def _made(self, request, apart):
        from PIL import Image

        self.prompts.append(request.prompt)
        Image.new("RGB", (4, 4), (10 + apart, 0, 0)).save(request.output.path)
        image = GeneratedImage(
            path=request.output.path, width=4, height=4, seed=request.seed, index=0, sha256=str(apart)
        )
        return result_of(request, [image])


class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch, script):
    made = Clock()
    monkeypatch.setattr(script, "time", made)
    return made


def test_both_ways_in_turns_and_no_words_twice(script, clock, tmp_path, capsys):
    engine = Quick(clock)
    assert script.show_time(engine, "a", 3, 2, tmp_path)
    assert engine.calls == [3, 1, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1]  # the first pair is not counted
    assert len(set(engine.prompts)) == len(engine.prompts)
    assert "1000 ms an image one by one, 500 ms together: 2.00 times as fast" in capsys.readouterr().out


@pytest.mark.parametrize(("apart", "good"), [(2, True), (3, False)])
def test_how_far_apart_they_may_be(script, clock, tmp_path, capsys, apart, good):
    assert script.show_pixels(Quick(clock, apart), "a", "euler", 2, tmp_path) is good
    assert f"at most {apart} of 255 apart; one at a time is the same" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "good"), [("The sampler cannot run flow", True), ("no such model", False)])
def test_a_sampler_that_the_model_has_not_is_no_fault(script, clock, tmp_path, words, good):
    engine = Quick(clock)
    failed = ManyOutcome(result=None, failure=Failure(kind="usage", message=words))
    engine.generate_many = lambda *_: GenerateManyResult(schema_version=1, outcomes=(failed,))
    assert script.show_pixels(engine, "a", "euler_a", 2, tmp_path) is good


def test_words_go_on_for_ever(script):
    first = list(itertools.islice(script.words(), 2000))
    assert len(set(first)) > 500
