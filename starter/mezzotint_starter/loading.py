"""Read networks of finished models, also those whose weights are stored in 8 bits."""

from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from mezzotint.checkpoints.weight_file import read_weights

Network = TypeVar("Network", bound=nn.Module)


def load_network(kind: type[Network], folder: Path) -> Network:
    """Read a network of a class of diffusers or transformers from its folder, in float32, for inference."""
    network: Network = _empty(kind, folder)
    files = sorted(folder.glob("*.safetensors"))
    read = read_weights(files, on_bytes=lambda _: None, cancelled=lambda: False)
    tensors = {name: value.float() for name, value in read}
    state = network.state_dict()
    stored = {state[name].data_ptr() for name in tensors}
    tied = {name: value for name, value in state.items() if value.data_ptr() in stored}
    network.load_state_dict(tied | tensors)
    network.float().eval()
    return network


def _empty(kind: Any, folder: Path) -> Any:  # noqa: ANN401
    if hasattr(kind, "config_class"):  # of transformers
        return kind(kind.config_class.from_pretrained(folder, local_files_only=True))
    return kind.from_config(kind.load_config(folder, local_files_only=True))
