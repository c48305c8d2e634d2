"""Which kernel a product gets, on cards that are not here."""

import pytest
from emulated_linear import LinearEmulator
from linear_instances import Card

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

CARDS = {
    "RTX 2080 Ti": Card(architecture=75, multiprocessors=68, shared_bytes=64 * 1024),
    "A100": Card(architecture=80, multiprocessors=108, shared_bytes=163 * 1024),
    "RTX 3060": Card(architecture=86, multiprocessors=28, shared_bytes=99 * 1024),
    "RTX 4090": Card(architecture=89, multiprocessors=128, shared_bytes=99 * 1024),
    "H200": Card(architecture=90, multiprocessors=132, shared_bytes=227 * 1024),
    "RTX 5090": Card(architecture=120, multiprocessors=170, shared_bytes=99 * 1024),
}
TURING, H200 = CARDS["RTX 2080 Ti"], CARDS["H200"]
# Rows, columns of x, columns of the output, as SDXL, PixArt and FLUX have them.
SHAPES = ((2048, 1280, 1280), (8192, 640, 5120), (8192, 1152, 4608), (4608, 3072, 12288), (77, 2048, 1280), (1, 64, 8))


@pytest.fixture
def emulator(emulated):
    return LinearEmulator(emulated)


def plan(emulator, card, shape, **rest):
    rows, depth, columns = shape
    return emulator.plan(card, rows=rows, depth=depth, columns=columns, **rest)


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_card_has_a_kernel_for_every_product(emulator, card, shape):
    for bits, x_bits in ((8, 8), (4, 8), (4, 4)):
        found = plan(emulator, card, shape, bits=bits, x_bits=x_bits)
        assert (found.instance.weight_bits, found.instance.x_bits, found.instance.dtype) == (bits, x_bits, 0)
        assert 0 < found.shared_bytes <= card.shared_bytes
        assert found.text == "linear w{}a{} float16 {}x{}".format(bits, x_bits, *found.instance.tile)


def test_turing_has_no_bfloat16(emulator):
    assert plan(emulator, H200, SHAPES[0], dtype=1).text.startswith("linear w8a8 bfloat16 ")
    found = plan(emulator, TURING, SHAPES[0], dtype=1)
    assert found.instance is None
    assert found.text.startswith("no product of 8-bit weights and 8-bit x in bfloat16 on architecture 75 ")


def test_turing_needs_less_shared_memory_for_the_same_kernel(emulator):
    found = plan(emulator, TURING, SHAPES[0])
    assert found.shared_bytes == found.instance.turing_shared_bytes < found.instance.shared_bytes


@pytest.mark.parametrize("bits", [8, 4])
def test_two_blocks_of_the_usual_size_fit_beside_each_other_on_every_card(emulator, bits):
    """Of the memory of a multiprocessor, which is 1 kB more than a block may have, each block takes 1 kB for itself.

    Scales by group need more.
    """
    found = [each for each in emulator.instances if each.tile == (128, 128) and each.weight_bits == bits]
    usual = [each for each in found if not each.is_grouped and not each.is_convolution]
    assert len(usual) >= 2 * (1 if bits == 8 else 2)  # of each dtype, and for x of 8 and 4 bits
    for each in usual:
        assert 2 * (each.shared_bytes + 1024) <= CARDS["RTX 3060"].shared_bytes + 1024
        assert 2 * each.turing_shared_bytes <= TURING.shared_bytes or each.floats  # which Turing does not multiply


def test_large_tiles_where_they_fill_the_card(emulator):
    for card in CARDS.values():
        rows, columns = plan(emulator, card, (8192, 3072, 12288)).instance.tile
        assert rows * columns >= 128 * 128
    assert plan(emulator, H200, (8192, 3072, 12288)).instance.tile == (256, 128)


def test_blocks_that_end_soon_are_not_alone(emulator):
    """The start and the end of one hide behind the middle of another, which is short in shallow products."""
    card = CARDS["RTX 3060"]
    assert plan(emulator, card, (8192, 640, 5120)).instance.tile == (128, 128)
    assert plan(emulator, card, (8192, 5120, 5120)).instance.tile == (256, 128)


@pytest.mark.parametrize("width", [320, 640, 2240, 2432])
def test_a_tile_has_columns_of_one_layer(emulator, width):
    """Of 320 and 2240, which SD 1.5 and Sana have, 128 is no divisor."""
    for card in CARDS.values():
        found = plan(emulator, card, (8192, width, 3 * width), parts=(width,) * 3)
        assert width % found.instance.tile_n == 0
        assert found.instance.tile_n == (64 if width % 128 else 128)
    assert plan(emulator, H200, (8192, width, 3 * width)).instance.tile_n == 128


def test_small_tiles_for_few_rows(emulator):
    for card in CARDS.values():
        for bits in (8, 4):
            assert plan(emulator, card, (64, 3072, 12288), bits=bits).instance.tile == (64, 64)


def test_smaller_tiles_where_large_ones_would_leave_the_card_idle(emulator):
    assert plan(emulator, H200, (256, 1280, 1280)).instance.tile == (64, 64)  # 20 tiles of 128 x 128
    assert plan(emulator, CARDS["RTX 3060"], (1024, 1280, 1280)).instance.tile == (128, 128)  # 80


def test_a_grid_that_no_card_takes_is_refused(emulator):
    found = plan(emulator, H200, (10**9, 64, 10**9))
    assert found.instance is None
    assert found.text == "1000000000 rows of 1000000000 columns are more than a card's grid of blocks takes"
    assert plan(emulator, H200, (10**9, 64, 1024)).instance is not None


def test_too_little_shared_memory_is_told(emulator):
    small = Card(architecture=86, multiprocessors=28, shared_bytes=16 * 1024)
    assert plan(emulator, small, SHAPES[0]).text.endswith("architecture 86 with 16384 bytes of shared memory")
