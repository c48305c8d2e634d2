"""Compiles the blocks of a network with torch, once per block class rather than once per block.

Hooks stay outside the compiled code, so that blocks can be streamed. Blocks that cannot be compiled run eagerly.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

_COMPILERS = ("torch._dynamo", "torch._inductor", "triton")


class CompiledBlocks:
    """Compiles blocks for one job; the first failure disables this and is reported."""

    def __init__(self, tell: Callable[[str, str], None], backend: str = "inductor") -> None:
        self._tell, self._backend = tell, backend
        self.failure = ""

    @contextmanager
    def running(self, network: nn.Module, blocks: Sequence[str]) -> Iterator[None]:
        """Run the blocks of a network compiled in this context."""
        modules = [network.get_submodule(block) for block in blocks]
        before = [vars(module).get("forward") for module in modules]
        for module in modules:
            vars(module)["forward"] = self._guarded(module)
        try:
            yield
        finally:
            for module, forward in zip(modules, before, strict=True):
                vars(module).pop("forward", None)
                if forward is not None:
                    vars(module)["forward"] = forward

    def _guarded(self, module: nn.Module) -> Callable[..., Any]:
        plain = module.forward
        compiled = torch.compile(plain, backend=self._backend)

        def forward(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  whatever blocks take and give
            if self.failure:
                return plain(*args, **kwargs)
            try:
                return compiled(*args, **kwargs)
            except Exception as error:
                if not type(error).__module__.startswith(_COMPILERS):
                    raise
                self._give_up(error)
                return plain(*args, **kwargs)

        return forward

    def _give_up(self, error: Exception) -> None:
        self.failure = (str(error).strip().partition("\n")[0] or type(error).__name__)[:300]
        self._tell("not_compiled", f"blocks run without compilation, which failed: {self.failure}")
