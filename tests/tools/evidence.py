#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clause -> definition -> code -> test: where each clause of pts/defs/clauses.txt is kept, by its tags PTS[ID].

Prints a table and, with a non-zero exit, the orphans: a clause that no definition and no code is tagged with, or no test;
a clause of a test that no definition is tagged with; a tag that is no clause. -q prints the orphans alone."""
import glob
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
TAG = re.compile(r'PTS\[([A-Za-z0-9.-]+)\]')
KINDS = {
    'definition': ['pts/defs/*.pts', 'workloads/defs/*.wl'],
    'audit': ['pts/cmd_audit*.[ch]'],
    'code': ['pts/*.[ch]', 'pts/base/*.[ch]', 'workloads/*.[ch]', 'replay/*.[ch]', 'reports/*.[ch]', 'schema/*.[ch]',
             'schema/*.sql'],
    'test': ['tests/unit/*.[ch]', 'tests/cli/*.sh', 'tests/vm/*.sh'],
}


def clauses():
    out = {}
    for line in open('pts/defs/clauses.txt'):
        if line.strip() and not line.startswith('#'):
            f = line.rstrip('\n').split(' | ')
            out[f[0]] = f
    return out


def tags():
    """kind -> clause -> places; a file counts for the first kind that has it."""
    out, seen = {}, set()
    for kind, patterns in KINDS.items():
        out[kind] = {}
        for path in sorted(p for g in patterns for p in glob.glob(g)):
            if path in seen:
                continue
            seen.add(path)
            for n, line in enumerate(open(path, errors='replace'), 1):
                for tag in TAG.findall(line):
                    out[kind].setdefault(tag, []).append('%s:%d' % (path, n))
    return out


def main():
    known, found = clauses(), tags()
    quiet = '-q' in sys.argv
    orphans = []
    for cid, (_, section, mark, scope, judge, text) in known.items():
        if not quiet:
            print('%s [%s] section %s, %s: %s' % (cid, mark, section, scope, text))
            for kind in ('definition', 'code', 'audit', 'test'):
                for place in found[kind].get(cid, []):
                    print('    %-10s %s' % (kind, place))
        if cid not in found['definition'] and cid not in found['code']:
            orphans.append('%s: no definition and no code keeps it' % cid)
        if not cid.startswith('GEN-') and cid not in found['definition']:
            orphans.append('%s: no definition is tagged with it' % cid)
        if cid not in found['audit']:
            orphans.append('%s: nothing in the audit judges it' % cid)
        if cid not in found['test']:
            orphans.append('%s: no test is about it' % cid)
    for kind in found:
        for tag, places in sorted(found[kind].items()):
            if tag not in known and tag != 'ID':
                orphans.append('%s: no clause is called so (%s)' % (tag, ' '.join(places)))
    for o in orphans:
        print('orphan: ' + o)
    print('%d clauses, %d tags, %d orphans' % (len(known), sum(len(p) for k in found.values() for p in k.values()),
                                               len(orphans)))
    return bool(orphans)


sys.exit(main())
