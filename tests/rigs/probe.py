#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe.py DEVICE [COUNT]: reads 4 KiB at random places, one after another, past the page cache; prints the median time in ns.

An independent reader: what a rig takes here and now, beside which a measurement of pts can be laid."""
import mmap
import os
import random
import statistics
import sys
import time

fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
pages = os.lseek(fd, 0, os.SEEK_END) // 4096
buf = [mmap.mmap(-1, 4096)]
times = []
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 3000):
    off = random.randrange(pages) * 4096
    begin = time.perf_counter_ns()
    os.preadv(fd, buf, off)
    times.append(time.perf_counter_ns() - begin)
print(round(statistics.median(times)))
