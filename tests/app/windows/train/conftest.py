"""The Train page, shown without processes."""

import pytest
from train_made import FOLDER, TrainWorks, check, image

from mezzotint_app.viewmodel.train.state import TrainForm
from mezzotint_app.windows.train.page import TrainPage


@pytest.fixture
def works(tmp_path):
    return TrainWorks(tmp_path, TrainForm(folder=FOLDER, trigger="zibble"))


@pytest.fixture
def page(qtbot, works):
    """With a folder whose images were checked."""
    made = TrainPage(works.model)
    qtbot.addWidget(made)
    made.resize(1200, 700)
    with qtbot.waitExposed(made):
        made.show()
    works.list()
    works.check(check(image(0), image(1, "a castle"), image(2, "a house", "a hut")))
    made.show_model()
    return made
