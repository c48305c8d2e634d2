"""Plans of every kind."""

from mezzotint.protocol import Plan, PlannedComponent, PlannedPhase

GB = 1 << 30


def component(name="unet", size=5 * GB, slots=0, host="ram"):
    return PlannedComponent(
        model="m",
        name=name,
        quantization="none",
        bytes=size,
        blocks=10,
        resident_blocks=10 - slots,
        slots=slots,
        device_bytes=size,
        host=host,
        phases=("stage 1",),
    )


def phase(name="stage 1", weights=2 * GB, activations=GB, peak=int(3.6 * GB)):
    return PlannedPhase(
        name=name,
        weights_bytes=weights,
        activation_bytes=activations,
        peak_bytes=peak,
        seconds=30.0,
        seconds_resident=30.0,
    )


def plan(**fields):
    return Plan(
        **{
            "fits": True,
            "memory": "auto",
            "vram_bytes": 8 * GB,
            "ram_bytes": 16 * GB,
            "peak_vram_bytes": int(3.6 * GB),
            "peak_ram_bytes": 9 * GB,
            "pinned_bytes": 0,
            "components": (component(),),
            "phases": (phase("encode", GB, 0, GB), phase()),
            "guidance": "batched",
            "vae_tile": 0,
            "quantization": "none",
            "text_quantization": "none",
            "seconds": 35.0,
            "seconds_resident": 35.0,
            "smallest_vram_bytes": 2 * GB,
            "smallest_ram_bytes": 3 * GB,
            "reasons": ("needs 9.1 GB with everything loaded",),
            **fields,
        }
    )
