#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine against Debian's fio on this machine: bench.py [--build DIR] [--pairs N]

Both run in turn on the same target, each pair in the other order than the one before; a figure is the median of the ratios of
the pairs, with the least and the largest. Before each set it is looked whether others use the CPUs, with nothing of ours running: if
so it waits, at most a minute in all, and says so; a set after which they do is repeated once. Figures on the wall clock
are told, never judged: the exit code is 0 unless something failed to run.
"""
import argparse
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

RUN_S = 0.8
BUSY_SHARE = 0.2  # of one CPU, used by others

FAST = ['--fixedbufs', '--registerfiles', '--iodepth_batch_complete_min=1']
rows, failures, remarks = [], [], []


def load():
    return ' '.join(open('/proc/loadavg').read().split()[:3])


def cpu_busy():
    v = [int(x) for x in open('/proc/stat').readline().split()[1:9]]
    return sum(v) - v[3] - v[4]


def others(seconds=0.5):
    """CPUs that others use, while nothing of ours runs."""
    before, t = cpu_busy(), time.monotonic()
    time.sleep(seconds)
    return (cpu_busy() - before) / os.sysconf('SC_CLK_TCK') / (time.monotonic() - t)


patience_s = 60.0


def wait_quiet(what):
    global patience_s
    told = False
    while (share := others()) > BUSY_SHARE:
        if patience_s <= 0:
            remarks.append(f'{what}: measured while others used {share:.1f} CPUs')
            return False
        if not told:
            print(f'bench: others use {share:.1f} CPUs (load {load()}); waiting up to a minute', file=sys.stderr)
            told = True
        time.sleep(2)
        patience_s -= 2.5
    return True


def command(args, **kw):
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, **kw)


class Failed(Exception):
    pass


def output(args):
    p = command(args)
    if p.returncode:
        raise Failed(f"{' '.join(args[:3])}...: exit {p.returncode}: {p.stderr.strip()[:200]}")
    return p.stdout


def fio(target, qd, *more, threads=1, rw='randread', fast=False, direct=0):
    args = ['timeout', '30', 'fio', '--name=x', '--thread', f'--filename={target}', '--size=1g', '--ioengine=io_uring', f'--direct={direct}',
            f'--rw={rw}', '--bs=4k', f'--iodepth={qd}', '--time_based', f'--runtime={int(RUN_S * 1000)}ms', '--norandommap',
            '--randrepeat=0', '--invalidate=0', f'--numjobs={threads}', '--group_reporting', '--output-format=json', *more]
    if fast:
        args += FAST + [f'--iodepth_batch_submit={min(16, qd)}', f'--iodepth_batch_complete_max={qd}']
    text = output(args)
    job = json.loads(text[text.index('{'):])['jobs'][0]
    ios = job['read']['total_ios'] + job['write']['total_ios']
    # With group_reporting the CPU shares are those of one thread on average, job_runtime the sum.
    cpu = (job['usr_cpu'] + job['sys_cpu']) / 100 * job['job_runtime'] * 1000 / ios
    return {'cpu': cpu, 'iops': job['read']['iops'] + job['write']['iops']}


def own(target, qd, *more, threads=1, rw='read'):
    d = json.loads(output([BENCH, 'engine', '--json', '--target', target, '--qd', str(qd), '--threads', str(threads), '--rw', rw,
                           '--seconds', str(RUN_S), *more]))
    return {'cpu': d['cpu_us_per_io'], 'sys': d['cpu_sys_us_per_io'], 'iops': d['iops'], 'rss': d['rss_bytes']}


def sample(runs, pairs):
    got = {name: [] for name in runs}
    for i in range(pairs):
        for name in (list(runs) if i % 2 == 0 else list(runs)[::-1]):
            got[name].append(runs[name]())
    return got


def measure(what, runs):
    """{name: [figures of each turn]}, or None when it failed."""
    print(f'bench: {what}', file=sys.stderr)
    try:
        for attempt in range(2):
            wait_quiet(what)
            got = sample(runs, PAIRS)
            if patience_s <= 0 or attempt or others() <= BUSY_SHARE:
                return got
            print('bench: others used the CPUs meanwhile; once more', file=sys.stderr)
    except (Failed, subprocess.TimeoutExpired, ValueError, KeyError) as e:
        failures.append(f'{what}: {e}')
    return None


def ratios(got, name, base, key='cpu'):
    return [a[key] / b[key] for a, b in zip(got[name], got[base])]


def row(number, what, values, gate, stretch, unit='x', at_least=False, note='', limit=None):
    """limit: what an engine that takes no time of its own would reach here."""
    mid = statistics.median(values)
    good = (lambda bound: mid >= bound) if at_least else (lambda bound: mid <= bound)
    within = limit is None or (limit >= gate if at_least else limit <= gate)
    verdict = 'met, and the stretch' if good(stretch) else 'met' if good(gate) else 'not met' if within else 'out of reach here'
    spread = f'{min(values):.3g} - {max(values):.3g}' if len(values) > 1 else ''
    sign = '>=' if at_least else '<='
    rows.append((number, what, f'{mid:.3g} {unit}', spread, f'{sign} {gate:g}', f'{sign} {stretch:g}', verdict + note))


def kernel_share(got, base):
    """CPU an IO that the kernel takes of ours, to all of @base's: below it no engine comes that submits in this way."""
    return statistics.median(a['sys'] / b['cpu'] for a, b in zip(got['own'], got[base]))


def cpu_row(number, what, got, base, gate, stretch, synchronous=True):
    floor = kernel_share(got, base)
    row(number, what, ratios(got, 'own', base), gate, stretch, note=f'; {floor:.2f} of it in the kernel',
        limit=floor if synchronous else None)


# ---- counts ----

def instructions(*args):
    n = []
    for ios in (20000, 120000):
        p = command(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', BENCH, 'engine', '--json', '--target',
                     '/dev/zero', '--ios', str(ios), *args])
        m = re.search(r'Collected : (\d+)', p.stderr)
        if not m:
            raise Failed(f'callgrind: {p.stderr.strip()[-200:]}')
        n.append(int(m.group(1)))
    return (n[1] - n[0]) / 100000


def counts():
    if not shutil.which('valgrind'):
        remarks.append('E1, E1b, E2, E3: no valgrind here')
        return
    full = instructions('--qd', '32')
    row('E1', 'user instructions an IO, QD32', [full], 120, 80, '')
    row('E1b', '9 streams 65/35, new write data included', [instructions('--qd', '32', '--streams', '9', '--rw', '65/35')], 160, 110, '')
    row('E2', 'user instructions an IO, QD1', [instructions('--qd', '1')], 250, 200, '')
    row('E3', 'of these, for recording latency, QD32', [full - instructions('--qd', '32', '--no-latency')], 40, 28, '')


def calls(number, what, gate, stretch, *args):
    ios = 200000
    p = command(['perf', 'stat', '-x,', '-e', 'raw_syscalls:sys_enter', BENCH, 'engine', '--json', '--ios', str(ios), *args])
    m = re.search(r'^(\d+),', p.stderr, re.M)
    if p.returncode or not m:
        remarks.append(f'{number}: perf cannot count system calls here')
        return
    row(number, what, [int(m.group(1)) / ios], gate, stretch, '')


# ---- sets ----

def zero_sets():
    zero = '/dev/zero'
    got = measure('/dev/zero QD32', {'default': lambda: fio(zero, 32), 'fast': lambda: fio(zero, 32, fast=True), 'own': lambda: own(zero, 32),
                                     'bare': lambda: own(zero, 32, '--no-latency')})
    if got:
        cpu_row('E4', 'CPU an IO, /dev/zero QD32, to fio fast', got, 'fast', 0.45, 0.36)
        cpu_row('E4', 'the same to fio default', got, 'default', 0.28, 0.22)
        row('E6', 'IOPS of one thread to fio fast', ratios(got, 'own', 'fast', 'iops'), 2.2, 3, at_least=True, limit=1 / kernel_share(got, 'fast'))
        row('E6', 'the same to fio default', ratios(got, 'own', 'default', 'iops'), 3.5, 4.8, at_least=True,
            limit=1 / kernel_share(got, 'default'))
        row('E10', 'CPU an IO with latency to without', ratios(got, 'own', 'bare'), 1.08, 1.03)
    for qd, gate, stretch in ((1, 0.55, 0.40), (128, 0.48, 0.39)):
        got = measure(f'/dev/zero QD{qd}', {'fast': lambda: fio(zero, qd, fast=True), 'own': lambda: own(zero, qd)})
        if got:
            cpu_row('E5', f'CPU an IO, QD{qd}, to fio fast', got, 'fast', gate, stretch)


def write_set():
    got = measure('/dev/null writes', {'refill': lambda: fio('/dev/null', 32, '--refill_buffers', rw='randwrite', fast=True),
                                       'default': lambda: fio('/dev/null', 32, rw='randwrite', fast=True),
                                       'own': lambda: own('/dev/null', 32, rw='write')})
    if not got:
        return
    cpu_row('W1', 'random-data writes, CPU an IO, to fio refill_buffers', got, 'refill', 0.15, 0.10)
    cpu_row('W1', 'the same to fio with its default data', got, 'default', 0.40, 0.30)


def loop_sets(loop):
    calls('E7', 'system calls an IO, loop QD1', 1.02, 1.0, '--target', loop, '--qd', '1')
    calls('E7', 'system calls an IO, loop QD32', 0.50, 0.36, '--target', loop, '--qd', '32')
    for qd, gate, stretch in ((32, 0.95, 0.80), (128, 0.88, 0.70)):
        got = measure(f'loop QD{qd}', {'fast': lambda: fio(loop, qd, fast=True, direct=1), 'own': lambda: own(loop, qd)})
        if got:
            cpu_row('E8', f'CPU an IO, loop QD{qd}, to fio fast', got, 'fast', gate, stretch, synchronous=False)


def crowd_sets(loop):
    zero = '/dev/zero'
    got = measure('32 threads QD32', {'fast': lambda: fio(zero, 32, threads=32, fast=True), 'own': lambda: own(zero, 32, threads=32)})
    if got:
        cpu_row('E9', '32 threads x QD32, CPU an IO, to fio fast', got, 'fast', 0.50, 0.40)
        row('E9', 'resident memory of it, MB', [r['rss'] / 1e6 for r in got['own']], 24, 16, 'MB')
    if not loop:
        return
    got = measure('32 threads QD32, loop', {'default': lambda: fio(loop, 32, threads=32, direct=1), 'own': lambda: own(loop, 32, threads=32)})
    if got:
        row('E9', 'IOPS of it on a loop device to fio default', ratios(got, 'own', 'default', 'iops'), 1.4, 2, at_least=True)


def cells(tmp):
    """Twenty short cells of a real run: the time between them, and what they take in the database."""
    defs = os.path.join(tmp, 'defs')
    os.mkdir(defs)
    with open(os.path.join(defs, 'cells.pts'), 'w') as f:
        f.write('test cells "Cells" clause X\n' + '  run rnd rw 65/35 bs 4k threads 2 qd 8 for 100ms\n' * 20 + 'end\n')
    db = os.path.join(tmp, 'cells.db')
    p = command([PTS, 'run', 'cells', '--dut', f'file:{tmp}/scratch?size=64m', '--db', db, '-q'], env={**os.environ, 'PTS_DEF_PATH': defs})
    if p.returncode:
        raise Failed(f'pts run: exit {p.returncode}: {p.stderr.strip()[-200:]}')
    con = sqlite3.connect(db)
    at = con.execute('SELECT start_ns, start_ns + elapsed_ns FROM v_cell ORDER BY start_ns').fetchall()
    gaps = [(b[0] - a[1]) / 1e6 for a, b in zip(at, at[1:])]
    con.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    con.close()
    row('D1', 'kB of database a cell, all the run shared out', [os.path.getsize(db) / 1e3 / len(at)], 24, 16, 'kB')
    row('D2', 'from one cell to the next, ms', gaps, 20, 3, 'ms')


class Loop:
    """A loop device over a full file in memory; None where there is none to be had."""

    def __enter__(self):
        self.path = self.dev = None
        if os.getuid() or not shutil.which('losetup') or not os.path.isdir('/dev/shm'):
            remarks.append('E7, E8, E9 on a loop device: needs root')
            return None
        fd, self.path = tempfile.mkstemp(prefix='pts-bench-', dir='/dev/shm')
        with os.fdopen(fd, 'wb') as f:
            for _ in range(1024):
                f.write(bytes(1 << 20))
        p = command(['losetup', '-f', '--show', self.path])
        if p.returncode:
            remarks.append(f'E7, E8, E9 on a loop device: {p.stderr.strip()}')
            return None
        self.dev = p.stdout.strip()
        return self.dev

    def __exit__(self, *_):
        if self.dev:
            command(['losetup', '-d', self.dev])
        if self.path:
            os.unlink(self.path)


def table(before):
    head = ('', 'figure', 'median', 'spread', 'gate', 'stretch', 'verdict')
    width = [max(len(r[i]) for r in [head, *rows]) for i in range(7)]
    print(f'load average {before} before, {load()} after (ours included); {PAIRS} pairs; {os.cpu_count()} CPUs; Linux {os.uname().release}; '
          + (output(['fio', '--version']).strip() if shutil.which('fio') else 'no fio'))
    for r in [head, *rows]:
        print('  '.join(c.ljust(w) for c, w in zip(r, width)).rstrip())
    for line in remarks:
        print('not measured or to be read with care:', line)
    for line in failures:
        print('FAILED:', line)


def attempt(what, *args):
    try:
        what(*args)
    except (Failed, subprocess.TimeoutExpired, OSError, ValueError, KeyError, sqlite3.Error) as e:
        failures.append(f'{what.__name__}: {e}')


def main():
    before = load()
    with tempfile.TemporaryDirectory() as tmp:
        attempt(counts)
        attempt(calls, 'E7', 'system calls an IO, /dev/zero QD32', 0.13, 0.126, '--target', '/dev/zero', '--qd', '32')
        attempt(cells, tmp)
        if shutil.which('fio'):
            attempt(zero_sets)
            attempt(write_set)
            with Loop() as loop:
                if loop:
                    attempt(loop_sets, loop)
                attempt(crowd_sets, loop)
        else:
            remarks.append('E4 - E6, E8 - E10, W1: fio is not installed (apt-get install fio)')
    order = {r: i for i, r in enumerate(['E1', 'E1b', 'E2', 'E3', 'E4', 'E5', 'E6', 'E7', 'E8', 'E9', 'E10', 'W1', 'D1', 'D2'])}
    rows.sort(key=lambda r: order[r[0]])
    table(before)
    return 1 if failures else 0


parser = argparse.ArgumentParser()
parser.add_argument('--build', default='build')
parser.add_argument('--pairs', type=int, default=5)
options = parser.parse_args()
BENCH, PTS, PAIRS = os.path.abspath(options.build) + '/pts-bench', os.path.abspath(options.build) + '/pts', options.pairs
os.environ.pop('PTS_DB', None)
os.environ['LC_ALL'] = 'C'
sys.exit(main())
