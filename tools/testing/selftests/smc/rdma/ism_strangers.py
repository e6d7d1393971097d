# SPDX-License-Identifier: GPL-2.0
"""A stranger that knows the GID of a participant, from a Proposal that it has received, and sends
Proposals in its name. It cannot write to any memory, so it must not use up memory for long."""
import contextlib
import socket
import struct
import time

from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import remains
from ism_model import ACCEPT, HOST, PORT, RAW_PORT, clc_message, smc_socket

SO_RCVBUFFORCE = 33
STRANGERS = 24
ELEMENT = 1 << 20	# 24 of them are more than a machine has in a region of 256 MiB with 16 slots
SOON = slow(20)		# less than net.ipv4.tcp_fin_timeout, for which a server waits for a client


def proposal_of_client(session, raw):
    session.exchange({"server": "listens"})
    with raw.accept()[0] as to_client:
        proposal = clc_message(to_client)
    return proposal


def is_accepted(stranger, proposal):
    stranger.sendall(proposal)
    return clc_message(stranger).startswith(ACCEPT)


def propose(proposal, listener, stack):
    """Returns how many Proposals of a stranger are accepted. Nothing follows them."""
    accepted = 0
    for _ in range(STRANGERS):
        stranger = stack.enter_context(smc_socket(raw=True))
        stranger.connect((HOST, PORT))
        stack.enter_context(listener.accept()[0])
        accepted += is_accepted(stranger, proposal)
        # The end is a reset: after a FIN it would be clear that no Confirm is under way.
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return accepted


def strangers(machine, session, most=STRANGERS):
    """most: how many Proposals may be accepted, so that there is memory for other peers."""
    if not machine.is_server:
        session.exchange({"client": "begins"})
        with smc_socket() as sock:
            sock.connect((HOST, RAW_PORT))
        session.exchange({"client": "ends"})
        return ""
    with smc_socket(raw=True) as raw, smc_socket() as listener:
        for sock, port in ((raw, RAW_PORT), (listener, PORT)):
            sock.bind((HOST, port))
            sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ELEMENT)
            sock.listen(STRANGERS)
        proposal = proposal_of_client(session, raw)
        with contextlib.ExitStack() as stack:
            accepted = propose(proposal, listener, stack)
        began = time.monotonic()
        left = remains(lambda: sum(g["conns"] for g in netlink.ism_link_groups()), SOON)
        session.exchange({"server": "ends"})
    print(f"# {accepted} of {STRANGERS} strangers were accepted; their memory was free after "
          f"{time.monotonic() - began:.1f} s", flush=True)
    if not 0 < accepted <= most:
        return f"{accepted} of {STRANGERS} strangers were accepted"
    return f"{left} elements are still kept for strangers" if left else ""
