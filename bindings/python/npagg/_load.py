"""Finds and loads libnpagg.

The first of these that is there:

1. ``NPAGG_LIBRARY``, the path of the shared library, if it is set. Somebody who sets it means it:
   if that file cannot be loaded the import fails, nothing else is tried;
2. the path written into the package when meson installed it (``npagg/_installed.py``);
3. a library that lies inside the package's own directory;
4. the dynamic loader's ``libnpagg.so.0.1``: ldconfig, LD_LIBRARY_PATH.
"""

from __future__ import annotations

import ctypes
import os
from typing import Iterator, Tuple

SOVERSION = "0.1"  # the binding is written against this ABI
FILE_NAME = f"libnpagg.so.{SOVERSION}"


def _candidates() -> Iterator[Tuple[str, str]]:
    """(where it was looked for, path or name) in the order of trying."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        from ._installed import LIBRARY_DIR
    except ImportError:
        pass
    else:
        # Relative to the package, so that an installed tree can be moved as a whole.
        yield "installed path", os.path.normpath(os.path.join(here, LIBRARY_DIR, FILE_NAME))
    yield "package directory", os.path.join(here, FILE_NAME)
    yield "loader", FILE_NAME


def _open_first() -> Tuple[str, ctypes.CDLL]:
    explicit = os.environ.get("NPAGG_LIBRARY")
    candidates = [("NPAGG_LIBRARY", explicit)] if explicit else _candidates()
    tried = []
    for where, path in candidates:
        try:
            return path, ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"  {where}: {error}")
    raise ImportError(
        "npagg: cannot load libnpagg; set NPAGG_LIBRARY to its path\n" + "\n".join(tried)
    )


def _check_version(path: str, lib: ctypes.CDLL) -> None:
    try:
        function = lib.npagg_version
    except AttributeError:
        raise ImportError(f"npagg: {path} is no libnpagg") from None
    function.restype = ctypes.c_char_p
    version = function().decode()
    if not version.startswith(SOVERSION + "."):
        raise ImportError(f"npagg: {path} is version {version}, want {SOVERSION}.x")


def load() -> ctypes.CDLL:
    """The library, its version checked. ctypes.CDLL releases the GIL during every call."""
    path, lib = _open_first()
    _check_version(path, lib)
    return lib
