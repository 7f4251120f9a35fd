"""The device under the store: compiled on the fly, put in front of the C library, told to fail."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).with_name("device.c")
LOADED: Final = "MEMORIES_DEVICE"


class NoDevice(Exception):
    """This machine has no C compiler, or no LD_PRELOAD."""


def compiled() -> Path:
    """Compile the shim and return where it is."""
    library = Path(tempfile.mkdtemp()) / "device.so"
    compiler = os.environ.get("CC", "cc")
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE), "-ldl"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoDevice(f"{compiler} cannot make {library.name}: {error}") from error
    return library


def under_device(arguments: list[str]) -> subprocess.Popen[bytes]:
    """Start this program again, with the shim in front of its system calls."""
    preload = {"LD_PRELOAD": str(compiled()), LOADED: "1"}
    return subprocess.Popen([sys.executable, *arguments], env=os.environ | preload)


class Device:
    """What the shim in this process can be told."""

    def __init__(self) -> None:
        if not os.environ.get(LOADED):
            raise NoDevice("start it through `under_device`")
        self._shim = ctypes.CDLL(None)
        self._shim.device_counted.restype = ctypes.c_long

    def watch(self, folder: Path) -> None:
        """Look at the files of this folder alone."""
        self._shim.device_watch(str(folder).encode())

    def record(self, path: Path) -> None:
        """Write down every change from here on."""
        self._shim.device_record(str(path).encode())

    def mark(self, number: int) -> None:
        """Put a number into the record."""
        self._shim.device_mark(ctypes.c_int64(number))

    def fail(self, nth: int, how: int) -> None:
        """Fail at the n-th call from now with this errno, or kill the program at -1."""
        self._shim.device_arm(ctypes.c_long(nth), how)

    def counted(self) -> int:
        """Return how many calls there were since the last `fail`."""
        return int(self._shim.device_counted())


def forked(work: Callable[[Callable[[str], None]], None]) -> tuple[int, int]:
    """Run `work` in a child; return its process id and the end of the pipe that it tells into."""
    read, write = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    code = 1
    try:
        os.close(read)
        work(lambda line: os.write(write, f"{line}\n".encode()) and None)
        code = 0
    except BaseException as error:  # noqa: BLE001
        os.write(write, f"failed {type(error).__name__}: {error}\n".encode())
    os._exit(code)


def told(read: int) -> list[str]:
    """Return all that a child told, once it is gone."""
    with os.fdopen(read, "rb") as pipe:
        return pipe.read().decode().splitlines()
