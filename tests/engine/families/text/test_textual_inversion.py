"""Learned words: parity with diffusers, and files that do not fit."""

import struct

import pytest
import torch
from safetensors.torch import save_file
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

from mezzotint.errors import MezzotintError, ModelRefused, UsageError
from mezzotint.families.text.clip_encode import ClipEncoder, encode_pair
from mezzotint.families.text.textual_inversion import Inversion, Vocabulary, load_inversions, vectors_in_place

WIDTHS = {"clip_l": 16, "clip_g": 32}


def tiny_encoders():
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(letter + "</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    encoders = []
    for cls, width, pad in ((CLIPTextModel, 16, "<|endoftext|>"), (CLIPTextModelWithProjection, 32, "!")):
        torch.manual_seed(width)
        # An end token that is named, not 2: with 2 transformers takes the highest id for the end, and a token that
        # diffusers adds would be that.
        config = CLIPTextConfig(
            vocab_size=514,
            hidden_size=width,
            intermediate_size=32,
            num_hidden_layers=3,
            num_attention_heads=2,
            projection_dim=24,
            bos_token_id=512,
            eos_token_id=513,
            initializer_factor=8.0,
        )
        tokenizer = CLIPTokenizer(
            vocab={word: index for index, word in enumerate(words)}, merges=[], pad_token=pad, model_max_length=77
        )
        encoders.append(ClipEncoder(tokenizer=tokenizer, model=cls(config).eval()))
    return encoders


@pytest.fixture(scope="module")
def encoders():
    return tiny_encoders()


def vectors(count, width, seed=0):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def write(folder, name="glowcat.safetensors", **tensors):
    folder.mkdir(exist_ok=True)
    save_file(tensors, folder / name)
    return folder / name


@pytest.fixture
def glowcat(tmp_path):
    return write(tmp_path, clip_l=vectors(3, 16), clip_g=vectors(3, 32))


def encode(encoders, prompt, *paths, negative="bad"):
    pair = encode_pair(prompt, negative, encoders=encoders, clip_skip=0, zero_empty_negative=True, embeddings=paths)
    return tuple(tensor for part in pair for tensor in (part.embeds, part.pooled))


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("prompt", ["a glowcat by the sea", "glowcat", "cat, glowcat, glowcat!"])
def test_as_diffusers_bit_for_bit(encoders, tmp_path, count, prompt):
    from diffusers import StableDiffusionXLPipeline

    tables = {"clip_l": vectors(count, 16), "clip_g": vectors(count, 32)}
    path = write(tmp_path, **tables)
    first, second = tiny_encoders()  # diffusers changes models and tokenizers
    pipeline = StableDiffusionXLPipeline(
        vae=None,
        unet=None,
        scheduler=None,
        text_encoder=first.model,
        tokenizer=first.tokenizer,
        text_encoder_2=second.model,
        tokenizer_2=second.tokenizer,
        add_watermarker=False,
    )
    for part in (first, second):
        pipeline.load_textual_inversion(
            tables[part.key], token="glowcat", text_encoder=part.model, tokenizer=part.tokenizer
        )
    with torch.no_grad():
        theirs = pipeline.encode_prompt(prompt, device="cpu", negative_prompt="bad glowcat")
    ours = encode(encoders, prompt, path, negative="bad glowcat")
    for mine, peer in zip(ours, (theirs[0], theirs[2], theirs[1], theirs[3]), strict=True):
        assert torch.equal(mine, peer)


def test_the_model_is_as_it_was(encoders, glowcat):
    before = encode(encoders, "a glowcat")
    learned = encode(encoders, "a glowcat", glowcat)
    assert not torch.equal(before[0], learned[0])
    assert all(map(torch.equal, encode(encoders, "a glowcat"), before))
    assert all(map(torch.equal, encode(encoders, "a dog", glowcat), encode(encoders, "a dog")))


def test_the_hook_goes_even_when_the_model_fails(encoders):
    model = encoders[0].model
    with pytest.raises(ZeroDivisionError), vectors_in_place(model, [512, -1, 513], [torch.zeros(16)]):
        raise ZeroDivisionError
    assert not model.get_input_embeddings()._forward_hooks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("glowcat", [-1, -2]),
        ("GlowCat", [-1, -2]),
        ("a glowcat, b", ["a ", -1, -2, ", b"]),
        ("glowcats", ["glowcats"]),
        ("theglowcat", ["theglowcat"]),
        ("glowcat-night", [-3]),
        ("glowcat-day", [-1, -2, "-day"]),
        ("glowcat glowcat", [-1, -2, " ", -1, -2]),
        ("", []),
    ],
)
def test_where_a_word_is_found(tmp_path, text, expected):
    inversions = load_inversions(
        [
            write(tmp_path, clip_l=vectors(2, 16)),
            write(tmp_path, "glowcat-night.safetensors", emb_params=vectors(1, 16)),
            write(tmp_path, "only_g.safetensors", clip_g=vectors(5, 32)),
        ],
        WIDTHS,
    )
    vocabulary = Vocabulary(inversions, "clip_l")
    assert vocabulary.tokenize(text, lambda rest: [rest] if rest else []) == expected
    assert len(vocabulary.vectors) == 3


def test_weights_apply_to_a_learned_word(encoders, glowcat):
    plain = encode(encoders, "a glowcat b", glowcat)[0][..., :16]
    weighted = encode(encoders, "a (glowcat:1.5) b", glowcat)[0][..., :16]
    factors = torch.ones(77)
    factors[2:5] = 1.5
    expected = plain * factors[None, :, None]
    torch.testing.assert_close(weighted, expected * (plain.mean() / expected.mean()))


def test_a_word_that_only_one_encoder_knows_keeps_the_chunks_level(encoders, tmp_path):
    path = write(tmp_path, emb_params=vectors(40, 32))
    embeds = encode(encoders, "glowcat " * 2, path)[0]
    assert embeds.shape == (1, 154, 48)
    assert torch.equal(embeds[:, :77, :16], encode(encoders, "glowcat glowcat")[0][..., :16])


@pytest.mark.parametrize("name", ["emb_params", "<glow>"])
@pytest.mark.parametrize(("width", "key"), [(16, "clip_l"), (32, "clip_g")])
def test_a_single_table_serves_the_encoder_of_its_width(tmp_path, name, width, key):
    (inversion,) = load_inversions([write(tmp_path, **{name: vectors(2, width).half()})], WIDTHS)
    assert inversion.word == "glowcat"
    assert {key: tuple(table.shape) for key, table in inversion.vectors.items()} == {key: (2, width)}


def test_a_single_vector_and_other_tensors_beside(tmp_path):
    tensors = {"emb_params": torch.ones(16), "step": torch.ones(1), "notes": torch.ones(4)}
    (inversion,) = load_inversions([write(tmp_path, **tensors)], WIDTHS)
    assert inversion.vectors["clip_l"].shape == (1, 16)


def test_the_refiner_takes_the_large_encoders_part(glowcat):
    (inversion,) = load_inversions([glowcat], {"clip_g": 32})
    assert set(inversion.vectors) == {"clip_g"}


@pytest.mark.parametrize(
    ("tensors", "words"),
    [
        ({"emb_params": vectors(2, 24)}, "does not fit this model: it has emb_params 24 wide"),
        (
            {"clip_l": vectors(2, 16), "clip_g": vectors(2, 24)},
            "clip_g 24 wide, clip_l 16 wide; the encoders take clip_l 16, clip_g 32",
        ),
        ({"a": vectors(2, 16), "b": vectors(2, 32)}, "no textual-inversion file"),
        ({"emb_params": torch.ones(2, 2, 16)}, "no textual-inversion file"),
        ({"clip_l": torch.ones(2, 2, 16)}, "1 to 75 vectors"),
        ({"clip_l": torch.ones(())}, "does not fit"),
        ({"emb_params": torch.ones(76, 16)}, "1 to 75 vectors"),
        ({"emb_params": torch.ones(0, 16)}, "1 to 75 vectors"),
        ({"emb_params": torch.ones(2, 16, dtype=torch.int64)}, "I64"),
        ({"emb_params": torch.full((2, 16), torch.nan)}, "not finite"),
        ({"emb_params": torch.ones(2, 16), "more": torch.ones(2**22 + 1)}, "Is it a model"),
    ],
    ids=range(11),
)
def test_a_file_that_does_not_fit_is_refused_by_name(tmp_path, tensors, words):
    path = write(tmp_path, **tensors)
    with pytest.raises(ModelRefused) as error:
        load_inversions([path], WIDTHS)
    assert words in str(error.value)
    assert "glowcat.safetensors" in str(error.value)
    assert "\n" not in str(error.value)


def test_the_refiner_refuses_what_only_the_small_encoder_reads(tmp_path):
    with pytest.raises(ModelRefused, match="does not fit"):
        load_inversions([write(tmp_path, clip_l=vectors(1, 16))], {"clip_g": 32})


def test_any_other_pickle_is_refused(tmp_path):
    path = tmp_path / "glowcat.pt"
    path.write_bytes(b"\x80\x02cposix\nsystem\nX\x02\0\0\0id\x85R.")
    with pytest.raises(ModelRefused, match="not a file of plain tensors"):
        load_inversions([path], WIDTHS)


@pytest.mark.parametrize("content", [b"", b"\0" * 64, struct.pack("<Q", 5) + b"{", b"<html>not found</html>"])
def test_a_damaged_file_is_refused(tmp_path, content):
    path = tmp_path / "glowcat.safetensors"
    path.write_bytes(content)
    with pytest.raises(ModelRefused):
        load_inversions([path], WIDTHS)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(MezzotintError, match="nowhere"):
        load_inversions([tmp_path / "nowhere.safetensors"], WIDTHS)


def test_two_files_of_one_name_are_refused(tmp_path, glowcat):
    other = write(tmp_path / "other", "GLOWCAT.safetensors", clip_l=vectors(1, 16))
    with pytest.raises(UsageError, match="Two embeddings"):
        load_inversions([glowcat, other], WIDTHS)


# ---- pickles


def of_a1111(vectors):
    return {"string_to_token": {"*": 265}, "string_to_param": {"*": vectors}, "name": "other", "step": 1850}


@pytest.mark.parametrize(
    "content",
    [
        of_a1111,
        lambda vectors: {"string_to_param": torch.nn.ParameterDict({"*": vectors})},
        lambda vectors: {"<cat-toy>": torch.nn.Parameter(vectors)},
        lambda vectors: {"emb_params": vectors, "other": vectors[:1]},
    ],
    ids=["a1111", "its forerunner", "diffusers", "as safetensors"],
)
def test_a_pickle_of_tensors_is_read(tmp_path, content):
    torch.save(content(vectors(3, 32)), tmp_path / "glowcat.pt")
    (found,) = load_inversions([tmp_path / "glowcat.pt"], WIDTHS)
    assert (found.word, found.vectors.keys()) == ("glowcat", {"clip_g"})
    assert torch.equal(found.vectors["clip_g"], vectors(3, 32))


def test_a_pickle_for_both_encoders_is_read(tmp_path):
    torch.save({"clip_l": vectors(2, 16), "clip_g": vectors(2, 32)}, tmp_path / "x.bin")
    (found,) = load_inversions([tmp_path / "x.bin"], WIDTHS)
    assert found.vectors.keys() == {"clip_l", "clip_g"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ([vectors(1, 16)], "no textual-inversion file"),
        ({"a": vectors(1, 16), "b": vectors(1, 16)}, "no textual-inversion file"),
        (of_a1111(vectors(1, 20)), r"does not fit this model: it has \* 20 wide"),
        (of_a1111(vectors(80, 16)), "an embedding is 1 to 75 vectors"),
        (of_a1111(torch.full((1, 16), float("nan"))), "not finite"),
    ],
    ids=range(5),
)
def test_pickles_that_do_not_fit_are_refused(tmp_path, content, reason):
    torch.save(content, tmp_path / "x.pt")
    with pytest.raises(ModelRefused, match=reason):
        load_inversions([tmp_path / "x.pt"], WIDTHS)


def test_words_after_their_prefix_stand_for_the_same_vectors():
    learned = Inversion(word="Ink.v2", path=None, vectors={"clip_l": torch.zeros(2, 4)})
    vocabulary = Vocabulary([learned], "clip_l")

    def ids(text):
        return vocabulary.tokenize(text, lambda rest: [len(rest)])

    for named in ("embedding:ink.v2", "embedding:styles/Ink.v2.safetensors", "INK.V2", "embedding:INK.V2.pt"):
        assert ids(f"a {named}, b") == [2, -1, -2, 3]
    assert ids("embedding:ink.v22")[0] > 0
