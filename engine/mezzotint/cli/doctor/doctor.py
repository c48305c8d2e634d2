"""`mezzotint doctor`: report what is installed, what is missing, and how to get it."""

import argparse
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.columns import facts
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.cli.doctor.kernels import KernelReport
    from mezzotint.cli.doctor.report import DoctorReport, Probes


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "doctor", "Report what is installed, what is missing, and how to get it.", run)
    add_json(parser)
    add_models_folder(parser)
    parser.add_argument(
        "--repair",
        action="store_true",
        help="build the environment again, if Mezzotint was installed by its installer; images and models stay",
    )


def run(arguments: argparse.Namespace, context: Context, probes: "Probes | None" = None) -> int:
    """Examine the installation and print a report; warnings do not change the exit code."""
    if arguments.repair:
        from mezzotint.cli.doctor.repair import repair

        return repair()
    from mezzotint.cli.doctor.report import Probes, examine

    report = examine(context.make_catalog(arguments.models_folder), probes or Probes())
    if arguments.json:
        context.terminal.json(report)
        return 0
    context.terminal.result(facts(_report_rows(report)))
    for warning in report.warnings:
        context.terminal.result(f"warning: {plain(warning, 1000)}")
    if not report.warnings:
        context.terminal.result("no problems found")
    return 0


def _report_rows(report: "DoctorReport") -> dict[str, str]:
    rows = dict(report.versions)
    rows["platform"] = report.platform
    rows["interpreter"] = report.python
    if report.torch is not None:
        if report.torch.rocm is None:
            rows["torch's CUDA"] = report.torch.cuda or "none: torch is built without it"
        else:
            rows["torch's ROCm"] = report.torch.rocm
        for device in report.torch.devices:
            lacks = report.torch.lacks.get(device.id)
            without = f", without {', '.join(lacks)}" if lacks else ""
            rows[f"device {device.id}"] = f"{device.name}, {size(device.memory_bytes)}{without}"
    rows["NVIDIA card"] = "yes" if report.nvidia_card else "none found"
    rows["attention"] = ", ".join(report.kernels.usable)
    rows["quantized matmul"] = _product_backend("kernels", report.kernels.products_problem)
    rows["NF4 matmul"] = _product_backend("bitsandbytes", report.kernels.nf4_problem)
    rows |= _kernel_rows(report.kernels)
    for folder in report.folders:
        free = "" if folder.free_bytes is None else f", {size(folder.free_bytes)} free"
        rows[folder.name] = f"{folder.path}{'' if folder.exists else ' (does not exist yet)'}{free}"
    rows["models found"] = f"{report.models}{f', and {report.models_refused} refused' if report.models_refused else ''}"
    for name, there in report.optional.items():
        rows[name] = "installed" if there else "not installed (optional, for `mezzotint app`)"
    return rows


def _product_backend(name: str, why: str | None) -> str:
    return name if why is None else f"torch: {plain(why, 300)}"


def _kernel_rows(kernels: "KernelReport") -> dict[str, str]:
    library = kernels.library
    if library.version is None:
        return {"CUDA kernels": library.problem or "none"}
    rows = {
        "CUDA kernels": f"{library.version}, ABI {library.abi}",
        "compiled for": " ".join(library.architectures),
        "NVIDIA driver": f"CUDA {library.driver}" if library.driver else "none",
    }
    if library.problem is not None:
        rows["not usable"] = library.problem
    return rows | {f"self-test {name}": result for name, result in kernels.self_tests.items()}
