# SPDX-License-Identifier: MIT
"""Millions of IOs through a pipe into a capture, in bounded memory: import_memory.py PTS KIND N LIMIT_MIB

KIND: rows (a table in order), shuffled (a table whose times go to and fro), issues (blktrace records that never complete).
"""
import os
import random
import struct
import sys


def rows(n, jump):
    tails = [',%s,%d,%d\n' % ('RW'[i % 3 == 0], i * 7919 % 100000 * 4096, 4096) for i in range(1000)]
    rng = random.Random(1)
    for b in range(0, n, 1000):
        base = b - (rng.randrange(b + 1) if jump else 0)
        yield ''.join([str(base + i) + t for i, t in enumerate(tails)]).encode()


def issues(n):
    """Blocks of records in which only time and sector change."""
    form = struct.Struct('=IIQQIIIIIHH')
    for b in range(0, n, 1000):
        yield b''.join([form.pack(0x65617407, b + i + 1, 10**9 + (b + i) * 1000, (b + i) * 8, 4096, (1 << 6 | 1) << 16 | 7, 1,
                                  7 << 20, 0, 0, 0) for i in range(1000)])


def main():
    pts, kind, n, limit = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    out = 'memory.cap'
    said = ['-f', 'blktrace'] if kind == 'issues' else ['--map', 'ts=0:us,op=1,off=2,len=3']
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(read, 0)
        os.close(write)
        os.execv(pts, [pts, 'import', '-', '-o', out, '-q', *said])
    os.close(read)
    try:
        with os.fdopen(write, 'wb') as f:
            for block in issues(n) if kind == 'issues' else rows(n, kind == 'shuffled'):
                f.write(block)
    except BrokenPipeError:
        pass
    _, status, usage = os.wait4(pid, 0)
    mib = usage.ru_maxrss / 1024
    good = status == 0 and mib < limit
    print('%s %s: %d M IOs in %d MiB (below %d), exit %d' % ('ok' if good else 'not ok', kind, n // 1000000, mib, limit,
                                                        os.waitstatus_to_exitcode(status)), file=sys.stderr)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
