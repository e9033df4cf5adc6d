"""Starts a program under a filter like a container's: namespaces and mounts answer EPERM, clone3 ENOSYS."""
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (272, 165, 166, 155, 308), "aarch64": (97, 40, 39, 41, 268)}[os.uname().machine]
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
code = [(0x20, 0, 0, 0)]
for number in numbers:  # unshare, mount, umount2, pivot_root, setns
    code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050001)]
# clone with a namespace's flag; clone3 cannot be looked into: it is "not there"
code += [(0x15, 0, 3, clone), (0x20, 0, 0, 16), (0x45, 0, 1, 0x7E020000), (0x06, 0, 0, 0x00050001)]
code += [(0x20, 0, 0, 0), (0x15, 0, 1, 435), (0x06, 0, 0, 0x00050026), (0x06, 0, 0, 0x7FFF0000)]
buf = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in code))
prog = struct.pack("HxxxxxxP", len(code), ctypes.addressof(buf))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.c_char_p(prog), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execvp(sys.argv[1], sys.argv[1:])
