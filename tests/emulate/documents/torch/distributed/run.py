"""torchrun --standalone, as far as the documents use it."""
import os
import socket
import subprocess
import sys


def main():
    count, words = 1, sys.argv[1:]
    while words and words[0].startswith("--"):
        option, _, value = words.pop(0).partition("=")
        if option == "--nproc-per-node":
            count = int(value)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ranks = [subprocess.Popen([sys.executable] + words, env=dict(
        os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)))
        for rank in range(count)]
    sys.exit(max(rank.wait() for rank in ranks))


main()
