#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports against their figures: bench_report.py [--build DIR] [--times N] [--runs N]

F1  a run of eight tests and a rate curve, as workbook: under 2 s and 100 MiB
F2  a write saturation of 24 hours with a row for each second, as workbook and as page: under 5 s
F3  24 such runs of eight tests compared: under 10 s
All drives are simulated; the databases (1.7 GB for F3) go to TMPDIR. Shown is the median of N times: seconds by the clock, CPU
seconds of the process, most memory it had at once, and the size of the file. A figure that is missed is exit code 1 when nobody
else used the CPUs, else only told. Before, seconds that others used are shown.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

SWING = '[drive]\nlike = ent-nvme\ncapacity = 60t\n[noise]\nswing_pct = 30\nswing_s = 4650\n'  # a drive that never settles
FULL = ['pts-full', 'curve']


def cpu_busy():
    v = [int(x) for x in open('/proc/stat').readline().split()[1:9]]
    return sum(v) - v[3] - v[4]


def others(seconds=1.0):
    before, t = cpu_busy(), time.monotonic()
    time.sleep(seconds)
    return (cpu_busy() - before) / os.sysconf('SC_CLK_TCK') / (time.monotonic() - t)


def must(words, ok=(0,)):
    p = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if p.returncode not in ok:
        sys.exit('bench-report: %s: %s' % (' '.join(words), p.stderr.strip()))


def once(words):
    """Seconds, CPU seconds, MiB."""
    t = time.monotonic()
    p = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = p.stderr.read()
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        sys.exit('bench-report: %s: %s' % (' '.join(words), said.strip()))
    return time.monotonic() - t, use.ru_utime + use.ru_stime, use.ru_maxrss / 1024


def measure(name, words, out, times, limit, mib=None):
    """One line; False when a figure is missed."""
    got = [once(words + ['-o', out]) for _ in range(times)]
    wall, cpu, rss = (statistics.median(v) for v in zip(*got))
    size = os.stat(out).st_size / 1e6
    good = wall < limit and (mib is None or rss < mib)
    aim = 'under %g s' % limit + (', %d MiB' % mib if mib else '')
    print('%-46s %6.2f s %6.2f s CPU %6.0f MiB %7.1f MB  %s%s' % (name, wall, cpu, rss, size, aim, '' if good else '  MISSED'), flush=True)
    return good


def make_runs(pts, db, n):
    """Two at a time, into one file."""
    todo = [[pts, 'run', *FULL, '-q', '--db', db, '--dut', 'sim:ent-nvme?seed=%d' % (i + 1)] for i in range(n)]
    at_work = []
    must(todo.pop(0))
    while todo or at_work:
        while todo and len(at_work) < 2:
            at_work.append(subprocess.Popen(todo.pop(0), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        if at_work.pop(0).wait():
            sys.exit('bench-report: a simulated run failed')


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--build', default='build')
    a.add_argument('--times', type=int, default=5)
    a.add_argument('--runs', type=int, default=24)
    a = a.parse_args()
    pts = os.path.abspath(os.path.join(a.build, 'pts'))
    busy = others()
    print('others used %.1f CPUs before' % busy)
    with tempfile.TemporaryDirectory(prefix='bench-report.') as folder:
        os.chdir(folder)
        good = True
        with open('swing.ini', 'w') as f:
            f.write(SWING)
        make_runs(pts, 'full.db', 1)
        must([pts, 'run', 'wsat', '--set', 'hours=24h', '-q', '--dut', 'sim:swing.ini', '--db', 'day.db'], (1,))
        report = [pts, 'report', '1', '--db']
        good &= measure('F1 eight tests, workbook', report + ['full.db'], 'a.xlsx', a.times, 2, 100)
        measure('   eight tests, page', report + ['full.db'], 'a.html', a.times, 2, 100)
        measure('   eight tests, JSON', report + ['full.db'], 'a.json', a.times, 2, 100)
        good &= measure('F2 24 hours of seconds, workbook', report + ['day.db'], 'b.xlsx', a.times, 5)
        good &= measure('F2 24 hours of seconds, page', report + ['day.db'], 'b.html', a.times, 5)
        if subprocess.run([pts, 'compare', '--help'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            print('F3 no pts compare in this build')
        else:
            os.unlink('full.db')
            make_runs(pts, 'many.db', a.runs)
            compare = [pts, 'compare', *map(str, range(1, a.runs + 1)), '--db', 'many.db']
            good &= measure('F3 %d runs compared, workbook' % a.runs, compare, 'c.xlsx', min(a.times, 3), 10)
            good &= measure('F3 %d runs compared, page' % a.runs, compare, 'c.html', min(a.times, 3), 10)
    return 0 if good or busy > 0.2 else 1


if __name__ == '__main__':
    sys.exit(main())
