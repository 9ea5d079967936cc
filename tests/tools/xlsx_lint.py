#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks for what makes a spreadsheet program call a workbook damaged, or show numbers nobody computed.

  xlsx_lint.py FILE.xlsx             one line for each fault; exit 1 when there is one
  xlsx_lint.py --cells FILE SHEET    "A1<TAB>stored value" of a sheet
  xlsx_lint.py --totals FILE         "NAME<TAB>rows<TAB>sum of its numbers" of each sheet, without holding it in memory
  xlsx_lint.py --compare FILE DIR    formula values stored in FILE against the CSV files of a recalculation in DIR
"""
import csv
import functools
import glob
import os
import re
import struct
import sys
import zipfile
import zlib
import xml.etree.ElementTree as ET

MAIN = '{http://schemas.openxmlformats.org/spreadsheetml/2006/main}'
REL = '{http://schemas.openxmlformats.org/officeDocument/2006/relationships}'
PKG = '{http://schemas.openxmlformats.org/package/2006/relationships}'
CHART = '{http://schemas.openxmlformats.org/drawingml/2006/chart}'
ROWS, COLS = 1048576, 16384
CELL = re.compile(r'\$?([A-Z]{1,3})\$?([0-9]+)')
NUMBER = re.compile(r'-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?')
# What a formula of a report never calls: it would reach for the world outside, or is text of a device that became a formula.
REACHING = re.compile(r'\b(HYPERLINK|WEBSERVICE|FILTERXML|RTD|CALL|REGISTER(\.ID)?|EXEC|DDE|IMPORTDATA|INDIRECT)\s*\(', re.I)


class Fault(Exception):
    pass


def column(letters):
    n = 0
    for c in letters:
        n = n * 26 + ord(c) - 64
    return n


@functools.lru_cache(maxsize=1 << 20)
def cell_place(ref):
    m = CELL.fullmatch(ref)
    if not m:
        raise Fault(f'bad cell reference {ref!r}')
    row, col = int(m.group(2)), column(m.group(1))
    if not (1 <= row <= ROWS and 1 <= col <= COLS):
        raise Fault(f'cell reference out of range {ref!r}')
    return row, col


def area_place(ref):
    first, _, last = ref.partition(':')
    r1, c1 = cell_place(first)
    r2, c2 = cell_place(last or first)
    return r1, c1, r2, c2


def number(text):
    if text is None or not NUMBER.fullmatch(text):
        raise Fault(f'not a number: {text!r}')
    return float(text)


class Cell:
    def __init__(self, kind, value, formula):
        self.kind, self.value, self.formula = kind, value, formula


class Book:
    def __init__(self, path):
        self.faults = []
        self.zip = zipfile.ZipFile(path)
        bad = self.zip.testzip()
        if bad:
            self.fault('zip', f'damaged member {bad}')
        self.parts = {}
        for name in sorted({n for n in self.zip.namelist() if self.zip.namelist().count(n) > 1}):
            self.fault(name, 'part twice')
        for name in self.zip.namelist():
            if name.endswith(('.xml', '.rels')):
                self.parse(name)
        self.strings = self.shared_strings()
        self.sheets = {}  # name -> {(row, col): Cell}
        self.sheet_part = {}
        self.load_sheets()

    def fault(self, where, what):
        self.faults.append(f'{where}: {what}')

    def parse(self, name):
        try:
            self.parts[name] = ET.fromstring(self.zip.read(name))
        except ET.ParseError as e:
            self.fault(name, f'not well-formed: {e}')

    def shared_strings(self):
        root = self.parts.get('xl/sharedStrings.xml')
        if root is None:
            return []
        return [''.join(t.text or '' for t in si.iter(MAIN + 't')) for si in root]

    def rels(self, part):
        folder, base = os.path.split(part)
        root = self.parts.get(f'{folder}/_rels/{base}.rels')
        out = {}
        for r in root if root is not None else []:
            target = r.get('Target')
            if r.get('TargetMode') != 'External':
                target = target[1:] if target.startswith('/') else os.path.normpath(f'{folder}/{target}')
            out[r.get('Id')] = target
        return out

    def load_sheets(self):
        book = self.parts.get('xl/workbook.xml')
        if book is None:
            self.fault('xl/workbook.xml', 'missing')
            return
        rels, seen = self.rels('xl/workbook.xml'), set()
        for s in book.iter(MAIN + 'sheet'):
            name = s.get('name')
            if len(name) > 31 or not name or name.lower() == 'history' or re.search(r"[\[\]:*?/\\]", name) or name[0] == "'" or name[-1] == "'":
                self.fault('workbook', f'bad sheet name {name!r}')
            if name.lower() in seen:
                self.fault('workbook', f'sheet name twice {name!r}')
            seen.add(name.lower())
            part = rels.get(s.get(REL + 'id'))
            self.sheet_part[name] = part
            self.sheets[name] = {}
            if part in self.parts:
                self.load_cells(name, self.parts[part])

    def load_cells(self, name, root):
        last_row, styles = 0, self.styles()
        for row in root.iter(MAIN + 'row'):
            n, last_col = int(row.get('r')), 0
            if n <= last_row:
                self.fault(name, f'row {n} out of order')
            last_row = n
            for c in row:
                try:
                    place = cell_place(c.get('r'))
                    if place[0] != n or place[1] <= last_col:
                        raise Fault('out of order')
                    last_col = place[1]
                    if int(c.get('s', 0)) >= styles:
                        raise Fault(f"style {c.get('s')} is not there")
                    cell = self.load_cell(c)
                    if cell:
                        self.sheets[name][place] = cell
                except Fault as e:
                    self.fault(f"{name}!{c.get('r')}", str(e))

    def load_cell(self, c):
        kind, f, v = c.get('t', 'n'), c.find(MAIN + 'f'), c.find(MAIN + 'v')
        formula = f.text if f is not None else None
        if formula is not None:
            self.check_formula(formula)
            if v is None or v.text is None:
                raise Fault('formula without a stored value')
        if kind == 'inlineStr':
            return self.inline(c)
        if v is None:
            return None
        if kind == 'n':
            return Cell('n', number(v.text), formula)
        if kind == 's':
            i = int(v.text)
            if i >= len(self.strings):
                raise Fault(f'shared string {i} is not there')
            if len(self.strings[i]) > 32767:
                raise Fault('string of more than 32767 characters')
            return Cell('s', self.strings[i], formula)
        if kind == 'str':
            return Cell('s', v.text, formula)
        raise Fault(f'cell type {kind!r}')

    @staticmethod
    def inline(c):
        text = ''.join(t.text or '' for t in c.iter(MAIN + 't'))
        if c.find(MAIN + 'f') is not None or c.find(MAIN + 'v') is not None:
            raise Fault('an inline string with a formula or a value')
        if len(text) > 32767:
            raise Fault('string of more than 32767 characters')
        return Cell('s', text, None)

    def styles(self):
        root = self.parts.get('xl/styles.xml')
        formats = root.find(MAIN + 'cellXfs') if root is not None else None
        return len(formats) if formats is not None else 1

    @staticmethod
    def check_formula(text):
        if len(text) > 8192:
            raise Fault('formula of more than 8192 characters')
        for literal in re.findall(r'"((?:[^"]|"")*)"', text):
            if len(literal) > 255:
                raise Fault('literal of more than 255 characters in a formula')
        if '#REF!' in text or '#NAME?' in text:
            raise Fault(f'broken formula {text!r}')
        bare = re.sub(r"'(?:[^']|'')*'!", 'S!', re.sub(r'"(?:[^"]|"")*"', '""', text))
        if bare.count('(') != bare.count(')') or bare.count('"') % 2:
            raise Fault('brackets or quotes of a formula do not match')
        if REACHING.search(bare) or '|' in bare or '[' in bare:
            raise Fault(f'a formula that reaches outside {text!r}')
        if not re.search(r'\$?[A-Z]{1,3}\$?[0-9]', bare) and not re.fullmatch(r'(ROW|COLUMN|TRUE|FALSE)\(\)', bare):
            raise Fault(f'a formula of no cell, as text that begins with = would make one: {text!r}')
        for name in re.findall(r'([A-Za-z_][A-Za-z0-9_]*\.[A-Za-z0-9_.]+)\(', bare):
            if not name.startswith('_xlfn.') and name != 'ERROR.TYPE':
                raise Fault(f'the function {name} needs _xlfn. before it in a file')

    # ---- what is checked once everything is read ----

    def check(self):
        self.check_types()
        self.check_rels()
        for name, part in self.sheet_part.items():
            root = self.parts.get(part)
            if root is None:
                self.fault(name, 'sheet part missing')
                continue
            self.check_merges(name, root)
            self.check_formula_refs(name)
            self.check_links(name, root)
            self.check_breaks(name, root)
            self.check_areas(name, root)
        if not self.sheets:
            self.fault('workbook', 'no sheet')
        self.check_names()
        for part, root in self.parts.items():
            if part.startswith('xl/charts/chart'):
                self.check_chart(part, root)
        for part in self.zip.namelist():
            if part.startswith('xl/media/'):
                self.check_png(part)

    def check_types(self):
        root = self.parts.get('[Content_Types].xml')
        over = {e.get('PartName') for e in root} if root is not None else set()
        ends = {e.get('Extension') for e in root} if root is not None else set()
        for name in over - {None}:
            if name[1:] not in self.zip.namelist():
                self.fault('[Content_Types].xml', f'a part that is not there: {name}')
        for name in self.zip.namelist():
            if name == '[Content_Types].xml':
                continue
            if '/' + name not in over and name.rsplit('.', 1)[-1] not in ends:
                self.fault(name, 'no content type')

    def check_rels(self):
        """Each relation leads to a part, each part is led to, each r:id of a part has its relation."""
        seen = set()
        for name in self.parts:
            if not name.endswith('.rels'):
                continue
            folder, base = os.path.split(name)
            owner = os.path.normpath(f'{folder}/../{base[:-5]}') if base != '.rels' else ''
            if owner and owner not in self.zip.namelist():
                self.fault(name, 'relations of a part that is not there')
            for r in self.parts[name]:
                if r.get('TargetMode') == 'External':
                    self.fault(name, f"a link to the outside: {r.get('Target')}")
                    continue
                target = r.get('Target')
                target = target[1:] if target.startswith('/') else os.path.normpath(
                    os.path.join(os.path.dirname(owner), target))
                seen.add(target)
                if target not in self.zip.namelist():
                    self.fault(name, f'relation to a part that is not there: {target}')
        for name in self.zip.namelist():
            if name not in seen and not name.endswith('.rels') and name != '[Content_Types].xml':
                self.fault(name, 'a part that nothing leads to')
            if name.startswith('xl/externalLinks/'):
                self.fault(name, 'a link to another workbook')
        for name, root in self.parts.items():
            if name.endswith('.rels') or not name.startswith('xl/'):
                continue
            known = self.rels(name)
            for e in root.iter():
                for key, value in e.attrib.items():
                    if key.startswith(REL) and value not in known:
                        self.fault(name, f'no relation {value!r}')

    def check_areas(self, name, root):
        """Areas of filters, colours and panes lie on the sheet."""
        for tag, key in (('autoFilter', 'ref'), ('conditionalFormatting', 'sqref'), ('dimension', 'ref')):
            for e in root.iter(MAIN + tag):
                for ref in e.get(key, '').split():
                    try:
                        r1, c1, r2, c2 = area_place(ref)
                        if r2 < r1 or c2 < c1:
                            raise Fault(f'bad area {ref!r}')
                    except Fault as f:
                        self.fault(f'{name}, {tag}', str(f))

    def check_merges(self, name, root):
        taken = {}
        for m in root.iter(MAIN + 'mergeCell'):
            ref = m.get('ref')
            r1, c1, r2, c2 = area_place(ref)
            if (r1, c1) == (r2, c2):
                self.fault(name, f'merge of one cell {ref}')
            for r in range(r1, r2 + 1):
                for c in range(c1, c2 + 1):
                    if (r, c) in taken:
                        self.fault(name, f'merges overlap: {ref} and {taken[r, c]}')
                        return
                    taken[r, c] = ref

    def check_formula_refs(self, name):
        for place, cell in self.sheets[name].items():
            if cell.formula is None:
                continue
            bare = re.sub(r'"(?:[^"]|"")*"', '""', cell.formula)
            for quoted, word in re.findall(r"(?:'((?:[^']|'')+)'|([A-Za-z_][A-Za-z0-9_.]*))!", bare):
                if (quoted.replace("''", "'") or word) not in self.sheets:
                    self.fault(f'{name}!{place}', f'formula refers to sheet {quoted or word!r}, which is not there')

    def check_links(self, name, root):
        for h in root.iter(MAIN + 'hyperlink'):
            m = re.fullmatch(r"'?((?:[^'!]|'')+)'?!(\$?[A-Z]+\$?[0-9]+)", h.get('location') or '')
            if not m or m.group(1).replace("''", "'") not in self.sheets:
                self.fault(name, f"link to nowhere: {h.get('location')!r}")
                continue
            cell_place(m.group(2))
            cell_place(h.get('ref').partition(':')[0])

    def check_breaks(self, name, root):
        for tag, last in (('rowBreaks', ROWS), ('colBreaks', COLS)):
            breaks = [int(b.get('id')) for e in root.iter(MAIN + tag) for b in e]
            if len(breaks) > 1026 or breaks != sorted(set(breaks)) or breaks and not 0 < breaks[0] <= breaks[-1] < last:
                self.fault(name, f'{tag}: too many, out of order, or beyond the sheet')

    def check_names(self):
        book = self.parts.get('xl/workbook.xml')
        for d in book.iter(MAIN + 'definedName') if book is not None else []:
            name = d.get('name')
            for quoted, word in re.findall(r"(?:'((?:[^']|'')+)'|([A-Za-z_][A-Za-z0-9_.]*))!", d.text or ''):
                if (quoted.replace("''", "'") or word) not in self.sheets:
                    self.fault('workbook', f'name {name!r} for sheet {quoted or word!r}, which is not there')
            if '#REF!' in (d.text or '#REF!'):
                self.fault('workbook', f'name {name!r} for nothing')
            if name.startswith('_xlnm.'):
                continue
            if re.fullmatch(r'[A-Za-z]{1,3}[0-9]+|[Rr][0-9]*[Cc][0-9]*', name) or not re.fullmatch(
                    r'[A-Za-z_\\][A-Za-z0-9_.]*', name):
                self.fault('workbook', f'bad defined name {name!r}')

    def check_chart(self, part, root):
        n = 0
        for ref in root.iter():
            if ref.tag not in (CHART + 'numRef', CHART + 'strRef'):
                continue
            f = ref.find(CHART + 'f').text
            m = re.fullmatch(r"'?((?:[^']|'')+?)'?!(\S+)", f)
            if not m or m.group(1) not in self.sheets:
                self.fault(part, f'range of a sheet that is not there: {f}')
                continue
            n += 1
            self.check_cache(part, ref, self.sheets[m.group(1)], area_place(m.group(2)))
        if not n:
            self.fault(part, 'a chart without data')
        series = sum(1 for _ in root.iter(CHART + 'ser'))
        if series > 255:
            self.fault(part, f'{series} series')

    def check_cache(self, part, ref, cells, area):
        r1, c1, r2, c2 = area
        cache = ref.find(CHART + 'numCache')
        points = {}
        for pt in cache.iter(CHART + 'pt') if cache is not None else []:
            points[int(pt.get('idx'))] = pt.find(CHART + 'v').text
        places = [(r, c) for r in range(r1, r2 + 1) for c in range(c1, c2 + 1)]
        if len(places) > 32000:
            self.fault(part, f'{len(places)} points in a series')
        if not any(p in cells for p in places):
            self.fault(part, f'series without a value: {area}')
        for i, place in enumerate(places):
            cell = cells.get(place)
            if cell is not None and cell.formula is not None:
                self.fault(part, f'draws the formula cell {place}: its cache is 0')
            if cell is None or cell.kind != 'n' or cache is None:
                continue
            try:
                if abs(number(points.get(i)) - cell.value) > 1e-9 * abs(cell.value):
                    self.fault(part, f'cache of {place} is {points[i]}, the cell {cell.value}')
            except Fault as e:
                self.fault(part, f'cache of {place}: {e}')

    def check_png(self, part):
        for what in png_faults(self.zip.read(part)):
            self.fault(part, what)


@functools.lru_cache
def png_faults(data):
    if data[:8] != b'\x89PNG\r\n\x1a\n':
        return ['not a PNG']
    at, chunks = 8, []
    try:
        while at < len(data):
            size, = struct.unpack('>I', data[at:at + 4])
            body = data[at + 4:at + 8 + size]
            crc, = struct.unpack('>I', data[at + 8 + size:at + 12 + size])
            if zlib.crc32(body) != crc:
                return [f'chunk {body[:4]} has a wrong checksum']
            chunks.append((body[:4], body[4:]))
            at += 12 + size
        width, height = struct.unpack('>II', chunks[0][1][:8])
        pixels = zlib.decompress(b''.join(body for kind, body in chunks if kind == b'IDAT'))
    except (struct.error, zlib.error, IndexError) as e:
        return [f'PNG incomplete: {e}']
    if chunks[0][0] != b'IHDR' or chunks[-1][0] != b'IEND' or len(pixels) != (width * 3 + 1) * height:
        return ['PNG incomplete']
    return []


def letters(col):
    out = ''
    while col:
        col, r = divmod(col - 1, 26)
        out = chr(65 + r) + out
    return out


def print_cells(path, sheet):
    book = Book(path)
    for (row, col), cell in sorted(book.sheets[sheet].items()):
        value = repr(cell.value) if cell.kind == 'n' else cell.value
        print(f'{letters(col)}{row}\t{value}')


def print_totals(path):
    z = zipfile.ZipFile(path)
    names = [s.get('name') for s in ET.fromstring(z.read('xl/workbook.xml')).iter(MAIN + 'sheet')]
    for i, name in enumerate(names, 1):
        rows = total = 0
        with z.open(f'xl/worksheets/sheet{i}.xml') as f:
            for _, e in ET.iterparse(f):
                if e.tag == MAIN + 'row':
                    rows += 1
                    total += sum(float(c.find(MAIN + 'v').text) for c in e if c.get('t', 'n') == 'n' and c.find(MAIN + 'v') is not None)
                    e.clear()
        print(f'{name}\t{rows}\t{total:.17g}')


def same(stored, text):
    if isinstance(stored, str):
        return stored == text
    percent = text.endswith('%')
    try:
        got = float(text[:-1]) / 100 if percent else float(text)
    except ValueError:
        return False
    return abs(got - stored) <= max(1e-9 * max(abs(got), abs(stored)), 1e-12)


def compare(path, folder):
    """CSV files as LibreOffice names them: BASE-SHEET.csv."""
    book, seen, bad = Book(path), 0, 0
    for name, cells in book.sheets.items():
        formulas = {p: c for p, c in cells.items() if c.formula is not None}
        if not formulas:
            continue
        files = glob.glob(os.path.join(glob.escape(folder), f'*-{glob.escape(name)}.csv'))
        if len(files) != 1:
            print(f'{name}: no recalculated CSV')
            bad += 1
            continue
        with open(files[0], encoding='utf-8', newline='') as f:
            rows = list(csv.reader(f))
        for (row, col), cell in formulas.items():
            text = rows[row - 1][col - 1] if row <= len(rows) and col <= len(rows[row - 1]) else ''
            seen += 1
            if not same(cell.value, text):
                print(f'{name}!{letters(col)}{row}: stored {cell.value!r}, recalculated {text!r}: ={cell.formula}')
                bad += 1
    print(f'{seen} formula cells compared, {bad} differ')
    return 1 if bad or not seen else 0


def main(argv):
    if len(argv) == 4 and argv[1] == '--cells':
        print_cells(argv[2], argv[3])
        return 0
    if len(argv) == 3 and argv[1] == '--totals':
        print_totals(argv[2])
        return 0
    if len(argv) == 4 and argv[1] == '--compare':
        return compare(argv[2], argv[3])
    if len(argv) != 2:
        sys.exit(__doc__)
    try:
        book = Book(argv[1])
        book.check()
    except (zipfile.BadZipFile, OSError, KeyError, ValueError) as e:
        print(f'{argv[1]}: {e}')
        return 1
    for f in book.faults[:50]:
        print(f)
    cells = sum(len(s) for s in book.sheets.values())
    print(f'{len(book.sheets)} sheets, {cells} cells, {len(book.faults)} faults')
    return 1 if book.faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
