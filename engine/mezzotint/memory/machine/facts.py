"""The machine as planning sees it: sizes and speeds, of which only free memory changes over time."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """Bytes, bytes per second and operations per second."""

    device: str  # cpu, cuda:0, xpu:0, mps
    device_name: str
    architecture: str  # sm_86, gfx1100, xe, apple; empty on a CPU
    vram_bytes: int  # the GPU's memory or the limit set by the user; on a CPU without a limit, the RAM
    free_vram_bytes: int  # part of it not used by other programs now
    context_bytes: int  # used by the driver and libraries, never available to us
    ram_bytes: int  # available to this process: the machine's, its control group's, or the user's limit
    free_ram_bytes: int
    pin_bytes: int  # limit of page-locked memory; 0: none
    copy_rate: float  # host to device, pinned
    pageable_rate: float  # host to device, not pinned
    disk_rate: float
    speed: float  # of 16-bit products, as reached in networks
    int8_speedup: float = 1.0  # speed of 8-bit products relative to 16-bit ones
    bandwidth: float = math.inf  # of the device's own memory
    launch_seconds: float = 0.0  # host time per block, a lower bound on pass time
    simulated: bool = False  # a CPU with a limit: an arena of that size in RAM stands for GPU memory
    process_bytes: int = 2**30  # RAM used by Python and libraries, without weights
    shares_ram: bool = False  # integrated GPU that uses the machine's RAM
    expected_of: str = ""  # what the speed estimates are based on, if not measured
    link_measured: bool = False
    notes: tuple[str, ...] = ()  # memory used by other programs; clipped limits

    @property
    def one_memory(self) -> bool:
        """Whether device memory is RAM."""
        return self.shares_ram or self.device == "cpu"
