"""The last word on each task."""

from mezzotint.batch.manifest.known import NOTHING, KnownTasks
from mezzotint.batch.manifest.record import Record


def record(key, status, output, **changes):
    return Record(key=key, status=status, output=output, **changes)


def test_nothing_is_known_of_what_no_manifest_names(tmp_path):
    assert KnownTasks.read(tmp_path).get("a") == NOTHING
    assert KnownTasks.read(tmp_path / "absent").failures() == 0


def test_the_last_word_counts():
    known = KnownTasks()
    known.add(record("a", "failed", "a.png", attempts=1))
    assert (known.get("a").status, known.failures()) == ("failed", 1)
    known.add(record("a", "done", "a.png", attempts=2))
    assert (known.get("a").status, known.get("a").attempts, known.failures()) == ("done", 2, 0)
    assert known.key_of_output("a.png") == "a"


def test_a_failure_is_forgotten_when_what_was_to_go_there_has_changed():
    known = KnownTasks()
    known.add(record("old", "failed", "a.png"))
    known.add(record("new", "done", "a.png"))
    assert known.failures() == 0
    known.add(record("newer", "failed", "a.png"))
    assert known.failures() == 1


def test_an_image_that_was_replaced_is_made_again_when_it_is_wanted_again():
    known = KnownTasks()
    known.add(record("old", "done", "a.png"))
    known.add(record("new", "done", "a.png"))
    assert known.get("old").status is None
    assert known.key_of_output("a.png") == "new"


def test_a_failure_takes_nothing_from_the_image_that_is_there():
    known = KnownTasks()
    known.add(record("old", "done", "a.png"))
    known.add(record("new", "failed", "a.png"))
    assert known.get("old").status == "done"


def test_one_that_was_begun_with_others_is_suspected_and_has_no_death():
    known = KnownTasks()
    for what in ("begun_together", "begun_together", "released", "died_together"):
        known.mark(what, "a")
    assert (known.get("a").deaths, known.get("a").is_suspect, known.get("a").under_way) == (0, True, None)
    known.mark("begun", "a")
    assert known.get("a").under_way == "alone"
    known.mark("begun_together", "a")
    assert (known.get("a").deaths, known.get("a").under_way) == (1, "together")
    known.add(record("a", "done", "a.png"))
    assert known.get("a") == NOTHING.__class__(status="done", output="a.png")


def test_what_is_about_to_be_replaced_is_made_again_when_it_is_wanted_again():
    known = KnownTasks()
    known.add(record("old", "done", "a.png"))
    known.mark("replaced", "old")
    assert known.get("old") == NOTHING
    assert known.key_of_output("a.png") is None


def test_marks_of_later_versions_are_passed_over():
    known = KnownTasks()
    known.mark("admired", "a")
    assert known.get("a") == NOTHING
