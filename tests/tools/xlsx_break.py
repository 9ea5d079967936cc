#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks a sound workbook in each way that xlsx_lint.py is there for, one at a time, and looks whether it is found.

  xlsx_break.py GOOD.xlsx     a line for each fault that is not found, then how many were tried; exit 1 when one was missed
  xlsx_break.py GOOD.xlsx BAD.xlsx NAME     keeps the workbook with that fault
"""
import io
import re
import sys
import zipfile

sys.path.insert(0, __file__.rpartition('/')[0])
import xlsx_lint  # noqa: E402

LONG = b'x' * 256
SHEET, CHART, BOOK = 'xl/worksheets/sheet', 'xl/charts/chart', 'xl/workbook.xml'
FORMULA = rb'<f>[^<]*</f>'


def many_breaks(_):
    return b'<rowBreaks>' + b''.join(b'<brk id="%d"/>' % i for i in range(1, 1100)) + b'</rowBreaks>'


# name, part (the first whose name begins so and that has the pattern), pattern, what stands there instead, words of the fault
CASES = [
    ('cut off', SHEET, rb'</sheetData>.*', b'', 'not well-formed'),
    ('bare ampersand', BOOK, rb'name="Summary"', b'name="A&B"', 'not well-formed'),
    ('no content type', '[Content_Types].xml', rb'<Default Extension="png"[^>]*>', b'', 'no content type'),
    ('content type of nothing', '[Content_Types].xml', rb'</Types>', b'<Override PartName="/xl/gone.xml" ContentType="x"/></Types>',
     'a part that is not there'),
    ('relation to nothing', 'xl/worksheets/_rels/', rb'drawing[0-9]+\.xml', b'drawing99.xml', 'a part that is not there'),
    ('relation missing', 'xl/worksheets/_rels/', rb'Id="rId1"', b'Id="rId7"', "no relation 'rId1'"),
    ('part led to by nothing', 'xl/_rels/workbook', rb'<Relationship [^>]*sharedStrings[^>]*>', b'', 'nothing leads to'),
    ('link to the outside', 'xl/_rels/workbook', rb'</Relationships>',
     b'<Relationship Id="r99" Type="x" Target="http://example.org/" TargetMode="External"/></Relationships>', 'to the outside'),
    ('long sheet name', BOOK, rb'name="Summary"', b'name="' + b'S' * 32 + b'"', 'bad sheet name'),
    ('sheet name with a slash', BOOK, rb'name="Summary"', b'name="a/b"', 'bad sheet name'),
    ('sheet name twice', BOOK, rb'name="Warnings"', b'name="SUMMARY"', 'sheet name twice'),
    ('defined name like a cell', BOOK, rb'<definedNames>', b'<definedNames><definedName name="TC32">Summary!$A$1</definedName>',
     "bad defined name 'TC32'"),
    ('name of no sheet', BOOK, rb'<definedNames>', b"<definedNames><definedName name=\"rate\">'Gone'!$A$1</definedName>", "sheet 'Gone'"),
    ('merges overlap', SHEET, rb'(<mergeCells[^>]*><mergeCell ref="([A-Z]+[0-9]+):[^"]*"/>)', rb'\1<mergeCell ref="\2:XFD1048576"/>',
     'merges overlap'),
    ('merge of one cell', SHEET, rb'<mergeCell ref="([A-Z]+[0-9]+):[^"]*"/>', rb'<mergeCell ref="\1:\1"/>', 'merge of one cell'),
    ('not a number', SHEET, rb'(<c r="[A-Z]+[0-9]+" s="[0-9]+"><v>)[0-9.]+', rb'\1nan', 'not a number'),
    ('infinity', SHEET, rb'(<c r="[A-Z]+[0-9]+" s="[0-9]+"><v>)[0-9.]+', rb'\1inf', 'not a number'),
    ('no stored value', SHEET, rb'(' + FORMULA + rb')<v>[^<]*</v>', rb'\1', 'without a stored value'),
    ('long literal', SHEET, rb'<f>[^<]*</f>', b'<f>IF(A1="' + LONG + b'",1,0)</f>', 'literal of more than 255'),
    ('formula of a device', SHEET, FORMULA, b'<f>1+1</f>', 'a formula of no cell'),
    ('formula that starts programs', SHEET, FORMULA, b"<f>cmd|' /C calc'!A0</f>", 'reaches outside'),
    ('formula that asks the network', SHEET, FORMULA, b'<f>WEBSERVICE(A1)</f>', 'reaches outside'),
    ('formula of another workbook', SHEET, FORMULA, b'<f>[2]Sheet1!A1</f>', 'reaches outside'),
    ('formula of no sheet', SHEET, FORMULA, b"<f>SUM('Gone'!A1:A2)</f>", "sheet 'Gone'"),
    ('new function', SHEET, FORMULA, b'<f>STDEV.S(A1:A2)</f>', 'needs _xlfn.'),
    ('brackets', SHEET, FORMULA, b'<f>SUM(A1:A2</f>', 'do not match'),
    ('broken reference', SHEET, FORMULA, b'<f>SUM(#REF!)</f>', 'broken formula'),
    ('style of no kind', SHEET, rb'(<c r="[A-Z]+[0-9]+" s=")[0-9]+', rb'\g<1>9999', 'style 9999'),
    ('string of no kind', SHEET, rb't="s"><v>[0-9]+', b't="s"><v>99999999', 'shared string'),
    ('column beyond the sheet', SHEET, rb'<c r="A1"', b'<c r="XFE1"', 'out of range'),
    ('row beyond the sheet', SHEET, rb'<dimension ref="A1:([A-Z]+)[0-9]+"', rb'<dimension ref="A1:\g<1>1048577"', 'out of range'),
    ('rows out of order', SHEET, rb'<row r="2"', b'<row r="1"', 'out of order'),
    ('too many page breaks', SHEET, rb'<rowBreaks.*</rowBreaks>', many_breaks, 'rowBreaks: too many'),
    ('link to nowhere', SHEET, rb'location="[^"]*"', b'location="\'Gone\'!A1"', 'link to nowhere'),
    ('chart of no sheet', CHART, rb'<c:f>[^<]*!', b"<c:f>'Gone'!", 'a sheet that is not there'),
    ('chart of formulas', CHART, rb'(<c:(?:yVal|val)>.*?<c:f>)[^<]*', rb'\1@FORMULA@', 'draws the formula cell'),
    ('chart with another value', CHART, rb'(<c:yVal>.*?<c:v>)[^<]*', rb'\g<1>4711', 'cache of'),
    ('chart of empty cells', CHART, rb'(<c:(?:yVal|val)>.*?<c:f>[^<]*!)[^<]*', rb'\1$AZ$900000:$AZ$900009', 'without a value'),
    ('chart of too many points', CHART, rb'(<c:(?:yVal|val)>.*?<c:f>[^<]*!)[^<]*', rb'\1$A$1:$A$32001', 'points in a series'),
    ('picture that is none', 'xl/media/', rb'^.PNG', b'.GIF', 'not a PNG'),
    ('picture cut off', 'xl/media/', rb'.{40}$', b'', 'PNG incomplete'),
]


def formula_cell(parts):
    """A cell of a formula, as a chart would name it."""
    names = re.findall(rb'<sheet name="([^"]*)"', parts[BOOK])
    for i, sheet in enumerate(names, 1):
        m = re.search(rb'<c r="([A-Z]+)([0-9]+)"[^>]*><f>', parts[f'xl/worksheets/sheet{i}.xml'])
        if m:
            return b"'%s'!$%s$%s" % (sheet, m.group(1), m.group(2))
    return b''


def broken(parts, part, pattern, instead):
    """The members with the first match replaced; None when no part has it."""
    if isinstance(instead, bytes):
        instead = instead.replace(b'@FORMULA@', formula_cell(parts))
    for name in sorted(parts, key=lambda n: (len(n), n)):
        if not name.startswith(part):
            continue
        data, n = re.subn(pattern, instead, parts[name], count=1, flags=re.S)
        if n:
            return {**parts, name: data}
    return None


def packed(parts):
    f = io.BytesIO()
    with zipfile.ZipFile(f, 'w') as z:
        for name, data in parts.items():
            z.writestr(name, data)
    return f


def faults(f):
    try:
        book = xlsx_lint.Book(f)
        book.check()
    except (ValueError, KeyError) as e:
        return [str(e)]
    return book.faults


def main(argv):
    with zipfile.ZipFile(argv[1]) as z:
        parts = {n: z.read(n) for n in z.namelist()}
    sheets = re.findall(rb'<sheet name="([^"]*)"', parts[BOOK])
    if b'D_hist' in sheets:  # no chart and no formula is about it: a few rows do
        name = f'{SHEET}{sheets.index(b"D_hist") + 1}.xml'
        parts[name] = re.sub(rb'<row r="(?:[2-9][0-9]|[0-9]{3,})".*?</row>', b'', parts[name], flags=re.S)
    bad = 0
    for name, part, pattern, instead, words in CASES:
        if len(argv) > 3 and name != argv[3]:
            continue
        other = broken(parts, part, pattern, instead)
        if other is None:
            print(f'{name}: the workbook has nothing of the kind')
            bad += 1
            continue
        if len(argv) > 3:
            with open(argv[2], 'wb') as f:
                f.write(packed(other).getvalue())
            return 0
        found = faults(packed(other))
        if not any(words in f for f in found):
            print(f'{name}: not found; said is {found[:3]}')
            bad += 1
    print(f'{len(CASES)} faults tried, {bad} missed')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
