# SPDX-License-Identifier: MIT
# Interfaces, addresses and sockets of this process (src/ddp/network.cpp, src/torch/helper/own_connections.cpp, program_port.cpp).
import errno
import fcntl
import os
import socket
import struct
import time

IFF_UP, IFF_LOOPBACK = 0x1, 0x8
SIOCGIFFLAGS, SIOCGIFADDR = 0x8913, 0x8915


def host_name():
    return socket.gethostname()


def interface_addresses():
    """(interface, IPv4 address, whether it is the loopback) of each that is up."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as requested:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                flags = struct.unpack_from("H", fcntl.ioctl(requested, SIOCGIFFLAGS, request), 16)[0]
                address = socket.inet_ntoa(fcntl.ioctl(requested, SIOCGIFADDR, request)[20:24])
            except OSError:
                continue  # without an IPv4 address
            if flags & IFF_UP:
                found.append((name, address, bool(flags & IFF_LOOPBACK)))
    return found


def first_name(hint):
    """The first of a list as NCCL and Gloo write it, and whether it is exact; "^docker" names nothing."""
    if not hint or hint[0] == "^":
        return "", True
    exact = hint[0] == "="
    return hint.lstrip("=").split(",")[0].split(":")[0], exact


def source_address_to(host, port):
    """The address from which the kernel would send there; empty if it cannot say. A UDP connect sends nothing."""
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as requested:
            requested.connect((host, port))
            return requested.getsockname()[0]
    except OSError:
        return ""


def choose_interface(env, wanted):
    """The interface and the address that this rank offers to the others."""
    found = interface_addresses()
    named, exact = first_name(wanted or env.interface_hint)
    prefix = not wanted and env.interface_is_prefix and not exact
    if named:
        for name, address, _ in found:
            if name == named:
                return name, address
        for name, address, _ in found:
            if prefix and name.startswith(named):
                return name, address
        there = ", ".join("%s (%s)" % one[:2] for one in found) or "none"
        raise RuntimeError(
            "no interface '%s' with an IPv4 address is up on %s (available: %s); set --interface, GLOO_SOCKET_IFNAME or "
            "NCCL_SOCKET_IFNAME" % (named, host_name(), there)
        )
    source = source_address_to(env.master_addr, env.master_port)
    several_nodes = env.world_size > env.local_world_size
    for name, address, loopback in found:
        if address == source and not (several_nodes and loopback):
            return name, address
    for name, address, loopback in found:
        if loopback != several_nodes:
            return name, address
    if found:
        return found[0][:2]
    raise RuntimeError(
        "no interface with an IPv4 address is up on %s, so the ranks cannot connect; check `ip -4 address`"
        % host_name()
    )


def wait_until_reachable(host, port, deadline):
    """Empty when a connection could be made before the deadline, else the reason of the last failure."""
    while True:
        reason = ""
        try:
            targets = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            targets, reason = [], "the name does not resolve (%s)" % error.strerror
        for family, kind, protocol, _, place in targets:
            try:
                with socket.socket(family, kind, protocol) as tried:
                    tried.settimeout(min(max(deadline - time.monotonic(), 0.001), 2))
                    tried.connect(place)
                    return ""
            except socket.timeout:
                reason = os.strerror(errno.ETIMEDOUT)
            except OSError as error:
                reason = error.strerror or str(error)
        time.sleep(0.02)
        if time.monotonic() >= deadline:
            return reason


class Listener:
    """Listens as torch's store does: on all addresses, IPv4 and IPv6 alike."""

    def __init__(self):
        self.socket = None

    def open(self, port):
        """Empty, or why it cannot."""
        reason = ""
        for family in (socket.AF_INET6, socket.AF_INET):
            try:
                self.socket = socket.socket(family, socket.SOCK_STREAM)
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                if family == socket.AF_INET6:
                    self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                self.socket.bind(("", port))
                self.socket.listen(socket.SOMAXCONN)
                return ""
            except OSError as error:
                self.close()
                reason = error.strerror or str(error)
                if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):  # a node without IPv6
                    break
        return reason

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None


def end_of(text):
    """ "0100007F:1F90": 32-bit words in the machine's byte order, the port as a number."""
    words, port = text.split(":")
    data = b"".join(struct.pack("=I", int(words[i : i + 8], 16)) for i in range(0, len(words), 8))
    if len(data) == 16 and data[:12] == b"\0" * 10 + b"\xff\xff":
        data = data[12:]  # IPv4 through an IPv6 socket; the interface knows it as the former
    family = socket.AF_INET if len(data) == 4 else socket.AF_INET6
    return socket.inet_ntop(family, data), int(port, 16)


def own_connections(ignored_port):
    """Established connections of this process, without those to or from the store."""
    inodes = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + fd)
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    by_address = {}
    for name, address, _ in interface_addresses():
        by_address.setdefault(address, name)
    found = []
    for table in ("/proc/self/net/tcp", "/proc/self/net/tcp6"):
        try:
            with open(table) as lines:
                rows = lines.read().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if len(fields) < 10 or fields[3] != "01" or fields[9] not in inodes:
                continue
            here, there = end_of(fields[1]), end_of(fields[2])
            if ignored_port not in (here[1], there[1]):
                found.append(
                    {
                        "local": "%s:%d" % here,
                        "remote": "%s:%d" % there,
                        "interface": by_address.get(here[0], ""),
                    }
                )
    return found
