"""A locked seed and nothing else changed: the same image once more."""

from dataclasses import fields, replace

import pytest
from create_page import FakeRunner, Kit, generated, kit_of

from mezzotint.protocol import GenerateRequest, Output
from mezzotint_app.processes.service import Failure
from mezzotint_app.stored import read
from mezzotint_app.viewmodel.create.seed_choice import MAX_REQUESTS, RequestHistory
from mezzotint_app.viewmodel.create.state import CreateState

REQUEST = GenerateRequest(prompt="a boat", seed=7)


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def repeats(qapp):
    return RequestHistory(FakeRunner())


def test_what_changes_no_pixel_does_not_count(repeats):
    repeats.remember(REQUEST)
    assert repeats.contains(replace(REQUEST, count=4, previews=True, output=Output(path="/elsewhere")))
    assert not repeats.contains(replace(REQUEST, seed=8))
    assert not repeats.contains(replace(REQUEST, prompt="a ship"))


def test_without_a_seed_nothing_repeats(repeats):
    repeats.remember(replace(REQUEST, seed=None))
    assert not repeats.contains(replace(REQUEST, seed=None))


def test_not_more_than_anybody_remembers_is_kept(repeats):
    for seed in range(MAX_REQUESTS + 1):
        repeats.remember(replace(REQUEST, seed=seed))
    assert not repeats.contains(replace(REQUEST, seed=0))
    assert repeats.contains(replace(REQUEST, seed=MAX_REQUESTS))


def test_the_page_knows_what_it_has_asked_for(kit):
    kit.write()
    kit.create.seed.set(7)
    assert not kit.create.would_repeat()
    assert kit.create.generate()
    assert kit.create.would_repeat()
    kit.create.chosen.change(steps=9)
    assert not kit.create.would_repeat()
    kit.create.chosen.reset(["steps"])
    assert kit.create.would_repeat()
    kit.create.seed.fix(False)
    assert not kit.create.would_repeat()


def test_the_seed_of_the_last_image_locked_afterwards_repeats_it_also_after_a_restart(kit):
    kit.write()
    kit.create.generate()
    kit.runner.begin(kit.tasks(kit.entries[-1])[0])
    kit.runner.saved.emit(kit.runner.task(), generated("/a.png", seed=99))
    kit.runner.end()
    kit.create.seed.reuse()
    assert kit.create.would_repeat()
    kit.state.save()
    state, _ = read(CreateState, kit.folder / "create.json")
    later = Kit(kit.folder)
    later.state.change(**{one.name: getattr(state, one.name) for one in fields(state)})
    assert not later.create.would_repeat()
    later.create.restore()
    assert later.create.would_repeat()
    later.close()


def test_what_came_to_nothing_is_asked_for_again_without_a_word(kit):
    kit.write()
    kit.create.seed.set(7)
    kit.create.generate()
    kit.runner.begin(kit.tasks(kit.entries[-1])[0])
    told = []
    kit.create.changed.connect(lambda: told.append(kit.create.would_repeat()))
    kit.runner.end(failure=Failure(kind="cancelled", message="cancelled"))
    assert told[-1] is False
