"""Runs from disk with the running one among them; started, paused, resumed, stopped for good."""

from train_made import USUAL, request, run_info

from mezzotint.training_protocol import TrainingJob, TrainingStep

FOLDER = "/loras/castle.training"


def test_they_are_read_from_the_usual_folder_and_the_others(works):
    works.state.change(folders=("/else/tower.training",))
    works.runs.refresh()
    works.runs.refresh()
    assert works.librarian.last("training_runs").params.folders == (USUAL, "/else/tower.training")
    works.list(run_info(), run_info("tower"))
    assert [one.request.name for one in works.runs.all()] == ["castle", "tower"]
    assert works.runs.get(FOLDER) == run_info() and works.runs.get("/nothing") is None
    assert len(works.librarian.open("training_runs")) == 1  # the second question, after the first


def test_one_that_has_just_begun_is_listed_before_it_is_on_disk(works):
    chosen = []
    works.runs.chosen.connect(chosen.append)
    works.runs.begin(request("new"))
    assert [one.request.name for one in works.runs.all()] == ["new"] and chosen == ["/loras/new.training"]
    assert works.runs.is_running("/loras/new.training") and works.state.value().folders == ()
    works.list(run_info("new"))
    assert works.runs.all() == (run_info("new"),)
    works.runs.begin(request("second"))
    assert not works.runs.is_running("/loras/second.training")


def test_a_folder_elsewhere_is_remembered(works):
    works.runs.begin(request("new", output="/else"))
    assert works.state.value().folders == ("/else/new.training",)


def test_losses_are_those_of_the_running_one_or_those_on_disk(works):
    works.list(run_info())
    assert len(works.runs.losses(FOLDER)) == 20 and works.runs.losses("/nothing") == ()
    works.runs.resume(FOLDER)
    works.lender.let()
    works.engine.event(TrainingStep(step=21, steps=40, loss=0.5, rate=1e-3, seconds=1))
    assert len(works.runs.losses(FOLDER)) == 21


def test_a_stopped_one_is_remembered_until_it_is_resumed(works):
    works.list(run_info())
    works.runs.stop()
    assert not works.runs.is_stopped(FOLDER)
    works.runs.resume(FOLDER)
    works.lender.let()
    works.runs.stop()
    works.engine.fail("cancelled")
    assert works.runs.is_stopped(FOLDER) and works.runs.failure(FOLDER) is None
    works.list(run_info())
    works.runs.resume(FOLDER)
    assert not works.runs.is_stopped(FOLDER)
    assert works.engine.methods() == ["train"]


def test_a_failure_is_kept_and_told(works):
    told = []
    works.runs.ended.connect(lambda folder, failure: told.append((folder, failure and failure.kind)))
    works.list(run_info())
    works.runs.resume(FOLDER, accept_changes=True)
    works.lender.let()
    assert works.engine.last().params == TrainingJob(resume=FOLDER, accept_changes=True)
    works.engine.fail("out_of_memory", "11 GB are missing")
    assert works.runs.failure(FOLDER).message == "11 GB are missing" and told == [(FOLDER, "out_of_memory")]
    works.list(run_info())
    works.runs.resume(FOLDER)
    assert works.runs.failure(FOLDER) is None


def test_the_time_of_a_step_is_that_of_the_last_run_with_this_model(works):
    works.list(run_info())
    assert works.runs.seconds_per_step("base", 8, None) == 1.0  # twice the batch
    assert works.runs.seconds_per_step("base", 4, 512) is None and works.runs.seconds_per_step("xl", 4, None) is None


def test_a_list_that_cannot_be_read_says_why(works):
    works.runs.refresh()
    works.librarian.fail("storage", "the disk is gone", "training_runs")
    assert works.runs.problem() == "the disk is gone"
