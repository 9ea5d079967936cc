#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""qmp.py SOCKET COMMAND [ARGUMENTS-AS-JSON]: one command to qemu or qemu-storage-daemon; prints its answer, exit 1 on an error."""
import json
import socket
import sys


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    request = {"execute": sys.argv[2]}
    if len(sys.argv) == 4:
        request["arguments"] = json.loads(sys.argv[3])
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(10)
        s.connect(sys.argv[1])
        stream = s.makefile("rw")
        json.loads(stream.readline())  # the greeting
        for command in ({"execute": "qmp_capabilities"}, request):
            stream.write(json.dumps(command) + "\n")
            stream.flush()
            answer = {}
            while "return" not in answer and "error" not in answer:  # events may come between
                answer = json.loads(stream.readline())
            if "error" in answer:
                sys.exit("qmp: %s: %s" % (command["execute"], answer["error"]["desc"]))
    print(json.dumps(answer["return"]))


main()
