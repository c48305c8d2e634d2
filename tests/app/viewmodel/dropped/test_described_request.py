"""Settings in words that can be compared: everything that another program says, too."""

from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    ImageMetadata,
    LoraRef,
    ModelRef,
    Sampling,
    Stage,
    Transition,
)
from mezzotint_app.viewmodel.dropped.described_request import (
    file_name,
    later_stages,
    metadata_setting_texts,
    setting_texts,
)

NOTHING = dict.fromkeys(
    (
        "prompt",
        "negative_prompt",
        "width",
        "height",
        "seed",
        "steps",
        "sampler",
        "schedule",
        "guidance_scale",
        "strength",
        "model",
        "model_hash",
        "request",
    )
)


def values(rows):
    return {row.key: row.value for row in rows}


def test_a_full_request_is_told_with_the_names_of_files_only():
    request = GenerateRequest(
        prompt="a house",
        cascade=Cascade(
            stages=(
                Stage(
                    model=ModelRef(id="base"),
                    width=512,
                    height=768,
                    until=0.8,
                    sampling=Sampling(steps=20, guidance_scale=6.5),
                ),
                Stage(model=ModelRef(id="refiner")),
                Stage(),
            ),
            transitions=(Transition(), Transition(scale=1.5, strength=0.4)),
        ),
        loras=(LoraRef(path="/secret/folder/oil.safetensors", weight=0.5), LoraRef(path=r"C:\x\ink.safetensors")),
        images=(ImageInput(path="/home/me/in.png"),),
        strength=0.4,
        seed=7,
    )
    told = values(setting_texts(request))
    assert told["size"] == "512 × 768"
    assert told["seed"] == "7"
    assert told["guidance_scale"] == "6.5"
    assert told["loras"] == "oil.safetensors (0.5), ink.safetensors (1)"
    assert told["images"] == "in.png"
    assert "refiner" in told["stages"]
    assert "1.5" in told["stages"]
    assert told["stages"] == "Refiner: refiner, from 80% of the steps; Hires fix: 1.5 ×, denoising strength 0.4"


def test_each_field_has_a_name_and_stands_once():
    rows = setting_texts(GenerateRequest(prompt="x"))
    assert all(row.name for row in rows)
    assert len({row.key for row in rows}) == len(rows)


def test_of_another_program_only_what_it_says():
    metadata = ImageMetadata(
        program="a1111", other={}, **(NOTHING | {"prompt": "x", "steps": 30, "width": 5, "height": 6})
    )
    assert values(metadata_setting_texts(metadata)) == {"prompt": "x", "steps": "30", "size": "5 × 6"}
    assert metadata_setting_texts(ImageMetadata(program="unknown", other={}, **(NOTHING | {"width": 5}))) == []


def test_of_ours_the_request():
    request = GenerateRequest(prompt="x", seed=3)
    metadata = ImageMetadata(program="mezzotint", other={}, **(NOTHING | {"request": request, "prompt": "other"}))
    assert metadata_setting_texts(metadata) == setting_texts(request)


def test_a_request_without_stages_is_told_too():
    assert values(setting_texts(GenerateRequest(prompt="x", cascade=Cascade(stages=()))))["prompt"] == "x"


def test_more_transitions_than_stages_are_no_trouble():
    cascade = Cascade(stages=(Stage(),), transitions=(Transition(), Transition()))
    assert later_stages(GenerateRequest(prompt="x", cascade=cascade)) == []


def test_names_of_files_of_any_system():
    assert [file_name(path) for path in ("/a/b.png", r"C:\a\b.png", "b.png", "/", "")] == ["b.png"] * 3 + ["/", ""]
