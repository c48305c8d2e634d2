"""Names of tensors, in every naming: one layer has one form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_sdxl import LAYERS, unet_name

from mezzotint.families.lora.keys import Key, flat, from_original, parse_key

QUERY = "down_blocks_1_attentions_0_transformer_blocks_0_attn1_to_q"
OUT = "down_blocks_1_attentions_0_transformer_blocks_0_attn1_to_out_0"
ENCODER = "encoder_layers_0_self_attn"

NAMES = [
    ("lora_unet_conv_in.diff_b", "denoiser", "conv_in", "diff_b"),
    ("lora_te1_text_model_" + ENCODER + "_q_proj.diff", "text_encoder", ENCODER + "_q_proj", "diff"),
    ("diffusion_model.norm_out.w_norm", "denoiser", "norm_out", "w_norm"),
    ("transformer.x_embedder.lora_B.bias", "denoiser", "x_embedder", "bias"),
    ("unet:12:up", "denoiser", "number_12", "up"),
    ("text_encoder:0:down", "text_encoder", "number_0", "down"),
    ("double_blocks.3.processor.qkv_lora1.down.weight", "denoiser", "double_blocks_3_img_attn_qkv", "down"),
    ("double_blocks.3.processor.proj_lora2.up.weight", "denoiser", "double_blocks_3_txt_attn_proj", "up"),
    ("diffusion_model.single_blocks.7.processor.qkv_lora.up.weight", "denoiser", "single_blocks_7_attn_qkv", "up"),
    ("single_blocks.7.processor.proj_lora.down.weight", "denoiser", "single_blocks_7_linear2", "down"),
    ("oft_unet_" + QUERY + ".oft_blocks", "denoiser", QUERY, "oft_blocks"),
    ("lora_unet_" + QUERY + ".oft_diag", "denoiser", QUERY, "oft_diag"),
    ("lora_unet_" + QUERY + ".rescale", "denoiser", QUERY, "rescale"),
    ("base_model.model.proj_out.oft_R.weight", "denoiser", "proj_out", "oft_R"),
    ("base_model.model.proj_out.oft_R.default.weight", "denoiser", "proj_out", "oft_R"),
    ("transformer.proj_out.oft_R.scaled_oft", "denoiser", "proj_out", "scaled_oft"),
    ("lora_te1_text_model_" + ENCODER + "_q_proj.oft_R.weight", "text_encoder", ENCODER + "_q_proj", "oft_R"),
    ("lora_unet_" + QUERY + ".lora_down.weight", "denoiser", QUERY, "down"),
    ("lora_unet_" + QUERY + ".alpha", "denoiser", QUERY, "alpha"),
    ("lora_unet_conv_in.lora_mid.weight", "denoiser", "conv_in", "mid"),
    (
        "lora_transformer_transformer_blocks_0_attn1_to_q.lora_up.weight",
        "denoiser",
        "transformer_blocks_0_attn1_to_q",
        "up",
    ),
    ("unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q.lora_A.weight", "denoiser", QUERY, "down"),
    ("unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q.lora.up.weight", "denoiser", QUERY, "up"),
    (
        "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_out.0.lora_B.default_0.weight",
        "denoiser",
        OUT,
        "up",
    ),
    (
        "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.processor.to_q_lora.down.weight",
        "denoiser",
        QUERY,
        "down",
    ),
    (
        "unet.down_blocks.1.attentions.0.transformer_blocks.0.attn1.processor.to_out_lora.up.weight",
        "denoiser",
        OUT,
        "up",
    ),
    (
        "base_model.model.transformer_blocks.0.attn1.to_k.lora_A.weight",
        "denoiser",
        "transformer_blocks_0_attn1_to_k",
        "down",
    ),
    ("transformer.base_model.model.proj_out.lora_B.default.weight", "denoiser", "proj_out", "up"),
    ("model.diffusion_model.input_blocks.4.1.proj_in.lora_down.weight", "denoiser", "input_blocks_4_1_proj_in", "down"),
    ("transformer.proj_out.alpha", "denoiser", "proj_out", "alpha"),
    ("lora_te1_text_model_" + ENCODER + "_q_proj.lora_up.weight", "text_encoder", ENCODER + "_q_proj", "up"),
    (
        "lora_te_encoder_block_0_layer_0_SelfAttention_q.lora_up.weight",
        "text_encoder",
        "encoder_block_0_layer_0_SelfAttention_q",
        "up",
    ),
    ("lora_te2_text_model_" + ENCODER + "_out_proj.alpha", "text_encoder_2", ENCODER + "_out_proj", "alpha"),
    ("text_encoder.encoder.layers.0.self_attn.q_proj.lora_A.weight", "text_encoder", ENCODER + "_q_proj", "down"),
    (
        "text_encoder.text_model.encoder.layers.0.self_attn.to_q_lora.down.weight",
        "text_encoder",
        ENCODER + "_q_proj",
        "down",
    ),
    (
        "text_encoder.text_model.encoder.layers.0.self_attn.to_out_lora.up.weight",
        "text_encoder",
        ENCODER + "_out_proj",
        "up",
    ),
    (
        "text_encoder_2.text_model.encoder.layers.0.self_attn.v_proj.lora_linear_layer.up.weight",
        "text_encoder_2",
        ENCODER + "_v_proj",
        "up",
    ),
]


@pytest.mark.parametrize(("name", "place", "layer", "part"), NAMES, ids=[name for name, *_ in NAMES])
def test_a_name_says_what_it_is(name, place, layer, part):
    assert parse_key(name) == Key(place=place, layer=layer, part=part)


@pytest.mark.parametrize(
    "name", ["", "alpha", ".alpha", "a.weight", "lora_unet_x.hada_w3_a", "lora_down.weight", "x.lora_C.weight"]
)
def test_other_names_say_nothing(name):
    assert parse_key(name) is None


words = st.from_regex(r"[a-z]{1,6}(_[a-z]{1,4}|[0-9])?", fullmatch=True).filter(lambda word: "lora" not in word)
paths = st.lists(words | st.integers(0, 70).map(str), min_size=2, max_size=6).map(".".join)
PREFIXES = {
    "denoiser": ("lora_unet_", "unet."),
    "text_encoder": ("lora_te1_", "text_encoder."),
    "text_encoder_2": ("lora_te2_", "text_encoder_2."),
}
PARTS = {"down": ("lora_down", "lora_A", "lora.down"), "up": ("lora_up", "lora_B", "lora.up")}


@given(path=paths, place=st.sampled_from(sorted(PREFIXES)), part=st.sampled_from(sorted(PARTS)))
def test_the_namings_of_one_layer_are_one_key(path, place, part):
    kohya, dotted = PREFIXES[place]
    names = [f"{kohya}{path.replace('.', '_')}.{PARTS[part][0]}.weight"]
    names += [f"{dotted}{path}.{written}.weight" for written in PARTS[part]]
    keys = {parse_key(name) for name in names}
    assert len(keys) == 1
    (key,) = keys
    assert key is not None and (key.place, key.part) == (place, part)


@given(st.text(max_size=40) | st.from_regex(r"[a-z_.]*lora[_.](down|up|A)[a-z_.]*", fullmatch=True))
def test_any_name_is_taken_or_not(name):
    key = parse_key(name)
    assert key is None or key.part in ("down", "up", "mid", "alpha")


@pytest.fixture(scope="module")
def unet(tiny_sdxl_folder):
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel.from_pretrained(tiny_sdxl_folder / "unet")


def layers_with_weights(network):
    return [name for name, module in network.named_modules() if getattr(module, "weight", None) is not None]


def test_every_layer_has_one_flat_name(unet):
    names = layers_with_weights(unet)
    assert len({flat(name) for name in names}) == len(names)


def test_original_names_are_found_again(unet):
    for name in layers_with_weights(unet):
        original = unet_name(f"{name}.weight").removesuffix(".weight")
        assert from_original(flat(original), LAYERS) == flat(name)
    assert from_original("transformer_blocks_0_attn1_to_q", LAYERS) is None


def test_every_layer_of_sdxl_itself_is_found_by_its_original_name():
    import accelerate
    from diffusers import UNet2DConditionModel

    with accelerate.init_empty_weights():
        network = UNet2DConditionModel(
            block_out_channels=(320, 640, 1280),
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
            attention_head_dim=(5, 10, 20),
            transformer_layers_per_block=(1, 2, 10),
            use_linear_projection=True,
            cross_attention_dim=2048,
            addition_embed_type="text_time",
            addition_time_embed_dim=256,
            projection_class_embeddings_input_dim=2816,
        )
    names = layers_with_weights(network)
    assert len(names) == 1050
    for name in names:
        original = unet_name(f"{name}.weight", layers=2, attending=(0, 1)).removesuffix(".weight")
        assert from_original(flat(original), 2) == flat(name)


def test_diffusers_renames_kohyas_names_as_we_do(unet):
    from diffusers import StableDiffusionXLPipeline
    from lora_files import kohya_tensors, random_lora

    added = random_lora({"unet": unet}, r"attn[12]\.|ff\.net|proj_in")
    tensors = kohya_tensors(added, original=True)
    theirs, _ = StableDiffusionXLPipeline.lora_state_dict(dict(tensors), unet_config=unet.config)
    wanted = {parse_key(name) for name in theirs}
    keys = [parse_key(name) for name in tensors if not name.endswith(".alpha")]
    assert {Key(place=key.place, layer=from_original(key.layer, LAYERS), part=key.part) for key in keys} == wanted
