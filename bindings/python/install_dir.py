"""For meson.build: prints where to install packages, and from there where libdir is.

usage: install_dir.py PREFIX LIBDIR WISH DEFAULT

That is WISH if it is not empty, else the first directory below PREFIX that this interpreter looks
into (Debian's Python looks into other ones below /usr/local than below /usr), else DEFAULT.
"""

import os
import sys


def searched(prefix):
    """Directories of packages on sys.path that belong to the prefix itself."""
    for path in sys.path:
        inside = os.path.relpath(path, prefix)
        if inside.startswith(os.path.join("lib", "python")) and inside.endswith("-packages"):
            yield path


def main(prefix, libdir, wish, default):
    target = os.path.join(prefix, wish or next(searched(prefix), default))
    print(target)
    print(os.path.relpath(os.path.join(prefix, libdir), os.path.join(target, "npagg")))


if __name__ == "__main__":
    main(*sys.argv[1:])
