"""The build advised for a machine, and what each needs."""

import pytest

from mezzotint_setup.dxgi import Adapter, adapters
from mezzotint_setup.look import advise, look
from mezzotint_setup.machine import Gpu, Machine, Probes
from mezzotint_setup.payload import Payload
from mezzotint_setup.root import Root
from mezzotint_setup.update import allow


def machine(*gpus, driver=None, system="linux"):
    return Machine(system=system, processor="x86_64", gpus=gpus, driver=driver)


def nvidia(capability=(8, 6)):
    return Gpu(vendor="nvidia", name="RTX", capability=capability)


def amd(target):
    return Gpu(vendor="amd", name="AMD 0x744c", target=target)


@pytest.mark.parametrize(
    ("found", "backend", "code"),
    [
        (machine(), "cpu", None),
        (machine(nvidia(), driver="580.65.06"), "cu130", None),
        (machine(nvidia(None), driver="610.1"), "cu130", None),
        (machine(nvidia((6, 1)), driver="580.65.06"), "cu126", None),
        (machine(nvidia((7, 5)), driver="580.65.06"), "cu130", None),
        (machine(nvidia(), driver="550.120"), "cu126", "driver_old"),
        (machine(nvidia((12, 0)), driver="575.1"), "cpu", "driver_old"),
        (machine(nvidia(), driver="470.256"), "cpu", "driver_old"),
        (machine(nvidia((6, 1)), driver="470.256"), "cpu", "driver_old"),
        (machine(nvidia(None)), "cpu", "driver_missing"),
        (machine(amd("gfx1100")), "rocm", None),
        (machine(amd("gfx803")), "cpu", None),
        (machine(amd(None)), "cpu", None),
        (machine(amd("gfx1100"), system="win32"), "cpu", None),
        (machine(Gpu(vendor="intel", name="Arc")), "xpu", None),
        (machine(Gpu(vendor="intel", name="UHD", discrete=False)), "cpu", None),
        (machine(Gpu(vendor="apple", name="Apple GPU"), system="darwin"), "mps", None),
        (machine(amd("gfx1036"), nvidia(), driver="580.1"), "cu130", None),
    ],
)
def test_the_build_for_a_machine(found, backend, code):
    advice = advise(found)
    assert (advice.backend, advice.code) == (backend, code)
    assert advice.why and (advice.card or "") in advice.why
    if code is not None:
        assert "driver" in advice.what and "https://www.nvidia.com/drivers" in advice.next_step


def smi(*lines, capability=True):
    def run(words):
        if words[0] != "nvidia-smi" or ("compute_cap" in words[1] and not capability):
            return None
        return "".join(f"{line}\n" for line in lines)

    return run


def nothing(words):
    return None


def test_nvidia_smi_tells_name_memory_driver_and_capability(tmp_path):
    run = smi("580.65.06, 24576, NVIDIA GeForce RTX 3090, 8.6", "580.65.06, 4096, NVIDIA T400, 7.5")
    found = Probes(system="linux", run=run, files=tmp_path).machine()
    assert found.driver_major == 580
    assert [(gpu.name, gpu.memory_bytes, gpu.capability) for gpu in found.gpus] == [
        ("NVIDIA GeForce RTX 3090", 24 << 30, (8, 6)),
        ("NVIDIA T400", 4 << 30, (7, 5)),
    ]


def test_an_old_nvidia_smi_does_not_know_capabilities(tmp_path):
    run = smi("470.1, [N/A], GeForce GT 730", capability=False)
    (gpu,) = Probes(system="win32", run=run, files=tmp_path, adapters=list).machine().gpus
    assert (gpu.capability, gpu.memory_bytes) == (None, None)


def pci(folder, number, **files):
    device = folder / "sys/bus/pci/devices" / f"0000:0{number}:00.0"
    device.mkdir(parents=True)
    for name, text in {"class": "0x030000", **files}.items():
        (device / name).write_text(f"{text}\n")


def test_linux_tells_cards_and_the_driver_without_any_program(tmp_path):
    pci(tmp_path, 1, vendor="0x10de", device="0x2204")
    pci(tmp_path, 2, vendor="0x1002", device="0x744c", mem_info_vram_total=str(20 << 30))
    pci(tmp_path, 3, vendor="0x8086", device="0x56a0")
    pci(tmp_path, 4, vendor="0x8086", device="0x46a6")
    pci(tmp_path, 5, vendor="0x1af4", device="0x1050")
    pci(tmp_path, 6, **{"class": "0x020000", "vendor": "0x8086", "device": "0x15f3"})
    for number, version in enumerate((0, 110000)):
        node = tmp_path / f"sys/class/kfd/kfd/topology/nodes/{number}"
        node.mkdir(parents=True)
        (node / "properties").write_text(f"cpu_cores_count 8\ngfx_target_version {version}\n")
    (tmp_path / "sys/module/nvidia").mkdir(parents=True)
    (tmp_path / "sys/module/nvidia/version").write_text("550.120\n")
    found = Probes(system="linux", run=nothing, files=tmp_path).machine()
    assert found.driver == "550.120"
    assert [(gpu.vendor, gpu.target, gpu.discrete) for gpu in found.gpus] == [
        ("nvidia", None, True),
        ("amd", "gfx1100", True),
        ("intel", None, True),
        ("intel", None, False),
    ]


def test_windows_tells_adapters_by_dxgi(tmp_path):
    told = [
        Adapter(name="Intel(R) UHD Graphics", vendor=0x8086, device=0x46A6, memory_bytes=128 << 20),
        Adapter(name="Intel(R) Arc(TM) B580", vendor=0x8086, device=0xE20B, memory_bytes=12 << 30),
        Adapter(name="Basic Render", vendor=0x1414, device=0x8C, memory_bytes=0),
    ]
    found = Probes(system="win32", run=nothing, files=tmp_path, adapters=lambda: told).machine()
    assert [(gpu.name, gpu.discrete) for gpu in found.gpus] == [
        ("Intel(R) UHD Graphics", False),
        ("Intel(R) Arc(TM) B580", True),
    ]
    assert advise(found).backend == "xpu"


@pytest.mark.parametrize(("processor", "count"), [("arm64", 1), ("x86_64", 0)])
def test_a_mac_has_its_own(tmp_path, processor, count):
    assert len(Probes(system="darwin", processor=processor, run=nothing, files=tmp_path).machine().gpus) == count


def test_elsewhere_dxgi_finds_nothing():
    assert isinstance(adapters(), list)


def test_what_each_build_needs(payload, root, tmp_path):
    probes = Probes(system="linux", processor="x86_64", run=nothing, files=tmp_path / "none")
    told = look(Root(root), Payload.read(payload), probes)
    assert (told["backend"], told["version"], told["installed"], told["update"]) == ("cpu", "1.0", None, False)
    needs = told["backends"]["cpu"]
    assert needs["disk"] == 100000 and needs["download"] == needs["missing"] > 15000
    assert told["free"] > 0 and told["update_check"] is False
    allow(Root(root), allowed=True)
    assert look(Root(root), Payload.read(payload), probes)["update_check"] is True


def test_a_build_that_this_release_has_not_is_replaced(payload, root, tmp_path):
    (payload / "locks" / "pylock.cu130.toml").unlink()
    probes = Probes(system="linux", run=smi("580.1, 8192, RTX, 8.9"), files=tmp_path)
    told = look(Root(root), Payload.read(payload), probes)
    assert told["backend"] == "cpu" and "no cu130 build" in told["why"]
    assert told["reason"] == {"code": "nvidia", "card": "RTX", "lacks": "cu130"}
