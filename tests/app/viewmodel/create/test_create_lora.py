"""A trained LoRA is used with its model and its trigger word."""

import pytest
from create_page import kit_of

from mezzotint_app.viewmodel.create.state import LoraChoice, loras_in_use


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def used(kit):
    return [one.path for one in loras_in_use(kit.create.chosen.settings())]


def test_it_comes_with_its_model_and_trigger_word(kit):
    kit.write("by the sea").create.use_lora("/loras/castle.training/epochs/castle-0001.safetensors", "dit", "zibble")
    assert kit.create.chosen.model() == "dit" and kit.create.prompts.prompt() == "zibble, by the sea"
    kit.create.use_lora("/loras/castle.training/epochs/castle-0001.safetensors", "dit", "Zibble")
    assert kit.create.prompts.prompt() == "zibble, by the sea"


def test_another_epoch_replaces_the_first_and_leaves_other_loras(kit):
    kit.create.chosen.change(loras=(LoraChoice(path="/loras/style.safetensors"),))
    for epoch in (1, 2):
        kit.create.use_lora(f"/loras/castle.training/epochs/castle-{epoch}.safetensors", "nobody", "")
    assert used(kit) == ["/loras/style.safetensors", "/loras/castle.training/epochs/castle-2.safetensors"]


def test_one_from_the_library_brings_its_words_and_weight_once(kit):
    kit.write("a castle, ")
    for _ in range(2):
        kit.create.add_lora("/loras/ink.safetensors", ("inkwash", "CASTLE"), 0.6)
    assert kit.create.prompts.prompt() == "a castle, inkwash"
    (lora,) = kit.create.chosen.settings().loras
    assert (lora.path, lora.weight) == ("/loras/ink.safetensors", 0.6)
