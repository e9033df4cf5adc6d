# SPDX-License-Identifier: MIT
# The helper's command line (src/torch/helper/helper_main.cpp).
import sys

from hpcml_probe.rank_env import RankEnv

OK, USAGE, WORLD_FAILED = 0, 2, 5

HELP = """usage: hpcml-probe info
       hpcml-probe preflight [--backend auto|nccl|gloo] [--timeout SECONDS] [--deadline SECONDS] [--interface NAME] [--bytes N] [--program-port PORT] [--store-only]
Run by `hpcml preflight`; expects RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, as `hpcml launch` sets them.
"""


class UsageError(Exception):
    pass


def positive_number(flag, text):
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value <= 1e12:
        raise UsageError("%s must be a positive number, not '%s'" % (flag, text))
    return value


def port_number(flag, text):
    value = positive_number(flag, text)
    if value > 65535 or value != int(value):
        raise UsageError("%s must be a port, not '%s'" % (flag, text))
    return int(value)


class Options:
    def __init__(self):
        self.backend = "auto"
        self.interface = ""
        self.timeout = 30.0  # seconds, as everywhere here
        self.deadline = 0.0
        self.bytes = 0
        self.program_port = 0
        self.store_only = False


def parse_preflight(words):
    options = Options()
    words = list(words)
    while words:
        flag = words.pop(0)
        if flag == "--store-only":
            options.store_only = True
            continue
        if "=" in flag:
            flag, value = flag.split("=", 1)
        elif words:
            value = words.pop(0)
        else:
            raise UsageError("'%s' is unknown or requires a value" % flag)
        if flag == "--backend":
            options.backend = value
        elif flag == "--interface":
            options.interface = value
        elif flag in ("--timeout", "--deadline"):
            setattr(options, flag[2:], positive_number(flag, value))
        elif flag == "--bytes":
            options.bytes = int(positive_number(flag, value))
        elif flag == "--program-port":
            options.program_port = port_number(flag, value)
        else:
            raise UsageError("unknown flag '%s'" % flag)
    if options.backend not in ("auto", "nccl", "gloo"):
        raise UsageError("--backend must be auto, nccl or gloo, not '%s'" % options.backend)
    return options


def main(words):
    try:
        if not words:
            raise UsageError("no command given")
        if words[0] in ("--help", "-h"):
            sys.stdout.write(HELP)
            return OK
        if words[0] not in ("info", "preflight"):
            raise UsageError("unknown command '%s'" % words[0])
        options = parse_preflight(words[1:]) if words[0] == "preflight" else None
        env = RankEnv() if options else None
        # Importing torch takes seconds: not before what is wrong without it has been said.
        from hpcml_probe import preflight

        return preflight.run_preflight(options, env) if options else preflight.run_info()
    except UsageError as error:
        sys.stderr.write("hpcml-probe: error: %s\n%s" % (error, HELP))
        return USAGE
    except Exception as error:  # as the helper: a sentence, not a traceback
        sys.stderr.write("hpcml-probe: error: %s\n" % error)
        return WORLD_FAILED
