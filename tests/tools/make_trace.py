# SPDX-License-Identifier: MIT
"""The same IOs as a trace of any format: make_trace.py FORMAT [N] [SEED] > FILE

Each IO starts at a whole microsecond and takes some; offsets and lengths are whole sectors, so that no format loses anything
that it can hold. The first starts at 0 of the trace. `make_trace.py rows` prints what a capture of them has to hold.
"""
import random
import struct
import sys

EPOCH = 1600000000  # s since 1970 of the first IO
BOOT = 5000  # s since boot


class Io:
    def __init__(self, us, rt, op, sector, sectors, pid):
        self.us, self.rt, self.op, self.sector, self.sectors, self.pid = us, rt, op, sector, sectors, pid
        self.off, self.bytes, self.end = sector * 512, sectors * 512, us + rt


def ios(n, seed):
    """No two that overlap have one sector: completions then belong to one IO only."""
    rng = random.Random(seed)
    us, out = 0, []
    for i in range(n):
        sector = rng.randrange(1 << 12) * 8 + (1 << 16) * (i % 64)
        out.append(Io(us, rng.randrange(1, 5000), rng.choice('RW'), sector, rng.choice((1, 2, 8, 16, 64)), 100 + i % 3))
        us += rng.randrange(1, 3000)
    return out


def events(rows):
    """(us, 'D'|'C', io) by time, completions first."""
    out = [(r.us, 1, 'D', r) for r in rows] + [(r.end, 0, 'C', r) for r in rows]
    out.sort(key=lambda e: e[:2])
    return [(e[0], e[2], e[3]) for e in out]


def rwbs(io):
    return 'R' if io.op == 'R' else 'WS'


def record7(t_ns, seq, act, io, cpu=0):
    cat = (1 << 0 if io.op == 'R' else 1 << 1) | (1 << 6 if act == 7 else 1 << 7)
    return struct.pack('=IIQQIIIIIHH', 0x65617407, seq, t_ns, io.sector, io.bytes, cat << 16 | act, io.pid, 7 << 20, cpu, 0, 0)


def record8(t_ns, seq, act, io):
    cat = (1 << 0 if io.op == 'R' else 1 << 1) | (1 << 6 if act == 7 else 1 << 7)
    return struct.pack('=IIQQIIQIIHH12x', 0x65617408, seq, t_ns, io.sector, io.bytes, io.pid, cat << 16 | act, 7 << 20, 0, 0, 0)


def blktrace(rows, record=record7):
    return b''.join(record(BOOT * 10**9 + us * 1000, i + 1, 7 if act == 'D' else 8, io)
                    for i, (us, act, io) in enumerate(events(rows)))


def swapped(rows):
    """The same from a machine of the other byte order."""
    data = blktrace(rows)
    form = 'IIQQIIIIIHH'
    return b''.join(struct.pack('>' + form, *r) for r in struct.iter_unpack('<' + form, data))


def blkparse(rows):
    out = []
    for i, (us, act, io) in enumerate(events(rows)):
        tail = '[fio]' if act == 'D' else '[0]'
        out.append('%3d,%-3d %2d %8d %5d.%09d %5d %2s %3s %d + %d %s\n' % (
            7, 0, 0, i + 1, us // 10**6, us % 10**6 * 1000, io.pid, act, rwbs(io), io.sector, io.sectors, tail))
    return ''.join(out) + 'CPU0 (capture):\n Reads Queued:           1,     4KiB\n\nTotal (capture):\n'


def stamp(us):
    return '%d.%06d' % (BOOT + us // 10**6, us % 10**6)


def ftrace(rows):
    out = ['# tracer: nop\n#\n']
    for us, act, io in events(rows):
        if act == 'D':
            body = 'block_rq_issue: 7,0 %s %d () %d + %d be,0,4 [fio]' % (rwbs(io), io.bytes, io.sector, io.sectors)
        else:
            body = 'block_rq_complete: 7,0 %s () %d + %d be,0,4 [0]' % (rwbs(io), io.sector, io.sectors)
        out.append('%16s-%-7d [000] d..1. %s: %s\n' % ('kworker/0:1', io.pid, stamp(us), body))
    return ''.join(out)


def perf(rows):
    out = []
    for us, act, io in events(rows):
        if act == 'D':
            body = 'block:block_rq_issue: 7,0 %s %d () %d + %d 0x2,0,4 [fio]' % (rwbs(io), io.bytes, io.sector, io.sectors)
        else:
            body = 'block:block_rq_complete: 7,0 %s () %d + %d 0x2,0,4 [0]' % (rwbs(io), io.sector, io.sectors)
        out.append('%-16s %5d [001] %s: %s\n' % ('a name', io.pid, stamp(us), body))
    return ''.join(out)


def nvme(rows):
    out = ['# tracer: nop\n#\n']
    for us, act, io in events(rows):
        key = 'nvme0: disk=nvme0n1, qid=1, cmdid=%d' % (rows.index(io) % 65536)
        if act == 'D':
            cmd = 'nvme_cmd_read' if io.op == 'R' else 'nvme_cmd_write'
            body = 'nvme_setup_cmd: %s, nsid=1, flags=0x0, meta=0x0, cmd=(%s slba=%d, len=%d, ctrl=0x0, dsmgmt=0, reftag=0)' % (
                key, cmd, io.sector, io.sectors - 1)
        else:
            body = 'nvme_complete_rq: %s, res=0x0, retries=0, flags=0x0, status=0x0' % key
        out.append('%16s-%-7d [000] ..... %s: %s\n' % ('fio', io.pid, stamp(us), body))
    return ''.join(out)


def iolog3(rows):
    return 'fio version 3 iolog\n0 7,0 add\n0 7,0 open\n' + ''.join(
        '%d 7,0 %s %d %d\n' % (r.us, 'read' if r.op == 'R' else 'write', r.off, r.bytes) for r in rows) + '%d 7,0 close\n' % rows[-1].us


def iolog2(rows):
    out, last = ['fio version 2 iolog\n7,0 add\n7,0 open\n'], 0
    for r in rows:
        out.append('7,0 wait %d 0\n' % (r.us - last))
        last = r.us
        out.append('7,0 %s %d %d\n' % ('read' if r.op == 'R' else 'write', r.off, r.bytes))
    return ''.join(out) + '7,0 close\n'


def seconds(us, digits=6):
    return '%d.%06d' % (us // 10**6, us % 10**6) + '0' * (digits - 6)


def msr(rows):
    base = 128166372000000000  # filetime
    return ''.join('%d,host,0,%s,%d,%d,%d\n' % (base + r.us * 10, 'Read' if r.op == 'R' else 'Write', r.off, r.bytes, r.rt * 10)
                   for r in rows)


def alibaba(rows):
    return ''.join('7,%s,%d,%d,%d\n' % (r.op, r.off, r.bytes, EPOCH * 10**6 + r.us) for r in rows)


def tencent(rows):
    return ''.join('%d,%d,%d,%d,7\n' % (EPOCH + r.us // 10**6, r.sector, r.sectors, r.op == 'W') for r in rows)


def systor(rows):
    return 'Timestamp,Response,IOType,LUN,Offset,Size\n' + ''.join(
        '%s,%s,%s,7,%d,%d\n' % (seconds(EPOCH * 10**6 + r.us, 9), seconds(r.rt, 9), r.op, r.off, r.bytes) for r in rows)


def spc(rows):
    return ''.join('7,%d,%d,%s,%s\n' % (r.sector, r.bytes, r.op.lower(), seconds(r.us)) for r in rows)


def simulator(rows, scale=1000):
    return ''.join('%d 7 %d %d %d\n' % (r.us * scale, r.sector, r.sectors, r.op == 'R') for r in rows)


def disksim(rows):
    return ''.join('%d.%03d 7 %d %d %d\n' % (r.us // 1000, r.us % 1000, r.sector, r.sectors, r.op == 'R') for r in rows)


def fiu(rows):
    return ''.join('%d %d a process %d %d %s 7 0 %032x\n' % (10**12 + r.us * 1000, r.pid, r.sector, r.sectors, r.op, r.sector)
                   for r in rows)


def blkreplay(rows):
    return 'Any text.\n\nstart ; sector; length ; op ;  replay_delay=0 ; replay_duration=0\n' + ''.join(
        '%16s000 ; %12d ; %4d ; %s ; 0.0 ; %s\n' % (seconds(r.us), r.sector, r.sectors, r.op, seconds(r.rt)) for r in rows)


def biosnoop(rows):
    """By completion; the latency has three decimals here so that the start is exact."""
    first = min(r.end for r in rows)
    return 'TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)\n' + ''.join(
        '%-11s %-14s %-6d %-7s %s %-10d %-7d %d.%03d\n' % (seconds(r.end - first), 'my comm', r.pid, 'sda', r.op, r.sector, r.bytes,
                                                           r.rt // 1000, r.rt % 1000) for r in sorted(rows, key=lambda r: r.end))


def vscsi1(rows):
    return b''.join(struct.pack('<IIIHHQQ', i, r.bytes, 1, 0x28 if r.op == 'R' else 0x2a, 0x100, r.sector, BOOT * 10**6 + r.us)
                    for i, r in enumerate(rows))


def vscsi2(rows):
    return b''.join(struct.pack('<HHIIIQQQ', 0x28 if r.op == 'R' else 0x2a, 0x200, i, r.bytes, 1, r.sector, BOOT * 10**6 + r.us, r.rt)
                    for i, r in enumerate(rows))


def vscsitext(rows):
    return '#Vscsi Cmd Trace. (Trace Format Version 1)\n#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp\n' + ''.join(
        '%d,%d,1,%s,%d,%d\n' % (i, r.bytes, 'read' if r.op == 'R' else 'write', r.sector, BOOT * 10**6 + r.us) for i, r in enumerate(rows))


def grouped(n, sign):
    return '{:,}'.format(n).replace(',', sign)


def wpa(rows, separator=';', decimal=',', thousands='.'):
    def number(n):
        s = grouped(n, thousands)
        return '"%s"' % s if separator in s else s

    def time(us):
        s = grouped(us // 10**6, thousands) + decimal + '%06d000' % (us % 10**6)
        return '"%s"' % s if separator in s else s

    head = ('IO Type', 'Priority', 'Process (Name)', 'Init Time (s)', 'Complete Time (s)', 'IO Time (\u00b5s)', 'Disk Service Time (\u00b5s)',
            'Size (B)', 'Min Offset', 'Disk', 'Count')
    out = [separator.join(head)]
    for r in rows:
        out.append(separator.join(('Read' if r.op == 'R' else 'Write', 'Normal', 'System', time(1100 * 10**6 + r.us),
                                   time(1100 * 10**6 + r.end), number(r.rt), number(r.rt), number(r.bytes), '0x%016X' % r.off, '7', '1')))
    return '\r\n'.join(out) + '\r\n'


def xperf(rows):
    head = 'TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, FileName'
    out = ['BeginHeader\n', '              DiskRead,  %s\n             DiskWrite,  %s\n' % (head, head), 'EndHeader\n']
    for r in sorted(rows, key=lambda r: r.end):
        out.append('%22s, %10d, %20s (%4d), %10d, 0x%016x, 0x%010x, 0x%08x, %11d, %8d, 0x060043, "C:\\a, b"\n' % (
            'DiskRead' if r.op == 'R' else 'DiskWrite', r.end, 'x.exe', r.pid, 36, r.us, r.off, r.bytes, r.rt, 7))
    return ''.join(out)


def vdbench(rows):
    return b''.join(struct.pack('>HBBB', 0xeeee, 5, 0, 0) + (7).to_bytes(3, 'big') +
                    struct.pack('>qqqqiib7x', r.us, r.rt, 7, r.off, r.bytes, r.pid, r.op == 'R') for r in rows)


def btrecord(rows):
    out = [struct.pack('<QQQQ', 0x010000, 0, len(rows), len(rows))]
    for r in rows:
        out.append(struct.pack('<QQ', 1, r.us * 1000) + struct.pack('<QQI4x', r.sector, r.bytes, r.op == 'R'))
    return b''.join(out)


def table(rows):
    return 'time;dev;op;offset;length;took\n' + ''.join(
        '%d;7;%s;%d;%d;%d\n' % (r.us, 'rd' if r.op == 'R' else 'wr', r.off, r.bytes, r.rt) for r in rows)


def streammap(rows):
    del rows
    return '''# stream-map 1
# name: a map
# level: block
step,start_s,duration_s,qd,access,block_bytes,op,ios
0,0,1,3.5,SEQ,4096,W,120
0,0,1,3.5,RND,16384,W,77
1,1,1,,,,,0
'''


def rows_text(rows):
    return ''.join('%d %d %d %s %d\n' % (r.us * 1000, r.off, r.bytes, r.op, r.rt * 1000) for r in rows)


FORMATS = {
    'blktrace': blktrace, 'blktrace8': lambda r: blktrace(r, record8), 'blktrace-swapped': swapped, 'blkparse': blkparse,
    'ftrace': ftrace, 'perf': perf, 'nvme': nvme, 'iolog3': iolog3, 'iolog2': iolog2, 'msr': msr, 'alibaba': alibaba,
    'tencent': tencent, 'systor': systor, 'spc': spc, 'ssdsim': simulator, 'disksim': disksim, 'fiu': fiu,
    'blkreplay': blkreplay, 'biosnoop': biosnoop, 'vscsi1': vscsi1, 'vscsi2': vscsi2, 'vscsitext': vscsitext, 'wpa': wpa,
    'wpa-us': lambda r: wpa(r, ',', '.', ','), 'xperf': xperf, 'vdbench': vdbench, 'btrecord': btrecord, 'csv': table,
    'streammap': streammap, 'rows': rows_text,
}


def make(name, n=12, seed=1):
    data = FORMATS[name](ios(n, seed))
    return data if isinstance(data, bytes) else data.encode()


if __name__ == '__main__':
    sys.stdout.buffer.write(make(sys.argv[1], *(int(a) for a in sys.argv[2:4])))
