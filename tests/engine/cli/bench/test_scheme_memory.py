"""Memory measured in a process of its own: told, stopped, and gone without."""

import os

import other_process
import psutil
import pytest

from mezzotint.cli.bench.scheme_memory import peak_here, peak_in_own_process
from mezzotint.errors import Cancelled, UnknownModel
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage


@pytest.fixture
def asked(tiny_pixart_folder, tmp_path):
    model = ModelRef(id=str(tiny_pixart_folder))
    stage = Stage(model=model, width=64, height=64, sampling=Sampling(steps=1))
    return GenerateRequest(prompt="a house", cascade=Cascade(stages=(stage,)), output=Output(path=f"{tmp_path}/a.png"))


def told(asked, measure, folders=(), cancelled=lambda: False):
    return peak_in_own_process(asked, folders, cancelled, measure)


def test_it_is_another_process_and_all_of_the_question_arrives(asked, tmp_path):
    number = told(asked, other_process.its_number)
    assert number != os.getpid()
    assert not psutil.pid_exists(number)
    assert told(asked, other_process.what_came, [tmp_path] * 3) == 703


def test_an_image_is_made_and_its_memory_told(asked, tmp_path):
    assert peak_here(asked, []) > 50 * 2**20
    assert (tmp_path / "a.png").is_file()


@pytest.mark.parametrize("measure", [other_process.ends, other_process.refuses])
def test_one_that_cannot_tells_nothing(asked, measure):
    assert told(asked, measure) is None


def test_here_an_error_is_an_error(asked):
    stage = Stage(model=ModelRef(id="nobody"))
    with pytest.raises(UnknownModel):
        peak_here(GenerateRequest(prompt="a house", cascade=Cascade(stages=(stage,)), output=asked.output), [])


def test_an_interrupt_is_decided_by_who_asked(asked):
    assert told(asked, other_process.is_interrupted) == 7


def test_stopping_ends_it(asked, tmp_path):
    folder = tmp_path / "begun"
    folder.mkdir()
    with pytest.raises(Cancelled):
        told(asked, other_process.sleeps, [folder], lambda: any(folder.iterdir()))
    (begun,) = folder.iterdir()
    assert not psutil.pid_exists(int(begun.name))
