"""The Train page's view model without processes."""

import pytest
from train_made import FOLDER, TrainWorks

from mezzotint_app.viewmodel.train.state import TrainForm


@pytest.fixture
def works(tmp_path):
    """With a folder chosen and checked."""
    made = TrainWorks(tmp_path, TrainForm(folder=FOLDER, trigger="zibble"))
    made.check()
    return made
