"""Transformers without what it imports of torch to spread a network over processes."""

from functools import cache


@cache
def tell_transformers() -> None:
    """Have it take this torch for one that was built without; call before one of its networks is imported.

    It asks once and keeps the answer. What it would import is longer than all the rest of it.
    """
    import torch.distributed
    from transformers.utils import import_utils

    there = torch.distributed.is_available
    vars(torch.distributed)["is_available"] = lambda: False
    try:
        import_utils.is_torch_distributed_available()
    finally:
        vars(torch.distributed)["is_available"] = there
