"""What is remembered of the words: when it is given again, when it is not, and that nothing of it is left."""

import pytest
import torch
from torch import nn

from mezzotint.acceleration.text_cache import CachedLayer, cached_text
from mezzotint.quantization.branched import set_branches
from mezzotint.quantization.formats import Format, Int8, LowRank4, Nf4
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Branch

WORDS, CHANNELS, TOKENS = 64, 16, 5
FORMATS: dict[str, Format] = {
    "int8": Int8(dynamic=True),
    "int8-weight": Int8(dynamic=False),
    "nf4": Nf4(),
    "low rank": LowRank4(rank=4),
}


def seeded(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


class Attention(nn.Module):
    """What a cache sees of an attention layer."""

    def __init__(self, *, words, norm=None):
        super().__init__()
        self.is_cross_attention = words is not None
        self.norm_cross = norm
        self.to_q = nn.Linear(CHANNELS, CHANNELS)
        self.to_k = nn.Linear(words or CHANNELS, CHANNELS, bias=False)
        self.to_v = nn.Linear(words or CHANNELS, CHANNELS, bias=False)

    def forward(self, x, words=None):
        words = x if words is None else words
        words = words if self.norm_cross is None else self.norm_cross(words)
        k, v = self.to_k(words), self.to_v(words)
        return torch.softmax(self.to_q(x) @ k.transpose(1, 2), dim=-1) @ v


class Network(nn.Module):
    """Attention to itself and to words, which may be projected first, as PixArt's are."""

    def __init__(self, *, projected=False, norm=None):
        super().__init__()
        inner = CHANNELS if projected else WORDS
        self.caption_projection = nn.Sequential(nn.Linear(WORDS, inner), nn.GELU()) if projected else None
        self.attn1 = Attention(words=None)
        self.attn2 = Attention(words=inner, norm=norm)

    def forward(self, x, words):
        if self.caption_projection is not None:
            words = self.caption_projection(words)
            words = words.view(len(x), -1, words.shape[-1])
        return self.attn2(self.attn1(x), words)


@pytest.fixture(params=[False, True], ids=["plain", "projected"])
def network(request):
    torch.manual_seed(0)
    return Network(projected=request.param)


@pytest.fixture(params=[False, True], ids=["autograd off", "inference"])
def mode(request):
    """Tensors of inference mode have no versions."""
    with torch.inference_mode() if request.param else torch.no_grad():
        yield


def counted(layer):
    """A list that grows with every call."""
    calls = []
    layer.register_forward_hook(lambda *_: calls.append(1))
    return calls


def word_layers(network):
    layers = [network.attn2.to_k, network.attn2.to_v]
    return layers if network.caption_projection is None else [*layers, network.caption_projection]


@pytest.mark.usefixtures("mode")
@pytest.mark.parametrize("rows", [1, 2])
def test_words_are_computed_once_and_the_rest_in_every_step(network, rows):
    words, steps = seeded(rows, TOKENS, WORDS), [seeded(rows, 9, CHANNELS, seed=step) for step in range(1, 5)]
    expected = [network(x, words) for x in steps]
    once, always = [counted(each) for each in word_layers(network)], counted(network.attn1.to_k)
    with cached_text(network):
        found = [network(x, words) for x in steps]
    assert [len(calls) for calls in once] == [1] * len(once)
    assert len(always) == len(steps)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@pytest.mark.usefixtures("mode")
def test_other_words_are_computed_anew(network):
    x = seeded(1, 9, CHANNELS)
    with cached_text(network):
        for seed in (1, 2, 1):
            words = seeded(1, TOKENS, WORDS, seed=seed)
            found = network(x, words)
            del words  # the next ones may come to lie in the same place
            expected = Network.forward(unwrapped(network), x, seeded(1, TOKENS, WORDS, seed=seed))
            assert torch.equal(found, expected)


def unwrapped(network):
    """A network of the same weights that remembers nothing."""
    copy = Network(projected=network.caption_projection is not None)
    copy.load_state_dict(network.state_dict())
    return copy


@pytest.mark.parametrize(
    "seen",
    [
        lambda x: x[:, :3],
        lambda x: x[:, 2:],
        lambda x: x.transpose(0, 1),
        lambda x: x.clone(),
        lambda x: x.double(),
        lambda x: x.view(torch.int32),
        lambda x: x.flatten(0, 1),
    ],
)
def test_the_same_memory_seen_another_way_is_another_input(seen):
    layer = CachedLayer(nn.Identity())
    x = seeded(2, TOKENS, TOKENS)
    assert layer(x) is x
    other = seen(x)
    assert layer(other) is other


def test_a_fresh_view_of_the_same_memory_is_the_same_input():
    layer = CachedLayer(nn.Linear(4, 4))
    x = seeded(2, 3, 4)
    assert layer(x) is layer(x.view(2, -1, 4))


@torch.no_grad()
@pytest.mark.parametrize("written", ["input", "output"])
def test_what_was_written_to_is_computed_anew(written):
    plain = nn.Linear(4, 4)
    layer, x = CachedLayer(plain), seeded(2, 3, 4)
    (x if written == "input" else layer(x)).add_(1)
    layer(x)
    (x if written == "input" else layer(x)).mul_(2)
    assert torch.equal(layer(x), plain(x))


@torch.no_grad()
@pytest.mark.parametrize("name", FORMATS)
def test_quantized_layers_and_their_branches(name):
    plain = QuantizedLinear(FORMATS[name], (CHANNELS, WORDS), None)
    plain.set_tensors(FORMATS[name].quantize(seeded(CHANNELS, WORDS)))
    calls, layer, x = counted(plain), CachedLayer(plain), seeded(2, TOKENS, WORDS, seed=1)
    assert layer(x) is layer(x)
    assert len(calls) == 1
    bare = layer(x)
    plain.branches = (Branch(down=seeded(2, WORDS), up=seeded(CHANNELS, 2)),)
    assert not torch.equal(layer(x), bare)  # another branch, another output
    assert torch.equal(layer(x), plain(x))
    assert layer.weight.shape == (CHANNELS, WORDS)
    plain.branches = ()
    assert torch.equal(layer(x), bare)


@torch.no_grad()
def test_branches_that_were_put_on_before():
    network, x, words = Network(projected=True), seeded(1, 9, CHANNELS), seeded(1, TOKENS, WORDS)
    bare = network(x, words)
    branch = Branch(down=seeded(2, CHANNELS), up=seeded(CHANNELS, 2))
    projecting = Branch(down=seeded(2, WORDS), up=seeded(CHANNELS, 2))
    for branches in ({"attn2.to_k": [branch]}, {"attn2.to_v": [branch], "caption_projection.0": [projecting]}, {}):
        set_branches(network, branches)
        expected = network(x, words)
        with cached_text(network):
            assert torch.equal(network(x, words), expected)
            assert torch.equal(network(x, words), expected)
        assert torch.equal(expected, bare) == (not branches)


@torch.no_grad()
def test_a_branch_inside_the_projection_is_noticed():
    network, words = Network(projected=True), seeded(1, TOKENS, WORDS)
    project = network.caption_projection
    assert project is not None
    with cached_text(network):
        bare = project(words)
        set_branches(network, {"caption_projection.0": [Branch(down=seeded(2, WORDS), up=seeded(CHANNELS, 2))]})
        assert not torch.equal(project(words), bare)


def test_the_network_keeps_its_names_and_types(network):
    before = {name: tensor.data_ptr() for name, tensor in network.state_dict().items()}
    layers = word_layers(network)
    with cached_text(network):
        assert {name: tensor.data_ptr() for name, tensor in network.state_dict().items()} == before
        assert [type(each) for each in word_layers(network)] == [CachedLayer] * len(layers)
        assert network.attn2.to_k.weight is layers[0].weight
        assert network.attn2.to_k.in_features == layers[0].in_features
        with pytest.raises(AttributeError):
            _ = network.attn2.to_k.nothing_of_this_name
    assert [a is b for a, b in zip(word_layers(network), layers, strict=True)] == [True] * len(layers)


def test_what_is_kept_is_counted_and_let_go(network):
    x, words = seeded(2, 9, CHANNELS), seeded(2, TOKENS, WORDS)
    with cached_text(network) as cache:
        assert cache.kept_bytes == 0
        network(x, words)
        assert cache.kept_bytes == len(word_layers(network)) * 2 * TOKENS * CHANNELS * 4
        for _ in range(3):
            network(x, words.clone())
            assert cache.kept_bytes == 2 * len(word_layers(network)) * 2 * TOKENS * CHANNELS * 4  # the last two
    assert cache.kept_bytes == 0


def test_nothing_is_left_after_an_error(network):
    layers, caches = word_layers(network), []
    with pytest.raises(ZeroDivisionError), cached_text(network) as cache:
        caches.append(cache)
        network(seeded(1, 9, CHANNELS), seeded(1, TOKENS, WORDS))
        raise ZeroDivisionError
    assert caches[0].kept_bytes == 0
    assert [a is b for a, b in zip(word_layers(network), layers, strict=True)] == [True] * len(layers)


def test_an_error_in_a_layer_keeps_nothing():
    layer = CachedLayer(nn.Linear(4, 4))
    with pytest.raises(RuntimeError):
        layer(seeded(2, 5))
    assert layer.kept_bytes == 0


@pytest.mark.parametrize("network", [nn.Linear(2, 2), Network(norm=nn.LayerNorm(WORDS)), Attention(words=None)])
def test_networks_without_plain_cross_attention_are_left_alone(network):
    with cached_text(network) as cache:
        assert not any(isinstance(module, CachedLayer) for module in network.modules())
    assert cache.kept_bytes == 0


def test_both_halves_of_the_guidance_are_remembered(network, mode):
    """One after the other, as they come where memory is short."""
    x, words = seeded(2, 7, CHANNELS), seeded(2, TOKENS, WORDS, seed=1)
    calls = counted(network.attn2.to_k)
    with cached_text(network):
        for _ in range(3):
            both = [network(x[half : half + 1], words[half : half + 1]) for half in range(2)]
    assert len(calls) == 2
    assert torch.equal(
        torch.cat(both), torch.cat([network(x[half : half + 1], words[half : half + 1]) for half in range(2)])
    )
