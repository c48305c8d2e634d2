"""Pictures of models are made by one image in the queue, when asked for."""

import pytest
from create_page import kit_of

from mezzotint.library_protocol import ModelCard
from mezzotint.protocol import GeneratedImage
from mezzotint_app.viewmodel.models.cards import ModelCards
from mezzotint_app.viewmodel.models.picture_maker import PictureMaker

CARD = ModelCard(path="/l/ink [x].safetensors", name="ink", trigger_words=("inkwash",), weight=0.7)


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def maker(kit):
    kit.cards = ModelCards(kit.librarian)
    maker = PictureMaker(kit.queue, kit.runner, kit.cards, kit.create, kit.settings)
    maker.message.connect(kit.said.append)
    return maker


def test_one_small_image_with_its_words_becomes_the_picture(kit, maker):
    maker.make(CARD, None)
    (row,) = kit.queued()
    (task,) = kit.tasks(row.id)
    stage = task.request.cascade.stages[0]
    assert (task.request.prompt, task.request.count) == ("inkwash", 1)
    assert (stage.model.id, stage.width, stage.height) == ("base", 768, 768)
    assert [one.weight for one in task.request.loras] == [0.7]
    path = task.request.output.path.replace("[[", "[")
    for saved in ("/elsewhere.png", path):
        kit.runner.saved.emit(task, GeneratedImage(path=saved, width=768, height=768, seed=1, index=0, sha256="0" * 64))
    (asked,) = [one.params for one in kit.librarian.asked if one.method == "card_picture"]
    assert (asked.path, asked.picture) == (CARD.path, path)


def test_a_lora_for_another_kind_of_model_is_made_with_one_of_that_kind(kit, maker):
    for families in (("pixart",), ("sana",)):
        maker.make(ModelCard(path="/l/a.safetensors", name="a", families=families), None)
    models = [kit.tasks(row.id)[0].request.cascade.stages[0].model.id for row in kit.queued()]
    assert sorted(models) == ["base", "dit"]


def test_a_model_has_no_lora_and_one_that_cannot_be_used_says_why(kit, maker):
    kit.create.prompts.set_prompt("a boat")
    maker.make(ModelCard(path="/models/dit", name="dit"), "dit")
    (row,) = kit.queued()
    assert kit.tasks(row.id)[0].request.loras == ()
    assert kit.tasks(row.id)[0].request.prompt == "a boat"
    kit.said.clear()
    maker.make(ModelCard(path="/models/broken", name="broken"), "broken")
    assert kit.said == ["The file is damaged: it ends too early."]
    assert len(kit.queued()) == 1
