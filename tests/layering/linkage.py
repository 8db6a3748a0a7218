#!/usr/bin/env python3
"""Checks which shared libraries a program asks the loader for.

    linkage.py PROGRAM --never NAME...   exits 1 if PROGRAM needs a library lib<NAME>.so* (letter case ignored)
"""

import re
import subprocess
import sys


def needed(program):
    dynamic = subprocess.run(["readelf", "-d", "-W", program], check=True, capture_output=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)


def main(arguments):
    if len(arguments) < 3 or arguments[1] != "--never":
        print(__doc__)
        return 2
    program, names = arguments[0], arguments[2:]
    libraries = needed(program)
    if not libraries:
        print(f"{program}: no dynamic section; this test would prove nothing")
        return 1
    offences = [(library, name) for library in libraries for name in names
                if re.match(rf"lib{re.escape(name)}([-.\d]|$)", library, re.IGNORECASE)]
    for library, name in offences:
        print(f"{program}: links {library}, but must not link {name}")
    if not offences:
        print(f"{program}: links {', '.join(libraries)}; none of {', '.join(names)}")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
