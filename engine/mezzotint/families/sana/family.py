"""Sana: Gemma 2 encodes an instruction and the prompt; the transformer uses linear attention."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.family import FlowFamily, Words
from mezzotint.families.flow.files import part_of_file
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.samplers import FlowSteps
from mezzotint.families.sana.instruction import INSTRUCTION
from mezzotint.families.sana.names import TRANSFORMER
from mezzotint.families.sana.parts import GEMMA2_2B, SANA_VAE
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

_BY_SIDE = {16: "512", 32: "1024", 64: "2048", 128: "4096"}  # latents
_STEPS, _SCALE = 20, 4.5
_SHIFTS = {"1024": 3.0, "512": 3.0, "2048": 3.0, "4096": 6.0}  # of the timesteps, in NVlabs/Sana's configs


def _scheduler(shift: float) -> Mapping[str, object]:
    return {
        "_class_name": "DPMSolverMultistepScheduler",
        "num_train_timesteps": 1000,
        "use_flow_sigmas": True,
        "flow_shift": shift,
        "prediction_type": "flow_prediction",
    }


class Sana(FlowFamily):
    """Sana and Sana 1.5, by the image size of the last phase of training."""

    original = TRANSFORMER
    needs = (GEMMA2_2B, SANA_VAE)
    stored_tokenizers = MappingProxyType({"tokenizer": "GemmaTokenizer"})

    spec = FlowSpec(
        name="sana",
        title="Sana",
        pipelines=("SanaPipeline",),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={
            name: ModelDefaults(width=side, height=side, steps=_STEPS, guidance_scale=_SCALE)
            for name, side in (("1024", 1024), ("512", 512), ("2048", 2048), ("4096", 4096))
        },
        scheduler={name: _scheduler(shift) for name, shift in _SHIFTS.items()},
        max_tokens=300,
        instruction_tokens=300,  # fewer, by Gemma's count
        limits={"text_encoder": 298},
        bounds_prompt=True,
        template=INSTRUCTION + "{prompt}",
        patch=1,
    )

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant by the network's sample size."""
        side = folder.components["transformer"].config.get("sample_size")
        return _BY_SIDE.get(side, "1024") if isinstance(side, int) else "1024"

    def variant_of_file(self, file: FileCheckpoint) -> str:
        """The same by the number of its position embeddings."""
        part = part_of_file(self.denoiser_component, TRANSFORMER, file.header)
        side = None if part is None else part.config["sample_size"]
        return _BY_SIDE.get(side, "1024") if isinstance(side, int) else "1024"

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:  # noqa:ARG002
        """None: the scheduler spaces the timesteps on its own."""
        return None

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """Gemma's last hidden states of the first token and the last 299: the prompt and its padding."""
        before = len(model.tokenizers["tokenizer"].encode(INSTRUCTION))
        read = self._read(model, INSTRUCTION + self.as_read(prompt), before + self.spec.max_tokens - 2)
        return _chosen(read, [0, *range(1 - self.spec.max_tokens, 0)])

    def negative_words(self, model: LoadedModel, prompt: str) -> Words:
        """Encode a negative prompt, without the instruction."""
        return self._read(model, self.as_read(prompt), self.spec.max_tokens)

    def as_read(self, prompt: str) -> str:
        """In lower case, as the captions of the training were."""
        return prompt.lower().strip()

    def _read(self, model: LoadedModel, text: str, most: int) -> Words:
        import torch

        tokenizer, encoder = model.tokenizers["tokenizer"], model.networks["text_encoder"]
        tokenizer.padding_side = "right"  # Gemma's own is left
        read = tokenizer([text], padding="max_length", max_length=most, truncation=True, return_tensors="pt")
        mask = read.attention_mask.to(encoder.device)
        with torch.no_grad():
            states = encoder(read.input_ids.to(encoder.device), attention_mask=mask, use_cache=False)[0]
        return Words(text=states, others={"mask": mask})

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity; a learned variance is dropped."""
        seen: torch.Tensor = network(
            rows,
            encoder_hidden_states=conditioning.tensors["text"],
            encoder_attention_mask=conditioning.tensors["mask"],
            timestep=timestep * network.config.timestep_scale,
            return_dict=False,
        )[0]
        return seen[:, : rows.shape[1]]

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Text with Gemma's width, and its mask."""
        width = config.get("caption_channels")
        return {"text": (rows, tokens, width if isinstance(width, int) else 2304), "mask": (rows, tokens)}


def _chosen(read: Words, places: list[int]) -> Words:
    return Words(text=read.text[:, places], others={name: each[:, places] for name, each in read.others.items()})
