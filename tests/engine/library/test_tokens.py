"""Token counts are those of the tokenizers that the engine uses."""

import json
import shutil

import pytest
import sentencepiece
import tiny_sana
import transformers
from hypothesis import given
from hypothesis import strategies as st
from original_files import write_split

from mezzotint.catalog import Catalog
from mezzotint.errors import ModelRefused, StorageError, UnknownModel, UsageError
from mezzotint.families.family import ComponentSource
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import _tokenizer
from mezzotint.families.lora.prompt_tags import without_lora_tags
from mezzotint.families.sana.instruction import INSTRUCTION
from mezzotint.families.text.clip_encode import ClipEncoder, _chunks, token_count
from mezzotint.families.text.clip_prompt import CHUNK_CAPACITY, PROMPT_LIMIT
from mezzotint.library.tokenizer_files import read_tokenizer
from mezzotint.library.tokens import TokenCounter
from mezzotint.library_protocol import TokenRequest
from mezzotint.protocol import ModelRef

WORDS = ["a", "barn", ", ", " ", "(", ")", "[", "]", ":1.3)", "BREAK", "\\(", "!", "!!!", "Émile", "日本", "🜁", "don't"]
WORDS += ["<|endoftext|>", "</s>", "<lora:x:1>", "<extra_id_3>", "\n", "\t", "12.5", "\u0301", "ﬁ", "_", "▁"]
prompts = st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=60).map("".join)


def parts_of(model):
    found = Catalog.standard().find(ModelRef(id=str(model)))
    sources = family_of(found.detected.family).sources(found.checkpoint, found.detected)
    return sources, {name: part for name, part in sources.components.items() if name.startswith("tokenizer")}


def counter():
    return TokenCounter(Catalog.standard().find)


@pytest.fixture(params=["starter-xl", "tiny_sdxl_folder", "tiny_single_file", "tiny_refiner_folder"])
def clip_model(request):
    return request.param if request.param.startswith("starter") else str(request.getfixturevalue(request.param))


@pytest.fixture(params=["starter-dit", "tiny_pixart_folder"])
def t5_model(request):
    return request.param if request.param.startswith("starter") else str(request.getfixturevalue(request.param))


@pytest.mark.slow_after(1)
def test_clip_counts_are_those_of_the_engine(clip_model):
    _, parts = parts_of(clip_model)
    engines = {name: _tokenizer(part) for name, part in parts.items()}
    encoders = [ClipEncoder(tokenizer=tokenizer, model=None) for tokenizer in engines.values()]
    counting = counter()

    @given(prompts)
    def check(prompt):
        counts = counting.count(TokenRequest(model=clip_model, prompt=prompt))
        assert [one.encoder for one in counts] == sorted(name.replace("tokenizer", "text_encoder") for name in engines)
        bare = without_lora_tags(prompt)
        chunks = len(_engine_chunks(bare, encoders))
        for one in counts:
            assert one.tokens == token_count(bare, engines[one.encoder.replace("text_encoder", "tokenizer")])
            assert (one.limit, one.chunks, one.cut) == (CHUNK_CAPACITY, chunks, 0)
            assert one.honours_weights and not one.more

    check()


def _engine_chunks(prompt, encoders):
    for encoder in encoders:
        object.__setattr__(encoder, "model", _Keyed())
    return _chunks(prompt, encoders, ())[0]


class _Keyed:
    text_projection = None


def test_t5_counts_are_those_of_the_engine(t5_model):
    sources, parts = parts_of(t5_model)
    engine = _tokenizer(parts["tokenizer"])
    limit = {"alpha": 120, "sigma": 300}[sources.detected.variant]
    counting = counter()

    @given(prompts)
    def check(prompt):
        (count,) = counting.count(TokenRequest(model=t5_model, prompt=prompt))
        bare = without_lora_tags(prompt).lower().strip()
        seen = engine(bare, max_length=limit, truncation=True, add_special_tokens=True).input_ids
        assert count.tokens == len(engine(bare, add_special_tokens=False).input_ids)
        assert len(seen) - 1 == count.tokens - count.cut
        assert (count.encoder, count.limit, count.chunks) == ("text_encoder", limit - 1, 1)
        assert not count.honours_weights

    check()


@pytest.mark.parametrize("form", ["folder", "files"])
def test_gemma_counts_are_those_of_the_engine(tmp_path, form):
    folder = tiny_sana.write_tiny_sana(tmp_path / "folder", **tiny_sana.PUBLISHED_HEADS)
    model = folder if form == "folder" else write_split(tmp_path / "models", tiny_sana.split_files(folder))
    engine, counting = _tokenizer(parts_of(model)[1]["tokenizer"]), counter()

    @given(prompts)
    def check(prompt):
        (one,) = counting.count(TokenRequest(model=str(model), prompt=prompt))
        around = len(engine(INSTRUCTION, add_special_tokens=False).input_ids)
        read = engine(INSTRUCTION + without_lora_tags(prompt).lower().strip(), add_special_tokens=False).input_ids
        assert one.tokens == len(read) - around and one.limit == 298

    check()


@pytest.mark.slow_after(1)
def test_what_is_too_long_is_counted_up_to_what_can_be_read(clip_model, t5_model):
    counting = counter()
    for count in counting.count(TokenRequest(model=clip_model, prompt="a barn, " * 200_000)):
        assert count.more and count.cut > 0 and count.chunks == 64
    (count,) = counting.count(TokenRequest(model=t5_model, prompt="a barn, " * 200_000))
    assert count.more and count.tokens - count.cut == count.limit
    (count,) = counting.count(TokenRequest(model=t5_model, prompt="x" * PROMPT_LIMIT))
    assert not count.more


def test_what_cannot_be_counted(tmp_path):
    with pytest.raises(UnknownModel):
        counter().count(TokenRequest(model="nobody", prompt="a"))
    with pytest.raises(UsageError, match="not valid text at character 3"):
        counter().count(TokenRequest(model="starter-dit", prompt="a \ud800"))


def test_tokenizers_are_kept_until_their_files_change(tiny_pixart_folder, tmp_path):
    model = shutil.copytree(tiny_pixart_folder, tmp_path / "model")
    asked = []

    def find(ref):
        asked.append(ref.id)
        return Catalog.standard().find(ref)

    counting = TokenCounter(find)
    request = TokenRequest(model=str(model), prompt="a red barnowl")
    (before,) = counting.count(request)
    assert counting.count(request) == (before,) and len(asked) == 1
    path = model / "tokenizer" / "tokenizer.json"
    whole = json.loads(path.read_text())
    whole["model"]["vocab"].append(["\u2581barnowl", 0.0])
    path.write_text(json.dumps(whole))
    assert counting.count(request)[0].tokens < before.tokens and len(asked) == 2
    counting.forget()
    counting.count(request)
    assert len(asked) == 3


SDXL_TOKENS = {
    "0": {"content": "!", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True},
    "49406": {"content": "<|startoftext|>", "lstrip": False, "normalized": True, "rstrip": False, "special": True},
    "49407": {"content": "<|endoftext|>", "lstrip": True, "normalized": True, "rstrip": True, "special": True},
}


@pytest.mark.parametrize("table", [SDXL_TOKENS, None])
def test_vocabulary_and_merges_apart_as_most_models_have_them(tmp_path, table):
    from mezzotint.families.tokenizers import clip_merges, clip_vocabulary

    config = {
        "pad_token": "!",
        "tokenizer_class": "CLIPTokenizer",
        **({"added_tokens_decoder": table} if table else {}),
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "vocab.json").write_text(json.dumps(clip_vocabulary()))
    merges = "\n".join(" ".join(pair) for pair in clip_merges())
    (tmp_path / "merges.txt").write_text(f"#version: 0.2\n{merges}\n", encoding="utf-8")
    if not table:
        special = {"pad_token": "!", "unk_token": {**SDXL_TOKENS["49407"], "single_word": False}}
        (tmp_path / "special_tokens_map.json").write_text(json.dumps(special))
        (tmp_path / "added_tokens.json").write_text(json.dumps({"<barn>": 49408}))
    same_ids(tmp_path, config, transformers.CLIPTokenizer)


@pytest.mark.parametrize("extra", [{"extra_ids": 0}, {}])
def test_pieces_of_sentencepiece(tmp_path, extra):
    (tmp_path / "words.txt").write_text("a red barn by the sea\nthe barn is red, it is big and the sea is blue\n" * 50)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "words.txt"),
        model_prefix=str(tmp_path / "spiece"),
        vocab_size=25,
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        minloglevel=2,
    )
    config = {"tokenizer_class": "T5Tokenizer", **extra}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    same_ids(tmp_path, config, transformers.T5Tokenizer)


def same_ids(folder, config, engines_class):
    engine = engines_class.from_pretrained(str(folder), local_files_only=True)
    ours = read_tokenizer(source_of(folder, config))

    @given(prompts)
    def check(prompt):
        ids = ours.encode(prompt.replace("<barn>", ""), add_special_tokens=False).ids
        assert ids == engine(prompt, add_special_tokens=False, verbose=False).input_ids

    check()


def source_of(folder, config):
    name = config["tokenizer_class"]
    return ComponentSource(
        name="tokenizer", library="transformers", class_name=name, config=config, folder=folder, files=(), bytes=0
    )


DAMAGE = [
    ("CLIPTokenizer", {}),
    ("CLIPTokenizer", {"tokenizer.json": "{"}),
    ("CLIPTokenizer", {"tokenizer.json": '{"model": {"vocab": "/etc/passwd", "merges": []}}'}),
    ("CLIPTokenizer", {"tokenizer.json": '{"model": {"vocab": {"a": -1}, "merges": []}}'}),
    ("CLIPTokenizer", {"tokenizer.json": '{"model": {"vocab": {"a": 1}, "merges": ["a b"]}}'}),
    ("CLIPTokenizer", {"vocab.json": "{}", "merges.txt": "a b c"}),
    ("T5Tokenizer", {"spiece.model": "nothing of the kind"}),
    ("T5Tokenizer", {"tokenizer.json": '{"model": {"vocab": [["a", 0]]}}'}),
    ("T5Tokenizer", {"tokenizer.json": '{"model": {"vocab": 3}}'}),
    (
        "T5Tokenizer",
        {
            "tokenizer.json": '{"model": {"vocab": [["a", 0], ["b", 0], ["c", 0]]},'
            ' "normalizer": {"type": "Precompiled", "precompiled_charsmap": "/////////w=="}}'
        },
    ),
    ("PreTrainedTokenizerFast", {"tokenizer.json": '{"added_tokens": []}'}),
]


@pytest.mark.parametrize(("name", "files"), DAMAGE)
def test_damaged_files_are_refused_in_one_line(tmp_path, name, files):
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    with pytest.raises((ModelRefused, StorageError)) as caught:
        read_tokenizer(source_of(tmp_path, {"tokenizer_class": name, "extra_ids": 0}))
    assert str(tmp_path) in str(caught.value) and "\n" not in str(caught.value)
