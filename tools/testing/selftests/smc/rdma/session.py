# SPDX-License-Identifier: GPL-2.0
"""How the drivers of the two machines communicate: lines of JSON over plain TCP, on a link of their
own. Each case gets one more connection, which its roles inherit as their control channel."""
import json
import select
import socket
import time

from lib.slow import slow

PORT, CASE_PORT = 7000, 7001


class PeerGone(Exception):
    """The other machine no longer answers."""


class Session:
    """Both sides take the same steps and synchronize in exchange()."""

    def __init__(self, is_server, links=1):
        """links: the number of links for the tests; the next one belongs to the drivers."""
        self.is_server, self.rest, self.inbox = is_server, b"", []
        self.server = f"10.0.{links}.1"
        if is_server:
            self.listeners = [self.listen(PORT), self.listen(CASE_PORT)]
            self.sock = self.listeners[0].accept()[0]
        else:
            self.sock = self.connect(PORT, time.monotonic() + slow(60))

    def await_client(self):
        """The other machine has died; waits for its replacement to connect."""
        self.sock.close()
        self.rest, self.inbox = b"", []
        if not select.select([self.listeners[0]], [], [], slow(120))[0]:
            raise PeerGone("the other machine did not come back")
        self.sock = self.listeners[0].accept()[0]

    def listen(self, port):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((self.server, port))
        sock.listen(16)
        return sock

    def connect(self, port, until):
        """Retries for a while: the other machine may still be booting."""
        while True:
            sock = socket.socket()
            sock.settimeout(slow(2))
            try:
                sock.connect((self.server, port))
                sock.settimeout(None)
                return sock
            except OSError:
                sock.close()
                if time.monotonic() > until:
                    raise PeerGone("the other machine does not answer") from None
                time.sleep(0.1)

    def case_connection(self):
        """Returns the control channel of one case."""
        sock = self.listeners[1].accept()[0] if self.is_server else \
            self.connect(CASE_PORT, time.monotonic() + slow(20))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def send(self, message):
        try:
            self.sock.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise PeerGone(str(error)) from error

    def fileno(self):
        return self.sock.fileno()

    def read_more(self):
        data = self.sock.recv(65536)
        if not data:
            raise PeerGone("the other machine's driver has ended")
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        self.inbox += [json.loads(line) for line in lines]

    def receive(self, timeout=slow(120)):
        until = time.monotonic() + timeout
        while not self.inbox:
            if not select.select([self.sock], [], [], max(0, until - time.monotonic()))[0]:
                raise PeerGone(f"no message from the other machine for {timeout} s")
            self.read_more()
        return self.inbox.pop(0)

    def exchange(self, message, timeout=slow(120)):
        self.send(message)
        return self.receive(timeout)
