import pytest
import torch

from mezzotint_starter.networks import TOKENS, build_text_encoder
from mezzotint_starter.vocabulary import build_tokenizer, tokenize


@pytest.fixture(scope="module")
def tokenizer():
    return build_tokenizer(0, captions=3000)


def test_common_words_are_one_piece_and_read_back(tokenizer):
    assert tokenizer.tokenize("house lighthouse") == ["▁house", "▁lighthouse"]
    ids = tokenizer("a red house by the sea").input_ids
    assert tokenizer.decode(ids, skip_special_tokens=True) == "a red house by the sea"


def test_padding_is_0_and_every_prompt_ends_in_1(tokenizer):
    ids, mask = tokenize(tokenizer, ["", "a red house"], "cpu")
    assert (tokenizer.pad_token_id, tokenizer.eos_token_id) == (0, 1)
    assert ids[0].tolist()[:2] == [1, 0]
    assert mask[0].sum() == 1
    assert ids[1, -1] == 1


@pytest.mark.parametrize("text", ["Zyxquil brontosaur", "café Übergröße", "100% $5 {x}", "HOUSE"])
def test_unknown_words_are_spelt(tokenizer, text):
    ids = tokenizer(text).input_ids
    assert tokenizer.unk_token_id not in ids
    assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_other_scripts_become_unknown_and_do_no_harm(tokenizer):
    assert tokenizer.unk_token_id in tokenizer("家 🏠").input_ids


def test_long_prompts_are_cut(tokenizer):
    ids, _ = tokenize(tokenizer, ["red house " * 100], "cpu")
    assert ids.shape == (1, TOKENS)
    assert ids[0, -1] == 1


def test_a_saved_tokenizer_loads_without_a_network_and_reads_the_same(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    again = type(tokenizer).from_pretrained(tmp_path)
    text = "A yellow tent, mountains, night. Qwx"
    assert again(text).input_ids == tokenizer(text).input_ids
    assert again.model_max_length == TOKENS


def test_tokens_do_not_depend_on_padding(tokenizer):
    encoder = build_text_encoder(0, len(tokenizer)).eval()
    with torch.no_grad():
        ids, mask = tokenize(tokenizer, ["a red house", "a very long caption of a red house by the sea at dusk"], "cpu")
        together = encoder(input_ids=ids, attention_mask=mask)[0]
        ids, mask = tokenize(tokenizer, ["a red house"], "cpu")
        alone = encoder(input_ids=ids, attention_mask=mask)[0]
    torch.testing.assert_close(together[:1, : alone.shape[1]], alone, atol=1e-5, rtol=1e-4)


def test_the_text_encoder_starts_able_to_see_word_order(tokenizer):
    names = dict(build_text_encoder(0, len(tokenizer)).named_parameters())
    bias = next(value for name, value in names.items() if "relative_attention_bias" in name)
    assert 1.5 < float(bias.detach().std()) < 2.5
