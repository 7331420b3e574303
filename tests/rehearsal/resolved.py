"""``python -m tests.rehearsal.resolved MODULE ARGUMENTS``: run a module for which hosts of .example are this machine.

So a server on loopback is crawled as a foreign host is: with delays, robots.txt and a contact. A host whose name begins
with ``nowhere`` is looked up for ever. To import this module has the same effect; do it before all others.
"""

import runpy
import socket
import sys
import time

LOOPBACK = "127.0.0.1"


def patch(name):
    ask = getattr(socket, name)

    def looked_up(host, *args, **kwargs):
        text = host.decode() if isinstance(host, bytes) else host
        if isinstance(text, str) and text.endswith(".example"):
            if text.startswith("nowhere"):
                sys.stderr.write("looking up\n")
                sys.stderr.flush()
                time.sleep(600)
            host = LOOPBACK
        return ask(host, *args, **kwargs)

    setattr(socket, name, looked_up)


for function in ("getaddrinfo", "gethostbyname"):
    patch(function)

if __name__ == "__main__":
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
