"""Quantization scheme `auto`: a format for each layer of a model's denoiser, so that the model fits a card."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import torch

from mezzotint import machine, paths
from mezzotint.catalog.catalog import FoundModel
from mezzotint.conversion.auto.candidates import candidates_of
from mezzotint.conversion.auto.choosing import Mix, choose_mix
from mezzotint.conversion.auto.layers import CALIBRATED, MeasuredLayer, Recording, format_bytes, unquantized
from mezzotint.conversion.auto.measuring import Measurement
from mezzotint.conversion.auto.target import MemoryTarget
from mezzotint.conversion.model import check_unquantized
from mezzotint.errors import Busy, ModelRefused, UsageError
from mezzotint.families.family import ModelSources
from mezzotint.families.footprints import footprint_of
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.jobs.calibration.calibration import STEPS, CalibrationRun
from mezzotint.jobs.lease import Held, Lease
from mezzotint.memory.footprints.footprint import Scheme
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.machine.speeds import dequantized_speed, scheme_speed
from mezzotint.protocol import IsCancelled, ModelRef, Notice, OnEvent, Plan, Progress
from mezzotint.quantization.block_floats import Nvfp4
from mezzotint.quantization.formats import Format
from mezzotint.quantization.fp8 import quantizes_inputs
from mezzotint.quantization.layers import layers_of
from mezzotint.quantization.policy import Choice

if TYPE_CHECKING:
    from torch import Tensor

    from mezzotint.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoChoice:
    """The formats chosen for a denoiser, and the plan of an image with them; in 16 bits if that fits."""

    component: str
    mix: Mix
    plan: Plan
    target: MemoryTarget

    @property
    def formats(self) -> dict[str, Format]:
        """The format of each layer that is quantized."""
        return {name: each.format for name, each in self.mix.chosen.items() if each.format is not None}

    @property
    def magnitudes(self) -> "dict[str, Tensor]":
        """The magnitudes of inputs of the layers whose schemes were measured with them."""
        calibrated = (layer for layer in self.mix.layers if self.mix.chosen[layer.name].scheme in CALIBRATED)
        return {layer.name: layer.magnitudes for layer in calibrated if layer.magnitudes is not None}

    def record(self) -> dict[str, object]:
        """What a copy's manifest says."""
        layers = {
            layer.name: {
                "scheme": self.mix.chosen[layer.name].scheme,
                "bytes": self.mix.chosen[layer.name].bytes,
                "error": self.mix.chosen[layer.name].error,
                "influence": layer.influence,
            }
            for layer in self.mix.layers
        }
        return {
            "target_vram_bytes": self.target.machine.vram_bytes,
            "planned_peak_bytes": self.plan.peak_vram_bytes,
            "expected_error": self.mix.error,
            "expected_time": self.mix.seconds,
            "components": {self.component: layers},
        }


@dataclass(frozen=True, kw_only=True)
class AutoQuantization:
    """A choice to make: of which model, among which schemes, for which card."""

    found: FoundModel
    choice: Choice  # settings of all schemes
    schemes: Collection[str]
    card: MachineFacts
    device: str = "auto"

    def choose(self, engine: "Engine", on_event: OnEvent, cancelled: IsCancelled) -> AutoChoice:
        """Choose; nothing is recorded or measured if everything fits in 16 bits.

        Raises UsageError if no mix fits, ModelRefused for models that cannot be quantized, Busy, Cancelled.
        """
        check_unquantized(self._sources, self._component)
        if self.target.fits({}) and (plan := self.target.plan({})).fits:
            mix = Mix(layers=(), chosen={})
            return AutoChoice(component=self._component, mix=mix, plan=plan, target=self.target)
        self.target.check(self._most_saved())
        mix = self._mix(engine, on_event, cancelled)
        return AutoChoice(component=self._component, mix=mix, plan=self.target.plan(mix.saved), target=self.target)

    def _mix(self, engine: "Engine", on_event: OnEvent, cancelled: IsCancelled) -> Mix:
        recordings = self._recordings(engine, on_event, cancelled)
        engine.close()  # its networks would take memory beside the measured weights
        layers = self._measured(recordings, on_event, cancelled)
        others = sum(each.work for name, each in recordings.items() if name not in self.formats)
        found = choose_mix(layers, lambda mix: self.target.fits(mix.saved), others)
        if found is None:
            raise UsageError("the layers stored in this model's files cannot be made small enough: name another model")
        return found

    def _measured(
        self, recordings: Mapping[str, Recording], on_event: OnEvent, cancelled: IsCancelled
    ) -> tuple[MeasuredLayer, ...]:
        device = machine.choose_device(self.device, machine.devices()).id
        measurement = Measurement(
            sources=self._sources,
            component=self._component,
            formats=self.formats,
            recordings=recordings,
            speed_of=self._speed,
            device=torch.device(device),
        )

        def told(done: int, total: int) -> None:
            on_event(Progress(what="error of each layer", done=done, total=total, unit="layers"))

        return tuple(measurement.layers(told, cancelled))

    def _recordings(self, engine: "Engine", on_event: OnEvent, cancelled: IsCancelled) -> dict[str, Recording]:
        run = CalibrationRun(
            model=ModelRef(id=self.found.info.id),
            class_name=self._source_class,
            layers={layer: self._shapes[layer] for layer in self.formats},
            others=tuple(layer for layer in self._shapes if layer not in self.formats),
            steps=min(STEPS, self._sources.detected.defaults.steps),
            device=self.device,
            guidance=self._guidance,
        )
        lease = Lease.acquire(what=f"quantizing {self.found.info.id}")
        if isinstance(lease, Held):
            raise Busy(f"the device is in use by {lease}: wait for it, or stop it there")
        with lease:
            try:
                return run.record(engine, on_event, cancelled)
            except (UsageError, ModelRefused) as error:
                message = f"this model makes no image alone, so errors are those of its weights ({error})"
                on_event(Notice(code="not_calibrated", message=message))
                return {}

    def _speed(self, format_: Format) -> float:
        scheme = cast(Scheme, format_.scheme)
        if not quantizes_inputs(format_) and not (isinstance(format_, Nvfp4) and format_.dynamic):
            return dequantized_speed(scheme)
        return scheme_speed(scheme, self.card.int8_speedup, self.card.architecture)

    def _most_saved(self) -> dict[str, int]:
        """The most bytes that each layer can take less than in 16 bits."""
        return {
            layer: max(0, unquantized(shape).bytes - min(format_bytes(each, shape) for each in self.formats[layer]))
            for layer, shape in self._shapes.items()
            if layer in self.formats
        }

    # ---- the model

    @property
    def _guidance(self) -> float:
        """The scale of guidance that the model's images are made with; 0 if its calls have no halves."""
        scale = self._sources.detected.defaults.guidance_scale
        return scale if family_of(self._sources.family).has_halves(self._sources, scale) else 0.0

    @cached_property
    def formats(self) -> Mapping[str, tuple[Format, ...]]:
        """The formats that each layer can have."""
        layers = layers_of(self._network)
        return candidates_of(self._source_class, layers, self.choice, self.schemes)

    @cached_property
    def target(self) -> MemoryTarget:
        """The card."""
        footprint = footprint_of(self._sources, model_id=self.found.info.id, cache=paths.cache_folder() / "footprints")
        return MemoryTarget(model=footprint, machine=self.card)

    @cached_property
    def _sources(self) -> ModelSources:
        return family_of(self.found.detected.family).sources(self.found.checkpoint, self.found.detected)

    @property
    def _component(self) -> str:
        return family_of(self._sources.family).denoiser_component

    @property
    def _source_class(self) -> str:
        return self._sources.components[self._component].class_name

    @cached_property
    def _network(self) -> "torch.nn.Module":
        network: torch.nn.Module = empty_network(self._sources.components[self._component])
        return network

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {layer.name: layer.shape for layer in layers_of(self._network)}
