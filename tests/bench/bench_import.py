#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading captures against the tools of others: bench_import.py [--build DIR] [--pairs N] [--small]

R3  a table of IOs (pts import) against the same IOs as an iolog (fio, read_iolog), records a CPU second; the start of each is taken off
R4  a capture of 10 million records: opened and every checksum looked at (pts trace stat)
R5  blktrace files (pts import) against blkparse -O -d, events a CPU second
All of them use one CPU to the full: R3 and R5 compare CPU time (user and system), which others on the host disturb less than the
wall clock by which R4 goes. Each pair runs in the other order than the one before; a figure is the median of the ratios with the least
and the largest. Files are in memory (/dev/shm). A gate that fails is exit code 1 when nobody else used the CPUs, else only told.
"""
import argparse
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

GATE = {'R3': 6.0, 'R4': 0.15, 'R5': 4.0}
STRETCH = {'R3': 11.0, 'R4': 0.05, 'R5': 8.0}


def cpu_busy():
    v = [int(x) for x in open('/proc/stat').readline().split()[1:9]]
    return sum(v) - v[3] - v[4]


def others(seconds=0.5):
    before, t = cpu_busy(), time.monotonic()
    time.sleep(seconds)
    return (cpu_busy() - before) / os.sysconf('SC_CLK_TCK') / (time.monotonic() - t)


def run(*words):
    """CPU seconds, user and system; a capture of the run before is out of the way."""
    if os.path.exists('t.cap'):
        os.unlink('t.cap')
    before = os.times()
    p = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = os.times()
    if p.returncode:
        sys.exit('bench-import: %s: %s' % (' '.join(words), p.stderr.strip()))
    return after.children_user - before.children_user + after.children_system - before.children_system


def wall(*words):
    t = time.monotonic()
    run(*words)
    return time.monotonic() - t


def make_tables(folder, n):
    rng = random.Random(1)
    tails = [(rng.random() < .7, rng.randrange(1 << 28) * 4096, rng.choice((4096, 8192, 16384, 65536))) for _ in range(1000)]
    with open(os.path.join(folder, 't.csv'), 'w') as c, open(os.path.join(folder, 't.iolog'), 'w') as f:
        f.write('fio version 3 iolog\n0 /dev/null add\n0 /dev/null open\n')
        for b in range(0, n, 1000):
            c.write(''.join(['%d,%s,%d,%d\n' % ((b + i) * 7, 'WR'[r], off, size) for i, (r, off, size) in enumerate(tails)]))
            f.write(''.join(['%d /dev/null %s %d %d\n' % ((b + i) * 7, ('write', 'read')[r], off, size)
                             for i, (r, off, size) in enumerate(tails)]))
    with open(os.path.join(folder, 'one.iolog'), 'w') as f:
        f.write('fio version 3 iolog\n0 /dev/null add\n0 /dev/null open\n0 /dev/null read 0 4096\n')


def make_big(folder, n):
    with open(os.path.join(folder, 'big.csv'), 'w') as f:
        for b in range(0, n, 10000):
            f.write(''.join(['%d,R,%d,4096\n' % ((b + i) * 7, (b + i) * 7919 % 100000 * 4096) for i in range(10000)]))


def make_blktrace(folder, n):
    """Two CPUs; queue, get, plug, issue and complete of each IO."""
    rng, seq, t = random.Random(1), [0, 0], 10**9
    acts = (1, 1 << 4), (4, 0), (9, 0), (7, 1 << 6), (8, 1 << 7)
    files = [open(os.path.join(folder, 'x.blktrace.%d' % c), 'wb') for c in (0, 1)]
    for _ in range(0, n, 20000):
        events, out = [], ([], [])
        for i in range(20000):
            rw, sector, size, cpu = 1 + (rng.random() < .3), rng.randrange(1 << 28) * 8, rng.choice((4096, 16384)), rng.randrange(2)
            for k, (act, cat) in enumerate(acts):
                late = rng.randrange(50000) if act == 8 else 0
                events.append((t + i * 5000 + k * 300 + late, sector, size, (cat | rw) << 16 | act, cpu))
        events.sort()
        t = events[-1][0] + 1
        for time_ns, sector, size, action, cpu in events:
            seq[cpu] += 1
            out[cpu].append(struct.pack('=IIQQIIIIIHH', 0x65617407, seq[cpu], time_ns, sector, size, action, 100, 259 << 20, cpu, 0, 0))
        for c in (0, 1):
            files[c].write(b''.join(out[c]))
    for f in files:
        f.close()


def pairs(n, ours, theirs):
    ratios, own = [], []
    for i in range(n):
        a, b = (ours(), theirs()) if i % 2 else reversed((theirs(), ours()))
        own.append(a)
        ratios.append(b / a)
    return statistics.median(ratios), min(ratios), max(ratios), statistics.median(own)


def verdict(name, value, better):
    gate = 'holds' if better(value, GATE[name]) else 'FAILS'
    far = ', stretch %g reached' % STRETCH[name] if better(value, STRETCH[name]) else ''
    return 'gate %g %s%s' % (GATE[name], gate, far), gate == 'holds'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--pairs', type=int, default=5)
    parser.add_argument('--small', action='store_true', help='a tenth of everything, to see that it runs')
    args = parser.parse_args()
    pts, part = os.path.abspath(os.path.join(args.build, 'pts')), 10 if args.small else 1
    at_least, at_most = (lambda a, b: a >= b), (lambda a, b: a <= b)
    good, quiet = True, True
    with tempfile.TemporaryDirectory(dir='/dev/shm' if os.path.isdir('/dev/shm') else None) as d:
        os.chdir(d)
        if shutil.which('fio'):
            n = 2000000 // part
            make_tables(d, n)
            fio = ['fio', '--name=x', '--ioengine=null', '--replay_no_stall=1', '--number_ios=1']
            quiet &= others() < 0.3
            start = statistics.median(run(*fio, '--read_iolog=one.iolog') for _ in range(3))
            idle = statistics.median(run(pts, 'version') for _ in range(3))
            table = ['import', 't.csv', '--map', 'ts=0:us,op=1,off=2,len=3', '-o', 't.cap', '-q']
            m, least, most, own = pairs(args.pairs, lambda: run(pts, *table) - idle,
                                        lambda: max(run(*fio, '--read_iolog=t.iolog') - start, 1e-3))
            text, ok = verdict('R3', m, at_least)
            run(pts, *table)
            print('R3  table to capture / fio read_iolog: %.1f (%.1f to %.1f) x, %.1f M records/s, %.1f bytes a record; %s' % (
                m, least, most, n / own / 1e6, os.path.getsize('t.cap') / n, text))
            good &= ok
            for f in 't.csv', 't.iolog', 't.cap':
                os.unlink(f)
        else:
            print('R3  skipped: no fio here (make bench-deps)')
        n = 10000000 // part
        make_big(d, n)
        run(pts, 'import', 'big.csv', '--map', 'ts=0:us,op=1,off=2,len=3', '-o', 'big.cap', '-q')
        os.unlink('big.csv')
        quiet &= others() < 0.3
        own = statistics.median(wall(pts, 'trace', 'stat', 'big.cap', '-q') for _ in range(args.pairs))
        text, ok = verdict('R4', own, at_most)
        print('R4  %d M records opened and checked: %.3f s; %s' % (n // 1000000, own, text))
        good &= ok
        os.unlink('big.cap')
        if shutil.which('blkparse'):
            n = 1000000 // part
            make_blktrace(d, n)
            quiet &= others() < 0.3
            m, least, most, own = pairs(args.pairs, lambda: run(pts, 'import', 'x.blktrace.0', '-o', 'x.cap', '-q'),
                                        lambda: run('blkparse', '-i', 'x', '-O', '-d', 'x.dump'))
            text, ok = verdict('R5', m, at_least)
            print('R5  blktrace to capture / blkparse -O -d: %.1f (%.1f to %.1f) x, %.1f M events/s; %s' % (
                m, least, most, 5 * n / own / 1e6, text))
            good &= ok
        else:
            print('R5  skipped: no blkparse here (make bench-deps)')
    if not quiet:
        print('others used the CPUs meanwhile: the gates are not judged')
    return 0 if good or not quiet else 1


if __name__ == '__main__':
    sys.exit(main())
