"""What goes wrong, as exceptions that know the line of the source."""

from __future__ import annotations

import contextlib
import linecache
from collections.abc import Iterator

from ._tilec import NativeError


class Error(Exception):
    """Something that tilec refuses. `file` and `line` say where in the source, if that is known."""

    def __init__(self, message: str, notes: list[str], file: str, line: int, column: int) -> None:
        self.message = message
        self.notes = notes
        self.file = file or None
        self.line = line or None
        self.column = column or None
        super().__init__(self._text())

    @property
    def source(self) -> str | None:
        """The line itself, if its file is there."""
        if self.file is None or self.line is None:
            return None
        return linecache.getline(self.file, self.line).strip() or None

    def _text(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line}:{self.column or 0}: "
        shown = [] if self.source is None else [f"    {self.source}"]
        return "\n".join([place + self.message, *shown, *(f"  note: {note}" for note in self.notes)])


class CompileError(Error):
    """A module that is wrong, or that tilec cannot compile."""


class Fault(Error):
    """A kernel that did something wrong while it ran."""


@contextlib.contextmanager
def raising(kind: type[Error]) -> Iterator[None]:
    """Turns errors of the native part into `kind`."""
    try:
        yield
    except NativeError as error:
        raise kind(*error.args) from None
