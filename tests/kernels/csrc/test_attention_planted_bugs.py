"""Mistakes that kernels of this kind are made with, planted one at a time: each must be seen on the emulator."""

from dataclasses import replace

import pytest
import torch
from emulated_kernels import Emulator, Problem
from emulator_build import build, copy_sources
from planted_bugs import Bug

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

# Keys of several tiles, the last of them ragged; and every kind of mask.
EARLY_AND_LATE = (False, True)
PLAIN = tuple(Problem(head_dim=64, heads=4, nq=64, nk=230, outliers=True, late_copies=late) for late in EARLY_AND_LATE)
RAGGED = Problem(head_dim=64, nq=70, nk=100)
CAUSAL = Problem(head_dim=64, nq=130, nk=140, heads=1, kv_heads=1, causal=True)
FILLED = tuple(Problem(head_dim=64, nq=130, nk=150, late_copies=late) for late in EARLY_AND_LATE)
MASKED = Problem(head_dim=64, nq=40, nk=100, batch=2, key_mask="none_seen", bias="full")
LENGTHS = Problem(head_dim=64, nq=40, nk=100, batch=2, key_lengths=(0, 70))
GROUPED = Problem(head_dim=64, heads=4, kv_heads=2, nq=40, nk=40)
REST = Problem(head_dim=72, nq=40, nk=70)
TURING = Problem(head_dim=72, dtype=torch.float16, nq=40, nk=70, turing=True)
SWIZZLED_BY_FOUR = Problem(head_dim=96, nq=40, nk=70)
SLICED = Problem(head_dim=384, heads=1, kv_heads=1, nq=20, nk=40)
TEXT = tuple(Problem(head_dim=64, nq=320, nk=77, tiles_per_block=5, late_copies=late) for late in EARLY_AND_LATE)
INT8 = Problem(head_dim=64, nq=40, nk=150, int8=True, uneven=True)
CREEPING = Problem(head_dim=64, heads=1, kv_heads=1, nq=20, nk=1100, creeping=True)
CREEPING_HALF = replace(CREEPING, dtype=torch.float16)
FAR = {of: Problem(head_dim=64, batch=2, nq=70, nk=150, far=of) for of in ("batch", "head", "token")}
STUBBORN = tuple(replace(problem, stubborn=True) for problem in (*PLAIN, *FILLED))
STUBBORN_TEXT = tuple(replace(problem, stubborn=True) for problem in TEXT)
BIASED = tuple(Problem(head_dim=64, nq=40, nk=100, batch=2, bias="full", bias_float=wide) for wide in (False, True))
PADDED = tuple(Problem(head_dim=64, nq=40, nk=97, bias="padded", bias_float=wide) for wide in (False, True))
MOVED = tuple(Problem(head_dim=64, nq=40, nk=128, bias="moved", bias_float=wide) for wide in (False, True))
LOWEST = Problem(head_dim=64, batch=4, nq=20, nk=20, key_lengths=(1, 1, 1, 1), bias="lowest")
SPARSE = Problem(head_dim=64, nq=40, nk=128, key_mask="random")
INT8_LENGTHS = replace(INT8, batch=2, key_lengths=(60, 0))

MAINLOOP, SOFTMAX, MASK = "attention/mainloop.h", "attention/softmax.h", "attention/mask.h"
PRODUCTS, SHORT_KEYS = "attention/products.h", "attention/short_keys.h"
HALF_SUMS = "attention/half_sums.h"
KERNEL, TILE, TRAITS = "attention/kernel.h", "attention/shared_tile.h", "attention/traits.h"
INT8_LOOP, INT8_KERNEL, QUANTIZE = "attention/int8/mainloop.h", "attention/int8/kernel.h", "attention/int8/quantize.h"
OPERANDS, ROTATE = "attention/int8/operands.h", "attention/int8/rotate.h"
ALL_LOOP, ALL_SOFTMAX = "attention/int8/all_mainloop.h", "attention/int8/all_softmax.h"
QUANTIZE_ALL = "attention/int8/quantize_all.h"
ALL_INT8 = Problem(head_dim=64, nq=40, nk=150, int8_all=True, uneven=True)
ALL_CREEPING = Problem(head_dim=64, heads=1, kv_heads=1, nq=20, nk=1100, creeping=True, int8_all=True)
ALL_EVEN_VALUES = Problem(head_dim=64, dtype=torch.float16, nq=40, nk=150, int8_all=True, scale=0.5, same_values=True)
UNROUNDED = """\
            float more = 0;
            for (int each = 0; each < 4; ++each) {
                more += exp2_approximate(fmaf(s[n + each / 2][2 * half + each % 2], by, shift));
            }
            sums[half] += static_cast<uint32_t>(rintf(more));
"""
ALL_FAR = Problem(head_dim=64, nq=40, nk=150, int8_all=True, scale=8e2)
ALL_REST = Problem(head_dim=72, nq=40, nk=70, int8_all=True, uneven=True)
ALL_LENGTHS = Problem(head_dim=64, batch=2, nq=40, nk=150, int8_all=True, key_lengths=(60, 0))
ALL_LATE = Problem(head_dim=64, nq=64, nk=230, int8_all=True)
ALL_EARLY = replace(ALL_LATE, late_copies=False)

HALF = Problem(head_dim=64, nq=40, nk=150, half_sums=True, values_by=1e5)
HALF_CREEPING = replace(CREEPING, dtype=torch.float16, half_sums=True)

BUGS = {
    "no barrier before keys are read": Bug(
        file=MAINLOOP,
        text="        barrier();  // K(j) is there for all, and all are done with V(j+1)\n",
        becomes="",
        problems=PLAIN,
    ),
    "no barrier before values are read": Bug(
        file=MAINLOOP, text="        barrier();  // V(j) is there for all\n", becomes="", problems=PLAIN
    ),
    "no barrier before keys take the queries' place": Bug(
        file=MAINLOOP,
        text="            barrier();  // keys and values take the queries' place\n",
        becomes="",
        problems=FILLED,
    ),
    "values are not waited for": Bug(
        file=MAINLOOP, text="wait_copies<Architecture, 1>()", becomes="wait_copies<Architecture, 2>()", problems=PLAIN
    ),
    "keys are not waited for": Bug(
        file=MAINLOOP,
        text="        wait_copies<Architecture, 0>();\n        barrier();  // K(j)",
        becomes="        wait_copies<Architecture, 1>();\n        barrier();  // K(j)",
        problems=PLAIN,
    ),
    "one key too many": Bug(
        file=MASK,
        text="(edge < sight.key_limit ? edge : sight.key_limit) - first_key;",
        becomes="(edge <= sight.key_limit ? edge : sight.key_limit + 1) - first_key;",
        problems=(RAGGED, LENGTHS),
    ),
    "the causal edge is off by one": Bug(
        file=MASK, text="sight.causal_shift + 1;", becomes="sight.causal_shift;", problems=(CAUSAL,)
    ),
    "one tile too few is masked": Bug(file=KERNEL, text="tiles - plain : 0", becomes="0 : 0", problems=(RAGGED,)),
    "a swizzle that lets banks collide": Bug(
        file=TILE,
        text="chunk ^ (row / (8 / swizzled) % swizzled)",
        becomes="chunk ^ (row % swizzled)",
        problems=(SWIZZLED_BY_FOUR,),
    ),
    "a swizzle that is added where it is exclusive": Bug(
        file=TILE,
        text="(first ^ static_cast<uint32_t>(low * 16))",
        becomes="(first + static_cast<uint32_t>(low * 16))",
        problems=(RAGGED,),
    ),
    "the output is not rescaled": Bug(
        file=SOFTMAX, text="        out[o][2 * half] *= kept;\n", becomes="", problems=PLAIN
    ),
    "the sum is not rescaled": Bug(file=SOFTMAX, text="    state.l[half] *= kept;\n", becomes="", problems=PLAIN),
    "a row's maximum is that of two threads": Bug(
        file=SOFTMAX, text="return fmaxf(most, shuffle_xor(most, 2));", becomes="return most;", problems=PLAIN
    ),
    "infinity less infinity": Bug(
        file=SOFTMAX, text="{-FLT_MAX, -FLT_MAX}", becomes="{-INFINITY, -INFINITY}", problems=(MASKED, ALL_LENGTHS)
    ),
    "a row that sees nothing is divided by 0": Bug(
        file=KERNEL, text="sum == 0 ? 0 : 1 / sum", becomes="1 / sum", problems=(MASKED, LENGTHS)
    ),
    "heads of keys in the wrong order": Bug(
        file=KERNEL,
        text="const int kv_head = place.head / params.heads_per_kv;",
        becomes="const int kv_head = place.head % params.heads_per_kv;",
        problems=(GROUPED,),
    ),
    "the last 8 columns are left out": Bug(
        file=PRODUCTS,
        text="    if constexpr (T::k_rest) {\n",
        becomes="    if constexpr (T::k_rest && T::head_dim == 8) {\n",
        problems=(REST,),
    ),
    "half of a product on Turing": Bug(
        file="primitives.h", text="        multiply_k8<T>(d, a[2], a[3], b1);\n", becomes="", problems=(TURING,)
    ),
    "every slice writes the first columns": Bug(
        file=KERNEL,
        text="place.head * params.out_stride.head + place.slice * T::slice_dim;",
        becomes="place.head * params.out_stride.head;",
        problems=(SLICED,),
    ),
    "rows beyond the tensor are read": Bug(
        file=TILE,
        text="const bool wanted = first + row() + below < limit;",
        becomes="const bool wanted = first + row() + below < limit || limit > 0;",
        problems=(RAGGED,),
        error="memory outside of the tensors",
    ),
    "an address between two chunks": Bug(
        file=TILE,
        text="row * row_bytes + moved * 16)",
        becomes="row * row_bytes + moved * 16 + 8)",
        problems=(RAGGED,),
        error="is not aligned",
    ),
    "values beyond the shared memory": Bug(
        file=TRAITS,
        text="v_begin = kv_begin + Shape::k_stages * k_bytes;",
        becomes="v_begin = kv_begin + (Shape::k_stages + 1) * k_bytes;",
        problems=(RAGGED,),
        error="is outside of",
    ),
    "a barrier that one warp passes by": Bug(
        file=MAINLOOP,
        text="        barrier();  // V(j) is there for all\n",
        becomes="        if (thread_index() >= 32) barrier();\n",
        problems=(RAGGED,),
        error="barrier",
    ),
    "a shuffle that some lanes pass by": Bug(
        file=SOFTMAX,
        text="    most = fmaxf(most, shuffle_xor(most, 1));\n",
        becomes="    if (thread_index() % 2) most = fmaxf(most, shuffle_xor(most, 1));\n",
        problems=(RAGGED,),
        error="deadlock",
    ),
    "few keys: no barrier before queries are read": Bug(
        file=SHORT_KEYS,
        text="        barrier();  // these queries are there for all, and all are done with those before\n",
        becomes="",
        problems=TEXT,
    ),
    "few keys: queries are not waited for": Bug(
        file=SHORT_KEYS, text="wait_copies<Architecture, 0>()", becomes="wait_copies<Architecture, 1>()", problems=TEXT
    ),
    "few keys: those that are not there count": Bug(
        file=SHORT_KEYS, text="limit < T::Shape::tile_n;", becomes="limit < 0;", problems=TEXT
    ),
    "int8: scales of another group of keys": Bug(
        file=OPERANDS,
        text="source_.k_scale[tile * 4 + lane() % 4]",
        becomes="source_.k_scale[tile * 4 + lane() / 8]",
        problems=(INT8,),
    ),
    "int8: scales of another group of queries": Bug(
        file=OPERANDS,
        text="source_.q_scale[row / 2 + lane() / 4]",
        becomes="source_.q_scale[row / 2 + lane() % 8]",
        problems=(INT8,),
    ),
    "int8: values are not waited for": Bug(
        file=INT8_LOOP,
        text="wait_copies<Architecture, 1>()",
        becomes="wait_copies<Architecture, 2>()",
        problems=(INT8,),
    ),
    "sums in float16: columns keep their scale": Bug(
        file=HALF_SUMS, text="return v_scale[column];", becomes="return v_scale[0 * column];", problems=(HALF,)
    ),
    "sums in float16: values of another head": Bug(
        file=HALF_SUMS,
        text="int8_heads<T>(params, place).k * params.k_rows",
        becomes="place.head / all.heads_per_kv * params.k_rows",
        problems=(replace(HALF, batch=2),),
    ),
    "sums in float16: a tile's sums grow too large": Bug(
        file=QUANTIZE,
        text="pack<float16>(numbers[each] / largest[column + each],",
        becomes="pack<float16>(numbers[each] * 64 / largest[column + each],",
        problems=(replace(HALF_CREEPING, same_values=True),),
    ),
    "sums in float16: a column by its neighbour's largest": Bug(
        file=QUANTIZE,
        text="numbers[each + 1] / largest[column + each + 1]",
        becomes="numbers[each + 1] / largest[column + each]",
        problems=(HALF,),
    ),
    "int8: columns keep their scale": Bug(
        file=INT8_KERNEL,
        text="float of_column(int column) const { return v_scale[column]; }",
        becomes="float of_column(int) const { return 1; }",
        problems=(INT8,),
    ),
    "int8: the keys' mean is missing from the logarithm of sums": Bug(
        file=INT8_KERNEL, text="return q_mean[row] * scale;", becomes="return 0 * q_mean[row];", problems=(INT8,)
    ),
    "the output is rescaled only where the maximum grows much": Bug(
        file=SOFTMAX,
        text="        out[o][2 * half] *= kept;\n",
        becomes="        if (kept < 0x1p-12f) out[o][2 * half] *= kept;\n",
        problems=(CREEPING,),
    ),
    "lanes raise a maximum without a vote": Bug(
        file=SOFTMAX, text="if (ballot(far)) {", becomes="if (far) {", problems=PLAIN, error="deadlock"
    ),
    "a maximum is left behind for good": Bug(
        file=SOFTMAX, text="kMostBehind = 8;", becomes="kMostBehind = 80;", problems=(CREEPING_HALF,)
    ),
    "one row of two is looked at": Bug(
        file=SOFTMAX,
        text=" || fmaf(most[1], factor, -state.m[1]) > kMostBehind;",
        becomes=" && fmaf(most[1], factor, -state.m[1]) > kMostBehind;",
        problems=tuple(replace(problem, dtype=torch.float16, scale=1.0) for problem in PLAIN),
    ),
    "few keys: sums of the tile before remain": Bug(
        file=SOFTMAX, text="        state.l[half] = 0;\n", becomes="", problems=TEXT
    ),
    "values are read one row past the last": Bug(
        file=MAINLOOP,
        text="value_copy_.copy(values(), first_key, source_.key_limit);",
        becomes="value_copy_.copy(values(), first_key, source_.key_limit + 1);",
        problems=(LENGTHS,),
    ),
    "batches are 32 bits apart": Bug(
        file=KERNEL,
        text="static_cast<const Element*>(params.k) + place.batch * params.k_stride.batch +",
        becomes="static_cast<const Element*>(params.k) + static_cast<int>(place.batch * params.k_stride.batch) +",
        problems=(FAR["batch"],),
    ),
    "heads are 32 bits apart": Bug(
        file=KERNEL,
        text="place.head * params.out_stride.head + place.slice * T::slice_dim;",
        becomes="place.head * static_cast<int>(params.out_stride.head) + place.slice * T::slice_dim;",
        problems=(FAR["head"],),
    ),
    "tokens are 32 bits apart": Bug(
        file=TILE,
        text="from_ + first * row_stride_;",
        becomes="from_ + first * static_cast<int>(row_stride_);",
        problems=(FAR["token"],),
    ),
    "few keys: queries are copied before all are done with those before": Bug(
        file=SHORT_KEYS,
        text="        barrier();  // these queries are there for all, and all are done with those before\n"
        "        if (tile + 1 < end) loop.load_queries((tile + 1) * tile_m, (tile + 1 - begin) % 2);\n",
        becomes="        if (tile + 1 < end) loop.load_queries((tile + 1) * tile_m, (tile + 1 - begin) % 2);\n"
        "        barrier();\n",
        problems=STUBBORN_TEXT,
    ),
    "few keys: one place for all queries": Bug(
        file=SHORT_KEYS, text="(tile + 1 - begin) % 2);", becomes="0);", problems=STUBBORN_TEXT
    ),
    "keys are copied before all are done with those before": Bug(
        file=MAINLOOP,
        text="        wait_copies<Architecture, 0>();\n"
        "        barrier();  // K(j) is there for all, and all are done with V(j+1)\n"
        "        const MaskBytes<T> bytes(sight, first_key);\n"
        "        load_values(first_key);\n",
        becomes="        wait_copies<Architecture, 0>();\n        load_values(first_key);\n        barrier();\n"
        "        const MaskBytes<T> bytes(sight, first_key);\n",
        problems=STUBBORN,
    ),
    "the last tile of keys is left out": Bug(
        file=MAINLOOP,
        text="for (int each = last; each >= 0; --each)",
        becomes="for (int each = last; each > 0; --each)",
        problems=PLAIN,
    ),
    "the causal edge lies on the other side": Bug(
        file=KERNEL,
        text="sight.causal_shift = params.causal ? params.nk - params.nq : params.nk;",
        becomes="sight.causal_shift = params.causal ? params.nq - params.nk : params.nk;",
        problems=(CAUSAL,),
    ),
    "the logarithm of sums without its maximum": Bug(
        file=KERNEL,
        text="(loop.rows[m].m[half] + log2_approximate(sum))",
        becomes="log2_approximate(sum)",
        problems=(RAGGED,),
    ),
    "a row that sees nothing has a logarithm": Bug(
        file=KERNEL, text="sum == 0 ? -INFINITY : natural", becomes="sum == 0 ? 0 : natural", problems=(LENGTHS,)
    ),
    "the bias of another query": Bug(
        file=MASK,
        text="(row < sight.last_query ? row : sight.last_query) * sight.bias_query",
        becomes="(row < sight.last_query ? row + 1 : sight.last_query) * sight.bias_query",
        problems=BIASED,
    ),
    "a bias of 16 bits is counted in 32": Bug(
        file=KERNEL, text="params.bias_is_float ? 4 : 2", becomes="4", problems=BIASED
    ),
    "a bias is read for queries that are not there": Bug(
        file=MASK,
        text="(row < sight.last_query ? row : sight.last_query) * sight.bias_query",
        becomes="row * sight.bias_query",
        problems=BIASED,
        error="memory outside of the tensors",
    ),
    "a pair of a bias is read past the last key": Bug(
        file=MASK,
        text="sight.bias_in_pairs && first_key + T::Shape::tile_n <= sight.key_limit",
        becomes="sight.bias_in_pairs && first_key <= sight.key_limit",
        problems=PADDED,
        error="memory outside of the tensors",
    ),
    "the neighbours of a pair are exchanged": Bug(
        file=MASK,
        text="add_bias(s[n][2 * half], bias[0]);\n            add_bias(s[n][2 * half + 1], bias[1]);",
        becomes="add_bias(s[n][2 * half], bias[1]);\n            add_bias(s[n][2 * half + 1], bias[0]);",
        problems=PADDED,
    ),
    "single biases of another eight keys": Bug(
        file=MASK, text="s[(n + 2) % T::n_tiles][each]", becomes="s[(n + 4) % T::n_tiles][each]", problems=MOVED
    ),
    "the lowest bias becomes no number": Bug(
        file=MASK,
        text="multiply_add_toward_zero(bias, kLog2E, score)",
        becomes="bias * kLog2E + score",
        problems=(LOWEST,),
    ),
    "the key mask's second word is its first": Bug(
        file=MASK, text="ballot(bytes.shown[word] != 0)", becomes="ballot(bytes.shown[0] != 0)", problems=(SPARSE,)
    ),
    "a word of keys is seen whole where its first is": Bug(
        file=MASK, text="if (hidden) hide_by_bits", becomes="if (hidden & 1) hide_by_bits", problems=(SPARSE,)
    ),
    "the mask of another batch": Bug(
        file=KERNEL,
        text="params.key_mask + place.batch * params.key_mask_stride",
        becomes="params.key_mask + 0 * params.key_mask_stride",
        problems=(MASKED,),
    ),
    "int8: keys that are not there have a part in the mean": Bug(
        file=QUANTIZE,
        text="const int end = full < limit ? full : limit;",
        becomes="const int end = full < limit || full < params.forward.nk ? full : params.forward.nk;",
        problems=(INT8_LENGTHS,),
    ),
    "all int8: values under the scale of another channel": Bug(
        file=QUANTIZE_ALL,
        text="const float by = Values::kLargest / largest[channel];",
        becomes="const float by = Values::kLargest / largest[channel ^ 1];",
        problems=(ALL_INT8,),
    ),
    "all int8: columns under the scale of another channel": Bug(
        file=INT8_KERNEL,
        text="const { return v_scale[column]; }",
        becomes="const { return v_scale[column ^ 1]; }",
        problems=(ALL_INT8,),
    ),
    "all int8: row sums of weights that are not rounded": Bug(
        file=ALL_SOFTMAX,
        text="            sums[half] = add_bytes(packed, sums[half]);\n",
        becomes=UNROUNDED,
        problems=(ALL_EVEN_VALUES,),
    ),
    "all int8: sums of a tile keep its own maximum": Bug(
        file=ALL_SOFTMAX,
        text="tile.share[half] = exp2_approximate(tile.most[half] - row.m[half]);",
        becomes="tile.share[half] = 1;",
        problems=(ALL_INT8, ALL_CREEPING),
    ),
    "all int8: the largest weight becomes 0": Bug(
        file=ALL_SOFTMAX, text=" - fabsf(base) * 0x1p-22f;", becomes=" + fabsf(base) * 0x1p-22f;", problems=(ALL_FAR,)
    ),
    "all int8: weights of rows are exchanged": Bug(
        file=ALL_SOFTMAX, text="p[n / 4][n % 4 + half]", becomes="p[n / 4][n % 4 + 1 - half]", problems=(ALL_INT8,)
    ),
    "all int8: keys of values in another order": Bug(
        file=QUANTIZE_ALL,
        text="each / 2 * 8 + word * 2 + each % 2",
        becomes="word * 4 + each",
        problems=(ALL_INT8,),
    ),
    "all int8: values beyond the last key are read": Bug(
        file=QUANTIZE_ALL,
        text="token < limit ?",
        becomes="token <= limit ?",
        problems=(ALL_INT8,),
        error="memory outside of the tensors",
    ),
    "all int8: only keys are rotated": Bug(
        file=ROTATE,
        text="load_rotated<lanes>(numbers, from, stride, row, params.forward.nq, params, nullptr);",
        becomes="load_eight(numbers, from + (row < params.forward.nq ? row : 0) * stride +"
        " thread_index() % lanes * 8);",
        problems=(ALL_INT8,),
    ),
    "all int8: rows become longer": Bug(
        file=ROTATE, text="if (meets) by *= 0.70710678f;", becomes="", problems=(ALL_REST,)
    ),
    "all int8: values are not waited for": Bug(
        file=ALL_LOOP,
        text="wait_copies<Architecture, 1>()",
        becomes="wait_copies<Architecture, 2>()",
        problems=(ALL_LATE,),
    ),
    "all int8: no barrier before values are read": Bug(
        file=ALL_LOOP,
        text="        barrier();  // V(j) is there for all\n",
        becomes="",
        problems=(ALL_LATE, ALL_EARLY),
    ),
    "all int8: no barrier before keys are read": Bug(
        file=ALL_LOOP,
        text="        barrier();  // K(j) is there for all, and all are done with V(j+1)\n",
        becomes="",
        problems=(ALL_LATE, ALL_EARLY),
    ),
    "all int8: sums in 255ths have no logarithm of it": Bug(
        file=INT8_KERNEL, text="kLnOf28 : kLnOf255", becomes="kLnOf255 : kLnOf28", problems=(ALL_INT8,)
    ),
}


def files_of(problems):
    """The instances' files that these problems need."""
    return {f"attention/{str(problem.dtype).removeprefix('torch.')}_{problem.head_dim}" for problem in problems}


def line_for(problems):
    """Says whether one of these problems is for the instance of a line: what it is called, and whether it masks."""
    names = {name_of(problem) for problem in problems}
    masks = {problem.masked for problem in problems}

    def wanted(line):
        name, _, words = line.strip().partition("<")
        return name in names and (name == "short_instance" or ("> true" in words.replace(",", "")) in masks)

    return wanted


def name_of(problem):
    if problem.tiles_per_block:
        return "short_instance"
    if problem.int8_all:
        return "int8_all_instance"
    if problem.half_sums:
        return "half_sums_instance"
    return "int8_instance" if problem.int8 else "instance"


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, tmp_path):
    sources = copy_sources(tmp_path / "kernels", files_of(bug.problems), line_for(bug.problems))
    bug.plant(sources)
    bug.check_seen(Emulator(build(sources)).verdicts(bug.problems))


def test_without_a_bug_nothing_is_seen(emulator):
    problems = {problem for bug in BUGS.values() for problem in bug.problems}
    assert all(verdict.right for verdict in emulator.verdicts(problems))
