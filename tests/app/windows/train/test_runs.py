"""The runs: what is shown of each, and which buttons it has."""

from PySide6.QtCore import Qt
from train_made import epoch, request, run_info

from mezzotint.training_protocol import TrainingStep

LEFT = Qt.MouseButton.LeftButton
FOLDER = "/loras/castle.training"


def shown(page, *infos, works):
    works.list(*infos)
    page.tabs.setCurrentIndex(1)
    page.show_model()
    return page.runs


def buttons(pane):
    return [name for name in ("pause", "resume", "accept", "stop", "open") if not getattr(pane, name).isHidden()]


def test_without_any_it_says_how_to_get_one(works, page):
    pane = shown(page, works=works)
    assert pane.empty.title() == "No training runs yet" and pane.shown() == ""


def test_a_paused_one_is_resumed_paused_and_stopped(qtbot, works, page):
    pane = shown(page, run_info(), works=works)
    assert buttons(pane) == ["resume", "open"] and pane.words.text() == "Paused after step 20 of 40."
    qtbot.mouseClick(pane.resume, LEFT)
    works.lender.let()
    works.engine.event(TrainingStep(step=21, steps=40, loss=0.5, rate=1e-3, seconds=1))
    page.show_model()
    assert buttons(pane) == ["pause", "stop", "open"] and pane.bar.value() == 525
    assert pane.plot.words() == "Training loss 0.149"
    qtbot.mouseClick(pane.pause, LEFT)
    page.show_model()
    assert not pane.pause.isEnabled() and not pane.stop.isEnabled()
    works.engine.fail("cancelled")
    page.show_model()
    qtbot.mouseClick(pane.resume, LEFT)
    works.lender.let()
    page.show_model()
    qtbot.mouseClick(pane.stop, LEFT)
    works.engine.fail("cancelled")
    page.show_model()
    assert pane.words.text() == "Stopped after step 20 of 40." and buttons(pane) == ["resume", "open"]


def test_changed_images_can_be_accepted(qtbot, works, page):
    pane = shown(page, run_info(), works=works)
    works.runs.resume(FOLDER)
    works.lender.let()
    works.engine.fail("dataset_changed", "they have changed")
    page.show_model()
    assert buttons(pane) == ["accept", "open"] and pane.words.property("role") == "error"
    qtbot.mouseClick(pane.accept, LEFT)
    works.lender.let()
    assert works.engine.last().params.accept_changes
    page.show_model()
    assert pane.words.property("role") == ""


def test_another_one_is_chosen(works, page):
    pane = shown(page, run_info(), run_info("tower", lora="/loras/tower.safetensors"), works=works)
    assert pane.shown() == FOLDER
    pane.choice.choose("/loras/tower.training")
    assert pane.words.text() == "Finished after 20 steps." and buttons(pane) == ["open"]
    works.runs.begin(request("new"))
    assert pane.shown() == "/loras/new.training" and buttons(pane) == ["pause", "stop"]


def test_an_epoch_is_used(qtbot, works, page):
    used, folders = [], []
    works.model.use_asked.connect(lambda path, info: used.append((path, info.folder)))
    page.folder_asked.connect(folders.append)
    pane = shown(page, run_info(), works=works)
    titles = [card.title.text() for card in pane.epochs.cards()]
    assert titles == ["Before training", "Epoch 2, step 20", "Epoch 1, step 10"]
    assert pane.epochs.cards()[0].use.isHidden()
    qtbot.mouseClick(pane.epochs.cards()[2].use, LEFT)
    assert used == [(epoch(1).path, FOLDER)]
    qtbot.mouseClick(pane.open, LEFT)
    assert folders == [FOLDER]


def test_a_sample_is_opened_among_the_others(qtbot, works, page):
    opened = []
    page.open_full_screen.connect(lambda paths, index: opened.append((len(paths), paths[index])))
    pane = shown(page, run_info(), works=works)
    sample = pane.epochs.cards()[1].samples()[0]
    qtbot.mouseClick(sample, LEFT)
    qtbot.keyClick(sample, Qt.Key.Key_Return)
    assert opened == [(3, epoch(2).samples[0])] * 2 and sample.accessibleName() == "Sample: a zibble"


def test_cards_follow_the_epochs(works, page):
    pane = shown(page, run_info(epochs=(epoch(1, validation=0.2), epoch(2, validation=0.1))), works=works)
    assert [card.hint.text() for card in pane.epochs.cards()] == ["", "lowest validation loss", ""]
    works.list(run_info(epochs=(epoch(1, samples=()),)))
    page.show_model()
    assert len(pane.epochs.cards()) == 2 and len(pane.epochs.cards()[1].samples()) == 0
    works.thumbnails.changed.emit(run_info().base_samples[0])
    assert pane.epochs.cards()[0].samples()[0]._image.isNull()
