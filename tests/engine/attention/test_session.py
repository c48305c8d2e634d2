"""A job's attention: what it cannot do, torch's own does, and it is counted and told."""

import pytest
import torch
from fake_backward import FakeBackward
from fake_kernels import FakeKernels

from mezzotint.attention.blocks.patterns import bigbird_table
from mezzotint.attention.compiled import CompiledAttention
from mezzotint.attention.masks import Masks
from mezzotint.attention.reference import attention_reference
from mezzotint.attention.sdpa import attention_sdpa
from mezzotint.attention.session import AttentionSession, finite
from mezzotint.dispatch.library import Unsupported
from mezzotint.protocol import KernelFallback

Q = torch.randn(1, 2, 5, 16, generator=torch.Generator().manual_seed(0)).bfloat16()


def session_of(kernels, notices, chosen="flash"):
    compiled = None if kernels is None else CompiledAttention(kernels)
    return AttentionSession(asked="auto", chosen=chosen, kernels=compiled, tell=notices)


@pytest.mark.parametrize(
    ("chosen", "flags"), [("flash", 0), ("flash-fp16", 16), ("int8", 2), ("int8-all", 10), ("int8-fp8", 34)]
)
def test_the_kernels_attend(chosen, flags, notices):
    kernels = FakeKernels()
    session = session_of(kernels, notices, chosen)
    masks = Masks(key_lengths=torch.tensor([3]).int())
    assert torch.equal(session.attend(Q, Q, Q, masks), attention_reference(Q, Q, Q, masks)[0])
    assert [asked.flags for asked in kernels.launches] == [flags]
    assert session.fallbacks == () and notices == []


@pytest.mark.parametrize("chosen", ["sdpa", "reference"])
def test_torch_attends(chosen, notices):
    session = session_of(None, notices, chosen)
    expected = attention_sdpa(Q, Q, Q) if chosen == "sdpa" else attention_reference(Q, Q, Q)[0]
    assert torch.equal(session.attend(Q, Q, Q), expected)
    assert (session.ran, session.calls) == (chosen, 0)


def test_what_is_unsupported_is_counted_by_reason_and_told_once(notices):
    session = session_of(FakeKernels(head_sizes={16}), notices)
    odd, wide = Q[..., :8].contiguous(), Q.float()
    for q in (odd, odd, wide, Q):
        torch.testing.assert_close(session.attend(q, q, q), attention_sdpa(q, q, q), rtol=0.02, atol=0.02)
    assert session.used == "flash"
    assert session.fallbacks == (
        KernelFallback(reason="no kernel for head_dim 8", calls=2),
        KernelFallback(reason="q is torch.float32; the kernels take torch.float16 and torch.bfloat16", calls=1),
    )
    ((code, message),) = notices
    assert code == "attention_fell_back" and "head_dim 8" in message


def test_what_has_no_kernel_in_8_bits_has_one_in_16(notices):
    class NoInt8(FakeKernels):
        def plan(self, arguments, device):
            if arguments.flags & 2:
                raise Unsupported("no kernel in 8 bits")
            return super().plan(arguments, device)

    kernels = NoInt8()
    session = session_of(kernels, notices, "int8")
    session.attend(Q, Q, Q)
    assert (len(kernels.launches), session.calls, session.fallbacks, notices) == (1, 1, (), [])


class NoValues(FakeKernels):
    """Without kernels that take values in 8 bits."""

    def plan(self, arguments, device):
        if arguments.flags & 8:
            raise Unsupported("no int8-all kernel for head size 16")
        return super().plan(arguments, device)


def test_what_has_no_kernel_for_8_bit_values_has_8_bit_scores_and_is_recorded(notices):
    kernels = NoValues()
    session = session_of(kernels, notices, "int8-all")
    for _ in range(2):
        session.attend(Q, Q, Q)
    assert [asked.flags for asked in kernels.launches] == [2, 2]
    assert (session.used, session.calls) == ("int8-all", 2)
    assert session.fallbacks == (KernelFallback(reason="no int8-all kernel for head size 16", calls=2),)
    ((code, message),) = notices
    assert code == "attention_fell_back" and "'int8' or 'flash' handles the rest: no int8-all kernel" in message


class FullRate(FakeKernels):
    """Of a card on which sums in 16 bits are no faster."""

    def plan(self, arguments, device):
        if arguments.flags & 16:
            raise Unsupported("no flash-fp16 kernel on architecture 80")
        return super().plan(arguments, device)


def test_where_16_bit_sums_are_no_faster_flash_attends_and_it_is_recorded(notices):
    kernels = FullRate()
    session = session_of(kernels, notices, "flash-fp16")
    session.attend(Q, Q, Q)
    assert [asked.flags for asked in kernels.launches] == [0]
    assert session.fallbacks == (KernelFallback(reason="no flash-fp16 kernel on architecture 80", calls=1),)
    ((code, message),) = notices
    assert code == "attention_fell_back" and "'flash' handles the rest: no flash-fp16 kernel" in message


def test_a_block_table_is_followed_by_flash_and_recorded(notices):
    kernels, tokens = FakeKernels(), torch.randn(1, 2, 200, 16).bfloat16()
    session = session_of(kernels, notices, "flash-fp16")
    session.attend(tokens, tokens, tokens, table=bigbird_table(200, 0, random_blocks=1))
    assert [asked.flags for asked in kernels.launches] == [0]
    assert session.fallbacks == (KernelFallback(reason="block tables take the kernels of 'flash'", calls=1),)


def test_without_any_kernel_for_8_bit_values_torch_attends_and_it_is_counted_once(notices):
    session = session_of(FakeKernels(head_sizes={64}), notices, "int8-all")
    session.attend(Q, Q, Q)
    assert session.fallbacks == (KernelFallback(reason="no kernel for head_dim 16", calls=1),)


def test_a_block_table_is_followed_with_8_bit_scores_and_recorded(notices):
    kernels, tokens = FakeKernels(), torch.randn(1, 2, 200, 16).bfloat16()
    session = session_of(kernels, notices, "int8-all")
    session.attend(tokens, tokens, tokens, table=bigbird_table(200, 0, random_blocks=1))
    assert [asked.flags for asked in kernels.launches] == [2]
    assert session.fallbacks == (KernelFallback(reason="no int8-all kernel follows block tables", calls=1),)


@pytest.mark.parametrize(("chosen", "eight"), [("flash-fp16", 16), ("int8", 2), ("int8-all", 10), ("int8-fp8", 34)])
@pytest.mark.parametrize(("queries", "keys", "few"), [(129, 128, True), (129, 129, False), (128, 128, False)])
def test_few_keys_are_attended_in_16_bits(queries, keys, few, chosen, eight, notices):
    kernels, tokens = FakeKernels(), torch.randn(1, 2, 129, 16).bfloat16()
    k = tokens[:, :, :keys]
    session = session_of(kernels, notices, chosen)
    session.attend(tokens[:, :, :queries], k, k)
    assert [asked.flags for asked in kernels.launches] == [0 if few else eight]
    assert session.fallbacks == ()


def test_after_a_failed_launch_torch_s_own_attends(notices):
    kernels = FakeKernels("launch", after=1)
    session = session_of(kernels, notices)
    for _ in range(3):
        torch.testing.assert_close(session.attend(Q, Q, Q), attention_sdpa(Q, Q, Q), rtol=0.02, atol=0.02)
    assert len(kernels.launches) == 2
    assert session.used == "sdpa"
    assert session.fallbacks == (KernelFallback(reason="the launch failed", calls=1),)
    assert len(notices) == 1


def test_what_came_out_as_not_a_number_is_made_again_without_the_kernels(notices):
    session = session_of(FakeKernels("nan"), notices)
    made = finite(session, lambda: session.attend(Q, Q, Q), "step 3")
    assert torch.equal(made, attention_sdpa(Q, Q, Q))
    assert session.used == "sdpa"
    assert session.fallbacks == (KernelFallback(reason="step 3 contains NaN or infinity", calls=0),)
    assert len(notices) == 1 and "step 3" in notices[0][1]


@pytest.mark.parametrize("chosen", ["sdpa", "reference", None])
def test_without_kernels_nothing_is_made_twice(chosen, notices):
    made = []
    session = None if chosen is None else session_of(None, notices, chosen)
    out = finite(session, lambda: made.append(1) or torch.tensor(float("nan")), "a step")
    assert out.isnan() and made == [1] and notices == []


def test_what_is_sound_is_made_once(notices):
    made = []
    finite(session_of(FakeKernels(), notices), lambda: made.append(1) or torch.ones(1), "a step")
    assert made == [1]


def test_where_gradients_are_wanted_torch_s_own_gives_them(notices):
    session = session_of(FakeKernels(), notices)
    q = Q.clone().requires_grad_()
    session.attend(q, q, q).sum().backward()
    assert q.grad.isfinite().all() and q.grad.any()
    assert "gradients" in session.fallbacks[0].reason


@pytest.mark.parametrize("chosen", ["flash", "int8", "int8-all"])
def test_gradients_are_by_the_kernels_where_they_can(install_backward, notices, chosen):
    """In 16 bits; a bias has none, and torch's attention takes that call."""
    library, kernels = install_backward(FakeBackward()), FakeKernels()
    session = session_of(kernels, notices, chosen)
    q = Q.clone().requires_grad_()
    session.attend(q, q, q).sum().backward()
    assert (len(library.launches), [asked.flags for asked in kernels.launches]) == (1, [0])
    assert (session.calls, session.fallbacks, notices) == (1, (), [])
    session.attend(q, q, q, Masks(bias=torch.zeros(1, 1, 1, 5).bfloat16())).sum().backward()
    assert len(library.launches) == 1 and "there is a bias" in session.fallbacks[0].reason


def test_in_compiled_code_it_is_the_declared_operation(notices):
    session = session_of(None, notices, "sdpa")
    compiled = torch.compile(lambda q: session.attend(q, q, q), backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(Q), attention_sdpa(Q, Q, Q))
