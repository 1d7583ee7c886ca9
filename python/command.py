#!python
"""The command ``meshwright`` of a wheel that carries the program."""

import os
import sys

from meshwright import _binary

if __name__ == "__main__":
    program = _binary.find_carried()
    if program is None:
        sys.exit("meshwright: this package carries no program for the command")
    os.execve(program, ["meshwright", *sys.argv[1:]], _binary.environment())
