# SPDX-License-Identifier: MIT
"""A capture with a byte changed, or cut, is refused: capture_damage.py PTS CAP

Each region of the file (head, records, index, text) at many places; what is only padding is left out. One ok / not ok a region.
"""
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from capture import CHUNK, HEAD  # noqa: E402


def refused(pts, path):
    p = subprocess.run([pts, 'trace', 'stat', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return p.returncode == 2 and not p.stdout and p.stderr.count('\n') == 1 and path in p.stderr


def regions(data):
    h = HEAD.unpack_from(data)
    index_off, text_off, text_bytes, n_chunks = h[7], h[8], h[9], h[10]
    chunks = [CHUNK.unpack_from(data, index_off + i * CHUNK.size) for i in range(n_chunks)]
    yield 'head', [(0, HEAD.size)]
    yield 'records', [(c[0], c[0] + c[3] * (24 + 8 * (c[4] & 1) + 4 * (c[4] >> 1 & 1))) for c in chunks]
    yield 'index', [(index_off, index_off + n_chunks * CHUNK.size)]
    yield 'text', [(text_off, text_off + text_bytes)]


def main():
    pts, cap = sys.argv[1:3]
    data = open(cap, 'rb').read()
    rng, bad = random.Random(1), 0
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, 'x.cap')

        def tried(content):
            with open(path, 'wb') as f:
                f.write(content)
            return refused(pts, path)

        for name, parts in regions(data):
            places = [p for a, b in parts for p in range(a, b)]
            chosen = set(rng.sample(places, min(40, len(places)))) | {places[0], places[-1]}
            missed = []
            for at in sorted(chosen):
                changed = bytearray(data)
                changed[at] ^= 1 << rng.randrange(8)
                if not tried(changed):
                    missed.append(at)
            print('not ok a changed byte of the %s is found: not at %s' % (name, missed) if missed
                  else 'ok a changed byte of the %s is found (%d places)' % (name, len(chosen)))
            bad |= bool(missed)
        missed = [n for n in (0, 1, 7, 8, 200, 4095, 4096, 5000, len(data) // 2, len(data) - 1) if not tried(data[:n])]
        print('not ok a capture that is cut is refused: not at %s' % missed if missed else 'ok a capture that is cut is refused')
        bad |= bool(missed)
    return bad


if __name__ == '__main__':
    sys.exit(main())
