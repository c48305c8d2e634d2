"""Epochs as rows."""

from train_made import epoch, run_info

from mezzotint_app.viewmodel.train.epochs import rows_of


def test_the_newest_comes_first_below_the_base_model():
    rows = rows_of(run_info(epochs=(epoch(1, validation=0.3), epoch(2, validation=0.4)), paused_lora="/p.st"))
    titles = ["Before training", "As paused, step 20", "Epoch 2, step 20, validation loss 0.4"]
    assert [row.title for row in rows] == [*titles, "Epoch 1, step 10, validation loss 0.3"]
    assert [row.is_best for row in rows] == [False, False, False, True]
    assert rows[0].path == "" and rows[0].prompts == ("a zibble",) and rows[1].path == "/p.st"


def test_a_record_that_does_not_fit_its_samples_is_shown_all_the_same():
    (row,) = rows_of(run_info(base_samples=(), epochs=(epoch(1, samples=("/a.png", "/b.png", "/c.png")),)))
    assert row.prompts == ("a zibble", "", "") and not row.is_best
    assert rows_of(run_info(base_samples=(), epochs=())) == ()
