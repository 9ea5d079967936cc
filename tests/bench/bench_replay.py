#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exact replay against Debian's fio on this machine: bench_replay.py [--build DIR] [--pairs N] [--seconds S] [--target FILE]

R1  time of the replay / time of the trace, at 10, 50, 100 and 200 thousand IO/s (Poisson, 4 KiB reads, IO depth of fio 256)
R2  how late IOs were issued at 100,000 IO/s, to a target and to none (--dry)

Both replay the same IOs on the same target, a new file in memory unless --target names one, in turn, each pair in the other order than
the one before; figures are medians of the pairs with the least and the largest. The load average stands beside each: on a busy host
lateness is that of the scheduler. Figures are told, never judged: the exit code is 0 unless something failed to run.
"""
import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

RATES = 10_000, 50_000, 100_000, 200_000
GATE, STRETCH = 1.001, 1.0002
SIZE = 256 << 20
failures = []


def load():
    return ' '.join(open('/proc/loadavg').read().split()[:3])


def output(args, good=(0,)):
    p = subprocess.run(['timeout', '120', *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode not in good:
        raise RuntimeError(f"{' '.join(args[:3])}...: exit {p.returncode}: {p.stderr.strip()[:200]}")
    return p.stdout


def make_log(path, target, rate, seconds):
    """An iolog of version 3. Returns its last time stamp in seconds."""
    rng, t, us = random.Random(rate), 0.0, 0
    with open(path, 'w') as f:
        f.write(f'fio version 3 iolog\n0 {target} add\n0 {target} open\n')
        while t < seconds:
            us = int(t * 1e6)
            f.write(f'{us} {target} read {rng.randrange(SIZE // 4096) * 4096} 4096\n')
            t += rng.expovariate(rate)
    return us / 1e6


def own(cap, target, *more):
    where = ['--dut', f'file:{target}', '--db', f'{cap}.db'] if target else ['--dry']
    d = json.loads(output([PTS, 'replay', cap, '--json', '-q', *where, *more], good=(0, 1)))
    if d['issued'] != d['records'] or d['errors']:
        raise RuntimeError(f"pts issued {d['issued']} of {d['records']}, {d['errors']} errors")
    return d


def fio(log, seconds):
    text = output(['fio', '--thread', '--name=r', f'--read_iolog={log}', '--ioengine=io_uring', '--iodepth=256', '--direct=0',
                   '--invalidate=0', '--output-format=json'])
    job = json.loads(text[text.index('{'):])['jobs'][0]['read']
    return job['runtime'] / 1000 / seconds


def line(what, values, unit=1.0, digits=4):
    v = [x / unit for x in values]
    print(f'  {what:<34} {statistics.median(v):12.{digits}f}   {min(v):.{digits}f} .. {max(v):.{digits}f}')


def one_rate(rate, args, folder):
    log, cap = f'{folder}/{rate}.log', f'{folder}/{rate}.cap'
    span = make_log(log, args.target, rate, args.seconds)
    output([PTS, 'import', log, '-o', cap, '-q'])
    got = {'pts': [], 'fio': []}
    runs = {'pts': lambda: got['pts'].append(own(cap, args.target)), 'fio': lambda: got['fio'].append(fio(log, span))}
    before = load()
    for i in range(args.pairs):
        for name in list(runs) if i % 2 == 0 else list(runs)[::-1]:
            if name == 'pts' or shutil.which('fio'):
                runs[name]()
    print(f'R1 {rate} IO/s, {span:.3f} s; load {before} to {load()}')
    line(f'pts: time / trace time (<= {GATE})', [d['elapsed_ns'] / 1e9 / span for d in got['pts']])
    line('pts: error of the span, %', [abs(d['span_error_pct']) for d in got['pts']], digits=5)
    if got['fio']:
        line('fio: time / trace time', got['fio'])
    return cap, got['pts']


def lateness(what, runs, limits=('', '', '')):
    print(f'R2 {what}; load {load()}')
    for (key, name), limit in zip((('late_p50_ns', 'p50'), ('late_p99_ns', 'p99'), ('late_p999_ns', 'p99.9')), limits):
        line(f'{name}, us{limit}', [d[key] for d in runs], 1000.0, 3)


def main():
    global PTS
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--build', default='build')
    a.add_argument('--pairs', type=int, default=5)
    a.add_argument('--seconds', type=float, default=1.0)
    a.add_argument('--target', help='a file of 256 MiB or more; only read')
    args = a.parse_args()
    PTS = os.path.abspath(os.path.join(args.build, 'pts'))
    folder = tempfile.mkdtemp(prefix='pts-bench-', dir='/dev/shm' if os.path.isdir('/dev/shm') else None)
    try:
        if not args.target:
            args.target = f'{folder}/target'
            with open(args.target, 'wb') as f:
                for _ in range(SIZE >> 20):
                    f.write(os.urandom(1 << 20))
        if not shutil.which('fio'):
            print('bench: no fio here (make bench-deps): pts alone', file=sys.stderr)
        print(f'{"":36} {"median":>12}   least .. largest, of {args.pairs}')
        for rate in RATES:
            try:
                cap, runs = one_rate(rate, args, folder)
                if rate == 100_000:
                    lateness('100000 IO/s to the target', runs, (' (<= 1)', ' (<= 50)', ''))
                    lateness('100000 IO/s to nothing (--dry)', [own(cap, None) for _ in range(args.pairs)])
            except (RuntimeError, ValueError, KeyError) as e:
                failures.append(f'{rate} IO/s: {e}')
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for f in failures:
        print(f'bench: {f}', file=sys.stderr)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
