"""The whole page without widgets: what is set is what is asked for, and nothing resets by itself."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from create_page import MODELS, Kit, generated, kit_of, model_info
from fake_service import InlineBackground
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from queue_timings import record_timing

from mezzotint.images.naming import _parse
from mezzotint.jobs.requests import run_key
from mezzotint.jobs.store import PhaseSeconds
from mezzotint.protocol import GenerateRequest, ImageMetadata, LoraRef, ModelRef, Output
from mezzotint_app.stored import read, write
from mezzotint_app.viewmodel.create.prompting.tokens import LONGEST
from mezzotint_app.viewmodel.create.request import Form, request_of
from mezzotint_app.viewmodel.create.state import CreateSettings, CreateState, LoraChoice

METADATA = ImageMetadata(
    program="a1111",
    prompt="a boat",
    negative_prompt="fog",
    width=512,
    height=768,
    seed=11,
    steps=9,
    sampler="euler",
    schedule="karras",
    guidance_scale=3.0,
    strength=None,
    model="DIT.safetensors",
    model_hash=None,
    request=None,
    other={},
)


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def test_a_fresh_page_takes_the_bundled_model_and_its_own_values(kit):
    kit.write()
    request = kit.create.request()
    assert request.cascade.stages[0].model == ModelRef(id="base")
    assert request == replace(
        request_of(Form(model="base", prompt="a house by the sea", window=kit.settings.value())), output=request.output
    )
    assert kit.create.problems() == {}
    assert kit.create.chosen.size() == (1024, 1024)


def test_images_go_to_the_folder_and_by_the_template_of_the_settings(kit):
    kit.settings.change(output_folder=str(kit.folder / "my [art]"), name_template="[date]/[seed].png")
    path = kit.create.request().output.path
    assert path.endswith("[date]/[seed].png")
    assert _parse(Output(path=path), 1).root == kit.folder / "my [art]"


def test_generate_puts_one_entry_into_the_queue_with_all_that_is_set(kit):
    kit.write()
    kit.create.chosen.change(steps=7, count=3, loras=(LoraChoice(path="/x.safetensors", weight=0.5),))
    kit.create.seed.set(5)
    assert kit.create.generate()
    (row,) = kit.queued()
    assert kit.entries == [row.id]
    assert row.images_asked == 3
    (task,) = kit.tasks(row.id)
    assert (task.request.seed, task.request.count) == (5, 3)
    assert task.request.cascade.stages[0].sampling.steps == 7
    assert [(lora.path, lora.weight) for lora in task.request.loras] == [(str(Path("/x.safetensors").absolute()), 0.5)]


def test_the_front_of_the_queue(kit):
    kit.write("first").create.generate()
    kit.write("second").create.generate(front=True)
    assert [row.title for row in kit.queued()] == ["second", "first"]


def test_alternatives_become_one_entry_with_one_seed(kit):
    kit.write("a {red|blue} {house|boat}")
    kit.create.prompts.alternatives._count()
    kit.create.chosen.change(count=2)
    assert kit.create.image_count() == 8
    kit.create.generate()
    (row,) = kit.queued()
    tasks = kit.tasks(row.id)
    assert [task.request.prompt for task in tasks] == ["a red house", "a red boat", "a blue house", "a blue boat"]
    assert len({task.request.seed for task in tasks}) == 1


def test_braces_without_alternatives_are_words(kit):
    kit.write(r"a {red} \{x\|y\} house").create.generate()
    (task,) = kit.tasks(kit.entries[0])
    assert task.request.prompt == "a {red} {x|y} house"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda page: page.prompts.set_prompt("  "), "prompt"),
        (lambda page: page.chosen.set_model("broken"), "model"),
        (lambda page: page.chosen.set_model("refiner"), "model"),
        (lambda page: page.chosen.set_model("gone"), "model"),
        (lambda page: page.chosen.change(width=1023, height=1024), "size"),
        (lambda page: page.chosen.change(width=8, height=8), "size"),
        (lambda page: page.chosen.change(width=8192, height=8200), "size"),
        (lambda page: page.chosen.change(steps=0), "steps"),
        (lambda page: page.chosen.change(count=0), "count"),
        (lambda page: (page.seed.set(2**63 - 1), page.chosen.change(count=2)), "seed"),
        (lambda page: page.chosen.change(refiner="small-refiner"), "refiner"),
        (lambda page: page.chosen.change(refiner="gone"), "refiner"),
        (lambda page: page.chosen.change(refine_with="gone"), "refine_with"),
        (lambda page: page.chosen.change(refiner="refiner", refiner_at=1.0), "refiner_at"),
        (lambda page: page.chosen.change(second_pass=True, second_upscaler="lanczos"), "second_upscaler"),
        (lambda page: page.chosen.change(second_pass=True, width=8192, height=4096), "second_scale"),
        (lambda page: page.chosen.change(loras=(LoraChoice(path="a"),) * 33), "loras"),
        (lambda page: page.chosen.change(loras=(LoraChoice(path="a", weight=101.0),)), "loras"),
        (lambda page: (page.chosen.set_model("dit"), page.chosen.change(clip_skip=1)), "clip_skip"),
        (lambda page: (page.chosen.set_model("dit"), page.chosen.change(embeddings=("a",))), "embeddings"),
    ],
)
def test_what_cannot_be_is_said_beside_its_field_and_not_queued(kit, change, field):
    kit.write()
    assert kit.create.problems() == {}
    change(kit.create)
    assert set(kit.create.problems()) == {field}
    assert kit.create.problems()[field][-1] in "."
    assert not kit.create.generate()
    assert kit.said == [kit.create.problems()[field]]
    assert kit.queued() == []


def test_a_queue_that_cannot_be_written_says_so(kit):
    kit.write()
    kit.queue.close()
    kit.create.generate()
    assert len(kit.said) == 1


# ---- settings by model

IDS = st.sampled_from([model.id for model in MODELS])
EDITS = st.one_of(
    st.tuples(st.just("model"), IDS),
    st.tuples(st.just("steps"), st.none() | st.integers(1, 99)),
    st.tuples(st.just("count"), st.integers(1, 9)),
    st.tuples(st.just("sampler"), st.sampled_from([None, "euler", "lcm"])),
    st.tuples(st.just("size"), st.tuples(st.integers(8, 64), st.integers(8, 64))),
    st.tuples(st.just("width"), st.integers(8, 64)),
    st.tuples(st.just("lock"), st.booleans()),
    st.tuples(st.just("reset"), st.just(("steps",))),
    st.tuples(st.just("swap"), st.none()),
    st.tuples(st.just("refresh"), st.booleans()),
)


def done(kit, edit):
    what, value = edit
    chosen = kit.create.chosen
    match what:
        case "model":
            chosen.set_model(value)
        case "size":
            chosen.set_size(value[0] * 16, value[1] * 16)
        case "width":
            chosen.set_width(value * 16)
        case "lock":
            chosen.lock_aspect(value)
        case "reset":
            chosen.reset(value)
        case "swap":
            chosen.swap_sides()
        case "refresh":
            kit.create.models.use(MODELS if value else MODELS[1:])
        case _:
            chosen.change(**{what: value})


@given(st.lists(EDITS, max_size=25))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_that_is_set_for_a_model_changes_but_by_hand(kit, edits):
    kit.state.change(per_model={}, model="base")
    for edit in edits:
        model = kit.create.chosen.model()
        old = kit.create.chosen.settings()
        before = dict(kit.state.value().per_model)
        done(kit, edit)
        after = kit.state.value().per_model
        touched = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        assert touched <= ({model} if edit[0] not in ("model", "refresh") else set())
        if edit[0] in ("steps", "count", "sampler"):
            now = kit.create.chosen.settings()
            assert now == replace(old, **{edit[0]: edit[1]})


def test_what_was_set_is_there_after_the_next_start(kit):
    kit.write("a mill").create.chosen.change(steps=3)
    kit.create.chosen.set_model("dit")
    kit.create.chosen.change(sampler="euler")
    write(kit.folder / "again.json", kit.state.value())
    state, told = read(CreateState, kit.folder / "again.json")
    assert told is None
    assert state == kit.state.value()
    assert (state.per_model["base"].steps, state.per_model["dit"].sampler) == (3, "euler")


def test_what_is_set_before_the_models_are_known_is_kept(tmp_path, qapp):
    kit = Kit(tmp_path, models=())
    kit.create.chosen.change(steps=4)
    kit.create.models.use(MODELS)
    assert kit.create.chosen.model() == "base"
    assert kit.create.chosen.settings().steps == 4
    kit.create.models.use((model_info("another", source="bundled"), *MODELS))
    assert kit.create.chosen.model() == "base"
    kit.close()


def test_back_to_the_models_own(kit):
    chosen = kit.create.chosen
    chosen.change(steps=4, sampler="euler", count=2)
    assert chosen.is_set("steps")
    assert not chosen.is_set("guidance_scale")
    chosen.reset(["steps"])
    assert chosen.settings() == CreateSettings(sampler="euler", count=2)
    chosen.reset_all()
    assert chosen.settings() == CreateSettings()
    assert (chosen.own().steps, chosen.own().guidance_scale) == (30, 5.0)


def test_a_lock_holds_the_ratio_however_often_sides_change(kit):
    chosen = kit.create.chosen
    chosen.set_size(1216, 832)
    chosen.lock_aspect(True)
    for width in (1000, 777, 64, 1216):
        chosen.set_width(width)
    assert chosen.size() == (1216, 832)
    chosen.set_height(416)
    assert chosen.size() == (608, 416)
    chosen.lock_aspect(False)
    chosen.set_height(1024)
    assert chosen.size() == (608, 1024)
    chosen.swap_sides()
    assert chosen.size() == (1024, 608)


# ---- from elsewhere


@given(st.sampled_from(["all", "prompt", "seed"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_foreign_image_fills_in_what_it_was_asked_for(kit, what):
    kit.state.change(model="base", prompt="before", negative_prompt="n", seed=None, seed_fixed=False, per_model={})
    kit.create.chosen.change(steps=3)
    kit.create.apply_metadata(METADATA, what)
    words = (kit.create.prompts.prompt(), kit.create.prompts.negative_prompt())
    assert words == (("before", "n") if what == "seed" else ("a boat", "fog"))
    assert kit.create.seed.value() == (None if what == "prompt" else 11)
    assert kit.create.chosen.model() == ("dit" if what == "all" else "base")
    assert kit.create.chosen.settings_of("base") == CreateSettings(steps=3)
    if what == "all":
        assert kit.create.chosen.settings() == CreateSettings(
            width=512, height=768, steps=9, sampler="euler", schedule="karras", guidance_scale=3.0
        )


def test_our_own_image_comes_back_as_the_same_request(kit):
    kit.write().create.chosen.change(
        steps=9, refiner="refiner", second_pass=True, second_scale=2.0, loras=(LoraChoice(path="/l", weight=0.2),)
    )
    kit.create.seed.set(3)
    request = kit.create.request()
    kit.write("other").create.chosen.set_model("turbo")
    kit.create.seed.fix(False)
    kit.create.apply_metadata(replace(METADATA, program="mezzotint", request=request), "all")
    assert kit.create.request() == request
    assert kit.said == []


def test_what_could_not_be_taken_over_is_told(kit):
    kit.create.apply_metadata(replace(METADATA, model="unheard-of", sampler="restart"), "all")
    assert kit.said == ["Not copied: model unheard-of, sampler restart."]
    kit.create.apply_request(request_of(Form(model="elsewhere", prompt="a")))
    assert "elsewhere" in kit.said[-1]
    assert kit.create.chosen.model() == "base"
    kit.create.apply_metadata(replace(METADATA, seed=None), "seed")
    assert "seed" in kit.said[-1]


def test_a_request_with_an_image_brings_the_image(kit):
    kit.write().images.set_image("/some/where.png")
    kit.images.set_strength(0.3)
    request = kit.create.request()
    assert (request.images[0].path, request.strength) == ("/some/where.png", 0.3)
    kit.images.clear()
    assert kit.create.request().images == ()
    kit.create.apply_request(request)
    assert kit.create.request().images == request.images


def test_an_image_that_cannot_be_read_stands_in_the_way(kit):
    kit.write().images.set_image("/some/where.png")
    kit.librarian.fail("image_refused", "It is no image.", method="pixels")
    assert kit.create.problems() == {"image": "It is no image."}


# ---- long and odd words


def test_a_prompt_of_a_megabyte_is_refused_and_nothing_is_lost(kit):
    kit.write("mine")
    assert not kit.create.prompts.set_prompt("x" * (1 << 20))
    assert kit.create.prompts.prompt() == "mine"
    assert "1048576" in kit.said[0]
    assert str(LONGEST) in kit.said[0]
    kit.create.apply_metadata(replace(METADATA, prompt="y" * (1 << 20)), "all")
    assert kit.create.prompts.prompt() == "mine"
    assert kit.create.chosen.settings() == CreateSettings()


def test_a_prompt_as_long_as_can_be_read_is_asked_for(kit):
    kit.write("ab " * (LONGEST // 3)).create.generate()
    assert len(kit.tasks(kit.entries[0])[0].request.prompt) == LONGEST // 3 * 3


@given(st.text(st.characters() | st.sampled_from("\ud83d\ude00\udfff"), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_halves_of_characters_become_a_mark_that_can_be_seen(kit, text):
    kit.create.prompts.set_prompt(text)
    shown = kit.create.prompts.prompt()
    shown.encode("utf-8")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        assert shown != text
    else:
        assert shown == text


def test_prompts_are_remembered_if_that_is_wanted(kit):
    kit.write("one").create.generate()
    kit.write("two").create.generate()
    assert kit.state.value().history == ("two", "one")
    kit.write("draft")
    assert kit.create.prompts.older() == "two"
    assert kit.create.prompts.prompt() == "two"
    assert kit.create.prompts.older() == "one"
    assert kit.create.prompts.newer() == "two"
    assert kit.create.prompts.newer() == "draft"
    kit.settings.change(remember_prompts=False)
    assert kit.state.value().history == ()
    kit.write("three").create.generate()
    assert kit.state.value().history == ()


# ---- commands


def test_the_command_is_copied_with_every_alternative(kit):
    kit.write("a {red|blue} house").create.seed.set(4)
    texts = []
    kit.create.copy_command(texts.append)
    lines = texts[0].splitlines()
    assert [shlex.split(line)[-1] for line in lines] == ["a red house", "a blue house"]
    assert all("--seed 4" in line and "--model base" in line for line in lines)
    assert kit.said == []


def test_a_command_that_is_too_long_a_list_says_so(kit):
    kit.write("{1|2|3|4|5|6|7|8|9|0}" * 3)
    texts = []
    kit.create.copy_command(texts.append)
    assert texts == []
    assert len(kit.said) == 1


# ---- seeds


def test_a_seed_is_drawn_kept_and_reused(kit):
    kit.write()
    seed = kit.create.seed
    assert kit.create.request().seed is None
    assert not seed.can_reuse()
    seed.roll()
    first = seed.value()
    assert kit.create.request().seed == first
    seed.fix(False)
    assert (kit.create.request().seed, seed.shown()) == (None, first)
    seed.fix(True)
    assert seed.value() == first
    kit.runner.begin(_task(kit))
    kit.runner.saved.emit(kit.runner.task(), generated("/p.png", seed=99))
    assert seed.can_reuse()
    seed.reuse()
    assert kit.create.request().seed == 99


def _task(kit):
    kit.create.generate()
    return kit.tasks(kit.entries[-1])[0]


# ---- what is planned


@pytest.mark.parametrize("last", [None, "enlarger"])
def test_the_plan_is_of_the_largest_stage_and_of_all_models_before_a_conditional_refiner(kit, qtbot, last):
    kit.settings.change(memory="lowest", vram_limit_bytes=6 << 30)
    chosen = {"refiner": "refiner", "second_pass": True, "second_scale": 2.0, "steps": 9, "quantization": "int8"}
    kit.create.chosen.change(**chosen, refine_with=last)
    qtbot.waitUntil(lambda: bool(kit.engine.open("plan")))
    asked = kit.engine.last("plan").params
    side, models = (4096, (last,)) if last else (2048, ("base", "refiner"))
    assert (asked.models, asked.width, asked.height, asked.steps) == (models, side, side, 9)
    assert (asked.memory, asked.vram_bytes, asked.quantization) == ("lowest", 6 << 30, "int8")


def test_a_model_that_cannot_be_run_is_not_planned(kit):
    kit.create.chosen.set_model("broken")
    assert kit.create.preflight.state() == "nothing"


def test_the_window_decides_what_is_the_machines(kit):
    kit.write()
    kit.settings.change(device="cpu", attention="sdpa", ram_limit_bytes=1 << 30, previews=False)
    request = kit.create.request()
    assert (request.device, request.attention, request.ram_limit_bytes, request.previews) == (
        "cpu",
        "sdpa",
        1 << 30,
        False,
    )


def test_an_unread_list_of_models_refuses_nothing(tmp_path, qapp):
    kit = Kit(tmp_path, models=())
    other = Kit(tmp_path / "x")
    assert "model" in kit.create.problems()
    assert other.create.problems().keys() == {"prompt"}
    kit.close()
    other.close()


def test_loras_of_an_image_keep_their_hash(kit):
    request = GenerateRequest(prompt="a", loras=(LoraRef(path="/l", weight=1.0, sha256="0" * 64),))
    kit.create.apply_request(request)
    assert kit.create.request().loras == request.loras


def test_nothing_is_asked_of_a_thread_of_the_window(tmp_path, qapp):
    """All that reads or writes goes through a thread that the test holds back."""
    held = InlineBackground()
    kit = Kit(tmp_path)
    held.held = True
    kit.queue._background = held
    kit.write().create.generate()
    assert kit.entries == []
    held.go()
    assert len(kit.entries) == 1
    kit.close()


def test_the_time_is_learned_from_earlier_images_of_the_model_size_and_steps(kit):
    kit.write()
    kit.create.chosen.change(steps=10, count=4, width=512, height=512)
    seconds = PhaseSeconds(load=2, encode=1, step=0.5, decode=1, save=1, steps=10)
    kit.queue.change(lambda store: record_timing(store, run_key(kit.create.request()), seconds))
    told = []
    kit.create.preflight.expect = lambda images, learned: told.append((images, learned))
    kit.create.preview.ended.emit()
    assert told[-1] == (4, 2 + 1 + 4 * 7)
    kit.create.chosen.change(steps=20)
    assert told[-1] == (4, 2 + 1 + 4 * 12)
    asked = len(told)
    kit.write("another prompt")
    assert len(told) == asked  # which changes nothing of the time
    kit.create.chosen.set_model("dit")
    assert told[-1][1] is None


def test_an_entry_of_alternatives_is_called_as_the_prompt_is_written(kit):
    assert kit.write("{red|blue} house").create.generate()
    assert kit.write("a house").create.generate()
    assert [row.title for row in kit.queued()] == ["{red|blue} house", "a house"]
