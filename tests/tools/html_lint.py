#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks through an HTML report of pts without a browser.

	html_lint.py FILE.html			tags balanced, nothing from elsewhere, no script, links that lead somewhere,
						charts with title and description, tables with heads, contrast, sane numbers
	html_lint.py --text REPORT.txt FILE.html	every word of the text report stands in the HTML as often, sheet by sheet
	html_lint.py --words FILE.html		the words of each sheet, one line a sheet

Exit 0, or 1 with a line a fault.
"""
import collections
import html.parser
import json
import re
import sys

VOID = {'meta', 'br', 'col', 'img', 'link', 'input', 'hr'}
CSP = ["default-src 'none'", "style-src 'unsafe-inline'", 'img-src data:']
AA = 4.5


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.bad, self.open, self.ids, self.hrefs = [], [], collections.Counter(), []
        self.css, self.data, self.csp, self.viewport, self.lang = '', None, None, '', ''
        self.pairs, self.charts, self.sheets, self.sheet = [], [], collections.OrderedDict(), None
        self.top, self.seen = [], collections.Counter()

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.seen[tag] += 1
        if len(a) != len(attrs):
            self.bad.append(f'<{tag}> has an attribute twice')
        self.look_at(tag, a)
        if tag not in VOID:
            self.open.append((tag, a))

    def handle_startendtag(self, tag, attrs):
        self.look_at(tag, dict(attrs))

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.bad.append(f'line {self.getpos()[0]}: </{tag}> closes {self.open[-1:]}')
            return
        self.open.pop()

    def look_at(self, tag, a):
        where = f'line {self.getpos()[0]}: <{tag}>'
        if tag in ('link', 'iframe', 'object', 'embed', 'form', 'base', 'video', 'audio', 'use', 'image', 'foreignobject'):
            self.bad.append(f'{where} does not belong here')
        for k, v in a.items():
            self.attribute(where, k, v or '', (a.get('class') or '').split())
        if tag == 'meta':
            self.csp = a.get('content') if a.get('http-equiv') == 'Content-Security-Policy' else self.csp
            self.viewport = a.get('content') if a.get('name') == 'viewport' else self.viewport
        if tag == 'html':
            self.lang = a.get('lang', '')
        if tag == 'script' and a.get('type') != 'application/json':
            self.bad.append(f'{where} a script')
        if tag == 'svg' and a.get('role') == 'img':
            self.charts.append({'view': a.get('viewbox', ''), 'title': '', 'desc': '', 'line': self.getpos()[0]})
        if tag == 'th' and a.get('scope') not in ('col', 'row'):
            self.bad.append(f'{where} without scope')
        if tag == 'img' and not a.get('alt'):
            self.bad.append(f'{where} without alt')
        if tag == 'section' and a.get('class') == 'sheet':
            self.sheet = self.sheets.setdefault(a.get('id'), [])

    def attribute(self, where, k, v, classes):
        if k.startswith('on') or k in ('srcset', 'formaction', 'ping', 'xlink:href'):
            self.bad.append(f'{where} {k}')
        if k == 'id':
            self.ids[v] += 1
        if k == 'href':
            self.hrefs.append(v)
        if k == 'src' and not v.startswith('data:image/png;base64,'):
            self.bad.append(f'{where} src {v[:40]}')
        if k == 'style':
            if 'url(' in v:
                self.bad.append(f'{where} style {v[:40]}')
            m = re.search(r'background:(#[0-9a-f]{6})', v)
            if m:
                self.pairs.append((where, classes, m.group(1)))
        if k in ('d', 'x', 'y', 'width', 'height', 'viewbox', 'transform') and re.search('nan|inf', v, re.I):
            self.bad.append(f'{where} {k}="{v[:40]}"')
        if '\ufffd' in v:
            self.bad.append(f'{where} bad UTF-8 in {k}')

    def inside(self, tag, cls=None):
        return any(t == tag and (cls is None or cls in (a.get('class') or '').split()) for t, a in self.open)

    def handle_data(self, text):
        top = self.open[-1][0] if self.open else ''
        if '\ufffd' in text and top != 'script':  # the JSON says it so, on purpose
            self.bad.append(f'line {self.getpos()[0]}: bad UTF-8')
        if top == 'style':
            self.css += text
        elif top == 'script':
            self.data = (self.data or '') + text
        elif top in ('title', 'desc') and self.charts and self.inside('svg'):
            if len(self.open) > 1 and self.open[-2][1].get('role') == 'img':
                self.charts[-1][top] += text
        elif self.inside('header', 'top'):
            self.top += text.split()
        elif self.sheet is not None and self.inside('section') and not (
                self.inside('svg') or self.inside('details') or self.inside('div', 'running') or
                self.inside('ul', 'toc') or self.inside('span', 'chip') and self.inside('h3')):
            self.sheet += text.split()


def luminance(color):
    out = 0
    for i, w in enumerate((0.2126, 0.7152, 0.0722)):
        c = int(color[1 + 2 * i:3 + 2 * i], 16) / 255
        out += w * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
    return out


def contrast(a, b):
    a, b = sorted((luminance(a), luminance(b)))
    return (b + 0.05) / (a + 0.05)


def long_color(c):
    return '#' + ''.join(x * 2 for x in c[1:]) if len(c) == 4 else c


def rules(css):
    """selector -> declarations, over all rules (those within @media as well)"""
    flat = re.sub(r'@(media|page)[^{]*\{', '', css)
    for sel, body in re.findall(r'([^{}]+)\{([^{}]*)\}', flat):
        yield sel.strip(), dict(p.split(':', 1) for p in body.split(';') if ':' in p)


# ground of texts whose rule names none
GROUND = {'a': '#ffffff', '.top p': '#1f3864', '.sheet>h2 small': '#1f3864', '.bar a': '#ffffff', 'dt': '#ffffff',
          'dl,dd': '#ffffff', 'footer': '#eef1f6', '.subject-line': '#ffffff', 'summary': '#ffffff',
          'svg .t': '#ffffff', 'svg .v': '#ffffff', 'svg .a': '#ffffff', 'svg .h': '#ffffff'}


def check_contrast(p):
    n, inks = 0, {}
    for sel, d in rules(p.css):
        inks[sel] = d.get('color', '#000000')
        ink = d.get('color') or (d.get('fill') if sel.startswith('svg .') else None)
        if not ink or not ink.startswith('#'):
            continue
        ground = d.get('background', GROUND.get(sel, '#ffffff'))
        n += 1
        if contrast(long_color(ink), long_color(ground)) < AA:
            p.bad.append(f'{sel}: {ink} on {ground}: {contrast(long_color(ink), long_color(ground)):.2f}')
    for where, classes, ground in p.pairs:
        n += 1
        ink = long_color(next((inks['.' + c] for c in classes if '.' + c in inks), '#000000'))
        if contrast(ink, ground) < AA:
            p.bad.append(f'{where}: {ink} on {ground}')
    if contrast('#b30000', '#ffffff') < AA or contrast('#808080', '#ededed') > AA:
        p.bad.append('the measure of contrast is wrong')
    return n


def check(p, raw):
    if p.open:
        p.bad.append(f'not closed: {[t for t, _ in p.open]}')
    p.bad += [f'id {i} {n} times' for i, n in p.ids.items() if n > 1]
    p.bad += [f'link to {h}' for h in p.hrefs if not h.startswith('#') or h[1:] not in p.ids]
    for part in CSP:
        if part not in (p.csp or ''):
            p.bad.append(f'policy without {part}')
    if 'width=device-width' not in (p.viewport or '') or p.lang != 'en':
        p.bad.append('no viewport or language')
    if re.search(r'url\(|@import|expression', p.css) or re.search(r'''(src|href)=["'](https?:)?//''', raw):
        p.bad.append('asks for something from elsewhere')
    for c in p.charts:
        if not c['title'].strip() or not c['desc'].strip():
            p.bad.append(f'line {c["line"]}: a chart without title or description')
        if not re.fullmatch(r'0 0 \d+(\.\d)? \d+(\.\d)?', c['view']):
            p.bad.append(f'line {c["line"]}: viewBox "{c["view"]}"')
    if p.data is not None:
        json.loads(p.data)
    if re.search('[\x00-\x08\x0b-\x1f\x7f]', raw):
        p.bad.append('control characters')
    return check_contrast(p)


def plain(word):
    """1,234.5 -> 1234.5"""
    return word.replace(',', '') if re.fullmatch(r'-?[\d,]+(\.\d+)?%?', word) else word


def compare(p, text):
    """Words of the text report that the HTML has not as often."""
    names = re.split(r'^======== (.*) ========$', text, flags=re.M)[1:]
    tail = re.compile(r'^[^\n]*: \d+ rows, in the workbook.*', re.M)
    n = 0
    next(iter(p.sheets.values())).extend(p.top)  # the title of the first sheet is the head of the page
    for (name, body), words in zip(zip(names[::2], names[1::2]), p.sheets.values()):
        body = tail.sub('', body).replace(' (live formulas)', '')
        have = collections.Counter(plain(w) for w in words)
        want = collections.Counter(plain(w) for w in body.split())
        n += sum(want.values())
        for w, k in want.items():
            if have[w] < k:
                p.bad.append(f'{name}: "{w}" {have[w]} times, not {k}')
    print(f'{n} words compared')


def main(argv):
    text = argv[1] if argv[:1] == ['--text'] else None
    raw = open(argv[-1], encoding='utf-8', errors='strict', newline='').read()
    p = Page()
    p.feed(raw)
    p.close()
    if argv[0] == '--words':
        for name, words in p.sheets.items():
            print(name, ' '.join(words))
        return 0
    pairs = check(p, raw)
    if text:
        compare(p, open(text, encoding='utf-8').read())
    for line in p.bad[:40]:
        print(f'{argv[-1]}: {line}')
    print(f'{len(p.sheets)} sheets, {len(p.charts)} charts, {p.seen["table"]} tables, {pairs} pairs of colours, '
          f'{len(p.bad)} faults')
    return 1 if p.bad else 0


if __name__ == '__main__':
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
