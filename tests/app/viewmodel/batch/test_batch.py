"""The page: filled in, looked at, begun; settings taken over, jobs opened and kept."""

from dataclasses import replace
from pathlib import Path

import pytest
from batch_window import Works, dry_totals, status
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.batch_protocol import BatchJob, BatchWritten
from mezzotint.protocol import GenerateRequest, ImageInput
from mezzotint_app.viewmodel.batch.batch import _as_name

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def works(tmp_path, inline):
    return Works(tmp_path, inline)


@pytest.fixture
def model(works):
    return works.model


def test_a_folder_takes_nothing_from_the_create_page_unasked(model, works):
    model.use_folder("/photos/Rome")
    form = model.form()
    assert (form.source, form.folder, form.prompts, form.settings) == ("folder", "/photos/Rome", "", {})
    assert model.output() == str(works.folder / "out" / "Rome") and model.title() == "Rome"
    assert model.words_of_settings() == "default model · denoising strength 0.6"
    model.take_settings()
    assert model.form().settings == {"model": "starter-dit", "size": "64x48"}
    assert model.form().prompts == "a red house"
    assert model.words_of_settings() == "starter-dit · 64x48 · denoising strength 0.6"
    model.use_folder(str(works.folder / "out" / "Oslo"))
    assert model.output() == str(works.folder / "out" / "Oslo, new")  # not among what it is made of
    model.change(prompts="at night", settings={"model": "other"})
    model.use_folder("/photos/Paris")
    assert model.form().prompts == "at night" and model.form().settings == {"model": "other"}


def test_settings_are_taken_over_again_and_what_is_lost_is_told(model, works):
    model.take_settings()
    works.create.wanted = GenerateRequest(prompt="x", images=(ImageInput(path="/a.png"),), seed=7)
    model.take_settings()
    assert model.form().settings == {"seed": 7} and model.form().prompts == "a red house"


def test_looking_and_beginning_wait_for_what_is_missing(model, works):
    assert not model.start_dry_run() and not model.begin()
    assert model.problems() == {"folder": "Choose an image folder."}
    assert works.noticed == []  # the form says it, and says it no more once it is mended
    assert works.librarian.asked == []


def test_looked_at_first_then_begun(model, works):
    begun = []
    model.begun.connect(begun.append)
    model.use_folder("/photos/Rome")
    model.change(prompts="at night")
    assert model.start_dry_run()
    assert works.librarian.last("batch_look").params.job == model.job()
    works.librarian.answer(dry_totals(), method="batch_look")
    assert model.begin()
    asked = works.librarian.last("batch_write").params
    assert asked.job == model.job() and asked.job["output"]["folder"] == str(works.folder / "out" / "Rome")
    works.librarian.answer(BatchWritten(path=asked.path), method="batch_write")
    assert begun == [works.batches.all()[0].known.id]


def test_new_images_are_waited_for_and_all_cards_used_where_that_was_said(model, works):
    model.cards = lambda: 2
    model.use_folder("/photos/Rome")
    model.change(prompts="at night")
    model.change(watch=True, all_cards=True)
    model.begin()
    asked = works.librarian.last("batch_write").params
    works.librarian.answer(BatchWritten(path=asked.path), method="batch_write")
    works.lender.let()
    assert works.processes[0].words[5:] == ("--watch", "--devices", "0,1")


def test_a_change_makes_an_earlier_look_untrue(model, works):
    model.use_folder("/photos/Rome")
    model.change(prompts="at night")
    model.start_dry_run()
    model.change(recursive=False)
    assert model.dry_run.state() == "looking"
    model.change(recursive=True)
    assert model.dry_run.state() == "nothing" and works.librarian.cancelled


def test_a_job_is_opened_and_kept(model, works):
    model.open_job("/jobs/night.toml")
    job = {"version": 1, "title": "Night", "input": {"folder": "photos"}, "prompts": {"list": ["a", "b"]}}
    works.librarian.answer(BatchJob(job=job, base="/jobs"), method="batch_read")
    assert model.form().folder == str(Path("/jobs/photos")) and model.form().prompts == "a\nb"
    assert model.output() == str(Path("/jobs/out")) and model.title() == "Night"
    model.save_job("/jobs/later")
    asked = works.librarian.last("batch_write").params
    assert (asked.path, asked.job, asked.overwrite) == ("/jobs/later.toml", model.job(), True)
    works.librarian.answer(BatchWritten(path="/jobs/later.toml"), method="batch_write")
    assert works.noticed == ["Job file saved: /jobs/later.toml"]
    model.open_job("/jobs/bad.toml")
    works.librarian.fail("usage", "bad.toml, line 3: settings.steps: 'x' is invalid", method="batch_read")
    assert "line 3" in works.noticed[-1] and model.form().prompts == "a\nb"


def test_one_request_of_the_create_page_becomes_a_job(model, works):
    model.save_request(replace(works.create.wanted, seed=3), "/jobs/one.toml")
    asked = works.librarian.last("batch_write").params
    assert asked.job["prompts"] == {"list": ["a red house"]} and asked.job["settings"]["seed"] == 3


@pytest.mark.parametrize(
    ("path", "field", "source"),
    [
        ("/w/words.TXT", "prompts_file", "words"),
        ("/w/table.csv", "table", "words"),
        ("/w/photos", "folder", "folder"),
    ],
)
def test_what_is_dropped_goes_where_it_belongs(model, works, path, field, source):
    model.use_paths([path, "/another"])
    assert getattr(model.form(), field) == path and model.form().source == source
    model.use_paths(["/w/job.toml"])
    assert works.librarian.last("batch_read").params == {"path": "/w/job.toml"}


def test_folders_of_the_gallery(model, works):
    assert model.is_in_gallery(str(works.folder / "out" / "Rome")) and not model.is_in_gallery("/photos")
    model.show_in_gallery("/photos")
    model.show_in_gallery("/photos/Rome")
    assert works.settings.value().gallery_folders == ("/photos",)


def test_titles(model):
    model.change(source="words", prompts="a red house\na boat\n\n")
    assert model.title() == "a red house +1"
    model.change(prompts="", table="/w/scenes.csv")
    assert model.title() == "scenes"
    model.change(title="Mine")
    assert model.title() == "Mine"


@given(st.text(max_size=200))
def test_names_of_folders_are_names(text):
    name = _as_name(text)
    assert name and len(name) <= 48 and not set(name) & set('/\\:*?"<>|.\n') and name == name.strip()


def test_the_end_of_a_batch_is_told_unless_a_person_stopped_it(model, works):
    over = []
    model.finished.connect(lambda title, words: over.append((title, words)))
    identity, run = works.run()
    works.batches.stop(identity)
    run.end(130)
    works.librarian.answer(status(done=1, total=4), method="batch_status")
    assert over == []
    works.batches.resume(identity)
    works.lender.let()
    works.processes[-1].end()
    works.librarian.answer(status(done=4, total=4, is_ended=True), method="batch_status")
    assert over == [("Holiday", "4 of 4 generated. All done.")]
    works.batches.resume(identity)
    works.lender.let()
    works.processes[-1].end(11, "crashed")
    assert len(over) == 2 and "crashed" in over[1][1]


def test_a_grid_has_a_folder_of_its_own(model, works):
    begun = []
    model.begun.connect(begun.append)
    model.begin_grid({"version": 1, "prompts": {"list": ["a"]}, "matrix": {"steps": [1, 2]}}, "a: steps?")
    written = works.librarian.last("batch_write").params.job
    folder = Path(written["output"]["folder"])
    assert written["output"] == {"folder": str(folder), "grid": True}
    assert folder.parent == works.folder / "out" and folder.name.startswith("a steps 2")
    works.librarian.answer(BatchWritten(path="/jobs/a.toml"), "batch_write")
    assert begun == [works.batches.all()[0].known.id]
