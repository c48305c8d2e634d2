"""Engines and librarians that are missing, die, hang or talk nonsense: what the window says, keeps, and does next."""

import os
import signal

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from faulty_window import ENGINE, Switch, engine_that, opened  # noqa: E402

from mezzotint.jobs.store import JobStore  # noqa: E402
from mezzotint_app.viewmodel import late_start  # noqa: E402

BROKEN = {  # what is said of it
    "absent": "Reinstall Mezzotint",
    "missing": "is missing a part of its installation",
    "die": "it dies at start",
    "garbage": "sent an invalid response",
    "version": "has a different version than this window",
}


def command_of(how, tmp_path):
    return (str(tmp_path / "no such program"),) if how == "absent" else engine_that(how)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("how", list(BROKEN))
def test_without_an_engine_the_queue_waits_for_one(qtbot, monkeypatch, tmp_path, how):
    with opened(qtbot, monkeypatch, engine=command_of(how, tmp_path), librarian=ENGINE) as faulty:
        faulty.until(lambda: faulty.program.engine.state() == "given_up")
        assert BROKEN[how] in faulty.engine_notice()
        assert faulty.engine_notice().endswith("Engine failed to start. Your jobs wait in the queue.")
        assert faulty.window.engine_notice.start_button.isVisible()
        assert faulty.window.engine_notice.log_button.isVisible()
        faulty.type_prompt("a house")
        assert faulty.generate()
        faulty.until(lambda: faulty.states() == ["waiting"])
        assert faulty.program.create.prompts.prompt() == "a house"
    if how != "missing":
        return  # once is enough for what follows
    with opened(qtbot, monkeypatch, librarian=ENGINE) as again:  # the next start, of a Mezzotint that was mended
        again.until(lambda: again.states() == ["done"])
        assert again.program.create.prompts.prompt() == "a house"
        assert again.engine_notice() == ""


@pytest.mark.slow
def test_an_engine_that_comes_back_is_started_by_hand_and_makes_what_waits(qtbot, monkeypatch, tmp_path):
    switch = Switch(tmp_path / "engine")
    switch.set("die")
    with opened(qtbot, monkeypatch, engine=switch.command, librarian=ENGINE) as faulty:
        faulty.until(lambda: faulty.program.engine.state() == "given_up")
        faulty.ask("a house")
        switch.set("well")
        faulty.window.engine_notice.start_button.click()
        faulty.until(lambda: faulty.states() == ["done"])
        assert faulty.engine_notice() == ""
        faulty.works()


@pytest.mark.slow
def test_an_engine_that_hangs_at_its_start_is_told_and_can_be_started_anew(qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr(late_start, "LATE", 0.2)
    switch = Switch(tmp_path / "engine")
    switch.set("hang")
    with opened(qtbot, monkeypatch, engine=switch.command, librarian=ENGINE) as faulty:
        faulty.until(lambda: "taking a long time to start" in faulty.engine_notice())
        faulty.ask("a house")
        switch.set("well")
        hung = faulty.program.engine.process_id()
        faulty.window.engine_notice.start_button.click()
        faulty.until(lambda: faulty.program.engine.process_id() not in (0, hung))
        faulty.until(lambda: faulty.states() == ["done"])
        assert faulty.engine_notice() == ""


@pytest.mark.slow
def test_a_slow_engine_is_waited_for(qtbot, monkeypatch):
    with opened(qtbot, monkeypatch, engine=engine_that("slow"), librarian=ENGINE) as faulty:
        faulty.ask("a house")
        assert "starting" in faulty.program.engine_state.text()
        faulty.until(lambda: faulty.states() == ["done"])


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("crash-once {folder}", "crashed"),
        ("garbage-once {folder}", "an invalid response"),
    ],
)
def test_a_job_that_ends_the_engine_once_is_made_by_the_next(qtbot, monkeypatch, tmp_path, prompt, words):
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        reasons = []
        faulty.program.engine.changed.connect(lambda: reasons.append(faulty.program.engine.reason()))
        faulty.ask(prompt.format(folder=tmp_path))
        faulty.until(lambda: faulty.states() == ["done"] and bool(faulty.saved))  # the window hears of it later
        assert any(words in reason for reason in reasons)
        assert len(faulty.saved) == 1


def test_a_job_that_ends_the_engine_twice_is_set_aside_and_the_others_go_on(qtbot, monkeypatch):
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.ask("crash")
        faulty.works("a house")
        assert faulty.states() == ["set_aside", "done"]
        assert "skipped; the others continue" in faulty.notice()
        assert "Use the CPU" not in faulty.window.engine_notice.offer.text()  # it uses no other


def test_a_job_that_is_out_of_memory_says_the_numbers_and_stays_to_be_retried(qtbot, monkeypatch):
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.ask("memory")
        faulty.until(lambda: faulty.states() == ["failed"])
        assert "needed 7.9 GB" in faulty.rows()[0].error
        faulty.works()
        assert faulty.states() == ["failed", "done"]


@pytest.mark.slow
def test_a_job_that_never_says_a_word_can_be_stopped(qtbot, monkeypatch):
    with opened(qtbot, monkeypatch, librarian=ENGINE) as faulty:
        faulty.ask("slow")
        faulty.until(lambda: faulty.program.runner.task() is not None)
        faulty.program.runner.stop_now()
        faulty.until(lambda: faulty.states() == ["cancelled"])
        faulty.works()


# ---- the librarian


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("how", ["absent", "die", "version"])
def test_without_a_librarian_images_are_made_and_the_pages_say_why_they_are_empty(qtbot, monkeypatch, tmp_path, how):
    switch = Switch(tmp_path / "librarian")
    switch.set(how)
    command = (str(tmp_path / "no such program"),) if how == "absent" else switch.command
    with opened(qtbot, monkeypatch, librarian=command) as faulty:
        faulty.until(lambda: faulty.program.librarian.state() == "given_up")
        assert BROKEN[how] in faulty.librarian_notice()
        assert "does not restart automatically" in faulty.librarian_notice()
        assert faulty.window.librarian_notice.start_button.isVisible()
        faulty.until(lambda: BROKEN[how] in faulty.window.gallery_page.problem.text())
        faulty.until(lambda: BROKEN[how] in faulty.window.models_page.message())
        faulty.works("a house")
        faulty.drop(tmp_path)
        faulty.until(lambda: BROKEN[how] in faulty.notice())


@pytest.mark.slow
def test_a_librarian_that_comes_back_is_asked_all_of_it_again(qtbot, monkeypatch, tmp_path):
    switch = Switch(tmp_path / "librarian")
    switch.set("die")
    with opened(qtbot, monkeypatch, librarian=switch.command) as faulty:
        faulty.until(lambda: faulty.program.librarian.state() == "given_up")
        faulty.works("a house")
        faulty.program.images.set_image(faulty.saved[0].path)
        faulty.until(lambda: bool(faulty.program.images.problem()))
        switch.set("real")
        faulty.window.librarian_notice.start_button.click()
        faulty.until(lambda: faulty.program.gallery.model.rowCount() == 1)
        faulty.until(lambda: faulty.program.library.listed)
        faulty.until(lambda: faulty.program.images.image() is not None)
        assert faulty.librarian_notice() == ""
        faulty.until(lambda: not faulty.window.gallery_page.problem.text())
        faulty.until(lambda: not faulty.window.models_page.message())
        assert faulty.program.images.problem() == ""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes are ended otherwise there")
def test_a_librarian_that_is_killed_is_there_again_with_all_that_was_seen(qtbot, monkeypatch, tmp_path):
    switch = Switch(tmp_path / "librarian")
    with opened(qtbot, monkeypatch, librarian=switch.command) as faulty:
        faulty.works("a house")
        faulty.until(lambda: faulty.program.gallery.model.rowCount() == 1)
        killed = faulty.program.librarian.process_id()
        os.kill(killed, signal.SIGKILL)
        faulty.until(lambda: faulty.program.librarian.process_id() not in (0, killed))
        faulty.until(lambda: faulty.program.librarian.state() == "ready")
        assert faulty.librarian_notice() == ""
        faulty.works("another house")
        faulty.until(lambda: faulty.program.gallery.model.rowCount() == 2)


@pytest.mark.slow
def test_a_librarian_that_hangs_is_told_and_images_are_made_meanwhile(qtbot, monkeypatch, tmp_path):
    monkeypatch.setattr(late_start, "LATE", 0.2)
    switch = Switch(tmp_path / "librarian")
    switch.set("hang")
    with opened(qtbot, monkeypatch, librarian=switch.command) as faulty:
        faulty.until(lambda: "taking a long time to start" in faulty.librarian_notice())
        faulty.works("a house")
        switch.set("real")
        faulty.window.librarian_notice.start_button.click()
        faulty.until(lambda: faulty.program.gallery.model.rowCount() == 1)
        assert faulty.librarian_notice() == ""


@pytest.mark.slow
def test_what_was_asked_for_is_kept_when_everything_is_missing_at_once(qtbot, monkeypatch, tmp_path):
    absent = (str(tmp_path / "nothing"),)
    with opened(qtbot, monkeypatch, engine=absent, librarian=absent) as faulty:
        faulty.until(lambda: faulty.program.engine.state() == faulty.program.librarian.state() == "given_up")
        faulty.type_prompt("a house")
        assert faulty.generate()
        faulty.program.settings.change(theme="dark")
        faulty.until(lambda: faulty.states() == ["waiting"])
    with JobStore.open().store as store:
        assert [row.state for row in store.rows()] == ["waiting"]
