#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rows changed one way or another, the chain made anew, and what `pts audit` says of each clause then:
audit_cases.py PTS [SQL...] <CASES. SQL goes before that of every case.

A line of CASES is DB | TEST | SQL | CLAUSE VERDICT: the clause, the worst of the test's sections, must have the verdict;
with TEST "only" that clause must be the only one of the whole run that is not met, and the evidence intact. Prints what was
otherwise, and the number of cases."""
import json
import os
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chain

ORDER = ['met', 'not measured', 'deviation', 'not met']
TABLES = chain.tables()
chain.tables = lambda: TABLES


def audit_after(pts, path, sqls):
    copy = path + '.case'
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy)
    chain.disarm(db)
    for sql in sqls:
        if db.execute(sql).rowcount < 1:
            return None, 'no row changed: ' + sql
    chain.rebuild(db)
    db.commit()
    db.close()
    p = subprocess.run([pts, 'audit', '--db', copy, '--json'], capture_output=True, text=True)
    if p.returncode != 1:
        return None, 'exit %d: %s' % (p.returncode, p.stderr)
    return json.loads(p.stdout), None


def case(pts, path, test, sqls, want):
    d, why = audit_after(pts, path, sqls)
    if why:
        return why
    worst = {}
    for c in d['clauses']:
        if test == 'only' or (c['test'] or 'run') == test:
            worst[c['clause']] = max(worst.get(c['clause'], 'met'), c['verdict'], key=ORDER.index)
    if test != 'only':
        return None if worst.get(want.split(' ', 1)[0]) == want.split(' ', 1)[1] else 'it is %s' % worst.get(want.split(' ', 1)[0])
    got = sorted(k + ' ' + v for k, v in worst.items() if v != 'met')
    if not d['evidence']['intact']:
        return 'evidence: %s' % d['evidence']['faults'][:3]
    return None if got == [want] else 'not met: %s' % got


bad = n = 0
for line in sys.stdin:
    if not line.strip() or line.startswith('#'):
        continue
    n += 1
    path, test, sql, want = (f.strip() for f in line.split(' | '))
    why = case(sys.argv[1], path, test, sys.argv[2:] + [sql], want)
    if why:
        print('%s, %s: %s' % (sql, want, why))
        bad += 1
print('%d cases, %d otherwise' % (n, bad))
sys.exit(bad != 0)
