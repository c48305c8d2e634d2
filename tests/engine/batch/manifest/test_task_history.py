"""The last word on each task."""

from mezzotint.batch.manifest.record import Record
from mezzotint.batch.manifest.task_history import NO_HISTORY, TaskHistories


def record(key, status, output, **changes):
    return Record(key=key, status=status, output=output, **changes)


def test_nothing_is_known_of_what_no_manifest_names(tmp_path):
    assert TaskHistories.read(tmp_path).get("a") == NO_HISTORY
    assert TaskHistories.read(tmp_path / "absent").failures() == 0


def test_the_last_word_counts():
    histories = TaskHistories()
    histories.add(record("a", "failed", "a.png", attempts=1))
    assert (histories.get("a").status, histories.failures()) == ("failed", 1)
    histories.add(record("a", "done", "a.png", attempts=2))
    assert (histories.get("a").status, histories.get("a").attempts, histories.failures()) == ("done", 2, 0)
    assert histories.key_of_output("a.png") == "a"


def test_a_failure_is_forgotten_when_what_was_to_go_there_has_changed():
    histories = TaskHistories()
    histories.add(record("old", "failed", "a.png"))
    histories.add(record("new", "done", "a.png"))
    assert histories.failures() == 0
    histories.add(record("newer", "failed", "a.png"))
    assert histories.failures() == 1


def test_an_image_that_was_replaced_is_made_again_when_it_is_wanted_again():
    histories = TaskHistories()
    histories.add(record("old", "done", "a.png"))
    histories.add(record("new", "done", "a.png"))
    assert histories.get("old").status is None
    assert histories.key_of_output("a.png") == "new"


def test_a_failure_takes_nothing_from_the_image_that_is_there():
    histories = TaskHistories()
    histories.add(record("old", "done", "a.png"))
    histories.add(record("new", "failed", "a.png"))
    assert histories.get("old").status == "done"


def test_one_that_was_begun_with_others_is_suspected_and_has_no_death():
    histories = TaskHistories()
    for what in ("begun_together", "begun_together", "released", "died_together"):
        histories.mark(what, "a")
    assert (histories.get("a").deaths, histories.get("a").is_suspect, histories.get("a").under_way) == (0, True, None)
    histories.mark("begun", "a")
    assert histories.get("a").under_way == "alone"
    histories.mark("begun_together", "a")
    assert (histories.get("a").deaths, histories.get("a").under_way) == (1, "together")
    histories.add(record("a", "done", "a.png"))
    assert histories.get("a") == NO_HISTORY.__class__(status="done", output="a.png")


def test_what_is_about_to_be_replaced_is_made_again_when_it_is_wanted_again():
    histories = TaskHistories()
    histories.add(record("old", "done", "a.png"))
    histories.mark("replaced", "old")
    assert histories.get("old") == NO_HISTORY
    assert histories.key_of_output("a.png") is None


def test_marks_of_later_versions_are_passed_over():
    histories = TaskHistories()
    histories.mark("admired", "a")
    assert histories.get("a") == NO_HISTORY
