# SPDX-License-Identifier: MIT
"""Draws the pictures of the documentation: python3 docs/site/pictures.py (writes docs/images)."""
import html
import pathlib
from typing import Iterable, List, Sequence, Tuple

WIDTH = 400  # a picture is legible at this width
STYLE = """
  .sheet { fill: #ffffff } text { fill: #1f2933; font: 13px sans-serif; text-anchor: middle }
  .title { font-weight: bold } .note { font-size: 12px; fill: #52606d } .left { text-anchor: start }
  .box { fill: #e8eefc; stroke: #4051b5 } .user { fill: #e3f6e8; stroke: #2e7d43 } .slurm { fill: #fdf0dc; stroke: #b26a00 }
  .frame { fill: none; stroke: #9aa5b1; stroke-dasharray: 5 4 } .line { stroke: #52606d; stroke-width: 1.5; fill: none }
  .head { fill: #52606d }
  .ring { stroke: #52606d }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #1e2129 } text { fill: #e4e7eb } .note { fill: #b8c1cc }
    .box { fill: #2b3660; stroke: #8c9eff } .user { fill: #1f4029; stroke: #81c995 } .slurm { fill: #4a3410; stroke: #ffb74d }
    .frame { stroke: #7b8794 } .line { stroke: #b8c1cc } .head { fill: #b8c1cc }
  }
"""
Point = Tuple[float, float]


class Picture:
    """An SVG that grows by boxes and arrows."""

    def __init__(self, name: str, height: int, description: str) -> None:
        self.name, self.height, self.description = name, height, description
        self.parts: List[str] = []

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        """Writes a line of text with its middle (or, with "left", its start) at x."""
        self.parts.append(f'<text x="{x}" y="{y}" class="{kind}">{html.escape(text)}</text>')

    def box(self, x: float, y: float, width: float, height: float, lines: Sequence[str], kind: str = "box") -> None:
        """Draws a box whose first line is its title."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" class="{kind}"/>')
        first = y + height / 2 - (len(lines) - 1) * 8 + 4.5
        for index, line in enumerate(lines):
            self.text(x + width / 2, first + 16 * index, line, "note" if index else "title")

    def frame(self, x: float, y: float, width: float, height: float, title: str, below: bool = False) -> None:
        """Draws a dashed frame around a place, with its name at the top or at the bottom."""
        self.parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" class="frame"/>')
        self.text(x + 10, y + (height - 8 if below else 18), title, "note left")

    def arrow(self, *points: Point, label: str = "", at: Point = (0, 0), both: bool = False) -> None:
        """Draws an arrow along the points."""
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        start = ' marker-start="url(#head)"' if both else ""
        self.parts.append(f'<path d="{path}" class="line" marker-end="url(#head)"{start}/>')
        if label:
            self.text(*at, label, "note left")

    def number(self, number: int, x: float, y: float) -> None:
        """Draws a number in a circle."""
        self.parts.append(f'<circle cx="{x}" cy="{y}" r="10" class="sheet ring"/>')
        self.text(x, y + 4.5, str(number), "title")

    def svg(self) -> str:
        """Returns the picture."""
        head = (
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">'
            '<path d="M0 0 L8 4 L0 8 z" class="head"/></marker>'
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.height}" role="img">\n'
            f"<title>{html.escape(self.description)}</title>\n<style>{STYLE}</style>\n<defs>{head}</defs>\n"
            f'<rect width="{WIDTH}" height="{self.height}" rx="8" class="sheet"/>\n' + "\n".join(self.parts) + "\n</svg>\n"
        )


def job_life() -> Picture:
    """From a program to its ranks."""
    picture = Picture("job-life", 600, "How a program becomes a running job")
    picture.frame(10, 10, 380, 300, "your machine or the login node")
    picture.box(30, 38, 160, 44, ("your program", "python train.py"), "user")
    picture.box(210, 38, 160, 44, ("site profile", "facts with sources"))
    picture.arrow((110, 82), (110, 104))
    picture.arrow((290, 82), (290, 104))
    picture.box(30, 106, 340, 44, ("hpcml gen", "plans resources, placement and launch"))
    picture.arrow((200, 150), (200, 172), label="job.sh", at=(210, 166))
    picture.box(30, 174, 340, 44, ("hpcml check", "compares the script with Slurm and the site"))
    picture.arrow((200, 218), (200, 240))
    picture.box(30, 242, 340, 50, ("hpcml emulate", "rehearses the job in a private Slurm"))
    picture.arrow((200, 292), (200, 336), label="sbatch, or hpcml submit", at=(210, 328))
    picture.frame(10, 340, 380, 250, "the cluster")
    picture.box(30, 368, 340, 44, ("Slurm", "allocates nodes, starts job.sh on the first one"), "slurm")
    picture.arrow((200, 412), (200, 434))
    picture.box(30, 436, 340, 44, ("hpcml internal batch", "key, rendezvous store, save and requeue"))
    picture.arrow((110, 480), (110, 502), label="srun", at=(120, 496))
    picture.arrow((290, 480), (290, 502))
    for x, rank in ((30, "rank 0"), (210, "rank 1 …")):
        picture.box(x, 504, 160, 34, ("hpcml launch",))
        picture.arrow((x + 80, 538), (x + 80, 548))
        picture.box(x, 550, 160, 30, (rank,), "user")
    return picture


def rendezvous() -> Picture:
    """How ranks find each other."""
    picture = Picture("rendezvous", 442, "How the ranks of a job find each other")
    picture.frame(10, 10, 380, 100, "first node: batch script")
    picture.box(20, 36, 360, 62, ("rendezvous store", "compatible with TCPStore,", "reports ranks that do not connect"))
    for rank, node, x, left, outer, edge, inner in (
        (0, "first node", 10, 22, 52, 152, 170),
        (1, "second node", 210, 248, 348, 248, 230),
    ):
        picture.frame(x, 146, 180, 206, node, below=True)
        picture.box(left, 170, 130, 46, ("hpcml launch", f"rank {rank}"))
        picture.box(left, 262, 130, 46, ("your program", f"RANK={rank}"), "user")
        picture.arrow((left + 65, 216), (left + 65, 260), label="exec", at=(left + 73, 242))
        picture.arrow((outer, 170), (outer, 100))
        picture.number(1, outer, 126)
        picture.arrow((edge, 285), (inner, 285), (inner, 100))
        picture.number(2, inner, 126)
    picture.arrow((90, 308), (90, 326), (310, 326), (310, 308), both=True)
    picture.number(3, 200, 326)
    for index, line in enumerate(
        ("connect, agree on address and port", "init_process_group", "NCCL, RCCL or Gloo connect directly")
    ):
        picture.number(index + 1, 40, 374 + 24 * index)
        picture.text(58, 378.5 + 24 * index, line, "left")
    return picture


def agents() -> Picture:
    """Agents, their coordinator and the ranks."""
    picture = Picture("agents", 350, "Agents of two nodes and the coordinator")
    picture.frame(10, 10, 180, 330, "first node")
    picture.frame(210, 10, 180, 330, "each other node")
    picture.box(25, 40, 150, 60, ("coordinator", "first failure,", "restart, end"))
    for x in (25, 225):
        picture.box(x, 164, 150, 46, ("agent", "one per node"))
        picture.arrow((x + 36, 210), (x + 36, 252))
        picture.arrow((x + 114, 252), (x + 114, 212))
        for number in (0, 1):
            picture.box(x + 78 * number, 254, 72, 36, (f"rank {number + (4 if x > 100 else 0)}",), "user")
        picture.text(x + 75, 310, "down: start, signals", "note")
        picture.text(x + 75, 327, "up: output, exit codes", "note")
    picture.arrow((100, 164), (100, 102), both=True)
    picture.arrow((365, 164), (365, 70), (177, 70), both=True)
    picture.text(222, 100, "events, heartbeats", "note left")
    picture.text(222, 118, "and commands", "note left")
    return picture


LUMI = (  # NUMA node: rank and GPU, its cores, and the network interface of both GPUs
    (0, ((4, "1-7"), (5, "9-15")), "hsn2"),
    (1, ((2, "17-23"), (3, "25-31")), "hsn1"),
    (2, ((6, "33-39"), (7, "41-47")), "hsn3"),
    (3, ((0, "49-55"), (1, "57-63")), "hsn0"),
)


def placement() -> Picture:
    """Which rank of a LUMI node has which GPU, cores and network interface."""
    picture = Picture("placement", 470, "Ranks, GPUs, cores and network interfaces of a node of LUMI")
    for index, (numa, gpus, interface) in enumerate(LUMI):
        x, y = 10 + 195 * (index % 2), 10 + 200 * (index // 2)
        picture.frame(x, y, 185, 190, f"NUMA node {numa}")
        for column, (rank, cores) in enumerate(gpus):
            left = x + 8 + 86 * column
            picture.box(left, y + 28, 82, 34, (f"rank {rank}",), "user")
            picture.box(left, y + 66, 82, 34, (f"{cores}",))
            picture.box(left, y + 104, 82, 34, (f"GPU {rank}",), "slurm")
        picture.box(x + 8, y + 146, 168, 32, (f"{interface}",), "frame")
    for index, (kind, line) in enumerate((("user", "rank"), ("box", "cores"), ("slurm", "GPU"), ("frame", "interface"))):
        picture.box(14 + 95 * index, 430, 20, 20, (), kind)
        picture.text(40 + 95 * index, 444.5, line, "left")
    return picture


def _row(picture: Picture, y: float, kind: str, title: str, lines: Iterable[str]) -> None:
    picture.box(20, y, 120, 46, (title,), kind)
    for index, line in enumerate(lines):
        picture.text(152, y + 20 + 16 * index, line, "left note")


def save_and_requeue() -> Picture:
    """What happens before the time limit."""
    picture = Picture("save-and-requeue", 490, "What happens before the time limit of a job")
    rows = (
        ("user", "training", ("the program computes,", "and saves checkpoints as it likes")),
        ("slurm", "time is near", ("--save-before 5m: the batch process", "knows the time limit")),
        ("box", "save request", ("srun passes on the signal,", "hpcml launch delivers it to the program")),
        ("user", "save, exit", ("the program writes a checkpoint to", "HPCML_CHECKPOINT_DIR and exits")),
        ("box", "requeue", ("at most --max-requeues times,", "without faulty nodes")),
        ("slurm", "next start", ("same job ID, same script,", "log is appended")),
        ("user", "resume", ("the program loads the newest", "complete checkpoint")),
    )
    for index, (kind, title, lines) in enumerate(rows):
        y = 16 + 67 * index
        _row(picture, y, kind, title, lines)
        if index:
            picture.arrow((80, y - 21), (80, y - 1))
    return picture


ALL = (placement, job_life, rendezvous, agents, save_and_requeue)


def main() -> None:
    """Writes all pictures."""
    directory = pathlib.Path(__file__).resolve().parents[1] / "images"
    for draw in ALL:
        picture = draw()
        (directory / f"{picture.name}.svg").write_text(picture.svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
