#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note
"""A server that sends back what it gets, and a client that says over what.

   python3 echo.py 7000 &
   python3 echo.py 7000 127.0.0.1
"""
import socket
import struct
import sys

IPPROTO_SMC = 256
SOL_SMC, SMC_SOCK_INFO = 286, 0x100
MODES = ("undecided", "SMC-R", "TCP", "SMC-D")


def make_socket():
    """The module is loaded by this call. Without one, or where it is forbidden, TCP will do."""
    try:
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_SMC)
    except OSError:
        return socket.socket(socket.AF_INET, socket.SOCK_STREAM)


def mode(sock):
    """Only for those who are curious: a program need not know."""
    try:
        number, reason, *_ = struct.unpack("4I", sock.getsockopt(SOL_SMC, SMC_SOCK_INFO, 16))
    except OSError:
        return "TCP, without SMC in this kernel"
    return f"TCP, reason {reason:#010x}" if MODES[number] == "TCP" else MODES[number]


def serve(port):
    with make_socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen(16)
        print("listening", flush=True)
        while True:
            connection, _ = listener.accept()
            with connection:
                while data := connection.recv(4096):
                    connection.sendall(data)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: echo.py PORT [ADDRESS]")
    if len(sys.argv) == 2:
        serve(int(sys.argv[1]))
    with make_socket() as sock:
        sock.connect((sys.argv[2], int(sys.argv[1])))
        sock.sendall(b"hello")
        if sock.recv(5, socket.MSG_WAITALL) != b"hello":
            sys.exit("no echo")
        print(mode(sock))


if __name__ == "__main__":
    main()
