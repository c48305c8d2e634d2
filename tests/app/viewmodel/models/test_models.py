"""Models are listed, looked at, got, made smaller and checked; everything is asked of the processes."""

from dataclasses import replace

import pytest
from fake_engine import model_info
from fake_service import FakeService

from mezzotint.library_protocol import GetRequest, ModelPlace, QuantizeRequest, Verified
from mezzotint.protocol import ModelRef, Notice, PlanRequest, Progress
from mezzotint_app.processes.service import Failure
from mezzotint_app.settings import Settings
from mezzotint_app.viewmodel.models.models import ModelLibrary

PLACE = ModelPlace(path="/data/models", source="folder", own=True)
SDXL = model_info(id="sdxl", family="sdxl", variant="base")


@pytest.fixture
def engine():
    return FakeService()


@pytest.fixture
def library(qapp, service, engine):
    made = ModelLibrary(service, engine)
    made.refresh()
    service.answer((SDXL,), "models")
    service.answer((PLACE,), "places")
    service.answer(("a folder is gone",), "notices")
    return made


def test_what_is_found_is_listed(library):
    assert library.models == (SDXL,)
    assert library.places == (PLACE,)
    assert library.notices == ("a folder is gone",)
    assert library.model("sdxl") is SDXL
    assert library.model("other") is None


def test_looking_again_while_looking_looks_once_more(qtbot, library, service):
    for _ in range(5):
        library.refresh()
    assert service.methods().count("models") == 2
    service.answer((), "models")
    assert service.methods().count("models") == 3
    with qtbot.waitSignal(library.changed):
        service.answer((SDXL,), "models")
    assert not library.loading


def test_a_librarian_that_cannot_list_is_told_and_asked_again(qtbot, library, service):
    library.refresh()
    with qtbot.waitSignal(library.message) as told:
        service.fail(message="the settings cannot be read", method="models")
    assert told.args == ["the settings cannot be read"]
    assert library.models == (SDXL,)
    library.refresh()
    assert service.open("models")


def test_details_and_needs_are_asked_once(qtbot, library, service, engine):
    for _ in range(3):
        assert library.details("sdxl") is None
        assert library.memory_plan("sdxl") is None
    assert service.last("inspect").params == ModelRef(id="sdxl")
    assert service.methods().count("inspect") == 1
    assert [one.params for one in engine.asked] == [PlanRequest(models=("sdxl",))]
    whole = replace(SDXL, scheme="int8")
    with qtbot.waitSignal(library.details_changed) as changed:
        service.answer(whole, "inspect")
    assert changed.args == ["sdxl"]
    assert library.details("sdxl") is whole
    with qtbot.waitSignal(library.memory_plan_changed):
        engine.fail(kind="not_running", message="the engine does not run", method="plan")
    assert library.memory_plan("sdxl").message == "the engine does not run"


@pytest.mark.parametrize(("act", "method"), [("add_folder", "add_place"), ("remove_folder", "remove_place")])
def test_folders_come_and_go(library, service, act, method):
    getattr(library, act)("/data/more")
    assert service.last(method).params == {"path": "/data/more"}
    service.answer((), method)
    assert library.places == ()
    assert service.open("models")


@pytest.mark.parametrize(("act", "method"), [("forget", "forget_model"), ("remember", "remember_model")])
def test_models_leave_the_list_and_come_back(library, service, act, method):
    getattr(library, act)("sdxl")
    assert service.last(method).params == {"id": "sdxl"}
    service.answer(None, method)
    assert service.open("models")


def test_a_download_advances_and_ends_in_the_list(qtbot, library, service):
    call = library.get(GetRequest(source="owner/name"))
    assert library.job(call).state == "running"
    progress = Progress(what="a file", done=1, total=2, unit="bytes")
    with qtbot.waitSignal(library.job_changed):
        service.event(progress, "get")
    service.event(Notice(code="x", message="y"), "get")
    assert library.job(call).progress == progress
    with qtbot.waitSignal(library.added) as added:
        service.answer(model_info(id="owner/name"), "get")
    assert added.args == ["owner/name"]
    assert library.job(call).state == "done"
    assert service.open("models")


@pytest.mark.parametrize(("kind", "state"), [("cancelled", "cancelled"), ("storage", "failed")])
def test_a_job_that_ends_early_says_why(library, service, kind, state):
    request = QuantizeRequest(model="sdxl", scheme="int8")
    call = library.quantize(request)
    assert service.last("quantize").params == request
    library.cancel(call)
    assert service.cancelled == [call]
    service.fail(kind=kind, message="because", method="quantize")
    assert (library.job(call).state, library.job(call).outcome) == (state, "because")
    assert service.methods().count("models") == 1


@pytest.mark.parametrize(
    ("ok", "against", "words"),
    [
        (True, "checksums", "match their checksums"),
        (True, "structure", "no checksums"),
        (False, "checksums", "wrong sum"),
    ],
)
def test_a_check_tells_its_verdict(library, service, ok, against, words):
    call = library.verify("sdxl")
    problems = () if ok else ("unet: wrong sum",)
    service.answer(
        Verified(model="sdxl", ok=ok, files=("a", "b"), problems=problems, checked_against=against), "verify"
    )
    assert library.job(call).state == ("done" if ok else "failed")
    assert words in library.job(call).outcome


def test_a_job_that_has_ended_is_taken_away_and_one_that_runs_is_not(library, service):
    done, running = library.verify("sdxl"), library.verify("sdxl")
    service.fail(method="verify", call=done)
    for call in (done, running):
        library.dismiss(call)
    assert [job.call for job in library.jobs()] == [running]


@pytest.mark.parametrize("kind", ["cancelled", "storage"])
def test_what_did_not_come_to_its_end_is_begun_anew_with_the_same_words(library, service, kind):
    request = GetRequest(source="owner/name", token="hf_x", endpoint="http://mirror")
    call = library.get(request)
    assert library.retry(call) is None  # it runs
    service.fail(kind, "no", method="get")
    again = library.retry(call)
    assert service.last("get").params == request
    assert [job.call for job in library.jobs()] == [again]
    assert library.job(again).kind == "get"


def test_models_off_the_list_are_known_and_listed_again(qtbot, library, service):
    with qtbot.waitSignal(library.message) as told:
        library.forget("sdxl")
        service.answer(None, "forget_model")
    assert "sdxl" in told.args[0] and "Folders" in told.args[0]
    service.answer((), "models")
    with qtbot.waitSignal(library.hidden_changed):
        service.answer((replace(SDXL, hidden=True),), "hidden_models")
    assert [model.id for model in library.hidden] == ["sdxl"]
    library.remember("sdxl")
    assert service.last("remember_model").params == {"id": "sdxl"}
    service.answer(None, "remember_model")
    assert service.open("models") and service.open("hidden_models")


def test_what_a_model_needs_follows_the_settings(qtbot, service, engine):
    now = [Settings()]
    library = ModelLibrary(service, engine, settings=lambda: now[0])
    library.memory_plan("sdxl")
    assert engine.last("plan").params == PlanRequest(models=("sdxl",))
    now[0] = Settings(memory="lowest", vram_limit_bytes=4 << 30, theme="dark")
    library.invalidate_plans()
    with qtbot.waitSignal(library.memory_plans_discarded):
        engine.fail(method="plan")  # the answer to what is no longer asked
    assert library.memory_plan("sdxl") is None
    assert engine.last("plan").params == PlanRequest(models=("sdxl",), memory="lowest", vram_bytes=4 << 30)


def test_what_could_not_be_told_is_asked_again_when_the_engine_is_there(qtbot, library, engine):
    library.memory_plan("sdxl")
    engine.fail("gone", "the engine ended", method="plan")
    assert isinstance(library.memory_plan("sdxl"), Failure)
    with qtbot.waitSignal(library.memory_plans_discarded):
        library.invalidate_plans()
    assert library.memory_plan("sdxl") is None and engine.open("plan")
    with qtbot.assertNotEmitted(library.memory_plans_discarded):
        library.invalidate_plans()


def test_what_a_new_place_has_brought_is_told_once_it_is_listed(library, service):
    told = []
    library.found.connect(told.append)
    library.refresh()  # is under way when the place comes, and may know nothing of it
    library.add_folder("/new")
    service.answer((PLACE,), "add_place")
    service.answer((SDXL,), "models")
    assert told == []
    service.answer((SDXL, replace(SDXL, id="new")), "models")
    assert told == [(replace(SDXL, id="new"),)]
    library.refresh()
    service.answer((SDXL,), "models")
    assert len(told) == 1


def test_a_place_with_nothing_new_is_told_too_and_one_that_is_refused_is_not(library, service):
    told = []
    library.found.connect(told.append)
    library.add_folder("/gone")
    service.fail(method="add_place")
    library.add_folder("/old")
    service.answer((PLACE,), "add_place")
    service.answer((SDXL,), "models")
    assert told == [()]
