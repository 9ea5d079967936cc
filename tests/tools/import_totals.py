# SPDX-License-Identifier: MIT
"""Every sample of a folder of captures against the figures of its expected.json: import_totals.py PTS FOLDER [PREFIX]

A sample is a folder with files (packed with xz or not) and an entry in expected.json. Its main file is imported and must give
every figure; other files of the same capture (blkparse text, merged dump) must give the same IOs. One ok / not ok a sample.
"""
import json
import lzma
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from capture import Capture  # noqa: E402

# Which of a sample's files is the capture: the first that is there.
MAIN = ('.blktrace.0', '.blkbin', '.ftrace.txt', '.spc', '.load', '.vscsi', '.csv', '.blkparse', '.trace', '.txt')
SAME_IOS = ('.blkparse.txt', '.merged.bin')
# What a user has to say: units that no file says, rows that are known to be malformed.
OPTIONS = {'MQSim': ['-f', 'ssdsim', '--time-unit', 'ns'], 'FIU': ['--skip-bad'], 'SPC spec example': ['--skip-bad']}


class Wrong(Exception):
    pass


def same(got, want, what, slack=0.0):
    if abs(got - want) > slack if slack else got != want:
        raise Wrong('%s is %s, not %s' % (what, got, want))


def call(pts, *words):
    p = subprocess.run([pts, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise Wrong('%s: exit %d: %s' % (' '.join(words), p.returncode, p.stderr.strip()))
    return json.loads(p.stdout) if p.stdout else None


def name(s):
    return '%s %.10gK %s' % (s['access'], s['block_bytes'] / 1024, s['op'])


def check_totals(d, e, records):
    if records:
        bad = sum(n for why, n in d['skipped'].items() if why.startswith('bad: '))
        same(d['records'] - bad, e['records'], 'records')
    for ours, theirs in (('reads', 'reads'), ('writes', 'writes'), ('discards', 'discards'), ('flushes', 'flushes'),
                         ('bytes_read', 'read_bytes'), ('bytes_written', 'write_bytes'),
                         ('bytes_discarded', 'discard_bytes'), ('devices', 'devices'),
                         ('matched', 'matched_completions'), ('unmatched', 'starts_without_completion'),
                         ('completions_without_start', 'completions_without_start'), ('errors', 'error_completions')):
        if theirs in e:
            same(d[ours], e[theirs], ours)
    if 'spread' in (d['note'] or ''):  # whole seconds: pts says that it spread them, within each second
        same(d['duration_ns'] // 10**9, int(e['duration_s']), 'whole seconds of the duration')
    else:
        same(d['duration_ns'] / 1e9, e['duration_s'], 'duration', 2e-9)
    if not e.get('time_backsteps', 0) and not e.get('in_file_time_backsteps', 0) and records:
        same(d['reordered'], 0, 'reordered')
    if 'zero_byte_completions' in e:
        same(d['skipped'].get('completion of no bytes', 0), e['zero_byte_completions'], 'completions of no bytes')


def check_streams(pts, cap, e, rule, key):
    d = call(pts, 'trace', 'streams', cap, '--seq-rule', rule, '--json')
    same(d['stream_count'], e['n_streams_' + key], rule + ' stream_count')
    same(d['seq_ios'], e['seq_ios_' + key], rule + ' seq_ios')
    same(sum(s['ios'] for s in d['streams']), e['ios'], rule + ' sum of streams')
    ours = {name(s): s for s in d['streams']}
    for stream, ios, share in e['streams_' + key]:
        if stream not in ours:
            raise Wrong('%s: no stream %s' % (rule, stream))
        same(ours[stream]['ios'], ios, rule + ' ' + stream)
        same(ours[stream]['share_pct'], share, rule + ' share of ' + stream, 0.00501)
    if len(d['streams']) == len(e['streams_' + key]):
        same(sorted(ours), sorted(s[0] for s in e['streams_' + key]), rule + ' streams')
    counts = [s['ios'] for s in d['streams']]
    same(counts, sorted(counts, reverse=True), rule + ' order')


def check_steps(pts, cap, e):
    steps = call(pts, 'trace', 'steps', cap, '--step', '1s', '--json')['steps']
    if e['time_backsteps']:  # the figures count steps from the first row of the file, which is not the earliest here
        same(sum(s['ios'] for s in steps), e['ios'], 'IOs of all steps')
    elif 'steps_1s' in e:
        same(len(steps), len(e['steps_1s']), 'number of steps')
        for ours, theirs in zip(steps, e['steps_1s']):
            for k in ('ios', 'reads', 'writes', 'bytes', 'qd_max'):
                same(ours[k], theirs[k], 'step %d: %s' % (theirs['step'], k))
            same(ours['qd_time_mean'], theirs['qd_time_mean'], 'step %d: mean depth' % theirs['step'], 1.01e-6)
    elif 'ios_per_1s_step' in e:
        same([s['ios'] for s in steps][:40], e['ios_per_1s_step'], 'IOs a step')
    if 'qd' not in e:
        same(steps[0]['qd_max'], None, 'depth of a capture without completions')
        return
    same(max(s['qd_max'] for s in steps), e['qd']['max'], 'greatest depth')
    rows = [r for r in Capture(cap, check=False).rows if r[4] in 'RW']
    length = max(r[0] + (r[6] or 0) for r in rows) - rows[0][0]
    same(sum(s['qd_time_mean'] for s in steps) / (length / 1e9), e['qd']['time_mean'], 'mean depth', 0.51e-4)


def check_rows(cap, e):
    c = Capture(cap, check=False)
    rw = [r for r in c.rows if r[4] in 'RW']
    same(len({r[2] for r in rw}), e['distinct_block_sizes'], 'distinct sizes')
    for size, n in e['block_sizes_top'].items():
        same(sum(r[2] == int(size) for r in rw), n, 'IOs of %s bytes' % size)
    if 'lat_us' in e:
        # The figures were reckoned from seconds in a double: an epoch leaves it fractions of a microsecond.
        slack = 0.00051 + e['first_t'] * 2**-52 * 1e6
        rt = [r[6] / 1e3 for r in rw if r[6] is not None]
        same(min(rt), e['lat_us']['min'], 'least response time', slack)
        same(max(rt), e['lat_us']['max'], 'greatest response time', slack)
        same(sum(rt) / len(rt), e['lat_us']['mean'], 'mean response time', slack)


def main_file(folder, files):
    for suffix in MAIN:
        for f in sorted(files):
            if f.endswith(suffix) and not (suffix == '.txt' and f.endswith('.custom.txt')):
                return os.path.join(folder, f)
    raise Wrong('no capture among %s' % ', '.join(files))


def check_sample(pts, folder, files, entry, tmp):
    e = entry['expected']
    more = next((o for key, o in OPTIONS.items() if entry['format'].startswith(key)), [])
    main = main_file(folder, files)
    cap = os.path.join(tmp, 'totals.cap')
    d = call(pts, 'import', main, '-o', cap, '--json', '-q', *more)
    check_totals(d, e, True)
    check_streams(pts, cap, e, 'strict', 'dev')
    check_streams(pts, cap, e, 'window', 'dev32')
    check_steps(pts, cap, e)
    check_rows(cap, e)
    for f in files:
        if f.endswith(SAME_IOS) and not main.endswith(f):
            d = call(pts, 'import', os.path.join(folder, f), '-o', cap, '--json', '-q')
            check_totals(d, e, False)
            check_streams(pts, cap, e, 'window', 'dev32')
    for writes, job in ((n, j) for j, n in e.get('iolog_writes', {}).items()):
        f = os.path.join(folder, next(x for x in files if x.endswith('.%s.iolog' % job)))
        same(call(pts, 'import', f, '-o', cap, '--json', '-q')['writes'], writes, 'writes of ' + f)
    for f, acts in e.get('iolog_actions', []):
        d = call(pts, 'import', os.path.join(folder, f), '-o', cap, '--json', '-q')
        for ours, theirs in (('reads', 'read'), ('writes', 'write'), ('flushes', 'datasync')):
            same(d[ours], acts.get(theirs, 0), '%s of %s' % (ours, f))


def unpacked(folder, files, tmp):
    """The folder with these files in it; packed ones are unpacked beside."""
    if all(os.path.exists(os.path.join(folder, f)) for f in files):
        return folder
    to = tempfile.mkdtemp(dir=tmp)
    for f in files:
        with lzma.open(os.path.join(folder, f + '.xz')) as src, open(os.path.join(to, f), 'wb') as out:
            out.write(src.read())
    return to


def main():
    pts, root = sys.argv[1:3]
    bad = 0
    with open(os.path.join(root, 'expected.json')) as f:
        expected = json.load(f)
    with tempfile.TemporaryDirectory() as tmp:
        for sample, entry in expected.items():
            single = sample.startswith('quoted/')
            folder = os.path.join(root, 'quoted' if single else sample)
            try:
                check_sample(pts, unpacked(folder, entry['files'], tmp), entry['files'], entry, tmp)
                print('ok totals of %s' % sample)
            except Wrong as why:
                print('not ok totals of %s: %s' % (sample, why))
                bad = 1
    return bad


if __name__ == '__main__':
    sys.exit(main())
