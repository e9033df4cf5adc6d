# SPDX-License-Identifier: MIT
# One JSON object on one line (include/hpcml/json_line.hpp).
import json
import math
import os


def number(value):
    """Six digits, as the helper writes them; what is whole without a point."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    short = float("%.6g" % value)
    return int(short) if short == int(short) and abs(short) < 1e6 else short


def line_of(members):
    plain = {key: number(value) for key, value in members.items()}
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False)


def write_line(members):
    """In one call, so that lines of several ranks do not mix."""
    data = (line_of(members) + "\n").encode("utf-8", "replace")
    while data:
        try:
            data = data[os.write(1, data) :]
        except OSError:
            return
