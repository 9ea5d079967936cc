#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills every text of a database that a device or a user may fill with hostile ones: hostile.py DB N

Column k of the list gets text (k + N) of the list below, so that over as many N as there are texts each column has had each.
The guards against changes are taken off first: of such a file a report says that its rows were changed, and is made all the same.
"""
import sqlite3
import sys

TEXTS = [
    b'=1+1',
    b'"quo\'ted" <b>&amp;</b> <script>x()</script> ]]>',
    b'S' * 40,
    b'bad \xff\xfe\xc3( utf-8 \xed\xa0\x80 end',
    b'two\nlines\r\n\tand a tab',
    b'-2+3+cmd|\' /C calc\'!A0',
    b'x' * 40000,
    b'../../etc/x;touch pwned %s%n $(id) `id` {"a":1} \x01\x1b[31m\x7f',
    b'   ',
    '\u202eright to left \u00e9 \U0001f4be \u0000'.encode()[:-1],
    b'',
    b"'; DROP TABLE run; --",
]
COLUMNS = {
    'run': ['dut', 'dut_path', 'vendor', 'model', 'serial', 'wwid', 'firmware', 'interface', 'note', 'campaign', 'software', 'spec'],
    'member': ['dut', 'dut_path', 'vendor', 'model', 'serial', 'wwid', 'firmware', 'interface'],
    'run_info': ['value'],
    'host_fact': ['value'],
    'section': ['label', 'purge_method'],
    'test': ['title', 'clause'],
    'test_end': ['detail', 'write_cache'],
    'cell': ['label', 'access', 'note'],
    'cell_stream': ['access'],
    'point': ['reason'],
    'deviation': ['text'],
    'capture': ['name', 'format'],
}


def main(path, n):
    db = sqlite3.connect(path)
    for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f'DROP TRIGGER {name}')
    k, tables = n, {r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table, columns in COLUMNS.items():
        for column in columns if table in tables else []:
            text = TEXTS[k % len(TEXTS)]
            k += 1
            only = " || rowid" if table == 'deviation' else ''  # no two alike
            db.execute(f'UPDATE {table} SET {column} = CAST(? AS TEXT){only}', (text,))
    db.commit()
    db.close()


main(sys.argv[1], int(sys.argv[2]))
