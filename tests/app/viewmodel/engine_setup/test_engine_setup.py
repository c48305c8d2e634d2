"""Which build, where to, and one command at a time."""

import pytest
from fake_setup import GB, INSTALLED, LOOK, ROOT, made_setup

from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.window_state import WindowState

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def first(qapp, tmp_path, inline):
    """A window without an engine."""
    return made_setup(tmp_path, inline)


@pytest.fixture
def used(qapp, tmp_path, inline):
    """A window with an engine."""
    return made_setup(tmp_path, inline, first=False, look=INSTALLED)


def test_installed_in_another_way_there_is_nothing(first):
    model = EngineSetup(None, first.runs, first.settings, first.kept)
    model.begin()
    model.install()
    model.repair()
    assert not model.is_available() and not model.lacks_engine()
    assert len(first.runs.runs) == 1 and model.notice() == "" and model.restart_line() == ()


def test_the_advised_build_is_chosen_until_another_is(first):
    model = first.model
    assert list(model.builds()) == ["cu130", "cpu"] and model.build() == "cu130"
    model.choose("cpu")
    assert model.build() == "cpu" and model.needs().download == GB
    model.install()
    assert first.runs.words() == ["install --backend cpu"]


def test_no_room_is_known_before(first):
    first.model.machine.ask()
    first.runs.look(free=9 * GB)
    assert not first.model.has_room()
    first.model.choose("cpu")
    assert first.model.has_room()


def test_another_folder_is_looked_at_used_and_remembered(first):
    first.model.set_root("/mnt/fast")
    assert first.runs.open("look").root == "/mnt/fast/Mezzotint"
    first.runs.look(free=1)
    first.model.install()
    assert first.runs.open("install").root == "/mnt/fast/Mezzotint"
    assert first.runs.words() == ["install --backend cu130 --remember"]
    first.runs.done("install", "1.0-cu130")
    assert first.model.restart_line()[3:6] == ("start", "--root", "/mnt/fast/Mezzotint")


@pytest.mark.parametrize("same", ["", ROOT, "  "])
def test_the_usual_folder_needs_no_remembering(first, same):
    first.model.set_root(same)
    first.model.install()
    assert first.runs.words() == ["install --backend cu130"] and first.runs.open("install").root == ROOT


def test_progress_in_bytes_and_time(first):
    first.model.install()
    run = first.runs.open("install")
    run.say("phase", name="download")
    run.say("progress", done=GB, total=4 * GB, seconds_left=60)
    assert first.model.command.percent() == 25
    assert first.model.notice() == "Engine: Downloading: 1.0 GB of 4.0 GB, about 60 s left"
    run.say("phase", name="build")
    assert first.model.command.percent() is None
    assert "beside the version in use" in first.model.notice()


def test_paused_it_goes_on_also_in_the_next_session(first, tmp_path, inline):
    first.model.choose("cpu")
    first.model.install()
    run = first.runs.open("install")
    first.model.command.pause()
    first.model.command.pause()
    assert run.asked_to_pause and first.model.command.text() == "Pausing…" and not first.model.command.can_pause()
    run.say("paused")
    run.end(3)
    assert first.model.is_begun() and first.model.trouble() is None
    later = made_setup(tmp_path, inline, state=first.kept.value())
    assert later.model.is_begun() and later.model.build() == "cpu"
    later.model.retry()
    assert later.runs.words() == ["install --backend cpu"]


def test_paused_offline_it_goes_on_offline(first):
    first.model.install("/usb")
    run = first.runs.open("install")
    run.say("phase", name="download")
    run.say("progress", done=1, total=2, seconds_left=None)
    assert first.model.command.text().startswith("Comparing packages")
    run.say("paused")
    run.end(3)
    first.model.install_or_resume()
    assert first.runs.words()[-1].endswith("--wheels /usb")


def test_a_folder_that_was_chosen_is_used_again(qapp, tmp_path, inline):
    made = made_setup(tmp_path, inline, state=WindowState(engine_build="gone", engine_folder="/mnt/Mezzotint"))
    assert made.runs.runs[0].root == "/mnt/Mezzotint"
    assert made.model.build() == "cu130"  # the build is not in this release


def test_once_it_is_done_a_new_window_is_asked_for(qtbot, first):
    model = first.model
    model.restart()  # nothing is ready
    model.install("/usb/wheels")
    assert first.runs.words() == ["install --backend cu130 --wheels /usb/wheels"]
    run = first.runs.open("install")
    run.say("done", version="1.0-cu130", notes=["torch finds no card"])
    run.end()
    assert model.ready_version() == "1.0-cu130" and model.command.notes == ("torch finds no card",)
    assert not model.can_install() and not model.is_begun()
    assert "1.0-cu130 is installed" in model.notice()
    with qtbot.waitSignal(model.restart_wanted):
        model.restart()
    assert model.restart_line() == (
        "/python",
        "-m",
        "mezzotint_setup",
        "start",
        "--root",
        ROOT,
        "--payload",
        "/payload",
    )


def test_a_failure_says_what_to_do_and_is_tried_again(first):
    first.model.install("/usb/wheels")
    run = first.runs.open("install")
    run.say("failed", what="the disk is full", next="free some", code="no_room")
    run.end(1)
    first.runs.look()
    assert first.model.trouble_text() == (
        "The disk is full. Free some space, or choose a folder on another disk above."
    )
    assert first.model.notice() == first.model.trouble_text()
    first.model.choose("cpu")
    first.model.retry()
    assert first.model.trouble() is None
    assert first.runs.words()[-1] == "install --backend cpu --wheels /usb/wheels"


@pytest.mark.parametrize(("kind", "code"), [("crashed", "ended"), ("not_started", "not_started"), ("ended", "ended")])
def test_one_that_ends_without_a_word(first, kind, code):
    first.model.install()
    first.runs.open("install").end(9, kind, "no module")
    assert first.model.trouble().code == code and "no module" in first.model.trouble_text()


def test_a_machine_that_cannot_be_looked_at(qapp, tmp_path, inline):
    made = made_setup(tmp_path, inline, look=None)
    made.runs.open("look").end(1, detail="no module")
    assert "no module" in made.model.trouble_text() and made.model.builds() == {}
    assert made.model.build() == "" and not made.model.can_install()
    made.model.install()
    made.model.retry()
    made.runs.open("look").say("look", free="much")
    assert made.model.trouble().code == "payload"
    run = made.runs.open("look")
    run.say("failed", what="damaged", next="get it again", code="payload")
    run.end(1)
    made.model.machine.ask()
    made.runs.look({**LOOK, "something": "new", "gpus": [{**LOOK["gpus"][0], "more": 1}]})
    assert made.model.trouble() is None and made.model.facts().gpus[0].capability == (8, 6)


def test_a_question_that_comes_while_one_is_asked_waits(first):
    first.model.machine.ask()
    first.model.set_root("/mnt")
    assert len(first.runs.runs) == 2
    first.runs.look()
    assert first.runs.open("look").root == "/mnt/Mezzotint"


def test_one_command_at_a_time(first):
    first.model.install()
    first.model.install()
    first.model.choose("cpu")
    first.model.set_root("/elsewhere")
    first.model.repair()
    assert first.runs.words() == ["install --backend cu130"]
    assert (first.model.build(), first.model.root()) == ("cu130", ROOT)
    first.model.finish(10)
    assert first.runs.open("install").finished


# ---- with an engine


def test_the_versions_that_are_there(first, used):
    assert (first.model.version_in_use(), first.model.version_before()) == ("", "")
    assert (used.model.version_in_use(), used.model.version_before()) == ("1.0-cu130", "0.9-cu130")
    assert used.model.notice() == ""
    used.model.machine.ask()
    used.runs.look(INSTALLED, before="1.0-window.2")
    assert used.model.version_before() == ""


@pytest.mark.parametrize(("act", "words", "version"), [
    ("go_back", "back", "0.9-cu130"),
    ("repair", "repair", "1.0-cu130.2"),
])  # fmt: skip
def test_going_back_and_repairing(used, act, words, version):
    getattr(used.model, act)()
    assert used.runs.words() == [words]
    used.runs.done(words, version)
    assert used.model.ready_version() == version


def test_nothing_is_asked_for_until_it_was_allowed(used, tmp_path, inline):
    assert used.runs.words() == [] and not used.model.may_check()
    used.model.allow_check(True)
    assert used.runs.words() == ["check-update --allow"]
    run = used.runs.open("check-update")
    assert not used.model.command.can_pause() and used.model.notice() == ""
    run.say("update", version="1.1", newer=True, download=45)
    run.end()
    assert used.model.notice() == "Version 1.1 has been released."
    used.model.update()
    assert used.runs.words()[-1] == "update"
    used.runs.done("update", "1.1-cu130")
    assert used.model.update_text() == "" and used.model.ready_version() == "1.1-cu130"
    used.model.allow_check(False)
    assert used.runs.words()[-1] == "check-update --no-allow" and not used.settings.value().update_check


def test_at_the_start_it_is_asked_quietly(used):
    used.settings.change(update_check=True)
    used.model.begin()
    run = used.runs.open("check-update")
    run.say("failed", what="no answer", next="wait", code="no_network")
    run.end(1)
    assert used.model.trouble() is None
    used.model.check()
    run = used.runs.open("check-update")
    run.say("failed", what="it is off", next="allow it", code="not_allowed")
    run.end(1)
    assert used.model.trouble().code == "not_allowed" and not used.model.may_check()
    used.model.retry()
    assert used.runs.words()[-1] == "check-update"


def test_what_a_newer_installer_brought_is_offered(used):
    used.model.machine.ask()
    used.runs.look(INSTALLED, version="1.2", update=True, installed="1.0-cpu.2")
    assert used.model.notice() == "The installer brought version 1.2."
    used.model.update()
    assert used.runs.words() == ["install --backend cpu"]


def test_an_event_of_another_kind_does_no_harm(used):
    used.model.check()
    run = used.runs.open("check-update")
    run.say("update", version=1)
    run.say("progress", done="x", total=2)
    run.say("unknown")
    assert used.model.trouble().code == "payload"


def test_whether_looking_is_allowed_is_told_by_the_bootstrap(used):
    used.model.machine.ask()
    used.runs.look(INSTALLED, update_check=True)
    assert used.model.may_check()
    used.model.allow_check(False)
    used.model.machine.ask()
    used.runs.look(INSTALLED, update_check=True)  # asked before
    assert not used.model.may_check()
    used.runs.done("check-update", "")
    used.runs.look(INSTALLED, update_check=False)
    used.model.set_root("/mnt")
    used.runs.look(INSTALLED, update_check=True)  # of another folder
    assert not used.model.may_check()
