# SPDX-License-Identifier: MIT
"""Reads a capture of pts by its description alone (pts-capture.5), without any code of pts, and checks every checksum."""
import array
import struct

HEAD = struct.Struct('<8sIIQQQQQQQIIIIII80s')
CHUNK = struct.Struct('<QQQIIII')
IO = struct.Struct('<QQIHBB')
NONE = (1 << 64) - 1
OPS = 'RWDFZ'


def _table():
    t = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ (0x82f63b78 if i & 1 else 0)
        t.append(i)
    return t


TABLE = _table()


def crc32c(data):
    crc = 0xffffffff
    for b in data:
        crc = (crc >> 8) ^ TABLE[(crc ^ b) & 0xff]
    return crc ^ 0xffffffff


class Capture:
    """.devices, .text (dict), .rows: tuples (start_ns, off, bytes, device, op, flags, response_ns or None, pid)"""

    def __init__(self, path, check=True):
        data = open(path, 'rb').read()
        h = HEAD.unpack_from(data)
        (magic, version, self.head_bytes, self.n, self.first_ns, self.duration_ns, self.digest, index_off, text_off,
         text_bytes, n_chunks, n_devices, index_crc, text_crc, crc, _, name) = h
        assert magic == b'PTScap\r\n' and version == 1 and self.head_bytes == 4096
        self.name = name.split(b'\0')[0].decode()
        index = data[index_off:index_off + n_chunks * CHUNK.size]
        text = data[text_off:text_off + text_bytes]
        if check:
            at = HEAD.size - 80 - 8
            assert crc32c(data[:at] + bytes(4) + data[at + 4:HEAD.size]) == crc, 'crc of the head'
            assert crc32c(index) == index_crc and crc32c(text) == text_crc
        self.text, self.devices = {}, []
        for line in text.decode(errors='replace').splitlines():
            key, value = line.split(' ', 1)
            if key == 'device':
                self.devices.append(value.split(' ', 2)[2])
            else:
                self.text.setdefault(key, []).append(value)
        assert len(self.devices) == n_devices
        self.rows = []
        for i in range(n_chunks):
            self._chunk(data, CHUNK.unpack_from(index, i * CHUNK.size), check)
        assert len(self.rows) == self.n

    def _chunk(self, data, chunk, check):
        off, first_ns, last_ns, n, flags, crc, _ = chunk
        end = off + 24 * n
        response, pid = None, None
        if flags & 1:
            response = array.array('Q', data[end:end + 8 * n])
            end += 8 * n
        if flags & 2:
            pid = array.array('I', data[end:end + 4 * n])
            end += 4 * n
        if check:
            assert crc32c(data[off:end]) == crc, 'crc of a chunk'
        for k, r in enumerate(IO.iter_unpack(data[off:off + 24 * n])):
            start, place, size, dev, op, f = r
            if f & 1:
                size *= 512
            rt = response[k] if response and response[k] != NONE else None
            self.rows.append((start, place, size, self.devices[dev], OPS[op], f, rt, pid[k] if pid else 0))
        assert self.rows[-n][0] == first_ns and self.rows[-1][0] == last_ns


if __name__ == '__main__':
    import sys
    for row in Capture(sys.argv[1]).rows:
        print(*row)
