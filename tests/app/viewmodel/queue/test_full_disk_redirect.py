"""After a full disk another folder helps what waits."""

from dataclasses import replace

import pytest
from queue_made import OWNER, queue_in, request

from mezzotint.protocol import Output
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.queue.full_disk_redirect import FullDiskRedirect, template_prefix

FULL = "cannot write /full/7.png: the disk is full: free some space, or choose another folder"


@pytest.fixture
def made(tmp_path, qapp):
    return queue_in(tmp_path)


@pytest.fixture
def settings(tmp_path, made):
    return Stored(tmp_path / "window.json", Settings(output_folder="/full"), made.inline)


@pytest.fixture
def said(made, settings):
    told = []
    made.folder = FullDiskRedirect(made.access, settings)
    made.folder.message.connect(told.append)
    return told


def add(made, because):
    wanted = replace(request(), output=Output(path=template_prefix(Settings(output_folder="/full")) + "[seed].png"))
    entry = made.change(lambda store: store.add([wanted]))
    made.change(lambda store: store.requeue(store.claim(OWNER).id, because=because))
    return entry


def path_of(made, entry):
    return made.store.entry(entry).tasks[0].request.output.path


def test_after_a_full_disk_what_waits_goes_to_the_folder_chosen(made, settings, said):
    entry = add(made, FULL)
    settings.change(output_folder="/free [x]")
    assert path_of(made, entry) == template_prefix(settings.value()) + "[seed].png"
    assert len(said) == 1 and "/free [x]" in said[0]


def test_without_want_of_space_it_goes_where_it_was_to_go(made, settings, said):
    entry = add(made, "the engine ended")
    settings.change(output_folder="/free")
    assert path_of(made, entry) == template_prefix(Settings(output_folder="/full")) + "[seed].png"
    assert said == []


def test_other_settings_change_nothing(made, settings, said):
    entry = add(made, FULL)
    settings.change(previews=False)
    assert path_of(made, entry).startswith(template_prefix(Settings(output_folder="/full")))
    assert said == []
