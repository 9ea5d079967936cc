# SPDX-License-Identifier: MIT
"""Changes one value of every column of every table of a database, one at a time, and asks `pts audit` each time: it must
exit with 1, say BROKEN and name the table and the row. audit_tamper.py PTS DB...: run 1 of each; a table is tried in the
first one that has rows of it. Columns of a table with many rows are changed several at a time, each in a row of its own,
and each of these rows must be named. Of a table with few rows they are changed one by one; without PTS_LONG=1 only every
third of those, as each costs a process.

The columns are asked of the database, so that a new one is tried without anybody adding it here. What is no evidence is
listed below with the reason."""
import os
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chain

RUN = 1
LONG = os.environ.get('PTS_LONG') == '1'
TOGETHER = 10  # columns changed at a time; pts audit shows 40 faults

# (table, column): why it may change without a word. None: everything is evidence.
NO_EVIDENCE = {}

# What a changed value is told of, where it is not the row itself.
TOLD_OF = {
    'host': 'host', 'host_fact': 'host', 'document': 'definition or plan', 'run_arg': 'run', 'chain': 'chain|table',
}


def tables(db):
    return [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
                                     " ORDER BY name")]


def other(v, kind, col):
    """Another value of the column's type."""
    if v is None:
        v = {'TEXT': '', 'INTEGER': 0, 'REAL': 0.25}.get(kind, 0)
    if isinstance(v, int):
        return 1 - v if v in (0, 1) and col != 'n' and not col.endswith('id') else v + 1000003
    if isinstance(v, float):
        return v * 1.0000001 + 1e-9
    if v[:1] in '[{':
        return re.sub(r'\d', lambda m: str((int(m.group()) + 1) % 10), v, count=1) if re.search(r'\d', v) else v + ' '
    return v + 'x'


def rows_of(db, table):
    """Columns, primary key and the rows that belong to the run."""
    info = db.execute('PRAGMA table_info(%s)' % table).fetchall()
    cols = [r[1] for r in info]
    pk = [r[1] for r in sorted(info, key=lambda r: r[5]) if r[5]]
    where = {'run_id': 'run_id = %d' % RUN, 'cell_id': 'cell_id IN (SELECT cell_id FROM cell WHERE run_id = %d)' % RUN,
             'host_id': 'host_id = (SELECT host_id FROM run WHERE run_id = %d)' % RUN}
    cond = next((where[k] for k in ('run_id', 'cell_id', 'host_id') if k in cols), '1')
    if table == 'document':
        cond = 'hash IN (SELECT definition_hash FROM test UNION SELECT plan_hash FROM test)'
    return cols, pk, db.execute('SELECT * FROM %s WHERE %s ORDER BY %s' % (table, cond, ', '.join(pk))).fetchall()


def pick(rows, i):
    """A row with a value in the column, away from the ends where there are more."""
    good = [r for r in rows if r[i] is not None] or rows
    return good[len(good) // 2]


def audit(pts, path, run):
    p = subprocess.run([pts, 'audit', str(run), '--db', path], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def try_column(pts, path, table, col, kind):
    copy = path + '.try'
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute('PRAGMA ignore_check_constraints = ON')
    db.execute('PRAGMA foreign_keys = OFF')
    cols, pk, rows = rows_of(db, table)
    i = cols.index(col)
    row = pick(rows, i)
    key = ' AND '.join('%s IS ?' % k for k in pk)
    new = other(row[i], kind, col)
    n = db.execute('UPDATE %s SET %s = ? WHERE %s' % (table, col, key),
                   [new] + [row[cols.index(k)] for k in pk]).rowcount
    db.close()
    what = '%s.%s: %.40r -> %.40r' % (table, col, row[i], new)
    if n != 1:
        return what + ': %d rows changed' % n
    asked = new if (table, col) == ('run', 'run_id') else RUN  # it goes by this number now
    code, out, err = audit(pts, copy, asked)
    if code != 1 or 'evidence: BROKEN' not in out:
        return what + ': exit %d: %s%s' % (code, err, out[:300])
    faults = [l for l in out.split('\n') if l.startswith('  ') and l[2] != ' ']
    ident = row[cols.index(pk[0])] if len(pk) == 1 else None
    told = TOLD_OF.get(table)
    if told:
        ok = any(re.search(told, l) for l in faults)
    else:
        ids = {ident, new if col == pk[0] else ident}
        ok = any('(table %s, row %s)' % (table, x) in l or '%s row %s' % (table, x) in l for l in faults for x in ids)
        ok = ok or (table == 'run' and any('table run' in l for l in faults))
    return None if ok else what + ': the row is not named: ' + ' ~ '.join(faults[:6])


def try_together(pts, path, table, columns):
    """Several columns, each in another row. [(column, what is wrong or None)]"""
    copy = path + '.try'
    shutil.copyfile(path, copy)
    db = sqlite3.connect(copy, isolation_level=None)
    db.execute('PRAGMA ignore_check_constraints = ON')
    db.execute('PRAGMA foreign_keys = OFF')
    cols, pk, rows = rows_of(db, table)
    changed = []
    used = set()
    for col, kind in columns:
        i = cols.index(col)
        free = [r for r in rows if r[cols.index(pk[0])] not in used]
        row = pick(free, i)
        ident = row[cols.index(pk[0])]
        used.add(ident)
        new = other(row[i], kind, col)
        n = db.execute('UPDATE %s SET %s = ? WHERE %s = ?' % (table, col, pk[0]), (new, ident)).rowcount
        changed.append(('%s.%s of row %s: %.40r -> %.40r' % (table, col, ident, row[i], new), ident, n))
    db.close()
    code, out, err = audit(pts, copy, RUN)
    bad = []
    for what, ident, n in changed:
        if n != 1 or code != 1 or 'evidence: BROKEN' not in out:
            bad.append('%s: %d rows, exit %d: %s%s' % (what, n, code, err, out[:300]))
        elif not re.search(r'\(table %s, row %s\)|%s row %s\b' % (table, ident, table, ident), out):
            bad.append(what + ': the row is not named')
    return bad


def made_up(name, kind, i):
    known = {'run_id': RUN, 'cell_id': 1, 'test': 'small', 'attempt': 1, 'section': 1, 'streams': '[{"ios":3}]',
             'devices': '["a"]'}
    return known.get(name, {'TEXT': 'x%d' % i, 'REAL': i + 0.5}.get(kind, i + 2))


def make_up(db, known):
    """Rows for the tables that the runs at hand do not write: before the seal, the chain made anew."""
    db.execute('PRAGMA ignore_check_constraints = ON')
    for table in chain.tables():
        if table in known:
            continue
        cols = [r for r in db.execute('PRAGMA table_info(%s)' % table) if not (r[5] and r[1] in ('id', table + '_id'))]
        cur = db.execute('INSERT INTO %s (%s) VALUES (%s)' % (table, ', '.join(r[1] for r in cols),
                                                             ', '.join('?' * len(cols))),
                         [made_up(r[1], r[2], i) for i, r in enumerate(cols)])
        chain.append(db, RUN, table, cur.lastrowid)
    chain.rebuild(db)


def filled(paths):
    """Tables that one of the databases has rows of."""
    out = set()
    for path in paths:
        db = sqlite3.connect(path)
        out |= {t for t in tables(db) if rows_of(db, t)[2]}
        db.close()
    return out


def prepare(pts, path, paths):
    db = sqlite3.connect(path)
    chain.disarm(db)
    if path == paths[-1]:
        make_up(db, filled(paths))
    db.commit()
    db.execute('PRAGMA journal_mode = DELETE')  # all of it in one file
    code, out, err = audit(pts, path, RUN)
    if code != 1 or 'evidence: intact' not in out:
        sys.exit('%s is not intact before: exit %d: %s%s' % (path, code, err, out[:600]))
    return db


def main():
    pts, paths = sys.argv[1], sys.argv[2:]
    dbs = [(p, prepare(pts, p, paths)) for p in paths]
    bad = columns = 0
    for table in tables(dbs[0][1]):
        path, db = next(((p, d) for p, d in dbs if rows_of(d, table)[2]), (None, None))
        if not db:
            print('no row of table %s to change' % table)
            bad += 1
            continue
        _, pk, rows = rows_of(db, table)
        todo = [(r[1], r[2]) for r in db.execute('PRAGMA table_info(%s)' % table) if (table, r[1]) not in NO_EVIDENCE]
        columns += len(todo)
        faults = []
        many = len(pk) == 1 and len(rows) > TOGETHER and table not in TOLD_OF
        if many:
            keys = {pk[0], 'run_id'}
            plain = [c for c in todo if c[0] not in keys]
            for i in range(0, len(plain), TOGETHER):
                faults += try_together(pts, path, table, plain[i:i + TOGETHER])
            todo = [c for c in todo if c[0] in keys]
        for i, (col, kind) in enumerate(todo):
            if many or LONG or i % 3 == len(table) % 3:
                faults += [w for w in [try_column(pts, path, table, col, kind)] if w]
        for why in faults:
            print(why)
        bad += len(faults)
    print('%d columns, %d unnoticed' % (columns, bad))
    return bad != 0


sys.exit(main())
