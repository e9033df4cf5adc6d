# SPDX-License-Identifier: MIT
"""What a row of the matrix says of itself, and how what happened is held against it."""
import dataclasses
import re

AT_MOST = 5.0  # seconds from when a cause can be known until somebody is named
AT_MOST_BESIDE_TESTS = 60.0  # where the machine has other work
ROWS = []


@dataclasses.dataclass
class Row:
    name: str
    done: str  # what is done to the job
    run: object  # run(lab) -> Outcome
    quick: bool = False
    nodes: int = 2
    emulate: tuple = ()  # more flags of `hpcml emulate`
    waits: int = 0  # seconds that it mostly does: such rows begin first
    alone: bool = False  # with no other row beside it
    lacks: object = None  # lacks() says why the row cannot run on this machine; empty: it can
    guest: bool = False  # runs in a machine with cgroup v2 alone (tests/guest) where this one lacks that
    unshared: bool = False  # runs in a mount namespace of its own: run(lab) finds an empty folder "small" of 256 KiB there
    code: object = 0  # of the job, by docs/guides/checkpoint-and-requeue.md; None: the row says it in its outcome
    faulty: str = ""  # a pattern of the line on standard error that names who, where and why; empty: there is none to name
    knowable: str = "at once"  # when the cause can be known
    requeues: object = 0  # exactly so many; (at least, at most): where Slurm's own moments decide
    equal: bool = False  # the final weights are those of an uninterrupted run


@dataclasses.dataclass
class Outcome:
    """What a row has seen; times are seconds since 1970."""
    code: object = None
    cause: float = 0.0  # when it was made
    allowance: float = 0.0  # seconds from then until it can be known: what somebody's time-out is
    line: str = ""  # that named the culprit
    line_at: float = 0.0
    requeues: int = 0
    orphans: list = dataclasses.field(default_factory=list)
    final: str = ""  # hash of the weights
    wrong: list = dataclasses.field(default_factory=list)  # what else was not as it should be
    not_run: str = ""  # why the row could not run here
    took: float = 0.0

    @property
    def seconds(self):
        """From when the cause could be known until the line; None without a line."""
        return self.line_at - self.cause - self.allowance if self.line else None


def row(name, done, **more):
    def keep(function):
        ROWS.append(Row(name=name, done=done, run=function, **more))
        return function
    return keep


def faults(wanted, seen, reference, at_most=AT_MOST):
    """What is not as the row says; empty: passed."""
    found = list(seen.wrong)
    if wanted.code is not None and seen.code != wanted.code and (seen.code is not None or not found):
        found.append(f"exit code {seen.code}, not {wanted.code}")
    if wanted.faulty and not seen.line:
        found.append("nobody was named on standard error")
    if seen.line and not re.search(wanted.faulty, seen.line):
        found.append("the line names another")
    if seen.line and seen.seconds > at_most:
        found.append(f"named {seen.seconds:.1f} s after it could be known")
    if seen.orphans:
        found.append("left behind: " + ", ".join(seen.orphans))
    least, most = wanted.requeues if isinstance(wanted.requeues, tuple) else (wanted.requeues, wanted.requeues)
    if not least <= seen.requeues <= most:
        found.append(f"requeued {seen.requeues} times, not {least}" + (f" to {most}" if most > least else ""))
    if wanted.equal and seen.final != reference:
        found.append("other weights than an uninterrupted run" if seen.final else "the training did not come to its end")
    return found
