"""Reads and writes files below one folder, and nowhere else.

The folder is held open: a link that is put in its place meanwhile changes nothing. Links are never
followed, and nothing but regular files is opened.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, NamedTuple, Self

from memories_sdk.errors import InvalidInput, NotFound

DEEPEST: Final = 20
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Found(NamedTuple):
    """What stands below a folder.

    Attributes:
        parts: The way to it.
        skipped: Why it is not read, or an empty text for a regular file.
    """

    parts: tuple[str, ...]
    skipped: str = ""

    @property
    def path(self) -> str:
        """The way to it, for people."""
        return "/".join(self.parts)


class Folder:
    """A folder that is held open.

    Args:
        path: Where it is. It may be reached through a link; nothing below it may.
        create: Make it where it is missing, for its owner alone.

    Raises:
        NotFound: It is not there.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = False) -> None:
        self.path = Path(path)
        if create:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._handle = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except NotADirectoryError as error:
            raise InvalidInput(f"{self.path} is no folder.", field="path") from error
        except FileNotFoundError as error:
            raise NotFound(f"There is no folder {self.path}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._handle)

    def walk(self) -> Iterator[Found]:
        """Yield all below the folder, in the order of names; folders only where skipped."""
        yield from self._walk(())

    def _walk(self, parts: tuple[str, ...]) -> Iterator[Found]:
        with self._below(parts) as handle, os.scandir(handle) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
        for entry in listed:
            found = (*parts, entry.name)
            if entry.name.startswith("."):
                continue
            if not _is_text(entry.name):
                yield Found(
                    (*parts, entry.name.encode(errors="replace").decode()), "a name in no UTF-8"
                )
            elif entry.is_symlink():
                yield Found(found, "a link")
            elif entry.is_dir(follow_symlinks=False):
                if len(found) > DEEPEST:
                    yield Found(found, "too deep")
                else:
                    yield from self._walk(found)
            else:
                yield Found(found, "" if entry.is_file(follow_symlinks=False) else "no file")

    def read(self, parts: Sequence[str], *, limit: int) -> bytes:
        """Return the bytes of a regular file.

        Raises:
            InvalidInput: It is a link, no regular file, has another name elsewhere, or is larger
                than the limit.
            NotFound: It is not there.
        """
        try:
            with self._below(parts[:-1]) as folder:
                handle = os.open(parts[-1], _READ, dir_fd=folder)
        except FileNotFoundError as error:
            raise NotFound(f"There is no file {'/'.join(parts)}.") from error
        except OSError as error:
            raise InvalidInput(f"It cannot be opened: {error.strerror}.") from error
        with os.fdopen(handle, "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise InvalidInput("It is no regular file.")
            if facts.st_nlink > 1:
                raise InvalidInput("It is the same file as one elsewhere (a hard link).")
            data = file.read(limit + 1) if facts.st_size <= limit else b""
        if facts.st_size > limit or len(data) > limit:
            raise InvalidInput(f"It has more than {limit:,} bytes.")
        return data

    def write(self, parts: Sequence[str], data: bytes) -> None:
        """Write a file in one step, for its owner alone; what stands in its place goes.

        A link in its place is replaced; what it points to is not touched.
        """
        with self._below(parts[:-1], create=True) as folder:
            name = f".{secrets.token_hex(8)}.tmp"
            handle = os.open(name, _NEW, 0o600, dir_fd=folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.rename(name, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
                raise

    def remove(self, parts: Sequence[str]) -> None:
        """Remove a file."""
        with self._below(parts[:-1]) as folder:
            os.unlink(parts[-1], dir_fd=folder)

    @contextmanager
    def _below(self, parts: Sequence[str], *, create: bool = False) -> Iterator[int]:
        handle = os.dup(self._handle)
        try:
            for part in parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=handle)
                deeper = _opened(part, handle)
                os.close(handle)
                handle = deeper
            yield handle
        finally:
            os.close(handle)


def _opened(part: str, handle: int) -> int:
    if part in (".", "..") or "/" in part:
        raise InvalidInput(f"{part!r} leads out of the folder.")
    try:
        return os.open(part, _FOLDER, dir_fd=handle)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InvalidInput(f"{part!r} is a link or no folder.") from error


def text_of(data: bytes) -> str:
    """Return a file's text; nothing is guessed.

    Raises:
        InvalidInput: It is not UTF-8.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InvalidInput("It is UTF-16, not UTF-8.", suggestion="Convert it first.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"It is not UTF-8 (byte {error.start + 1:,}).", suggestion="Convert it first."
        ) from error


def _is_text(name: str) -> bool:
    """Tell whether a file name is UTF-8; others reach Python with lone surrogates."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def new_file(path: Path, *, overwrite: bool = False) -> Iterator[BinaryIO]:
    """Lend a file that stands under its name once it is complete, for its owner alone.

    Raises:
        InvalidInput: There is one, and it shall not be overwritten.
    """
    exists = InvalidInput(
        f"{path} exists.", field="path", suggestion="Name another file, or choose to overwrite it."
    )
    if not overwrite and path.exists():
        raise exists
    half = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with os.fdopen(os.open(half, _NEW, 0o600), "wb") as file:
            yield file
        if overwrite:
            half.replace(path)
        else:
            os.link(half, path)  # unlike a renaming, it does not overwrite what came meanwhile
    except FileExistsError as error:
        raise exists from error
    finally:
        half.unlink(missing_ok=True)
