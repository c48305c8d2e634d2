"""Settings are kept per model, and survive the file."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mezzotint.codec import from_json, to_json
from mezzotint_app.viewmodel.create.state import (
    KEPT_FROM_IMAGES,
    MOST_MODELS,
    CreateSettings,
    CreateState,
    LoraChoice,
    loras_in_use,
    names_of_settings,
    settings_of,
    with_lora,
    with_settings,
    without,
)


def test_the_page_is_read_back_as_it_was_written():
    state = CreateState(
        model="m",
        prompt="a \ud83d\ude00 \u00e9".encode("utf-16", "surrogatepass").decode("utf-16"),
        per_model={"m": CreateSettings(steps=7, loras=(LoraChoice(path="/x", weight=-0.5, on=False),))},
        history=("a", "b"),
        open_folds=("lora",),
    )
    assert from_json(CreateState, to_json(state)) == state
    assert from_json(CreateState, "{}") == CreateState()


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 50), max_size=6), st.text(max_size=3), st.integers(1, 9))
def test_setting_one_model_leaves_the_others_alone(steps, model, new):
    state = CreateState(per_model={name: CreateSettings(steps=count) for name, count in steps.items()})
    after = CreateState(per_model=with_settings(state, model, CreateSettings(steps=new)))
    assert settings_of(after, model).steps == new
    for name in steps:
        if name != model:
            assert settings_of(after, name) == settings_of(state, name)


def test_settings_that_say_nothing_take_no_room():
    state = CreateState(per_model={"m": CreateSettings(steps=3)})
    assert with_settings(state, "m", CreateSettings()) == {}
    assert settings_of(state, "other") == CreateSettings()


def test_only_so_many_models_are_remembered_the_oldest_leave():
    state = CreateState(per_model={str(n): CreateSettings(steps=1) for n in range(MOST_MODELS)})
    kept = with_settings(state, "new", CreateSettings(steps=2))
    assert len(kept) == MOST_MODELS
    assert "0" not in kept
    assert "new" in kept


def test_single_fields_go_back_to_the_models_own():
    settings = CreateSettings(steps=3, sampler="euler", count=4)
    assert without(settings, ["steps"]) == CreateSettings(sampler="euler", count=4)
    assert without(settings, names_of_settings()) == CreateSettings()
    assert set(KEPT_FROM_IMAGES) < set(names_of_settings())


def test_a_lora_that_is_off_is_not_used_and_keeps_its_weight():
    settings = CreateSettings(loras=(LoraChoice(path="a", weight=0.5), LoraChoice(path="b", weight=2.0, on=False)))
    assert [(one.path, one.weight) for one in loras_in_use(settings)] == [("a", 0.5)]


def test_a_lora_is_in_the_list_once_and_on(qapp):
    loras = with_lora(with_lora((), "/a.safetensors"), "/b.safetensors")
    assert [one.path for one in loras] == ["/a.safetensors", "/b.safetensors"]
    off = (replace(loras[0], on=False, weight=0.3), loras[1])
    assert with_lora(off, "/a.safetensors") == (replace(loras[0], weight=0.3), loras[1])


@given(
    st.builds(
        CreateSettings,
        width=st.none() | st.integers(),
        steps=st.none() | st.integers(),
        clip_skip=st.none() | st.integers(),
        count=st.integers(),
        guidance_scale=st.none() | st.floats(allow_nan=False),
        loras=st.lists(st.builds(LoraChoice, path=st.just("/x"), weight=st.floats(allow_nan=False))).map(tuple),
    )
)
def test_numbers_that_no_control_can_show_are_the_model_s_own(wild):
    shown = settings_of(CreateState(per_model={"m": wild}), "m")
    for name in ("width", "steps", "clip_skip", "count", "guidance_scale"):
        value, unset = getattr(wild, name), getattr(CreateSettings(), name)
        assert getattr(shown, name) == (value if value is None or abs(value) <= 1_000_000 else unset)
    assert [one.path for one in shown.loras] == [one.path for one in wild.loras]
    assert all(abs(one.weight) <= 1_000_000 for one in shown.loras)
