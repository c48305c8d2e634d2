"""The YAML beside a checkpoint says what its network predicts; what it says beside that is not forgotten."""

import pytest

from mezzotint.families.checkpoint_yaml import yaml_beside


@pytest.fixture
def read(tmp_path):
    def call(text, name="model.yaml"):
        (tmp_path / name).write_bytes(text.encode())
        found = yaml_beside(tmp_path / "model.safetensors")
        assert found is not None
        return found.prediction, found.unused

    return call


V1 = """model:
  target: ldm.models.diffusion.ddpm.LatentDiffusion
  params: {linear_start: 0.00085, linear_end: 0.0120, timesteps: 1000, scale_factor: 0.18215, use_ema: False}
"""
SGM = """model:
  params:
    denoiser_config:
      params:
        scaling_config: {target: sgm.modules.diffusionmodules.denoiser_scaling.%s}
"""


@pytest.mark.parametrize(
    ("text", "prediction"),
    [
        (V1, None),
        ("model: {params: {parameterization: v}}", "v_prediction"),
        ("- [{parameterization: eps}]", "epsilon"),
        (SGM % "VScaling", "v_prediction"),
        (SGM % "EpsScaling", "epsilon"),
        ("a web page", None),
        ("", None),
    ],
)
def test_what_the_network_predicts(read, text, prediction):
    assert read(text) == (prediction, ())


@pytest.mark.parametrize(
    ("text", "unused"),
    [
        ("model: {params: {parameterization: x0, linear_end: 0.02}}", ["linear_end: 0.02", "parameterization: x0"]),
        ("cond_stage_config: {params: {layer: hidden, layer_idx: -2}}", ["layer_idx: -2"]),
        (SGM % "EDMScaling", ["target: sgm.modules.diffusionmodules.denoiser_scaling.EDMScaling"]),
    ],
)
def test_other_settings_are_named(read, text, unused):
    prediction, told = read(text, "model.yml")
    assert prediction is None
    assert len(told) == len(unused)
    for each, said in zip(sorted(told), unused, strict=True):
        assert each.startswith(said[:30]) and each.endswith(" in model.yml")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "model.yaml, which cannot be read"),
        ("!!python/object/apply:os.system ['true']", "model.yaml, which cannot be read"),
        ("[" * 2000, "more than 1000 opening brackets"),
        ("x: " + "y" * 2**18, "model.yaml, which cannot be read"),
        ("a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9)), "10000"),
    ],
)
def test_what_cannot_be_read_is_said(read, text, why):
    prediction, (said,) = read(text)
    assert prediction is None and why in said


def test_without_a_file_there_is_none(tmp_path):
    assert yaml_beside(tmp_path / "model.safetensors") is None
