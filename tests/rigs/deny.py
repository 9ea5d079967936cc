# SPDX-License-Identifier: MIT
"""deny.py ERRNO CMD...: runs the command where io_uring_setup fails with that errno, as in a container or on an old kernel.
Exit code 77: no seccomp here."""
import ctypes
import errno
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
RET_ALLOW, RET_ERRNO = 0x7FFF0000, 0x00050000
IO_URING_SETUP = 425  # on every architecture


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


rules = b"".join(
    struct.pack("HBBI", *rule)
    for rule in (
        (LOAD_WORD, 0, 0, 0),  # the number of the call
        (JUMP_EQUAL, 0, 1, IO_URING_SETUP),
        (RETURN, 0, 0, RET_ERRNO | getattr(errno, sys.argv[1])),
        (RETURN, 0, 0, RET_ALLOW),
    )
)
libc = ctypes.CDLL(None)
program = Program(len(rules) // 8, rules)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program)):
    sys.exit(77)
os.execvp(sys.argv[2], sys.argv[2:])
