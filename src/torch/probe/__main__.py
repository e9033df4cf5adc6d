# SPDX-License-Identifier: MIT
# The preflight in Python, for where no compiled helper is: the same checks and lines as src/torch, with the user's torch.
import sys

from hpcml_probe.command_line import main

sys.exit(main(sys.argv[1:]))
