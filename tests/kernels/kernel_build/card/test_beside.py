"""Rows beside their peers, whichever process measured them; and what is too far off to be right."""

import pytest

from kernel_build.card.beside import is_wrong, with_peers


def attention(implementation, milliseconds, shape="s", **more):
    values = {"shape": shape, "implementation": implementation, "milliseconds": milliseconds, "head_dim": 64}
    return {"measured": values | {"ratio": None, "error": 0.001} | more}


def product(implementation, milliseconds, **more):
    return {"measured": {"shape": "l", "implementation": implementation, "milliseconds": milliseconds} | more}


def found(rows, name, field):
    return next(row["measured"] for row in with_peers(rows) if row["measured"]["implementation"] == name)[field]


def test_attention_is_set_beside_the_best_of_torch_s_and_int8_beside_ours():
    rows = [attention("sdpa flash", 4.0), attention("sdpa cudnn", 2.0), attention("sdpa math", None)]
    rows += [attention("mezzotint flash", 1.0), attention("mezzotint int8", 0.5), attention("sdpa flash", 0.1, "other")]
    rows += [attention("triton flex", 0.2)]
    assert found(rows, "mezzotint flash", "ratio") == 2.0
    assert found(rows, "mezzotint int8", "times_flash") == 2.0
    assert found(rows, "sdpa cudnn", "ratio") is None


def test_what_peers_did_not_do_is_no_figure():
    assert found([attention("mezzotint flash", 1.0)], "mezzotint flash", "ratio") is None
    assert found([attention("mezzotint int8", None)], "mezzotint int8", "times_flash") is None


def test_products_are_set_beside_torch_s_and_rows_beside_a_copy():
    rows = [product("torch linear", 4.0), product("mezzotint int8", 2.0), product("mezzotint int8, 3 LoRAs", 2.1)]
    assert found(rows, "mezzotint int8", "ratio") == 2.0
    assert found(rows, "mezzotint int8, 3 LoRAs", "with_loras") == pytest.approx(1.05)
    assert found([product("copy", 1.0), product("mezzotint rows", 1.25)], "mezzotint rows", "ratio") == 0.8


def test_a_streamed_pass_is_set_beside_its_bound_and_others_are_left_alone():
    (row,) = with_peers([{"measured": {"seconds": 1.1, "bound_seconds": 1.0}}])
    assert row["measured"]["times_bound"] == pytest.approx(1.1)
    assert with_peers([{"measured": {"method": "mezzotint", "ratio": 1.5}}])[0]["measured"]["ratio"] == 1.5


@pytest.mark.parametrize(
    ("name", "error", "wrong"),
    [
        ("mezzotint flash", 0.03, True),
        ("mezzotint flash", 0.01, False),
        ("mezzotint int8", 0.03, False),
        ("mezzotint int8", 0.06, True),
        ("mezzotint forward bfloat16 d64 128x64, 128 threads #3", 0.03, True),
        ("sdpa math", 0.9, False),
        ("mezzotint flash", None, False),
    ],
)
def test_a_result_that_is_far_off_is_wrong_however_quick(name, error, wrong):
    assert bool(is_wrong(attention(name, 1.0, error=error))) == wrong
