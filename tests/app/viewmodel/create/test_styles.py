"""Styles on the Create page: their texts surround the prompt, and their options are set once."""

from dataclasses import replace

import pytest
from create_page import kit_of

from mezzotint.library_protocol import Style, Styles, StylesImported
from mezzotint.protocol import GenerateRequest, ModelRef, Sampling
from mezzotint.request_protocol import Cascade, Stage

INK = Style(name="ink", prompt="ink of {prompt}", negative="colour")
FEW = Style(name="few", settings={"steps": 7, "seed": 3, "model": "dit"})


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def use(kit, style):
    kit.create.styles.use(style, kit.create.request(styled=False))


def test_texts_surround_the_prompt_of_the_request_but_not_of_the_page(kit):
    kit.write("a boat")
    use(kit, INK)
    request = kit.create.request()
    assert (request.prompt, request.negative_prompt, request.styles) == ("ink of a boat", "colour", ("ink",))
    assert kit.create.prompts.prompt() == "a boat"
    assert kit.create.request(styled=False).prompt == "a boat"
    assert kit.create.problems() == {}
    kit.create.styles.stop_using("ink")
    assert kit.create.request().styles == ()


def test_options_are_applied_by_the_library_service(kit):
    kit.write("a boat")
    use(kit, FEW)
    asked = kit.librarian.last("apply_style").params
    assert (asked.style, asked.request.prompt) == ("few", "a boat")
    stage = Stage(model=ModelRef(id="dit"), sampling=Sampling(steps=7))
    kit.create.prompts.set_prompt("typed meanwhile")
    kit.librarian.answer(GenerateRequest(prompt="a boat", seed=3, cascade=Cascade(stages=(stage,))), "apply_style")
    assert kit.create.chosen.model() == "dit"
    assert kit.create.chosen.settings().steps == 7
    assert kit.create.seed.value() == 3
    assert kit.create.prompts.prompt() == "typed meanwhile"


def test_alternatives_in_a_style_are_counted(kit):
    kit.write("a boat")
    use(kit, Style(name="two", prompt="{red|blue} {prompt}"))
    kit.create.prompts.alternatives._count()
    assert kit.create.image_count() == 2


def test_settings_of_an_image_replace_styles_as_its_prompt_includes_them(kit):
    use(kit, INK)
    kit.create.apply_request(GenerateRequest(prompt="ink of a cat", styles=("ink",)))
    assert kit.create.request().prompt == "ink of a cat"


def test_the_list_updates_styles_in_use_and_keeps_those_that_are_gone(kit):
    use(kit, INK)
    use(kit, FEW)
    kit.create.styles.refresh()
    kit.librarian.answer(Styles(styles=(replace(INK, prompt="pen {prompt}"),), problems=("bad.json: x",)), "styles")
    assert [one.prompt for one in kit.create.styles.in_use()] == ["pen {prompt}", ""]
    assert kit.create.styles.problems() == ("bad.json: x",)


def test_saving_removing_and_importing_refresh_the_list(kit):
    styles, told, failed = kit.create.styles, [], []
    styles.message.connect(told.append)
    styles.saved.connect(told.append)
    styles.imported.connect(lambda name, _words: told.append(name))
    styles.save(INK, replaces=False, failed=failed.append)
    kit.librarian.fail(message="taken", method="save_style")
    styles.save(INK, replaces=True, failed=failed.append)
    kit.librarian.answer(INK, "save_style")
    assert told == []  # until it is listed
    kit.librarian.answer(Styles(styles=(INK,)), "styles")
    styles.remove("ink")
    kit.librarian.answer(None, "remove_style")
    kit.librarian.answer(Styles(styles=(INK,)), "styles")
    styles.import_file("/s.csv")
    kit.librarian.answer(
        StylesImported(added=("a", "b"), unchanged=2, notices=("s.csv: not used: x",)), "import_styles"
    )
    kit.librarian.answer(Styles(styles=(INK,)), "styles")
    styles.import_file("/s.csv")
    kit.librarian.fail(message="line 3", method="import_styles")
    assert failed == ["taken"]
    assert told == ["ink", "2 styles added: a, b; 2 were there already; s.csv: not used: x", "a", "line 3"]
    assert kit.librarian.methods().count("styles") == 3


def test_a_style_is_completed_by_its_name(kit):
    kit.write("a boat")
    kit.create.styles._listed(Styles(styles=(INK, FEW)))
    kit.create.prompts.completion.style_chosen.emit("ink")
    kit.create.prompts.completion.style_chosen.emit("gone")
    assert [one.name for one in kit.create.styles.in_use()] == ["ink"]
