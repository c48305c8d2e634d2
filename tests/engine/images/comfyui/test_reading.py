import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.images.comfyui.reading import is_graph, metadata_of_graph
from mezzotint.images.untrusted import MAX_TEXT
from mezzotint.protocol import ImageMetadata, LoraNamed


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
    assert found.loras == (LoraNamed(name="style.safetensors"),)
    assert found.other == {
        "loras": "style.safetensors",
        "nodes": "ModelSamplingDiscrete, ConditioningCombine, ControlNetApplyAdvanced",
    }


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


def sampled(**nodes: object) -> ImageMetadata:
    """Metadata of the usual graph, with other nodes."""
    return metadata_of_graph(classic(**nodes))


@pytest.mark.parametrize(
    ("nodes", "prompt"),
    [
        (
            {
                "20": node("StringConcatenate", delimiter=", ", string_b=["21", 0], string_a="a red"),
                "21": node("PrimitiveStringMultiline", value="cat"),
            },
            "cat, a red",
        ),
        ({"20": node("Text Concatenate", text_a="one", text_b=["21", 0]), "21": node("X", str="two")}, "one two"),
        (
            {"20": node("Reroute", **{"": ["76:21", 0]}), "76:21": node("String Literal", string="in a subgraph")},
            "in a subgraph",
        ),
        ({"20": node("Any Switch", any_01=["30", 0], any_02=["21", 0]), "21": node("Y", Text="second")}, "second"),
        (
            {"20": node("Processor", wildcard_text="__x__", populated_text="a drawn one", mode="populate")},
            "a drawn one",
        ),
        ({"20": node("Styler", text_positive="good", text_negative="bad", style="none")}, "good"),
        ({"20": node("easy negative", negative="only this")}, "only this"),
    ],
)
def test_text_is_followed_through_any_nodes(nodes: dict[str, object], prompt: str) -> None:
    found = sampled(**{"6": node("CLIPTextEncode", text=["20", 0], clip=["4", 1])}, **nodes)
    assert found.prompt == prompt and "words from" not in found.other


def test_words_that_are_not_in_the_graph_are_named() -> None:
    loader = node("Load Text File", file_path="C:\\mine\\prompts.txt")
    found = sampled(**{"6": node("CLIPTextEncode", text=["20", 0]), "20": loader})
    assert found.prompt is None
    assert found.other["words from"] == "Load Text File (prompts.txt)"
    found = sampled(**{"6": node("CLIPTextEncode", text=["99", 0]), "7": node("CLIPTextEncode", text=["98", 0])})
    assert found.other["words from"] == "a missing node"
    assert sampled(**{"6": node("Unknown")}).other["words from"] == "no node: no text reaches the sampler"


def test_encoders_of_several_texts_and_images() -> None:
    encoder = node(
        "CLIPTextEncodeHiDream", clip_l="a cat", clip_g="a cat", t5xxl="on a mat", llama="at dusk", clip=["4", 1]
    )
    assert sampled(**{"6": encoder}).prompt == "a cat\non a mat\nat dusk"
    edit = node("TextEncodeQwenImageEditPlus", prompt="make it red", image1=["40", 0], vae=["4", 2], clip=["4", 1])
    assert sampled(**{"6": edit, "40": node("LoadImage", image="secret text.png")}).prompt == "make it red"
    lumina = node("CLIPTextEncodeLumina2", system_prompt="superior", user_prompt="a bird")
    assert sampled(**{"6": lumina}).prompt == "a bird"


def test_a_loader_with_both_prompts_gives_each_role_its_own() -> None:
    loader = node("Efficient Loader", ckpt_name="a.safetensors", positive="good", negative="bad")
    graph = classic(**{"4": loader})
    graph["3"]["inputs"] |= {"positive": ["4", 1], "negative": ["4", 2]}
    found = metadata_of_graph(graph)
    assert (found.prompt, found.negative_prompt) == ("good", "bad")


@pytest.mark.parametrize("through", ["InstructPixToPixConditioning", "ReferenceLatent"])
def test_guiders_of_two_conditionings(through: str) -> None:
    """The shape of CosXL Edit's and HiDream E1's graphs, and of OmniGen 2's."""
    if through == "InstructPixToPixConditioning":
        middle = {"10": node(through, positive=["6", 0], negative=["7", 0], pixels=["40", 0], vae=["4", 2])}
        first, second = ["10", 0], ["10", 1]
    else:
        middle = {name: node(through, conditioning=[f, 0], latent=["41", 0]) for name, f in (("10", "6"), ("11", "7"))}
        first, second = ["10", 0], ["11", 0]
    graph = classic(
        **middle,
        **{
            "1": node(
                "SamplerCustomAdvanced", guider=["2", 0], sigmas=["5", 0], latent_image=["40", 0], noise=["8", 0]
            ),
            "2": node("DualCFGGuider", model=["4", 0], cond1=first, cond2=second, negative=["7", 0], cfg_conds=5.0),
            "5": node("BasicScheduler", steps=20, scheduler="simple"),
            "8": node("RandomNoise", noise_seed=4),
        },
    )
    del graph["3"]
    found = metadata_of_graph(graph)
    assert (found.prompt, found.negative_prompt) == ("a bottle, galaxy", "text, watermark")
    assert (found.guidance_scale, found.seed) == (5.0, 4)


def test_distilled_guidance_and_clip_skip_are_read() -> None:
    nodes = {
        "10": node("FluxGuidance", guidance=["11", 0], conditioning=["6", 0]),
        "11": node("PrimitiveFloat", value=2.5),
    }
    graph = classic(**nodes, **{"12": node("CLIPSetLastLayer", stop_at_clip_layer=-2, clip=["4", 1])})
    graph["3"]["inputs"] |= {"positive": ["10", 0], "cfg": 1.0}
    found = metadata_of_graph(graph)
    assert (found.guidance_scale, found.distilled_guidance_scale, found.clip_skip) == (1.0, 2.5, 1)
    assert found.other == {}


def test_loras_between_model_and_sampler_are_told_from_the_others() -> None:
    power = node(
        "Power Lora Loader",
        lora_1={"on": True, "lora": "b", "strength": 0.5},
        lora_2={"on": False, "lora": "c", "strength": 1},
        model=["10", 0],
    )
    graph = classic(
        **{
            "10": node("LoraLoaderModelOnly", lora_name="a", strength_model=0.7, model=["4", 0]),
            "11": power,
            "12": node("LoraLoader", lora_name="unused"),
        }
    )
    graph["3"]["inputs"]["model"] = ["11", 0]
    found = metadata_of_graph(graph)
    assert found.loras == (LoraNamed(name="a", weight=0.7), LoraNamed(name="b", weight=0.5))
    assert found.other["loras elsewhere"] == "unused"


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


def test_texts_that_double_are_bounded() -> None:
    doubling = {str(n): node("Concat", string_a=[str(n + 1), 0], string_b=[str(n + 1), 0]) for n in range(100, 200)}
    doubling["115"] = node("T", text="x" * 100_000)
    found = sampled(**{"6": node("CLIPTextEncode", text=["100", 0])}, **doubling)
    assert found.prompt is None or len(found.prompt) <= MAX_TEXT


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
