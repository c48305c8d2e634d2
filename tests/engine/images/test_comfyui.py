import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.comfyui import is_graph, metadata_of_graph


def node(kind: str, **inputs: object) -> dict[str, object]:
    return {"class_type": kind, "inputs": inputs}


def classic(**changes: object) -> dict[str, object]:
    """The graph that ComfyUI opens with."""
    return {
        "3": node(
            "KSampler",
            seed=156680208700286,
            steps=20,
            cfg=8,
            sampler_name="euler_ancestral",
            scheduler="karras",
            denoise=1,
            model=["4", 0],
            positive=["6", 0],
            negative=["7", 0],
            latent_image=["5", 0],
        ),
        "4": node("CheckpointLoaderSimple", ckpt_name="v1-5-pruned.safetensors"),
        "5": node("EmptyLatentImage", width=512, height=768, batch_size=1),
        "6": node("CLIPTextEncode", text="a bottle, galaxy", clip=["4", 1]),
        "7": node("CLIPTextEncode", text="text, watermark", clip=["4", 1]),
        "8": node("VAEDecode", samples=["3", 0], vae=["4", 2]),
        "9": node("SaveImage", filename_prefix="ComfyUI", images=["8", 0]),
    } | changes


def test_the_classic_graph() -> None:
    graph = classic()
    found = metadata_of_graph(graph)
    assert is_graph(graph)
    assert (found.program, found.prompt, found.negative_prompt) == ("comfyui", "a bottle, galaxy", "text, watermark")
    assert (found.width, found.height, found.seed, found.steps) == (512, 768, 156680208700286, 20)
    assert (found.sampler, found.schedule, found.guidance_scale) == ("euler_a", "karras", 8.0)
    assert (found.model, found.strength, found.other) == ("v1-5-pruned.safetensors", None, {})


def test_loras_patches_and_conditioning_nodes_are_passed_through() -> None:
    graph = classic(
        **{
            "10": node("LoraLoader", lora_name="style.safetensors", model=["4", 0], clip=["4", 1]),
            "11": node("ModelSamplingDiscrete", model=["10", 0]),
            "12": node("ConditioningCombine", conditioning_1=["6", 0], conditioning_2=["13", 0]),
            "13": node("CLIPTextEncode", text=["14", 0], clip=["10", 1]),
            "14": node("PrimitiveString", value="stars"),
            "15": node("ControlNetApplyAdvanced", positive=["12", 0], negative=["7", 0], control_net=["99", 0]),
        }
    )
    graph["3"]["inputs"] |= {"model": ["11", 0], "positive": ["15", 0], "negative": ["15", 1]}
    found = metadata_of_graph(graph)
    assert (found.prompt, found.negative_prompt) == ("a bottle, galaxy\nstars", "text, watermark")
    assert found.model == "v1-5-pruned.safetensors"
    assert found.other == {"loras": "style.safetensors"}


def test_base_and_refiner_by_advanced_samplers_and_sdxl_words() -> None:
    shared = {"cfg": 5.5, "sampler_name": "dpmpp_2m", "scheduler": "karras", "negative": ["7", 0], "steps": 25}
    graph = {
        "20": node(
            "KSamplerAdvanced", noise_seed=2, model=["4", 0], positive=["6", 0], latent_image=["3", 0], **shared
        ),
        "3": node("KSamplerAdvanced", noise_seed=1, model=["4", 0], positive=["6", 0], latent_image=["5", 0], **shared),
        "4": node("CheckpointLoaderSimple", ckpt_name="base.safetensors"),
        "5": node("EmptyLatentImage", width=["30", 0], height=1024),
        "6": node("CLIPTextEncodeSDXL", text_g="a house", text_l="red, painted", width=1024, height=1024),
        "7": node("CLIPTextEncodeSDXL", text_g="bad", text_l="bad"),
        "30": node("PrimitiveInt", value=832),
    }
    found = metadata_of_graph(graph)
    assert (found.seed, found.width, found.height, found.steps) == (1, 832, 1024, 25)
    assert (found.prompt, found.negative_prompt) == ("a house\nred, painted", "bad")
    assert found.other["samplers"] == "2"


def test_a_custom_sampler_is_gathered_from_its_parts() -> None:
    graph = {
        "1": node(
            "SamplerCustomAdvanced",
            noise=["2", 0],
            guider=["3", 0],
            sampler=["4", 0],
            sigmas=["5", 0],
            latent_image=["6", 0],
        ),
        "2": node("RandomNoise", noise_seed=["11", 0]),
        "3": node("CFGGuider", cfg=4.5, model=["7", 0], positive=["8", 0], negative=["9", 0]),
        "4": node("KSamplerSelect", sampler_name="uni_pc"),
        "5": node("SplitSigmas", sigmas=["10", 0], step=10),
        "6": node("EmptySD3LatentImage", width=1024, height=1024),
        "7": node("UNETLoader", unet_name="flux.safetensors"),
        "8": node("CLIPTextEncodeFlux", clip_l="a cat", t5xxl="a cat on a mat", guidance=3.5),
        "9": node("ConditioningZeroOut", conditioning=["8", 0]),
        "10": node("KarrasScheduler", steps=30, sigma_max=14.6),
        "11": node("Seed", seed=99),
    }
    found = metadata_of_graph(graph)
    assert (found.seed, found.steps, found.sampler, found.schedule) == (99, 30, "unipc", "karras")
    assert (found.prompt, found.negative_prompt) == ("a cat\na cat on a mat", None)
    assert (found.guidance_scale, found.model) == (4.5, "flux.safetensors")


def test_a_basic_guider_names_its_words_conditioning() -> None:
    graph = {
        "1": node("SamplerCustomAdvanced", guider=["3", 0], sigmas=["5", 0], latent_image=["6", 0]),
        "3": node("BasicGuider", model=["7", 0], conditioning=["4", 0]),
        "4": node("FluxGuidance", guidance=3.5, conditioning=["8", 0]),
        "8": node("CLIPTextEncode", text="a cat"),
        "5": node("BasicScheduler", scheduler="simple", steps=8, denoise=0.6, model=["7", 0]),
    }
    found = metadata_of_graph(graph)
    assert (found.prompt, found.schedule, found.steps, found.strength) == ("a cat", "simple", 8, 0.6)


def test_img2img_has_a_strength_and_no_size() -> None:
    graph = classic(**{"5": node("VAEEncode", pixels=["16", 0]), "16": node("LoadImage", image="in.png")})
    graph["3"]["inputs"]["denoise"] = 0.45
    found = metadata_of_graph(graph)
    assert (found.strength, found.width, found.height) == (0.45, None, None)


def test_a_graph_without_sampler_says_little() -> None:
    found = metadata_of_graph({"9": node("SaveImage")})
    assert (found.program, found.prompt, found.seed) == ("comfyui", None, None)


@pytest.mark.parametrize("link", [["3", 0], ["6", 0], ["none", 0], [], [["3"], 0], {"a": 1}, None, 7, ["3"] * 3])
def test_circles_and_broken_links_end(link: object) -> None:
    graph = classic()
    for name in ("positive", "negative", "model", "latent_image", "seed", "cfg"):
        graph["3"]["inputs"][name] = link
    graph["6"]["inputs"]["text"] = link
    assert metadata_of_graph(graph).program == "comfyui"


def test_a_long_chain_is_bounded() -> None:
    chain = {str(n): node("Note", samples=[str(n + 1), 0], text=[str(n + 1), 0]) for n in range(10_000)}
    sampler = node("KSampler", steps=3, latent_image=["0", 0], positive=["0", 0], model=["0", 0])
    assert metadata_of_graph(chain | {"s": sampler}).steps == 3


def test_many_chained_samplers_are_bounded() -> None:
    samplers = {str(n): node("KSampler", steps=n, latent_image=[str(n + 1), 0]) for n in range(3000)}
    assert metadata_of_graph(samplers).program == "comfyui"


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(["1", 0])
field_names = st.sampled_from(
    ["positive", "negative", "model", "latent_image", "steps", "sigmas", "text", "seed", "width"]
)
junk = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(field_names, inner), max_leaves=8
)
nodes = st.fixed_dictionaries({"class_type": leaves, "inputs": st.dictionaries(field_names, junk) | junk}) | junk


@given(st.dictionaries(st.sampled_from(["1", "2", "3", "x"]), nodes))
def test_any_graph_is_survived(graph: dict[str, object]) -> None:
    found = metadata_of_graph(graph)
    assert found.program == "comfyui"
    json.dumps(found.other)
