"""The running training: waits for its turn, tells how far it is, pauses, and ends."""

from train_made import request, run_info

from mezzotint.training_protocol import EpochSaved, Preparing, TrainingJob, TrainingNotice, TrainingStep

FOLDER = "/loras/castle.training"


def step(number, seconds=2.0):
    return TrainingStep(step=number, steps=40, loss=0.5, rate=1e-3, seconds=seconds)


def begun(works):
    works.live.begin(request(), FOLDER)
    works.lender.let()
    return works.live


def ends(live):
    found = []
    live.ended.connect(lambda folder, failure: found.append((folder, failure and failure.kind)))
    return found


def test_it_waits_for_the_queue(works):
    live = works.live
    live.begin(request(), FOLDER)
    assert (live.folder(), live.state().stage, works.engine.asked) == (FOLDER, "waiting", [])
    assert live.waiting_words()
    works.lender.let()
    assert works.engine.last().params == TrainingJob(request=request()) and live.state().stage == "preparing"


def test_events_tell_how_far_it_is(works):
    live, saved = begun(works), []
    live.saved.connect(saved.append)
    works.engine.event(Preparing(phase="images", done=1, total=9))
    assert live.state().preparing.done == 1 and live.seconds_left() is None
    works.engine.event(step(1))
    works.engine.event(step(2, seconds=4.0))
    state = live.state()
    assert (state.stage, state.step, state.steps, state.seconds) == ("training", 2, 40, 3.0)
    assert live.seconds_left() == 38 * 3.0 and [one.step for one in live.losses()] == [1, 2]
    works.engine.event(EpochSaved(epoch=1, step=2, path="/a", validation=None, samples=()))
    assert saved == [FOLDER, FOLDER]  # the base model's samples, and the epoch


def test_a_shortage_is_told_and_the_curve_goes_on_from_the_state(works):
    live, told = begun(works), []
    works.model.noticed.connect(told.append)
    for number in (1, 2, 3):
        works.engine.event(step(number))
    works.engine.event(TrainingNotice(code="memory_short", message="the training ran out of memory"))
    works.engine.event(TrainingNotice(code="attention", message="torch's attention is used"))
    works.engine.event(step(2))
    assert told == ["the training ran out of memory"] and [one.step for one in live.losses()] == [1, 2]


def test_a_pause_is_asked_for_and_waited_for(works):
    live = begun(works)
    found = ends(live)
    live.pause()
    works.engine.event(step(3))
    assert live.state().stage == "pausing" and works.engine.cancelled == [1]
    works.engine.fail("cancelled")
    assert found == [(FOLDER, "cancelled")] and live.folder() == "" and works.lender.taken_back == 1


def test_one_that_waits_is_taken_back_at_once(works):
    found = ends(works.live)
    works.live.begin(request(), FOLDER)
    works.live.pause()
    works.live.pause()
    assert found == [(FOLDER, "cancelled")] and works.engine.asked == [] and works.lender.taken_back == 1


def test_it_goes_on_with_the_curve_so_far(works):
    works.live.resume(run_info(), accept_changes=True)
    works.lender.let()
    assert works.engine.last().params == TrainingJob(resume=FOLDER, accept_changes=True)
    assert len(works.live.losses()) == 20 and (works.live.state().step, works.live.state().steps) == (20, 40)


def test_a_second_one_does_not_begin(works):
    begun(works)
    works.live.begin(request("other"), "/loras/other.training")
    assert works.live.folder() == FOLDER


def test_the_window_closes_after_the_pause(works):
    left = []
    live = begun(works)
    live.shut_down(lambda: left.append(1))
    assert left == []
    works.engine.fail("cancelled")
    live.begin(request(), FOLDER)
    assert left == [1] and live.folder() == ""


def test_without_a_training_the_window_closes_at_once(works):
    left = []
    works.live.shut_down(lambda: left.append(1))
    assert left == [1]


def test_what_it_waits_for_is_told_anew(works):
    changes = []
    works.live.changed.connect(lambda: changes.append(True))
    works.lender.changed.emit()
    assert changes == []
    works.live.begin(request(), FOLDER)
    before = len(changes)
    works.lender.changed.emit()
    assert len(changes) == before + 1
