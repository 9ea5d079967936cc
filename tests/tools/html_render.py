#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renders an HTML report in headless Chromium and looks whether it behaves.

	html_render.py FILE.html [--pdf OUT.pdf] [--shot OUT.png] [--width PX] [--clip SELECTOR]

Asks through the debugging pipe of the browser, scripts of the page off: no error in the console, no refused or asked
request, no element wider than the window at desktop and phone width, text no smaller than it can be read, a PDF of A4
landscape pages. Prints one line a fact; exit 0, 1 (a fault, on stderr), or 77 without a browser.
"""
import argparse
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PHONE, DESK = 390, 1366

MEASURE = """(() => {
	const w = document.documentElement.clientWidth, out = [];
	const scrolls = e => { for (let p = e.parentElement; p; p = p.parentElement) {
		const o = getComputedStyle(p).overflowX; if (o === 'auto' || o === 'hidden' || o === 'scroll') return true; }
		return false; };
	for (const e of document.body.querySelectorAll('*')) {
		if (e.ownerSVGElement) continue;
		const r = e.getBoundingClientRect();
		if (r.width && (r.right > w + 1 || r.left < -1) && !scrolls(e))
			out.push(e.tagName + '.' + e.className + ' ' + Math.round(r.left) + '..' + Math.round(r.right));
	}
	let small = 1e9;
	for (const e of document.body.querySelectorAll('p, td, th, dd, dt, li, h2, h3, h4, svg text')) {
		const r = e.getBoundingClientRect();
		if (!r.width || !e.textContent.trim()) continue;
		const s = e.ownerSVGElement, size = parseFloat(getComputedStyle(e).fontSize);
		let k = 1;
		if (s) { const m = e.getScreenCTM(); k = Math.hypot(m.a, m.b); }
		small = Math.min(small, size * k);
	}
	return { width: w, page: document.documentElement.scrollWidth, wide: out.slice(0, 5), small: small,
		charts: document.querySelectorAll('.plot').length,
		drawn: [...document.querySelectorAll('.plot > svg, .plot > img')].filter(e => {
			const r = e.getBoundingClientRect(); return r.width > 200 && r.height > 100; }).length,
		text: document.body.innerText.length };
})()"""

# Texts of a chart that lie over one another, or outside of it: only what a reader would see as a fault.
COLLIDE = """(() => {
	const out = [];
	for (const s of document.querySelectorAll('.plot > svg')) {
		const box = s.getBoundingClientRect();
		const t = [...s.querySelectorAll(':scope > text')].map(e => [e, e.getBoundingClientRect()]);
		for (let i = 0; i < t.length; i++) {
			const a = t[i][1];
			if (a.left < box.left - 2 || a.right > box.right + 2 || a.top < box.top - 2 || a.bottom > box.bottom + 2)
				out.push('outside: ' + t[i][0].textContent + ' in ' + s.querySelector('title').textContent);
			for (let j = i + 1; j < t.length; j++) {
				const b = t[j][1];
				const w = Math.min(a.right, b.right) - Math.max(a.left, b.left);
				const h = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
				if (w > 1.5 && h > 4)
					out.push(t[i][0].textContent + ' over ' + t[j][0].textContent + ' in ' +
						s.querySelector('title').textContent);
			}
		}
	}
	return out;
})()"""


class Browser:
    """Chromium behind its debugging pipe: messages of JSON, a NUL after each."""

    def __init__(self, program, home):
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        def wire():
            os.dup2(to_read, 100)
            os.dup2(from_write, 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.log = open(os.path.join(home, 'log'), 'wb')
        flags = ['--headless', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--no-first-run',
                 '--disable-extensions', '--disable-background-networking', '--disable-dev-shm-usage',
                 '--disable-component-update', '--hide-scrollbars', '--host-resolver-rules=MAP * ~NOTFOUND',
                 f'--user-data-dir={home}/profile', 'about:blank']
        self.child = subprocess.Popen([program, *flags], preexec_fn=wire, close_fds=False, stdout=self.log,
                                      stderr=self.log, start_new_session=True)
        os.close(to_read)
        os.close(from_write)
        self.n, self.rest, self.events, self.session = 0, b'', [], None

    def message(self, deadline):
        while b'\0' not in self.rest:
            ready = select.select([self.back], [], [], max(0, deadline - time.monotonic()))[0]
            part = os.read(self.back, 1 << 20) if ready else b''
            if not part:
                raise RuntimeError('the browser does not answer')
            self.rest += part
        one, self.rest = self.rest.split(b'\0', 1)
        return json.loads(one)

    def ask(self, method, **params):
        self.n += 1
        ask = {'id': self.n, 'method': method, 'params': params}
        if self.session:
            ask['sessionId'] = self.session
        os.write(self.to, json.dumps(ask).encode() + b'\0')
        deadline = time.monotonic() + 60
        while True:
            m = self.message(deadline)
            if m.get('id') == self.n:
                if 'error' in m:
                    raise RuntimeError(f'{method}: {m["error"]["message"]}')
                return m['result']
            self.events.append(m)

    def wait(self, method):
        deadline = time.monotonic() + 60
        while not any(e.get('method') == method for e in self.events):
            self.events.append(self.message(deadline))

    def value(self, text):
        r = self.ask('Runtime.evaluate', expression=text, returnByValue=True)
        if 'exceptionDetails' in r:
            raise RuntimeError(r['exceptionDetails'])
        return r['result']['value']

    def size(self, width, height=900, phone=False):
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def close(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        self.log.close()


def find():
    for name in ('chromium', 'chromium-browser', 'google-chrome'):
        if shutil.which(name):
            return shutil.which(name)
    return None


def load(b, path):
    target = b.ask('Target.createTarget', url='about:blank')['targetId']
    b.session = b.ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
    for domain in ('Page', 'Network', 'Log', 'Runtime', 'Audits'):
        b.ask(f'{domain}.enable')
    # scripts of the page off, as with a careful reader; what we ask ourselves is still answered
    b.ask('Emulation.setScriptExecutionDisabled', value=True)
    b.size(DESK)
    b.ask('Page.navigate', url='file://' + os.path.abspath(path))
    b.wait('Page.loadEventFired')


def faults_of(b, path):
    bad, own = [], 'file://' + os.path.abspath(path)
    for e in b.events:
        p = e.get('params', {})
        if e.get('method') == 'Log.entryAdded' and p['entry']['level'] in ('error', 'warning'):
            bad.append(f'console: {p["entry"]["text"]}')
        if e.get('method') == 'Runtime.exceptionThrown':
            bad.append('a script threw')
        if e.get('method') == 'Audits.issueAdded':
            bad.append(f'issue: {p["issue"]["code"]}')
        if e.get('method') == 'Network.requestWillBeSent':
            url = p['request']['url']
            if url != own and not url.startswith('data:'):
                bad.append(f'request: {url[:80]}')
    return bad


def check_width(b, width, phone, least):
    bad = []
    b.size(width, 844 if phone else 900, phone)
    m = b.value(MEASURE)
    if m['page'] > m['width'] or m['wide']:
        bad.append(f'{width} px: the page scrolls sideways: {m["page"]} px, {m["wide"]}')
    if m['drawn'] != m['charts']:
        bad.append(f'{width} px: {m["drawn"]} of {m["charts"]} charts are drawn')
    if m['small'] < least:
        bad.append(f'{width} px: text of {m["small"]:.1f} px')
    print(f'{width} px: page {m["page"]} px, {m["charts"]} charts, smallest text {m["small"]:.1f} px')
    bad += [f'{width} px: {c}' for c in b.value(COLLIDE)]
    return bad


def shoot(b, args):
    b.size(args.width, 900, args.width < 600)
    clip = None
    if args.clip:
        box = b.value(f'(r => [r.left, r.top + scrollY, r.width, r.height])'
                      f'(document.querySelector({json.dumps(args.clip)}).getBoundingClientRect())')
        clip = dict(zip(('x', 'y', 'width', 'height'), box), scale=1)
        clip['height'] = min(clip['height'], 4000)
    shot = {'clip': clip, 'captureBeyondViewport': True} if clip else {}
    with open(args.shot, 'wb') as f:
        f.write(base64.b64decode(b.ask('Page.captureScreenshot', **shot)['data']))


def print_pdf(b, path):
    data = b.ask('Page.printToPDF', preferCSSPageSize=True, printBackground=True)['data']
    with open(path, 'wb') as f:
        f.write(base64.b64decode(data))


def main():
    a = argparse.ArgumentParser()
    a.add_argument('file')
    a.add_argument('--pdf')
    a.add_argument('--shot')
    a.add_argument('--clip')
    a.add_argument('--width', type=int, default=DESK)
    args = a.parse_args()
    program = find()
    if not program:
        print('html_render: no chromium here (Debian package chromium)', file=sys.stderr)
        return 77
    home = tempfile.mkdtemp(prefix='pts-chromium-')
    b = Browser(program, home)
    try:
        load(b, args.file)
        if args.shot:
            shoot(b, args)
            return 0
        bad = check_width(b, DESK, False, 9)
        bad += check_width(b, PHONE, True, 8)
        if args.pdf:
            print_pdf(b, args.pdf)
        bad += faults_of(b, args.file)
    finally:
        b.close()
        shutil.rmtree(home, ignore_errors=True)
    for line in bad:
        print(f'{args.file}: {line}', file=sys.stderr)
    print(f'{len(bad)} faults')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
