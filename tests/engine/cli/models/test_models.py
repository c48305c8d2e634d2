"""`mezzotint models`: lists and looks."""

from fake_engine import model_info

from mezzotint.codec import decode
from mezzotint.protocol import ModelDefaults, ModelInfo, ModelPart

REFUSED = model_info(id="bad", family="", variant="", problem="a pickle\x1b[2J\ncould run code", source="a1111")


def test_the_list_is_aligned_and_says_why_a_model_is_refused(command):
    done = command("models", "list", models=[model_info(), REFUSED])
    header, first, second = done.out.splitlines()
    assert header.split() == ["ID", "FAMILY", "VARIANT", "SIZE", "SOURCE", "NOTE"]
    assert first.split() == ["starter/dit", "pixart", "sigma", "1.2", "MB", "bundled"]
    assert second.index("a1111") == first.index("bundled") == header.index("SOURCE")
    assert second.endswith("refused: a pickle\\x1b[2J\\ncould run code")
    assert done.err == "notice: a folder is gone\n"


def test_the_list_as_json(command):
    done = command("models", "list", "--json", models=[model_info(), REFUSED])
    assert decode(tuple[ModelInfo, ...], done.json["models"]) == (model_info(), REFUSED)


def test_an_empty_list_says_where_to_look(command):
    done = command("models", "list", "--models-folder", "/m", models=[])
    assert (done.code, done.out) == (0, "")
    assert "mezzotint doctor" in done.err
    assert [str(folder) for folder in done.folders] == ["/m"]
    assert command("models", "list", "--json", models=[]).json == {"models": []}


def test_one_model(command):
    info = model_info(defaults=ModelDefaults(width=128, height=128, steps=20, guidance_scale=4.5))
    done = command("models", "inspect", "starter/dit", models=[info])
    assert "defaults  128x128, 20 steps, guidance 4.5" in done.out
    assert decode(ModelInfo, command("models", "inspect", "starter/dit", "--json", models=[info]).json) == info


def test_what_a_model_predicts_and_what_is_assumed_of_it(command):
    info = model_info(
        prediction_type="v_prediction", prediction_reason="'v pred' in its name", notices=("v_prediction is", "two")
    )
    told = command("models", "inspect", "starter/dit", models=[info]).out.splitlines()
    lines = [line.split(maxsplit=1) for line in told]
    assert ["prediction", "v_prediction ('v pred' in its name)"] in lines and ["notice", "v_prediction is"] in lines
    assert any(line.startswith("notice 2 ") and line.endswith(" two") for line in told)


def test_a_quantized_model(command):
    parts = (
        ModelPart(name="unet", bytes=2**20, layers={"int8": 4, "float16": 1}),
        ModelPart(name="vae", bytes=10, layers={"float32": 2}),
    )
    info = model_info(scheme="int8", parts=parts)
    told = [
        line.split(maxsplit=1) for line in command("models", "inspect", "starter/dit", models=[info]).out.splitlines()
    ]
    assert ["scheme", "int8"] in told
    assert ["unet", "1.0 MB: 4 int8, 1 float16"] in told and ["vae", "10 bytes: 2 float32"] in told
    assert decode(ModelInfo, command("models", "inspect", "starter/dit", "--json", models=[info]).json) == info
    assert command("models", "list", models=[info]).out.splitlines()[1].endswith("bundled  int8")


def test_an_unknown_model_is_a_usage_error(command):
    done = command("models", "inspect", "nobody", "--json")
    assert done.code == 2
    assert done.json["error"]["kind"] == "unknown_model"
