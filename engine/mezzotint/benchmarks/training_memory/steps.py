"""Training steps of a model on the CPU, with every byte that they allocate counted."""

import functools
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from mezzotint.catalog.catalog import FoundModel
from mezzotint.families.autoencoder import encode_pixels
from mezzotint.families.family import LoadedModel, Network, PromptInputs
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import load_components
from mezzotint.families.model_sources import sources_of
from mezzotint.memory.accounting import ByteAccount, ByteLedger, rounded
from mezzotint.memory.device import open_device
from mezzotint.quantization.policy import Choice
from mezzotint.training.adapters.layers import LayerChoice
from mezzotint.training.adapters.networks import NetworkAdapter
from mezzotint.training.checkpointing import apply_checkpointing
from mezzotint.training.objective import objective_of
from mezzotint.training.offloading import offloading
from mezzotint.training.planning.known import model_of
from mezzotint.training.planning.planner import planned_phases
from mezzotint.training.planning.task import TrainingModel, TrainingTask
from mezzotint.training.streamed_base import streamed_base
from mezzotint.training.trainer import Rates, TrainedImage, Trainer
from mezzotint.training_protocol import BaseQuantization, Checkpointing, OptimizerName, TrainingLevers

CPU = torch.device("cpu")
_CAPTION = "a purple castle by the sea, "
_LONG = 100  # times the caption: longer than any model takes; plans are made for its longest
STREAMED = (4, 8)  # blocks
_STEPS = 3  # the optimizer's state exists from the second on


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredStep:
    """Peak bytes of a phase, and the seconds of a step."""

    levers: TrainingLevers
    predicted_bytes: int
    measured_bytes: int
    activation_bytes: int  # predicted
    seconds: float

    @property
    def name(self) -> str:
        """What differs from a training without levers."""
        levers = self.levers
        said: list[str] = []
        said += [levers.checkpointing] if levers.checkpointing != "none" else []
        said += [levers.optimizer] if levers.optimizer != "adamw" else []
        said += ["offloaded"] if levers.offload_activations else []
        said += [levers.quantization] if levers.quantization != "none" else []
        said += [f"{levers.stream_blocks} streamed"] if levers.stream_blocks else []
        said += [f"{levers.accumulate} passes"] if levers.accumulate > 1 else []
        return ", ".join(said) or "none"

    @property
    def error(self) -> float:
        """How far the prediction is off, as a share of what was measured."""
        return self.predicted_bytes / self.measured_bytes - 1


class StepBench:
    """One model, at its usual image size or another."""

    def __init__(
        self, found: FoundModel, *, resolution: int | None = None, rank: int = 8, average: bool = False
    ) -> None:
        self.family = family_of(found.detected.family)
        self._sources = sources_of(found.checkpoint, found.detected)
        self._rank, self._average = rank, average
        self.resolution = resolution or found.detected.defaults.width
        self.model: TrainingModel = model_of(self._sources, model_id=found.info.id, dtype="float32")
        self._image = self._encoded()

    def measure(self, levers: TrainingLevers) -> MeasuredStep:
        """Take some steps with these levers."""
        model = self._loaded(levers)
        network = model.networks[self.family.denoiser_component]
        network.requires_grad_(False)
        choice = LayerChoice(rank=self._rank, alpha=self._rank)
        factors = NetworkAdapter(model.networks, {self.family.denoiser_component: choice})
        trainer = self._trainer(model, factors, levers)
        averages = [each.clone() for each in factors.parameters()] if self._average else []
        images, seconds = [self._image] * levers.batch, []
        with self._using(levers, network) as (held, ledger):
            for _ in range(_STEPS):
                begun = time.perf_counter()
                trainer.train_step(lambda _: images)
                seconds.append(time.perf_counter() - begun)
            held += _bytes([*factors.parameters(), *averages])
        phase = planned_phases(self.task(levers), levers)[2]
        return MeasuredStep(
            levers=levers,
            predicted_bytes=phase.peak,
            measured_bytes=held + ledger.peak,
            activation_bytes=phase.activations,
            seconds=statistics.median(seconds[1:]),
        )

    @contextmanager
    def _using(self, levers: TrainingLevers, network: Network) -> Iterator[tuple[int, ByteLedger]]:
        """Context manager: the network's levers; yields its bytes and what counts all others."""
        ledger, saved = ByteLedger(), offloading(CPU) if levers.offload_activations else None
        with ExitStack() as stack:
            held = _bytes([*network.parameters(), *network.buffers()])
            if levers.stream_blocks:
                device = open_device(CPU)
                stack.enter_context(streamed_base(network, self._blocks, levers.stream_blocks, device))
                held = device.arena.in_use
            stack.callback(apply_checkpointing(network, levers.checkpointing, saved))
            stack.enter_context(ByteAccount(ledger))
            yield held, ledger

    @property
    def _blocks(self) -> list[str]:
        return [block.name for block in self.model.footprint.denoiser.blocks]

    def encoding(self) -> dict[str, tuple[int, int]]:
        """Predicted and measured bytes of encoding a caption and an image.

        Of a padded caption and one of the longest length, that which needs more counts: padding needs a mask.
        """
        phases = {each.name: each.peak for each in planned_phases(self.task(TrainingLevers()), TrainingLevers())}
        model = self._empty()
        texts = [name for name in self._sources.components if name.startswith(("text_encoder", "tokenizer"))]
        _load(model, texts)
        captions = (_inputs(self.resolution, _CAPTION), self._inputs())
        text = max(_peak(functools.partial(self.family.encode, model, each), model) for each in captions)
        model = self._empty()
        _load(model, ["vae"])
        vae, pixels = model.networks["vae"].float(), torch.zeros(1, 3, self.resolution, self.resolution)
        image = _peak(lambda: encode_pixels(vae, pixels, torch.Generator().manual_seed(0)), model)
        return {"text": (phases["text"], text), "images": (phases["images"], image)}

    def task(self, levers: TrainingLevers) -> TrainingTask:
        """The task of a training with these levers."""
        return TrainingTask(
            model=self.model,
            resolution=self.resolution,
            rank=self._rank,
            batch=levers.batch,
            accumulate=levers.accumulate,
            averages=self._average,
        )

    def _inputs(self) -> PromptInputs:
        chunked = self._sources.components["text_encoder"].class_name.startswith("CLIP")  # longer ones are taken apart
        return _inputs(self.resolution, _CAPTION * (1 if chunked else _LONG))

    def _empty(self, levers: TrainingLevers | None = None) -> LoadedModel:
        scheme = "none" if levers is None else levers.quantization
        choices = {} if scheme == "none" else {self.family.denoiser_component: Choice(scheme=scheme)}
        return LoadedModel(sources=self._sources, device=CPU, dtype=torch.float32, quantization=choices)

    def _loaded(self, levers: TrainingLevers) -> LoadedModel:
        model = self._empty(levers)
        _load(model, [self.family.denoiser_component])
        return model

    def _encoded(self) -> TrainedImage:
        model = self._empty()
        _load(model, [name for name in self._sources.components if name.startswith(("text_encoder", "tokenizer"))])
        with torch.no_grad():
            conditioning = self.family.encode(model, self._inputs())
        side = self.resolution // self._sources.vae_factor
        latents = torch.zeros(self._sources.latent_channels, side, side)
        return TrainedImage(latents=latents, conditioning=conditioning)

    def _trainer(self, model: LoadedModel, factors: NetworkAdapter, levers: TrainingLevers) -> Trainer:
        objective = objective_of(
            self.family, self._sources, self.resolution, self.resolution, levels="uniform", weighting="none"
        )
        rates = Rates(
            steps=_STEPS, peak=1e-4, schedule="constant", optimizer=levers.optimizer, accumulate=levers.accumulate
        )
        return Trainer(self.family, model, objective, factors, rates)


def every_lever(batch: int) -> list[TrainingLevers]:
    """The levers one by one, then together."""
    plain = TrainingLevers(batch=batch)
    several = replace(plain, batch=batch // 4, accumulate=4)
    modes: tuple[Checkpointing, ...] = ("selective", "blocks", "sqrt")
    optimizers: tuple[OptimizerName, ...] = ("adamw-8bit", "adafactor", "lion")
    schemes: tuple[BaseQuantization, ...] = ("int8", "int8-weight", "int4")
    by_blocks = replace(plain, checkpointing="blocks")
    return [
        plain,
        *(replace(plain, checkpointing=mode) for mode in modes),
        replace(by_blocks, offload_activations=True),
        *(replace(by_blocks, stream_blocks=count) for count in STREAMED),
        several,
        *(replace(plain, optimizer=name) for name in optimizers),
        *(replace(plain, quantization=scheme) for scheme in schemes),
        replace(several, checkpointing="blocks", optimizer="adamw-8bit", quantization="int4"),
        replace(by_blocks, offload_activations=True, quantization="int8-weight", stream_blocks=STREAMED[-1]),
    ]


def _load(model: LoadedModel, names: list[str]) -> None:
    load_components(model, names, on_bytes=lambda *_: None, cancelled=lambda: False, notify=lambda _: None)


def _bytes(tensors: Iterable[Tensor]) -> int:
    storages = {each.untyped_storage().data_ptr(): each.untyped_storage() for each in tensors}
    return sum(rounded(each.nbytes()) for each in storages.values())


def _peak(run: Callable[[], object], model: LoadedModel) -> int:
    networks = [each for each in model.networks.values() if isinstance(each, nn.Module)]
    held = _bytes(tensor for network in networks for tensor in (*network.parameters(), *network.buffers()))
    ledger = ByteLedger()
    with torch.no_grad(), ByteAccount(ledger):
        run()
    return held + ledger.peak


def _inputs(side: int, prompt: str) -> PromptInputs:
    return PromptInputs(
        prompt=prompt,
        negative_prompt="",
        width=side,
        height=side,
        guidance_scale=1.0,
        clip_skip=0,
        embeddings=(),
    )
