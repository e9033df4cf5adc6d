"""A process group that really meets at its address."""
import os
import socket
import time


class _Group:
    rank = world = 0
    peers = {}


def init_process_group(backend, rank=None, world_size=None):
    _Group.rank = int(os.environ["RANK"]) if rank is None else rank
    _Group.world = int(os.environ["WORLD_SIZE"]) if world_size is None else world_size
    place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
    end = time.time() + 30
    _Group.peers = {}
    if _Group.rank == 0:
        server = socket.create_server(("", place[1]), backlog=_Group.world)
        server.settimeout(30)
        while len(_Group.peers) < _Group.world - 1:
            peer = server.accept()[0]
            _Group.peers[int(peer.recv(8))] = peer
        return
    while not _Group.peers:
        try:
            _Group.peers = {0: socket.create_connection(place, timeout=30)}
        except OSError:
            if time.time() > end:
                raise
            time.sleep(0.05)
    _Group.peers[0].sendall(b"%08d" % _Group.rank)


def get_world_size():
    return _Group.world


def send(tensor, dst):
    _Group.peers[dst].sendall(tensor)


def recv(tensor, src):
    assert _Group.peers[src].recv(len(tensor)) == tensor


def barrier():
    for _, peer in sorted(_Group.peers.items()):
        if _Group.rank == 0:
            assert peer.recv(1) == b"x"
        else:
            peer.sendall(b"x")
            assert peer.recv(1) == b"y"
    if _Group.rank == 0:
        for peer in _Group.peers.values():
            peer.sendall(b"y")


def destroy_process_group():
    _Group.peers = {}
