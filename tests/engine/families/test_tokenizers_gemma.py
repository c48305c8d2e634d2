"""Gemma's tokenizer from a sentencepiece model: the ids of sentencepiece and transformers; others are refused."""

import pytest
import tiny_sana
import torch
from hypothesis import given
from hypothesis import strategies as st
from original_files import write, write_gguf
from sentencepiece import SentencePieceProcessor, sentencepiece_model_pb2

from mezzotint.checkpoints.stored_bytes import StoredBytes
from mezzotint.checkpoints.weight_file import weight_header
from mezzotint.errors import ModelRefused
from mezzotint.families.family import ComponentSource
from mezzotint.families.loading.networks import _tokenizer
from mezzotint.families.tokenizers.gemma import TENSOR, find_pieces, gemma_tokenizer, read_pieces
from mezzotint.library.tokenizer_files import read_tokenizer

VOCABULARY = 2000
WORDS = st.sampled_from(
    ["a red house", "Über", "1234", "日本", "😀", "\n", "\n\n", "\t", "  ", "<end_of_turn>", "▁", ","]
)


def source_of(folder, model):
    path = folder / "tokenizer.model"
    path.write_bytes(model)
    return ComponentSource(
        name="tokenizer",
        library="transformers",
        class_name="GemmaTokenizer",
        config={"vocab_size": VOCABULARY},
        folder=None,
        files=(),
        bytes=0,
        pieces=StoredBytes(path=path, start=0, size=len(model)),
    )


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """The engine's tokenizer, the counter's, transformers' conversion, and sentencepiece itself."""
    source = source_of(tmp_path_factory.mktemp("gemma"), tiny_sana.pieces())
    processor = SentencePieceProcessor(model_proto=tiny_sana.pieces())
    return _tokenizer(source), read_tokenizer(source), tiny_sana.tokenizer(), processor


@given(texts=st.lists(WORDS | st.text(max_size=8), max_size=12))
def test_texts_are_read_as_transformers_and_the_counter_read_them(readers, texts):
    mine, counting, theirs, _ = readers
    text = "".join(texts)
    ids = mine(text).input_ids
    assert ids == theirs(text).input_ids
    assert ids == [2, *counting.encode(text, add_special_tokens=False).ids]


@given(texts=st.lists(st.sampled_from(["a red", " house", "Über", " 1234", "日本", "\n", "  ", ","]), max_size=12))
def test_texts_are_read_as_sentencepiece_reads_them(readers, texts):
    mine, *_, processor = readers
    text = "".join(texts)
    assert mine(text).input_ids == [2, *processor.encode(text)]


def test_shorter_texts_are_padded(readers):
    padded = readers[0](["a"], padding="max_length", max_length=4, truncation=True)
    assert sorted(padded.input_ids[0])[:2] == [0, 0] and sum(padded.attention_mask[0]) == 2


def test_the_file_of_the_text_encoder_comes_before_what_lies_beside_it(tmp_path):
    inside = torch.frombuffer(bytearray(tiny_sana.pieces()), dtype=torch.uint8)
    for name in (TENSOR, f"text_encoders.{TENSOR}"):
        stored = find_pieces(weight_header(write(tmp_path / "encoder.safetensors", {"a": torch.ones(3), name: inside})))
        assert stored.path.name == "encoder.safetensors" and stored.read() == tiny_sana.pieces()
    bare = weight_header(write(tmp_path / "bare.safetensors", {"a": torch.ones(3), TENSOR: torch.ones(9)}))
    with pytest.raises(ModelRefused, match="bare.safetensors has no tokenizer"):
        find_pieces(bare)
    (tmp_path / "tokenizer.model").write_bytes(b"beside")
    assert find_pieces(bare).read() == b"beside"


def packed(folder, more=None):
    """The header of a GGUF file of a text encoder."""
    path = folder / "gemma-2-2b-it-Q8_0.gguf"
    write_gguf(path, {"token_embd.weight": torch.zeros(4, 32)}, "Q8_0", "gemma2", more)
    return weight_header(path)


def test_gguf_files_hold_the_same(tmp_path, readers):
    stored = find_pieces(packed(tmp_path, tiny_sana.add_vocabulary))
    made = read_pieces(stored, VOCABULARY)
    theirs = read_pieces(source_of(tmp_path, tiny_sana.pieces()).pieces, VOCABULARY)
    assert (made.ids, made.merges) == (theirs.ids, theirs.merges)
    assert [text for text, _ in made.added] == [text for text, _ in theirs.added]
    text = "Über <mask> a  red\n\nhouse <unk> ▁▁ <end_of_turn>"
    assert gemma_tokenizer(stored, VOCABULARY)(text).input_ids == readers[0](text).input_ids


def test_gguf_files_without_a_vocabulary_need_one_beside_them(tmp_path):
    with pytest.raises(ModelRefused, match="gguf has no tokenizer"):
        find_pieces(packed(tmp_path))
    (tmp_path / "tokenizer.model").write_bytes(b"beside")
    assert find_pieces(packed(tmp_path)).read() == b"beside"


@pytest.mark.parametrize(
    ("tokens", "scores"), [(["a"], [0.0, 1.0]), ([1], [0.0]), (["a"], ["0"]), (None, [0.0])], ids=repr
)
def test_damaged_vocabularies_of_gguf_files_are_refused(tmp_path, tokens, scores):
    def add(writer):
        writer.add_tokenizer_model("llama")
        writer.add_array("tokenizer.ggml.token_type", [1])
        writer.add_array("tokenizer.ggml.scores", scores)
        if tokens is not None:
            writer.add_array("tokenizer.ggml.tokens", tokens)

    with pytest.raises(ModelRefused, match="its lists do not fit each other"):
        read_pieces(find_pieces(packed(tmp_path, add)), VOCABULARY)


def test_a_tokenizer_that_is_too_large_is_not_read(tmp_path):
    with (tmp_path / "tokenizer.model").open("wb") as file:
        file.truncate(2**30)
    with pytest.raises(ModelRefused, match="a tokenizer of 1073741824 bytes; at most 16777216"):
        find_pieces(weight_header(write(tmp_path / "encoder.safetensors", {"a": torch.ones(3)})))


def changed(**fields):
    model = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    model.ParseFromString(tiny_sana.pieces())
    model.trainer_spec.model_type = fields.get("kind", 2)
    model.pieces[10].piece = fields.get("piece", model.pieces[10].piece)
    model.pieces[4].piece = fields.get("mask", model.pieces[4].piece)
    return model.SerializeToString()


@pytest.mark.parametrize(
    ("model", "vocabulary", "message"),
    [
        (b"\xff" * 99, VOCABULARY, "its tokenizer cannot be read"),
        (b"", VOCABULARY, "not one of Gemma"),
        (changed(kind=1), VOCABULARY, "not one of Gemma"),
        (changed(piece="a" * 257), VOCABULARY, "a token is too long"),
        (changed(piece="<pad>"), VOCABULARY, "they belong to different models"),
        (changed(mask="<other>"), VOCABULARY, "tokens without <mask>, and the text encoder has 2000"),
        (changed(), 1000, "and the text encoder has 1000; they belong to different models"),
    ],
)
def test_other_tokenizers_are_refused(tmp_path, model, vocabulary, message):
    source = source_of(tmp_path, model)
    with pytest.raises(ModelRefused, match=message):
        read_pieces(source.pieces, vocabulary)


def test_a_tokenizer_that_is_gone_is_refused(tmp_path):
    source = source_of(tmp_path, tiny_sana.pieces())
    source.pieces.path.unlink()
    with pytest.raises(ModelRefused, match="the tokenizer cannot be read"):
        _tokenizer(source)
