"""What the library says when it refuses a call."""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """Status codes of the C library (types.h)."""

    OK = 0
    E_ARG = -1
    E_NOMEM = -2
    E_STATE = -3
    E_NUMERIC = -4
    E_UNSUP = -5
    E_IO = -6
    E_FORMAT = -7


class Error(Exception):
    """A call that the library refused; every array and object is as it was before it.

    ``status`` is a :class:`Status` (or a plain int that this version does not know), ``text`` what
    the library got and what it wanted.
    """

    def __init__(self, status: int, text: str) -> None:
        try:
            status = Status(status)
        except ValueError:
            pass
        name = f"NPAGG_{status.name}" if isinstance(status, Status) else f"status {status}"
        super().__init__(f"{name}: {text}" if text else name)
        self.status = status
        self.text = text

    def __reduce__(self):
        return Error, (int(self.status), self.text)
