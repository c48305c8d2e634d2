"""Detectors of a request are checked before anything else."""

import shutil
from dataclasses import replace

import pytest
import torch
from PIL import Image
from tiny_perception import write_pointing_detector

from mezzotint.errors import ModelRefused, UsageError
from mezzotint.protocol import DetailFound, GenerateRequest
from mezzotint.stages.details.finding import check_details, detecting_bytes, found_in, sought
from mezzotint.stages.models.placement import Placement
from mezzotint.stages.models.recovery import Recovery
from mezzotint.values.details import DetailRef

IMAGE = Image.new("RGB", (64, 33))
FACE = DetailRef(label="face")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detectors") / "pointing"
    write_pointing_detector(folder)
    return folder


def look(*folders, **changed):
    return sought([replace(FACE, **changed)], lambda _: folders, lambda: False)


def find(passes):
    recovery = Recovery(strict=False, notify=print)
    return found_in(IMAGE, passes, Placement([], recovery=recovery), torch.device("cpu"))


def test_what_is_found_and_where(folder):
    (one,) = look(folder)
    assert one.detail.model == str(folder.resolve()) and len(one.detail.sha256) == 64
    assert find([one]) == ((DetailFound(label="face", box=(32, 16, 64, 33), score=0.8808),),)
    assert find(look(folder, confidence=0.9)) == ((),)
    assert detecting_bytes([one]) > detecting_bytes([]) == 0


def test_one_object_is_found_once(tmp_path):
    write_pointing_detector(tmp_path / "twice", num_queries=3)
    assert len(find(look(tmp_path / "twice"))[0]) == 1


def test_the_first_that_has_the_label(folder, tmp_path):
    other = tmp_path / "cats"
    write_pointing_detector(other, "cat")
    assert look(folder, other, label="cat")[0].detail.model == str(other)
    with pytest.raises(UsageError, match="pointing, cats cannot find 'dog'; known are face, nothing, cat"):
        look(folder, other, label="dog")
    with pytest.raises(UsageError, match="did you mean face"):
        look(folder, label="Face")


def test_a_changed_one_is_refused(folder, tmp_path):
    same = shutil.copytree(folder, tmp_path / "same")
    (one,) = look(folder)
    assert look(same, sha256=one.detail.sha256)
    with pytest.raises(ModelRefused, match="has changed since it was used"):
        look(folder, sha256="0" * 64)


def test_memory_that_runs_short_sends_it_to_the_cpu(folder, monkeypatch):
    passes, tried = look(folder), []

    def hosting(self, network, device):
        tried.append(device)
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Placement, "hosting", hosting)
    assert find(passes)[0] and len(tried) == 1


@pytest.mark.parametrize(("details", "reason"), [((FACE,) * 9, "at most 8"), ((DetailRef(label=" "),), "no label")])
def test_requests_from_elsewhere_are_checked(details, reason):
    with pytest.raises(UsageError, match=reason):
        check_details(GenerateRequest(prompt="x", details=details))
