# SPDX-License-Identifier: MIT
"""The same IOs in every format give the same capture: import_formats.py PTS"""
import lzma
import gzip
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import make_trace  # noqa: E402
from capture import Capture  # noqa: E402

N = 300
SAID = {'ssdsim': ['-f', 'ssdsim', '--time-unit', 'ns'], 'disksim': ['--time-unit', 'ms'], 'vscsi2': ['--time-unit', 'us'],
        'csv': ['--map', 'ts=0:us,dev=1,op=2:rd/wr,off=3:B,len=4:B,rt=5:us,sep=semicolon,header=1'],
        'wpa-us': [], 'tencent': []}
NO_RESPONSE = ('iolog3', 'iolog2', 'alibaba', 'tencent', 'spc', 'ssdsim', 'disksim', 'fiu', 'vscsi1', 'vscsitext', 'btrecord')
NOT_FORMATS = ('streammap', 'rows')


def check(pts, name, tmp, pack=None):
    path, cap = os.path.join(tmp, 'trace'), os.path.join(tmp, 'cap')
    data = make_trace.make(name, N)
    with open(path, 'wb') as f:
        f.write(pack(data) if pack else data)
    p = subprocess.run([pts, 'import', path, '-o', cap, '-q', *SAID.get(name, [])], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        return p.stdout.strip()
    got = Capture(cap)
    want = make_trace.ios(N, 1)
    if len(got.rows) != N:
        return '%d IOs' % len(got.rows)
    for i, (g, w) in enumerate(zip(got.rows, want)):
        response = None if name in NO_RESPONSE else w.rt * 1000
        start = g[0]
        if name == 'tencent':  # whole seconds, spread
            start = w.us * 1000 if g[0] // 10**9 == w.us // 10**6 else g[0]
        if (start, g[1], g[2], g[4], g[6]) != (w.us * 1000, w.off, w.bytes, w.op, response):
            return 'IO %d is %s, not %s' % (i, g, (w.us * 1000, w.off, w.bytes, w.op, response))
    return None


def main():
    pts, bad = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as tmp:
        tests = [(n, n, None) for n in make_trace.FORMATS if n not in NOT_FORMATS]
        tests += [('msr', 'msr packed with gzip', gzip.compress), ('blktrace', 'blktrace packed with xz', lzma.compress)]
        for name, title, pack in tests:
            why = check(pts, name, tmp, pack)
            print('not ok the same IOs as %s: %s' % (title, why) if why else 'ok the same IOs as %s' % title)
            bad |= why is not None
    return bad


if __name__ == '__main__':
    sys.exit(main())
