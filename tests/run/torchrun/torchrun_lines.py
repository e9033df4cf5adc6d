# SPDX-License-Identifier: MIT
"""How the installed torch reads lines of torchrun. Standard input: an object on each line, {"words": [...], "env":
{...}}. Standard output: first the flags that its parser has, then for each line what it read, or what is wrong."""
import contextlib
import io
import json
import os
import sys

from torch.distributed.run import get_args_parser


def read_line(case):
    for name in [name for name in os.environ if name.startswith("PET_")]:
        del os.environ[name]
    os.environ.update(case["env"])
    reported = io.StringIO()
    try:
        with contextlib.redirect_stderr(reported), contextlib.redirect_stdout(io.StringIO()):
            return vars(get_args_parser().parse_args(case["words"]))
    except SystemExit:
        return {"error": reported.getvalue().strip().split("error: ")[-1]}
    except ValueError as error:
        return {"error": str(error)}


names = [name for action in get_args_parser()._actions for name in action.option_strings]
print(json.dumps(names))
for line in sys.stdin:
    print(json.dumps(read_line(json.loads(line))))
