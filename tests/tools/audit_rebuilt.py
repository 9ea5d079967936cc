#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes rows, makes the chain anew and asks `pts audit` what it thinks of that: audit_rebuilt.py PTS <CASES.

A line of CASES is DB | SQL | REGEX: after the SQL the audit of the database must exit with 1, say BROKEN, have a fault
that the regular expression finds, and none about a hash. Prints what was otherwise, and the number of cases. Without
PTS_LONG=1 every second case is passed over, as each costs a process."""
import os
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chain

SQLS = chain.tables()
chain.tables = lambda: SQLS


def case(pts, path, sql, regex):
    copy = path + '.rebuilt'
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy)
    chain.disarm(db)
    db.execute('PRAGMA ignore_check_constraints = ON')
    if db.execute(sql).rowcount < 1:
        return 'no row changed'
    chain.rebuild(db)
    db.commit()
    if chain.check(db) != 'ok':
        return 'the chain was not rebuilt: ' + chain.check(db)
    db.close()
    p = subprocess.run([pts, 'audit', '--db', copy], capture_output=True, text=True)
    faults = '\n'.join(l[2:] for l in p.stdout.split('\n') if re.match('  [^ ]', l))
    if p.returncode != 1 or 'evidence: BROKEN' not in p.stdout:
        return 'exit %d: %s%s' % (p.returncode, p.stderr, p.stdout[:300])
    if 'hash differs' in faults:
        return 'a hash differs: ' + faults
    return None if re.search(regex, faults) else 'no /%s/ in: %s' % (regex, faults[:400])


bad = n = 0
for line in sys.stdin:
    if not line.strip() or line.startswith('#'):
        continue
    n += 1
    if n % 2 and os.environ.get('PTS_LONG') != '1':
        continue
    path, sql, regex = (f.strip() for f in line.split('|', 2))
    why = case(sys.argv[1], path, sql, regex)
    if why:
        print('%s: %s' % (sql, why))
        bad += 1
print('%d cases, %d unnoticed' % (n, bad))
sys.exit(bad != 0)
