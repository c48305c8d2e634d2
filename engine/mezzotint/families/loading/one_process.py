"""Keeps transformers from importing torch's modules for distributed networks."""

from functools import cache

from mezzotint.libraries import import_networks


@cache
def tell_transformers() -> None:
    """Make transformers treat torch as built without distributed; call before importing one of its networks.

    It checks once and caches the answer. These imports would take longer than all its others.
    """
    import_networks()
    import torch.distributed
    from transformers.utils import import_utils

    there = torch.distributed.is_available
    vars(torch.distributed)["is_available"] = lambda: False
    try:
        import_utils.is_torch_distributed_available()
    finally:
        vars(torch.distributed)["is_available"] = there
