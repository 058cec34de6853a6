"""The kernels that every processor has: compiled for this one, and for arm64 under an emulator."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ("core/kernels/sweep_baseline.cpp", "core/kernels/bits_baseline.cpp")


def _needs(program: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"{program} is not installed (Debian: {package})")
    return found


def _compiled(compiler: str, folder: Path, *flags: str) -> str:
    if not (ROOT / KERNELS[0]).is_file():
        pytest.skip("the sources of the core are not here")
    program = str(folder / "twins")
    sources = [str(ROOT / name) for name in ("tests/kernels/twins.cpp", *KERNELS)]
    subprocess.run(
        [compiler, "-std=c++20", "-O2", *flags, f"-I{ROOT / 'core'}", *sources, "-o", program],
        check=True,
    )
    return program


def test_on_this_processor(tmp_path: Path) -> None:
    program = _compiled(_needs("c++", "g++"), tmp_path)
    ended = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "150 cases agree\n")


def test_on_arm64_under_an_emulator(tmp_path: Path) -> None:
    emulator = _needs("qemu-aarch64", "qemu-user")
    compiler = _needs("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu")
    program = _compiled(compiler, tmp_path, "-static")
    ended = subprocess.run([emulator, program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (0, "150 cases agree\n")
