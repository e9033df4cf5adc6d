# SPDX-License-Identifier: MIT
# The preflight in Python, for where no compiled helper is: the same checks and lines as src/torch/helper, with the user's torch.
import os
import sys

from hpcml_probe.command_line import main

code = main(sys.argv[1:])
for stream in (sys.stdout, sys.stderr):
    stream.flush()
# At once: while Python takes itself down, a thread of torch 2.13's Gloo that lets go of the last sum aborts it.
os._exit(code)
