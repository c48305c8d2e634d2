"""Typical magnitudes of what a denoiser's layers see while the model makes images, for schemes that smooth by them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor

from mezzotint.catalog.catalog import FoundModel
from mezzotint.conversion.model import check_unquantized
from mezzotint.errors import Busy, ModelRefused, UsageError
from mezzotint.families.known import family_of
from mezzotint.families.loading.networks import empty_network
from mezzotint.jobs.calibration.calibration import STEPS, CalibrationRun
from mezzotint.jobs.lease import Held, Lease
from mezzotint.protocol import IsCancelled, ModelRef, Notice, OnEvent
from mezzotint.quantization.layers import layers_of
from mezzotint.quantization.policy import Choice, formats_for

if TYPE_CHECKING:
    from mezzotint.engine import Engine


def input_magnitudes(
    found: FoundModel, choice: Choice, engine: "Engine", device: str, on_event: OnEvent, cancelled: IsCancelled
) -> Mapping[str, Tensor]:
    """Root mean squares `(k)` of the input's columns by layer, of those that get the scheme.

    Empty, with a notice, if the model makes no image alone. Raises ModelRefused for models that cannot be quantized,
    Busy, Cancelled.
    """
    sources = family_of(found.detected.family).sources(found.checkpoint, found.detected)
    component = family_of(sources.family).denoiser_component
    check_unquantized(sources, component)
    source = sources.components[component]
    layers = layers_of(empty_network(source))
    formats = formats_for(source.class_name, layers, choice)
    run = CalibrationRun(
        model=ModelRef(id=found.info.id),
        class_name=source.class_name,
        layers={each.name: each.shape for each in layers if each.name in formats and not each.is_convolution},
        steps=min(STEPS, sources.detected.defaults.steps),
        device=device,
        influences=False,
    )
    lease = Lease.acquire(what=f"quantizing {found.info.id}")
    if isinstance(lease, Held):
        raise Busy(f"the device is in use by {lease}: wait for it, or stop it there")
    with lease:
        try:
            recordings = run.record(engine, on_event, cancelled)
        except (UsageError, ModelRefused) as error:
            message = f"this model makes no image alone, so its inputs are not smoothed ({error})"
            on_event(Notice(code="not_calibrated", message=message))
            return {}
    found_by_layer = {name: each.magnitudes for name, each in recordings.items()}
    return {name: magnitudes for name, magnitudes in found_by_layer.items() if magnitudes is not None}
