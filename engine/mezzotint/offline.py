"""The environment that keeps the libraries underneath off the network. Standard library only."""

import logging
import os
from collections.abc import MutableMapping

_OFFLINE = {
    "DIFFUSERS_DISABLE_REMOTE_CODE": "true",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",  # its threads would warn and stall after a fork
}


def offline_environment(environ: MutableMapping[str, str] = os.environ) -> None:
    """Switch off network, telemetry, tokens and remote code; call before any of the libraries is imported."""
    environ.update(_OFFLINE)
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # it warns of kernels that it would have downloaded
    environ.pop("DIFFUSERS_ATTN_BACKEND", None)  # what runs is chosen here, and told in the result
