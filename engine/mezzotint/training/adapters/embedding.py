"""Textual inversion: a new word, as vectors at the input of CLIP text encoders (arXiv 2208.01618)."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import torch
from torch import Tensor, nn

from mezzotint.errors import UsageError
from mezzotint.families.lora.description import Description, embedding_entries
from mezzotint.families.lora.dialects import DIALECTS
from mezzotint.families.lora.writing import write_tensors
from mezzotint.families.text.clip_encode import ClipEncoder
from mezzotint.families.text.textual_inversion import Inversion
from mezzotint.training.adapters.adapter import Group

_ALONE = "emb_params"  # as A1111 names the vectors of a single encoder


class EmbeddingAdapter:
    """The vectors of a word, for one or two encoders; they begin as those of another word."""

    changes_text = True

    def __init__(self, encoders: Sequence[ClipEncoder], word: str, *, initial: str, vectors: int) -> None:
        """`initial`: what the word is, in words that the encoders know; raises UsageError if there are none."""
        self._word = word
        self._vectors = nn.ParameterDict(
            {each.key: nn.Parameter(_initial(each, initial, vectors)) for each in encoders}
        )

    @property
    def module(self) -> nn.Module:
        """The vectors."""
        return self._vectors

    @property
    def words(self) -> tuple[Inversion, ...]:
        """The word, with the vectors as they are now."""
        return (Inversion(word=self._word, path=None, vectors=dict(self._vectors)),)

    def named(self) -> dict[str, Tensor]:
        """The vectors by encoder."""
        return dict(self._vectors)

    def parameters(self) -> list[Tensor]:
        """The vectors."""
        return list(self._vectors.values())

    def groups(self) -> list[Group]:
        """All of them; decay would make them shorter than those of other words."""
        return [Group(parameters=self.parameters(), decays=False)]

    def to(self, device: torch.device) -> None:
        """Move them to a device."""
        for parameter in self.parameters():
            parameter.data = parameter.data.to(device)

    def attached(self) -> AbstractContextManager[None]:
        """Nothing is changed but captions."""
        return nullcontext()

    def detached(self) -> AbstractContextManager[None]:
        """Nothing is changed."""
        return nullcontext()

    def write(self, path: Path, family: str, description: Description, *, overwrite: bool) -> None:
        """Write `clip_l` and `clip_g` as SDXL's embeddings have them, or the vectors of a single encoder as A1111."""
        tensors = {key: each.detach().cpu() for key, each in self._vectors.items()}
        if len(tensors) == 1:
            tensors = dict(zip([_ALONE], tensors.values(), strict=True))
        metadata = embedding_entries(description, DIALECTS[family])
        write_tensors(path, tensors, metadata, dtype=torch.float32, overwrite=overwrite)


def _initial(encoder: ClipEncoder, word: str, vectors: int) -> Tensor:
    """Vectors `(n, width)` of the word's tokens, again from the first if there are fewer."""
    tokens = list(encoder.tokenizer(word, add_special_tokens=False, verbose=False).input_ids)
    if not tokens:
        raise UsageError("an embedding begins as a word that the model knows: name it by --word, such as --word castle")
    table = encoder.model.get_input_embeddings().weight
    return torch.stack([table[tokens[place % len(tokens)]].detach().float() for place in range(vectors)])
