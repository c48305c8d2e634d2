"""Every control of the Create page: what is done there is what is asked for."""

from dataclasses import replace

import pytest
from create_page import MODELS, clicked, kit_of, page_of, typed
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from mezzotint.protocol import Sampling, Transition
from mezzotint_app.viewmodel.create.state import CreateSettings, LoraChoice
from mezzotint_app.viewmodel.dropped.data import drop_data


def control(page, name):
    return page.sections.sampling.controls[name]


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


@pytest.fixture
def page(kit, qtbot):
    return page_of(kit, qtbot)


def first(request):
    return request.cascade.stages[0]


def sampling(request):
    return first(request).sampling


ACTIONS = {
    "prompt": (lambda p, k: QTest.keyClicks(p.prompts.prompt, "X"), lambda r: "X" in r.prompt, True),
    "negative": (lambda p, k: QTest.keyClicks(p.prompts.negative, "fog"), lambda r: r.negative_prompt, "fog"),
    "model": (lambda p, k: p.basics.model_box.choose("dit"), lambda r: first(r).model.id, "dit"),
    "preset": (
        lambda p, k: p.basics.size_picker.parts()["presets"].choose((1344, 768)),
        lambda r: (first(r).width, first(r).height),
        (1344, 768),
    ),
    "width": (
        lambda p, k: typed(p.basics.size_picker.parts()["width"], "768"),
        lambda r: (first(r).width, first(r).height),
        (768, 1024),
    ),
    "height": (
        lambda p, k: typed(p.basics.size_picker.parts()["height"], "640"),
        lambda r: (first(r).width, first(r).height),
        (1024, 640),
    ),
    "lock": (
        lambda p, k: (
            clicked(p.basics.size_picker.parts()["lock"]),
            typed(p.basics.size_picker.parts()["width"], "512"),
        ),
        lambda r: (first(r).width, first(r).height),
        (512, 512),
    ),
    "swap": (
        lambda p, k: (
            p.basics.size_picker.parts()["presets"].choose((1344, 768)),
            clicked(p.basics.size_picker.parts()["swap"]),
        ),
        lambda r: (first(r).width, first(r).height),
        (768, 1344),
    ),
    "own size": (
        lambda p, k: (
            p.basics.size_picker.parts()["presets"].choose((1344, 768)),
            p.basics.size_picker.parts()["presets"].choose("own"),
        ),
        lambda r: (first(r).width, first(r).height),
        (None, None),
    ),
    "count": (lambda p, k: typed(p.basics.count, "4"), lambda r: r.count, 4),
    "seed": (lambda p, k: QTest.keyClicks(p.basics.seed.line(), "9223372036854775807"), lambda r: r.seed, 2**63 - 1),
    "keep seed": (lambda p, k: clicked(p.basics.seed.buttons()[0]), lambda r: r.seed is not None, True),
    "dice": (lambda p, k: clicked(p.basics.seed.buttons()[1]), lambda r: r.seed is not None, True),
    "steps": (lambda p, k: typed(control(p, "steps").spin(), "44"), lambda r: sampling(r).steps, 44),
    "many steps": (
        lambda p, k: typed(control(p, "steps").spin(), "777"),
        lambda r: sampling(r).steps,
        777,
    ),
    "steps by slider": (
        lambda p, k: QTest.keyClick(control(p, "steps").slider(), Qt.Key.Key_Right),
        lambda r: sampling(r).steps,
        31,
    ),
    "guidance": (
        lambda p, k: typed(control(p, "guidance_scale").spin(), "3.5"),
        lambda r: sampling(r).guidance_scale,
        3.5,
    ),
    "rescale": (
        lambda p, k: typed(control(p, "guidance_rescale").spin(), "0.7"),
        lambda r: sampling(r).guidance_rescale,
        0.7,
    ),
    "clip skip": (
        lambda p, k: typed(control(p, "clip_skip").spin(), "2"),
        lambda r: sampling(r).clip_skip,
        2,
    ),
    "sampler": (
        lambda p, k: control(p, "sampler").choose("heun"),
        lambda r: sampling(r).sampler,
        "heun",
    ),
    "schedule": (
        lambda p, k: control(p, "schedule").choose("karras"),
        lambda r: sampling(r).schedule,
        "karras",
    ),
    "refiner": (
        lambda p, k: p.sections.cascade.choice("refiner").choose("refiner"),
        lambda r: (r.cascade.stages[1].model.id, first(r).until),
        ("refiner", 0.8),
    ),
    "refiner at": (
        lambda p, k: (
            p.sections.cascade.choice("refiner").choose("refiner"),
            p.show_model(),
            typed(p.sections.cascade.number("refiner_at").spin(), "0.6"),
        ),
        lambda r: first(r).until,
        0.6,
    ),
    "hires fix": (
        lambda p, k: clicked(p.sections.cascade.second_pass()),
        lambda r: (r.cascade.transitions[0].scale, r.cascade.transitions[0].strength),
        (1.5, 0.5),
    ),
    "vae scale": (
        lambda p, k: (
            clicked(p.sections.cascade.second_pass()),
            p.show_model(),
            typed(p.sections.cascade.number("second_scale").spin(), "2"),
            typed(p.sections.cascade.number("second_strength").spin(), "0.3"),
        ),
        lambda r: (r.cascade.transitions[0].scale, r.cascade.transitions[0].strength),
        (2.0, 0.3),
    ),
    "space": (
        lambda p, k: (
            clicked(p.sections.cascade.second_pass()),
            p.sections.cascade.choice("second_space").choose("pixel"),
            p.sections.cascade.choice("second_upscaler").choose("lanczos"),
        ),
        lambda r: (r.cascade.transitions[0].space, r.cascade.transitions[0].upscaler),
        ("pixel", "lanczos"),
    ),
    "upscaler": (
        lambda p, k: (
            clicked(p.sections.cascade.second_pass()),
            k.create.models.list_networks(),
            k.librarian.answer(("starter-2x", "/a/4x.pth"), "upscalers"),
            p.show_model(),
            p.sections.cascade.choice("second_upscaler").choose("/a/4x.pth"),
        ),
        lambda r: r.cascade.transitions[0].upscaler,
        "/a/4x.pth",
    ),
    "init upscaler": (
        lambda p, k: (
            k.create.images.set_image("/small.png"),
            k.create.models.list_networks(),
            k.librarian.answer(("starter-2x",), "upscalers"),
            p.show_model(),
            p.sections.cascade.choice("init_upscaler").choose("starter-2x"),
        ),
        lambda r: (r.init_upscaler, r.images[0].path),
        ("starter-2x", "/small.png"),
    ),
    "lora": (
        lambda p, k: p.sections.loras.add(["/a.safetensors"]),
        lambda r: [(one.path, one.weight) for one in r.loras],
        [("/a.safetensors", 1.0)],
    ),
    "embedding": (lambda p, k: p.sections.embeddings.add(["/a.pt"]), lambda r: r.embeddings, ("/a.pt",)),
    "memory": (lambda p, k: p.sections.memory.memory.choose("lowest"), lambda r: r.memory, "lowest"),
    "weights": (lambda p, k: p.sections.memory.quantization.choose("int4"), lambda r: r.quantization, "int4"),
    "text weights": (
        lambda p, k: p.sections.memory.text_quantization.choose("int8"),
        lambda r: r.text_quantization,
        "int8",
    ),
    "cuda graphs": (lambda p, k: p.sections.memory.cuda_graphs.choose("off"), lambda r: r.cuda_graphs, "off"),
    "compile": (lambda p, k: clicked(p.sections.memory.compile), lambda r: r.compile, True),
    "fast": (lambda p, k: clicked(p.sections.memory.fast), lambda r: r.fast, True),
    "image": (lambda p, k: p.sections.image_input.take(dropped("/p.png")), lambda r: r.images[0].path, "/p.png"),
}


def dropped(path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(path)])
    return drop_data(data)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", ACTIONS)
def test_what_is_done_is_what_is_asked_for_and_nothing_else(kit, page, name):
    act, seen, wanted = ACTIONS[name]
    act(page, kit)
    assert seen(kit.create.request()) == wanted
    page.show_model()
    assert seen(kit.create.request()) == wanted  # showing it changes nothing


def test_showing_a_page_changes_nothing(kit, page):
    before = kit.state.value()
    page.show_model()
    assert kit.state.value() == replace(before, open_folds=kit.state.value().open_folds)
    assert kit.create.chosen.settings() == CreateSettings()


@pytest.mark.parametrize(
    ("name", "fields"),
    [("steps", ["steps"]), ("guidance_scale", ["guidance_scale"]), ("clip_skip", ["clip_skip"]), ("size", ["width"])],
)
def test_the_way_back_to_the_models_own(kit, page, qtbot, name, fields):
    field = page.fields()[name]
    assert field.back_button().isHidden()
    kit.create.chosen.change(**{"width": 512, "height": 512} if name == "size" else dict.fromkeys(fields, 3))
    page.show_model()
    assert not field.back_button().isHidden()
    clicked(field.back_button())
    assert not kit.create.chosen.is_set(*fields)
    qtbot.waitUntil(field.back_button().isHidden)
    assert page.isAncestorOf(QApplication.focusWidget() or page)


def test_all_back_to_the_models_own(kit, page):
    assert not page.sections.all_own_button().isEnabled()
    kit.create.chosen.change(steps=3, sampler="euler", dtype="float16")
    page.show_model()
    clicked(page.sections.all_own_button())
    assert kit.create.chosen.settings() == CreateSettings()
    assert kit.create.prompts.prompt() == "a house"


def test_what_came_with_an_image_is_shown_and_can_be_forgotten(kit, page):
    kit.create.chosen.change(prediction_type="v_prediction", steps=5)
    page.show_model()
    assert "v_prediction" in page.sections._kept.text()
    clicked(page.sections._forget)
    assert kit.create.chosen.settings() == CreateSettings(steps=5)


def test_the_models_own_values_stand_in_the_fields(kit, page, qtbot):
    sampling_ = page.sections.sampling.controls
    assert (sampling_["steps"].value(), sampling_["guidance_scale"].value()) == (30, 5.0)
    page.basics.model_box.choose("turbo")
    qtbot.waitUntil(lambda: sampling_["steps"].value() == 4)
    assert sampling_["guidance_scale"].value() == 1.0
    assert kit.create.chosen.settings() == CreateSettings()
    assert page.basics.size_picker.parts()["width"].value() == 512
    assert "ignored" in page.prompts.fields()["negative_prompt"].hint()


def test_what_cannot_be_used_is_listed_only_while_it_is_chosen(page):
    by_name = {one.value: one.problem for one in page.basics.model_box.choices()}
    assert by_name["base"] == ""
    assert "broken" not in by_name  # the Models page lists it, with the reason
    assert "refiner" in by_name
    page._model.chosen.set_model("broken")
    page.basics.show_model()
    by_name = {one.value: one.problem for one in page.basics.model_box.choices()}
    assert by_name["broken"] == "The file is damaged: it ends too early."
    row = [one.value for one in page.basics.model_box.choices()].index("broken")
    assert not page.basics.model_box.model().item(row).isEnabled()


def test_conditional_refiners_are_offered_where_there_are_any(kit, page):
    box = page.sections.cascade
    assert box.fields()["refine_with"].isHidden()
    kit.create.chosen.set_model("dit")
    enlarger = replace(kit.create.models.find("dit"), id="enlarger", conditional_refiner=True)
    kit.create.models.use((*MODELS, enlarger))
    page.show_model()
    assert not box.fields()["refine_with"].isHidden()
    assert box.fields()["refine_steps"].isHidden() and box.fields()["condition_noise"].isHidden()
    assert [one.value for one in box.choice("refine_with").choices()] == [None, "enlarger"]
    box.choice("refine_with").choose("enlarger")
    page.show_model()
    assert (box.number("refine_steps").value(), box.number("condition_noise").value()) == (10, 0.1)
    typed(box.number("refine_steps").spin(), "6")
    typed(box.number("condition_noise").spin(), "0.2")
    made = kit.create.request().cascade
    assert [stage.model.id for stage in made.stages] == ["dit", "enlarger"]
    assert made.stages[1].sampling == Sampling(steps=6, condition_noise=0.2)
    assert made.transitions == (Transition(scale=2.0, strength=1.0, refines=True),)
    assert "enlarger" in page.sections._summaries()["cascade"]


def test_refiners_that_go_with_the_model_are_offered(kit, page):
    offered = [one.value for one in page.sections.cascade.choice("refiner").choices()]
    assert offered == [None, "refiner"]
    kit.create.chosen.set_model("dit")
    page.show_model()
    assert [one.value for one in page.sections.cascade.choice("refiner").choices()] == [None]
    assert page.sections.cascade.fields()["refiner"].hint()
    assert page.sections.sampling.fields()["clip_skip"].isHidden()


def test_loras_are_switched_weighed_ordered_and_taken_out(kit, page):
    page.sections.loras.add(["/a.safetensors", "/b.safetensors", "/a.safetensors"])
    page.show_model()
    one, other = page.sections.loras.rows()
    clicked(one.parts()["down"])
    page.show_model()
    assert [lora.path for lora in kit.create.chosen.settings().loras] == ["/b.safetensors", "/a.safetensors"]
    typed(one.parts()["weight"].spin(), "-0.35")
    clicked(other.parts()["on"])
    assert kit.create.chosen.settings().loras == (
        LoraChoice(path="/b.safetensors", weight=-0.35),
        LoraChoice(path="/a.safetensors", on=False),
    )
    page.show_model()
    clicked(one.parts()["remove"])
    page.show_model()
    assert [lora.path for lora in kit.create.chosen.settings().loras] == ["/a.safetensors"]
    assert len(page.sections.loras.rows()) == 1


def test_dropped_files_that_are_no_loras_are_passed_over(kit, page):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/x.png"), QUrl.fromLocalFile("/y.SAFETENSORS")])
    page.sections.loras.take(drop_data(data))
    assert [lora.path for lora in kit.create.chosen.settings().loras] == ["/y.SAFETENSORS"]


def test_learned_words_are_added_and_taken_out(kit, page):
    page.sections.embeddings.add(["/a.pt", "/b.safetensors"])
    page.show_model()
    clicked(page.sections.embeddings.rows()[0].remove_button())
    assert kit.create.chosen.settings().embeddings == ("/b.safetensors",)


def test_an_image_to_begin_from_opens_its_section(kit, page):
    section = page.sections.sections()["image"]
    section.set_open(False)
    kit.images.clear()
    assert not section.is_open()
    kit.images.set_image("/images/a.png")
    assert section.is_open()


def test_a_fold_of_an_earlier_version_is_open_under_its_name_of_today(kit):
    kit.state.change(open_folds=("lora", "picture"))
    assert kit.create.open_sections() == ("lora", "image")
    kit.create.remember_section("image", is_open=False)
    assert kit.state.value().open_folds == ("lora",)
