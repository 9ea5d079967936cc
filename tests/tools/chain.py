#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The evidence chain in other words than schema/chain.c: chain.py check|rebuild DB.

check says "ok", or which entry has another hash than its row gives. rebuild writes all hashes and the seal anew, as
somebody would who changes rows and knows how the chain is made: tests use it to show what an audit finds even then.
The columns are those of schema/evidence_tables.c; ~ marks what goes into the stamp.
"""
import ast
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


def tables():
    """Of evidence_tables.c; kept in the test's own TMPDIR, as the preprocessor takes its time."""
    kept = os.path.join(os.environ.get('TMPDIR', '/nowhere'), 'evidence-tables.json')
    if os.path.exists(kept):
        return json.load(open(kept))
    out = read_tables()
    if os.path.isdir(os.path.dirname(kept)):
        json.dump(out, open(kept, 'w'))
    return out


def read_tables():
    src = subprocess.run([os.environ.get('CC', 'gcc').split()[0], '-E', '-P', '-I.', 'schema/evidence_tables.c'],
                         cwd=ROOT, capture_output=True, text=True, check=True).stdout
    body = src[src.index('evidence_tables[] = {'):]
    strings = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    out = {}
    for m in re.finditer(r'\{\s*' + strings + r',\s*' + strings + r',\s*' + strings + r'\}', body):
        name, sql, _ = (ast.literal_eval('(' + g + ')') for g in m.groups())
        out[name] = sql
    return out


def value(v):
    if v is None:
        return b'n'
    if isinstance(v, int):
        return b'i%d' % v
    if isinstance(v, float):
        return b'r' + ('%.17g' % v).encode()
    data = v.encode() if isinstance(v, str) else v
    return (b't' if isinstance(v, str) else b'b') + b'%d:' % len(data) + data


def row_hash(db, table, sql, row, before):
    cur = db.execute(sql, (row,))
    got = cur.fetchone()
    if got is None:
        return None, None
    text = before.encode() + b'pts-row/1 ' + table.encode() + b'\n'
    stamp = b''
    for (name, *_), v in list(zip(cur.description, got))[1:]:
        line = name.encode() + b'=' + value(v) + b'\n'
        if name.startswith('~'):
            stamp += line
        else:
            text += line
    h = hashlib.sha256(text).hexdigest()
    return h, hashlib.sha256(h.encode() + stamp).hexdigest() if stamp else None


def host_digest(db, host):
    text = b'pts-host/1\n'
    for k, v in db.execute('SELECT key, value FROM host_fact WHERE host_id = ? ORDER BY n', (host,)):
        text += b'%d:%s=' % (len(k.encode()), k.encode())
        text += b'%d:%s\n' % (len(v.encode()), v.encode()) if v else b'n\n'
    return hashlib.sha256(text).hexdigest()


def disarm(db):
    """Evidence is only ever added: triggers see to it."""
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute('DROP TRIGGER ' + name)
    db.execute('PRAGMA foreign_keys = OFF')


def rebuild(db):
    sqls = tables()
    for host, in db.execute('SELECT host_id FROM host').fetchall():
        db.execute('UPDATE host SET digest = ? WHERE host_id = ?', (host_digest(db, host), host))
    for table, col in (('definition_hash', 'definition_hash'), ('plan_hash', 'plan_hash')):
        for old, body in db.execute('SELECT DISTINCT hash, body FROM document JOIN test ON %s = hash' % col).fetchall():
            new = hashlib.sha256((body or '').encode()).hexdigest()
            db.execute('UPDATE document SET hash = ? WHERE hash = ?', (new, old))
            db.execute('UPDATE test SET %s = ? WHERE %s = ?' % (col, col), (new, old))
    for run, in db.execute('SELECT run_id FROM run').fetchall():
        before, n = '', 0
        entries = db.execute('SELECT n, tbl, row_id FROM chain WHERE run_id = ? ORDER BY n', (run,)).fetchall()
        db.execute('DELETE FROM chain WHERE run_id = ?', (run,))
        for _, table, row in entries:
            if table == 'event' and db.execute("SELECT kind = 'seal' FROM event WHERE event_id = ?",
                                               (row,)).fetchone() == (1,):
                db.execute('UPDATE event SET detail = ? WHERE event_id = ?',
                           (json.dumps({'rows': n, 'head': before}, separators=(',', ':')), row))
            h, stamp = row_hash(db, table, sqls[table], row, before)
            if h is None:
                continue
            n += 1
            db.execute('INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?)', (run, n, table, row, h, stamp))
            before = h


def append(db, run, table, row):
    """A row that was inserted by hand becomes the last entry before the seal."""
    last = db.execute('SELECT max(n) FROM chain WHERE run_id = ?', (run,)).fetchone()[0]
    db.execute('UPDATE chain SET n = n + 1 WHERE run_id = ? AND n = ?', (run, last))
    db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, '', NULL)", (run, last, table, row))


def check(db):
    sqls = tables()
    before, run = '', None
    for r, n, table, row, h, stamp in db.execute('SELECT run_id, n, tbl, row_id, hash, stamp FROM chain'
                                                 ' ORDER BY run_id, n').fetchall():
        before = before if r == run else ''
        run = r
        got = row_hash(db, table, sqls[table], row, before)
        if got != (h, stamp):
            return 'run %d: entry %d (%s, row %d) differs' % (r, n, table, row)
        before = h
    return 'ok'


if __name__ == '__main__':
    what, path = sys.argv[1:]
    con = sqlite3.connect(path)
    if what == 'rebuild':
        disarm(con)
        rebuild(con)
        con.commit()
    print(check(con))
