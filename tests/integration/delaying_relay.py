"""A TCP relay that holds every byte back for a set time.

  tests/integration/delaying_relay.py LISTEN_PORT HOST:PORT SECONDS

It stands for the length of a wire. Each connection is passed on to HOST:PORT,
both ways, and bandwidth is that of the links around it.
"""

from __future__ import annotations

import queue
import socket
import sys
import threading
import time


def pass_on(source: socket.socket, target: socket.socket,
            seconds: float) -> None:
    waiting: queue.SimpleQueue = queue.SimpleQueue()

    def send() -> None:
        while True:
            due, data = waiting.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                target.sendall(data)
            except OSError:
                return

    threading.Thread(target=send, daemon=True).start()
    while True:
        try:
            data = source.recv(1 << 18)
        except OSError:
            data = b""
        waiting.put((time.monotonic() + seconds, data))
        if not data:
            return


def serve(port: int, target: str, seconds: float) -> None:
    host, _, number = target.rpartition(":")
    listener = socket.create_server(("", port))
    while True:
        caller, _ = listener.accept()
        try:
            callee = socket.create_connection((host, int(number)))
        except OSError:
            caller.close()  # the caller tries again
            continue
        for ends in ((caller, callee), (callee, caller)):
            ends[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=pass_on, args=(*ends, seconds),
                             daemon=True).start()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
