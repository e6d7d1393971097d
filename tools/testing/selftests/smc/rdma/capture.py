# SPDX-License-Identifier: GPL-2.0
"""An independent check: tshark decodes the packets of the cases named `capture`, and the result is
compared with what the tools of both machines showed while the connections were open."""
import json
import re
import shutil
import subprocess

from lib.smc_netlink import gid

SERVER, CLIENT = 1, 2
CLC = {"1": "Proposal", "2": "Accept", "3": "Confirm", "4": "Decline"}
SIDES = {"Accept": SERVER, "Confirm": CLIENT}
# The names that tshark gives to the same field of the two messages.
FIELDS = {
    "Accept": {"qp": "accept.server.qp.number", "token": "accept.server.rmb.element.alert.token",
               "size": "accept.rmb.buffer.size", "eid": "accept.eid",
               "host": "accept.peer.host.name", "gid": "accept.server.preferred.gid"},
    "Confirm": {"qp": "confirm.client.qp.number", "token": "client.rmb.element.alert.token",
                "size": "confirm.rmb.buffer.size", "eid": "confirm.eid",
                "host": "confirm.peer.host.name", "gid": "client.gid"},
}
# v2 LLC messages as Linux 6.12 sends them: a dot stands for a value, 0 for a reserved field.
BYTE = "[0-9a-f]{2}"
LENGTH = "(?:2c00|002c)"	# in the byte order of the machine
ADD_LINK = f"(?:{BYTE}){{6}}0000(?:{BYTE}){{24}}(?:00){{8}}"
ADD_LINK_V2 = f"[08]000(?:{BYTE}){{16}}(?:00){{8}}"	# followed by the number of RTokens
LLC_V2 = {
    "21": ("CONFIRM LINK", f"21{LENGTH}[08]3(?:{BYTE}){{32}}(?:00){{8}}"),
    # Ours says why it refuses a link, and an offer of no link has no RTokens.
    "22": ("ADD LINK", f"22(?:(?:{LENGTH}(?:80|c[01])|(?:5800|0058)[04]0){ADD_LINK}"
           f"(?:{ADD_LINK_V2}(?:0100|0001)(?:{BYTE}){{16}})?|"
           f"(?:4800|0048)00{ADD_LINK}{ADD_LINK_V2}0000)"),
    "26": ("CONFIRM RKEY", f"26{LENGTH}[08]0{BYTE}00(?:{BYTE}){{12}}(?:00){{26}}"),
    "29": ("DELETE RKEY", f"29{LENGTH}[08]0(?:{BYTE}){{2}}0000(?:{BYTE}){{4}}(?:00){{32}}"),
    "24": ("DELETE LINK", f"24{LENGTH}(?:{BYTE}){{6}}(?:00){{35}}"),
    "27": ("TEST LINK", f"27{LENGTH}(?:{BYTE}){{17}}(?:00){{24}}"),
}
CURSOR = "smc.rmbe.ctrl.peer.prod.curs"
SENT = 20001			# bytes of the first connection, in each direction


def tshark(path, display_filter):
    text = subprocess.run(["tshark", "-r", path, "-Y", display_filter, "-T", "json", "-x"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    return [packet["_source"]["layers"] for packet in json.loads(text or b"[]")]


def flatten(tree, out=None):
    """Collects the fields without their nesting. Omits the hexadecimal copies that -x adds."""
    out = {} if out is None else out
    for name, value in tree.items():
        if isinstance(value, dict):
            flatten(value, out)
        elif isinstance(value, str):
            out.setdefault(name, value)
    return out


def payload_of(layers):
    """Returns the payload of a RoCE packet: behind UDP and BTH, before the checksum."""
    frame = bytes.fromhex(layers["frame_raw"][0])
    udp = frame.find(b"\x12\xb7", 34)		# destination port 4791
    return frame[udp + 6 + 12:-4]


def is_v2_llc(layers):
    """Is the LLC type 0x21 or higher? tshark 4.0 does not know these."""
    return 0x21 <= (payload_of(layers) or b"\0")[0] <= 0x2f


def check_llc(path):
    """Compares every v2 LLC message with those of Linux 6.12. Returns '' or what is wrong."""
    sends = tshark(path, "infiniband.bth.opcode == 4")
    messages = [payload_of(layers).hex() for layers in sends if is_v2_llc(layers)]
    for message in messages:
        name, shape = LLC_V2.get(message[:2], ("unknown", "$^"))
        if not re.fullmatch(shape, message):
            return f"{name}: {message}"
    seen = {LLC_V2[message[:2]][0] for message in messages}
    missing = {"CONFIRM LINK"} - seen
    return f"the capture has no {', '.join(sorted(missing))}" if missing else ""


def connections(path):
    """Returns the CLC messages of each connection, in the order of the connections."""
    found = {}
    for layers in tshark(path, "smc.clc_msg"):
        fields = flatten(layers)
        ports = sorted((fields["tcp.srcport"], fields["tcp.dstport"]))
        kind = CLC.get(fields["smc.clc_msg"], "?")
        message = {key: fields.get(f"smc.{name}") for key, name in FIELDS.get(kind, {}).items()}
        found.setdefault(tuple(ports), {})[kind] = message | {
            "source_port": int(fields["tcp.srcport"])}
    return list(found.values())


def differences(kind, message, here, there):
    """Returns the differences between a message and what the tools show on both machines."""
    mine, peer = (next((s for s in state["sockets"] if "connection" in s and "smcr" in s and
                        s[end]["port"] == message["source_port"]), None)
                  for state, end in ((here, "local"), (there, "peer")))
    if not mine or not peer:
        return [f"{kind}: smcss shows no SMC-R socket with port {message['source_port']}"]
    size = 16384 << int(message["size"])
    pairs = [("element size at this end", size, mine["connection"]["rcvbuf"]),
             ("element size at the peer", size, peer["connection"]["peerbuf"]),
             ("alert token", int(message["token"], 16), int(mine["connection"]["token"], 16)),
             ("GID at this end", gid(message["gid"]), gid(mine["smcr"]["gid"])),
             ("GID at the peer", gid(message["gid"]), gid(peer["smcr"]["peer_gid"]))]
    qps = [q["lqpn"] for q in here["qps"]]
    if int(message["qp"], 16) not in qps:
        pairs.append(("queue pair", int(message["qp"], 16), qps))
    for side, state in (("at this end", here), ("at the peer", there)):
        groups = [g for g in state["groups"] or [] if g.get("conns")]
        if groups and message["eid"]:
            common = groups[0]["v2_common"]
            pairs.append((f"EID {side}", message["eid"].strip(), common["eid"].strip()))
            if state is there and message["host"]:
                pairs.append(("host name", message["host"].strip(),
                              common["peer_host"].strip()))
    return [f"{kind}: {what}: {wire} in the packet, {tool} in the tools"
            for what, wire, tool in pairs if wire != tool]


def check_cdc(path, conns):
    """Returns '' or what is wrong with the CDC messages."""
    cdcs = [flatten(layers) for layers in tshark(path, "smc.rmbe.ctrl.alert.token")]
    known = {int(c[k]["token"], 16) for c in conns for k in SIDES if c[k].get("token")}
    tokens = {int(c["smc.rmbe.ctrl.alert.token"], 0) for c in cdcs}
    if not cdcs or not tokens <= known:
        return f"{len(cdcs)} CDC messages with alert tokens {tokens}, but CLC negotiated {known}"
    cursors = {int(c[CURSOR], 0) for c in cdcs}
    if SENT not in cursors:
        return f"no producer cursor is {SENT}: {sorted(cursors)}"
    return ""


def check_v1_llc(path):
    """tshark knows version 1 LLC messages: at least CONFIRM LINK must be in the capture."""
    kinds = {flatten(layers)["smc.llc_msg"] for layers in tshark(path, "smc.llc_msg")}
    return "" if "1" in {str(int(kind, 0)) for kind in kinds} else f"LLC messages {sorted(kinds)}"


def judge(directory, name):
    """Yields (what, '' or what is wrong)."""
    path = f"{directory}/2/results/{name}.pcap"
    v1 = name.endswith("v1")
    tools = {}
    for index in (SERVER, CLIENT):
        with open(f"{directory}/{index}/results/{name}.json", encoding="ascii") as file:
            tools[index] = json.load(file)
    malformed = [layers for layers in tshark(path, "_ws.malformed")
                 if v1 or not is_v2_llc(layers)]
    yield "tshark finds no malformed packet", ", ".join(
        f"frame {layers['frame']['frame.number']}" for layers in malformed)
    conns = connections(path)
    wrong = [sorted(c) for c in conns if sorted(c) != ["Accept", "Confirm", "Proposal"]]
    if len(conns) != 2 or wrong:
        yield ("the capture has two handshakes",
               f"{len(conns)} handshakes, of which {wrong} are incomplete")
        return
    yield "the capture has two handshakes", ""
    for kind, side in SIDES.items():
        said = [d for c in conns for d in differences(kind, c[kind], tools[side], tools[3 - side])]
        yield f"the values of {kind} are those that the tools show", "; ".join(said)
    if v1:
        yield "LLC messages have the format of version 1", check_v1_llc(path)
    else:
        yield "LLC messages of version 2 have the format of the kernel's own", check_llc(path)
    yield "CDC messages have the tokens and cursors of these connections", check_cdc(path, conns)


def report(directory, name, prefix):
    """Prints TAP without numbers; (tests, failures)."""
    if not shutil.which("tshark"):
        print(f"ok - {prefix}: packets # SKIP tshark is not installed", flush=True)
        return 1, 0
    total = failed = 0
    try:
        for what, problem in judge(directory, name):
            total += 1
            failed += bool(problem)
            if problem:
                print(f"# {problem}")
            print(f"{'not ok' if problem else 'ok'} - {prefix}: {what}", flush=True)
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        print(f"# {type(error).__name__}: {error}")
        print(f"not ok - {prefix}: tshark reads the capture", flush=True)
        return total + 1, failed + 1
    return total, failed
