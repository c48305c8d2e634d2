"""`mezzotint completion`: scripts that the shells take."""

import shutil
import subprocess

import pytest
import shtab

from mezzotint.cli.completion import SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_knows_commands_and_options(command, shell):
    assert shell in shtab.SUPPORTED_SHELLS
    done = command("completion", shell)
    assert done.code == 0
    for word in ("generate", "hires-upscaler", "doctor"):
        assert word in done.out


def test_paths_are_completed(command):
    assert "_shtab_compgen_files" in command("completion", "bash").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_that_is_here_parses_it(command, shell):
    program = shutil.which(shell)
    script = command("completion", shell).out
    if program is not None:
        done = subprocess.run([program, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_another_shell_is_a_usage_error(command):
    assert command("completion", "cmd").code == 2
