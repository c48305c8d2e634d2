"""Linear attention by the kernel library; planned once per kind of call."""

import torch
from torch import Tensor

from mezzotint.attention.differentiable import wants_gradients
from mezzotint.attention.kernel_tensors import DTYPES, Kind, check_layout, check_rows, kinds_of, strides_of
from mezzotint.attention.layout import empty_output
from mezzotint.attention.linear.features import FeatureMap, KernelForm, KernelMap
from mezzotint.attention.linear.hidden import check_linear, hide, seen_keys
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.dispatch.launching import launch
from mezzotint.dispatch.library import Arguments, KernelPlan, LinearAttentionLibrary, Unsupported

_MOST_KINDS = 4096  # limit of the cache, which is cleared when it is full


class CompiledLinearAttention:
    """The library's kernels of linear attention as a callable on tensors; the same bits each time."""

    def __init__(self, library: LinearAttentionLibrary) -> None:
        self.device_type = library.device_type
        self._library = library
        self._plans: dict[Kind, KernelPlan | str] = {}  # or why there is none

    def __call__(self, q: Tensor, k: Tensor, v: Tensor, features: FeatureMap, masks: Masks = NO_MASKS) -> Tensor:
        """Same as `linear_attention`; features are rounded to q's dtype, sums are not.

        Raises Unsupported if there is no kernel: for float32, gradients, sizes that are no multiples of 8. Does not
        wait for the device.
        """
        check_linear(q, k, v, masks)
        check_layout(self.device_type, q, k, v, masks)
        if wants_gradients(q, k, v):
            raise Unsupported("gradients are wanted, and the kernels have none")
        out, form = empty_output(q), features.kernel_form
        if out.numel() == 0 or k.shape[2] == 0:
            return out.zero_()
        if form.map is KernelMap.IDENTITY:
            q, k = _features(features, q, k, masks)
        arguments = self._arguments(q, k, v, out, form, masks)
        plan = self._plan(arguments, (form, *kinds_of(q, k, v, masks.key_mask, masks.key_lengths)), q)
        # Torch's allocator reuses memory in stream order, so freeing it after the launch is safe.
        workspace = torch.empty(plan.workspace_bytes, dtype=torch.uint8, device=q.device)
        arguments.workspace, arguments.workspace_bytes = workspace.data_ptr(), plan.workspace_bytes
        launch(self._library.launch_linear_attention, arguments, q.device)
        return out

    def _arguments(self, q: Tensor, k: Tensor, v: Tensor, out: Tensor, form: KernelForm, masks: Masks) -> Arguments:
        """Fill in everything except the workspace."""
        arguments = self._library.new_linear_attention_arguments()
        arguments.dtype, arguments.map, arguments.divided = DTYPES[q.dtype], form.map, form.divided
        arguments.least, arguments.epsilon = form.least, form.epsilon
        arguments.batch, arguments.heads, arguments.nq, arguments.features = q.shape
        arguments.kv_heads, arguments.nk, arguments.head_dim = v.shape[1:]
        for name, tensor in (("q", q), ("k", k), ("v", v), ("out", out)):
            setattr(arguments, name, tensor.data_ptr())
            getattr(arguments, f"{name}_stride")[:] = strides_of(tensor)
        if masks.key_lengths is not None:
            arguments.key_lengths = masks.key_lengths.data_ptr()
        if masks.key_mask is not None:
            arguments.key_mask = masks.key_mask.data_ptr()
            arguments.key_mask_stride = masks.key_mask.stride(0) if masks.key_mask.shape[0] > 1 else 0
        return arguments

    def _plan(self, arguments: Arguments, kind: Kind, q: Tensor) -> KernelPlan:
        """Return the plan for this kind of call; raises Unsupported if there is none."""
        plan = self._plans.get(kind)
        if plan is None:
            if len(self._plans) >= _MOST_KINDS:
                self._plans.clear()
            plan = self._plans[kind] = self._ask(arguments, q)
        if isinstance(plan, str):
            raise Unsupported(plan)
        return plan

    def _ask(self, arguments: Arguments, q: Tensor) -> KernelPlan | str:
        """The library's plan, or why there is none."""
        try:
            return self._library.plan_linear_attention(arguments, q.device.index or 0)
        except Unsupported as error:
            return str(error)


def _features(features: FeatureMap, q: Tensor, k: Tensor, masks: Masks) -> tuple[Tensor, Tensor]:
    """Features of queries and keys, computed in float32, in their dtype."""
    seen = seen_keys(masks, k.shape[2])
    of_q, of_k = features.queries(q.float()), features.keys(hide(k.float(), seen), seen)
    if wants_gradients(of_q, of_k):
        raise Unsupported("gradients of the features are wanted, and the kernels have none")
    of_q, of_k = of_q.to(q.dtype), of_k.to(k.dtype)
    check_rows("the features of q", of_q)
    check_rows("the features of k", of_k)
    return of_q, of_k
