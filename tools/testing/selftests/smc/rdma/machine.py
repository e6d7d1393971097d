# SPDX-License-Identifier: GPL-2.0
"""One machine of the pair: its module, its RDMA device, its EIDs, its addresses, its log."""
import glob
import json
import os
import subprocess
import tempfile
import time

from lib import smc_netlink as netlink
from lib.slow import slow
from lib.wait import holds, remains

EID = "SMC-TEST-PAIR"
PNETID = "TWOLINKS"
LISTEN_STATE = 10
V4 = {1: "10.0.0.1", 2: "10.0.0.2"}
V6 = {1: "fd00::1", 2: "fd00::2"}
# With a router between the machines, the second machine is behind veth0.
ROUTED_V4 = {1: "10.0.0.1", 2: "10.9.0.2"}
# Through a tunnel; no module looks for a device below it.
TUNNEL_V4 = {1: "10.7.0.1", 2: "10.7.0.2"}
ROUTED_V6 = {1: "fd00::1", 2: "fd09::2"}
# On a device above eth0.
UPPER_V4 = {1: "10.5.0.1", 2: "10.5.0.2"}
UPPER = {
    "vlan": "ip link add link eth0 name up0 type vlan id 5",
    "bridge": "ip link add up0 type bridge; ip link set eth0 master up0",
    "macvlan": "ip link add link eth0 name up0 type macvlan mode bridge",
    "ipvlan": "ip link add link eth0 name up0 type ipvlan mode l2",
}


def run(command, check=True):
    """Runs one or more shell commands and returns their output."""
    done = subprocess.run(["/bin/sh", "-ec", command], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    if check and done.returncode:
        raise RuntimeError(f"{command.strip()}: {done.stdout.strip()}")
    return done.stdout


class Log:
    """The kernel log, judged piece by piece."""

    def __init__(self):
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.fd, 0, os.SEEK_END)

    def new_lines(self):
        lines = []
        while True:
            try:
                record = os.read(self.fd, 8192).decode(errors="replace")
            except BlockingIOError:
                return lines
            except BrokenPipeError:	# overwritten before we read it
                continue
            head, _, text = record.partition(";")
            lines.append(f"[{int(head.split(',')[2]) / 1e6:12.6f}] " + text.split("\n")[0])

    @staticmethod
    def judge(lines):
        """Returns what vm/judge-log, which judges all guests, finds in these lines."""
        if not lines:
            return []
        with tempfile.NamedTemporaryFile("w", suffix=".log") as file:
            file.write("\n".join(lines) + "\n")
            file.flush()
            return run(f"{os.environ['SMC_ROOT']}/tools/testing/vm/judge-log {file.name}",
                       check=False).splitlines()


class Machine:
    """A machine and what a case may change on it; the case has to undo its changes."""
    mode = "smcr"	# how connections are carried

    def __init__(self, index, modules, mtu, links=1):
        """links: this many network devices have an RDMA device each; if several, they share one
        PNETID."""
        self.index, self.modules, self.mtu = index, modules, mtu
        self.devices = {f"rxe{n}": f"eth{n}" for n in range(links)}
        self.module = modules[index - 1]
        self.is_server = index == 1
        self.routed = self.tunnelled = self.above = self.device_failed = self.met = False
        self.network = 0	# of several networks, the one with the addresses under test
        self.log = Log()
        self.load()
        run(f"ip -6 addr add {V6[index]}/64 dev eth0 nodad")
        self.equip()
        netlink.add_ueid(EID)

    def equip(self):
        """Sets up the devices that connections use."""
        if len(self.devices) > 1:
            run(f"$SMC_ROOT/tools/testing/vm/plug {' '.join(self.devices.values())}")
            for device, netdev in self.devices.items():
                netlink.pnet_add(PNETID, netdev=netdev)
                netlink.pnet_add(PNETID, device=device)
        for device, netdev in self.devices.items():
            self.rdma(netdev, device)

    def load(self):
        if self.module == "kernel":
            os.environ["SMC_STRICT_PARAMS"] = "lenient=1"
            run("modprobe smc; modprobe smc_diag")
        else:
            run("modprobe -a ib_core inet_diag tcp_diag udp_tunnel; insmod $SMC_KO $SMC_PARAMS;"
                "insmod $SMC_DIAG_KO")

    @staticmethod
    def unload():
        """Unloads the modules. A handshake can delay this, at most until its timeout."""
        if remains(lambda: "Module smc is in use" in run(
                "rmmod smc_diag 2> /dev/null || true; rmmod smc || true"), pause=0.5):
            raise RuntimeError("smc.ko cannot be unloaded: it is in use")
        left = run("grep -i '^smc' /proc/slabinfo /proc/modules || true")
        if left:
            raise RuntimeError(f"smc.ko has left {left}")

    def swap(self, module):
        """Replaces the loaded module; both machines do so."""
        self.no_rdma()
        self.unload()
        self.modules, self.module = (module, module), module
        self.load()
        self.rdma("eth0")
        netlink.add_ueid(EID)

    # ---- RDMA devices

    @staticmethod
    def rdma(netdev, name="rxe0"):
        run(f"$SMC_ROOT/tools/testing/vm/rxe {netdev} {name}")

    @staticmethod
    def no_rdma(name="rxe0"):
        run(f"rdma link delete {name}")

    def port_is_up(self, seconds=slow(10)):
        """Waits until rxe0 is active, with a GID for the address of eth0."""
        wanted = "0000:0000:0000:0000:0000:ffff:0a00:%04x" % self.index
        if not holds(lambda: "ACTIVE" in run("cat /sys/class/infiniband/rxe0/ports/1/state") and
                     wanted in run("cat /sys/class/infiniband/rxe0/ports/1/gids/* 2> /dev/null",
                                   check=False), seconds, 0.1):
            raise RuntimeError("rxe0 did not come back")

    def fresh(self):
        """Removes all link groups, by removing all devices at once (a group survives the loss of
        one) and adding them again."""
        for device in self.devices:
            self.no_rdma(device)
        for device, netdev in self.devices.items():
            self.rdma(netdev, device)

    # ---- addresses

    def address(self, v6=False, peer=False):
        index = 3 - self.index if peer else self.index
        if self.tunnelled:
            return TUNNEL_V4[index]
        if self.above:
            return UPPER_V4[index]
        if self.routed:
            return (ROUTED_V6 if v6 else ROUTED_V4)[index]
        if self.network:
            return f"10.0.{self.network}.{index}"
        return (V6 if v6 else V4)[index]

    def route(self):
        """Puts a router, a namespace of the second machine, between the two machines. The second
        machine's device is behind the router and has a different MTU."""
        self.no_rdma()
        if self.is_server:
            run("ip route add 10.9.0.0/24 via 10.0.0.2; ip -6 route add fd09::/64 via fd00::2")
            self.rdma("eth0")
        else:
            run("""ip netns add router
                ip link add veth0 type veth peer name veth1 netns router
                ip link set eth0 netns router
                ip -n router link set lo up
                ip -n router addr add 10.0.0.2/24 dev eth0
                ip -n router -6 addr add fd00::2/64 dev eth0 nodad
                ip -n router link set eth0 up
                ip -n router addr add 10.9.0.1/24 dev veth1
                ip -n router -6 addr add fd09::1/64 dev veth1 nodad
                ip -n router link set veth1 up mtu 9000
                ip netns exec router sysctl -qw net.ipv4.ip_forward=1 \
                    net.ipv6.conf.all.forwarding=1
                ip link set veth0 up mtu 9000
                ip addr add 10.9.0.2/24 dev veth0
                ip -6 addr add fd09::2/64 dev veth0 nodad
                ip route add 10.0.0.0/24 via 10.9.0.1
                ip -6 route add fd00::/64 via fd09::1""")
            self.rdma("veth0")
        self.routed = True

    def tunnel(self):
        """Adds a tunnel between the two machines, with addresses at its ends."""
        run(f"""modprobe ip_gre
            ip link add tun0 type gre local {V4[self.index]} remote {V4[3 - self.index]}
            ip addr add {TUNNEL_V4[self.index]}/24 dev tun0
            ip link set tun0 up""")
        self.tunnelled = True

    def untunnel(self):
        run("ip link del tun0")
        self.tunnelled = False

    def upper(self, kind, virtual=False):
        """Adds a device above eth0. Its address is on it or, if virtual, on lo, where no RDMA
        device has it."""
        own, other = UPPER_V4[self.index], UPPER_V4[3 - self.index]
        run(f"{UPPER[kind]}; ip link set up0 up; " + (
            f"ip addr add {own}/32 dev lo; ip route add {other} dev up0 src {own}" if virtual else
            f"ip addr add {own}/24 dev up0"))
        self.above = True

    def no_upper(self):
        run(f"ip link del up0; ip addr del {UPPER_V4[self.index]}/32 dev lo 2> /dev/null || true")
        self.above = False

    def unroute(self):
        self.no_rdma()
        if self.is_server:
            run("ip route del 10.9.0.0/24; ip -6 route del fd09::/64")
        else:
            run(f"""ip link del veth0
                ip -n router link set eth0 netns 1
                ip netns del router
                ip link set eth0 up mtu {self.mtu}
                ip addr add 10.0.0.2/24 dev eth0
                ip -6 addr add fd00::2/64 dev eth0 nodad""")
        self.rdma("eth0")
        self.routed = False

    # ---- settings

    @staticmethod
    def sysctl(name, value=None):
        path = "/proc/sys/" + name.replace(".", "/")
        if value is None:
            with open(path, encoding="ascii") as file:
                return file.read().strip()
        with open(path, "w", encoding="ascii") as file:
            file.write(f"{value}\n")
        return None

    @staticmethod
    def eid(eid=EID):
        """Sets the only user EID; by default, the usual one."""
        netlink.flush_ueid()
        netlink.add_ueid(eid)

    # ---- state

    @staticmethod
    def link_groups():
        """Returns the link groups over RDMA."""
        return netlink.link_groups()

    @staticmethod
    def links():
        """Returns the links of all link groups."""
        return netlink.links()

    @staticmethod
    def queue_pairs():
        """Returns the RC queue pairs of kernel modules: one for each link."""
        return [q for q in json.loads(run("rdma -j res show qp") or "[]") if q["type"] == "RC"]

    @staticmethod
    def counters():
        """Returns the counters of the RDMA device and of the netdev below it that are not 0."""
        found = {}
        for pattern in ("/sys/class/infiniband/*/ports/1/hw_counters/*",
                        "/sys/class/net/eth0/statistics/*_dropped",
                        "/sys/class/net/eth0/statistics/*_errors"):
            for path in glob.glob(pattern):
                with open(path, encoding="ascii") as file:
                    value = file.read().strip()
                if value.isdigit() and int(value) and "lifespan" not in path:
                    found[os.path.basename(path)] = int(value)
        return found

    def left_behind(self, seconds=slow(15)):
        """Waits until nothing of a finished case is left; returns what remains in the end."""
        def left():
            socks = [s for s in netlink.sockets() if s["state"] != LISTEN_STATE]
            conns = sum(g.get("conns", 0) for g in self.link_groups())
            if not conns and not socks:
                return ""
            return f"{conns} connections in link groups, sockets {socks[:3]}"

        return remains(left, seconds, 0.2)

    @staticmethod
    def say_verdict(good):
        """Tells the runner a verdict early: this one, if the log is clean."""
        bad = Log.judge(run("busybox dmesg").splitlines())
        with open(os.environ["SMC_VERDICT"], "w", encoding="ascii") as port:
            port.write("fail: the kernel complained\n" if bad else f"{good}\n")

    def power_off(self):
        """Reports the verdict first, because afterwards the machine cannot."""
        self.say_verdict("pass")
        # No orderly shutdown: the modules would tell the peer. The guest ends on a reboot.
        with open("/proc/sysrq-trigger", "w", encoding="ascii") as trigger:
            trigger.write("b")
        time.sleep(slow(60))

    PAUSE = 13	# seconds, after which the other machine considers this one dead

    def pause(self):
        """The runner stops this machine for a while. Returns when the other machine has had time to
        see that it goes on."""
        before = time.monotonic()
        with open(os.environ["SMC_VERDICT"], "w", encoding="ascii") as port:
            port.write(f"pause {self.PAUSE}\n")
        if not holds(lambda: time.monotonic() - before > self.PAUSE - 1, slow(60)):
            raise AssertionError("the machine was not paused")
        time.sleep(slow(2))

    def begin_again(self, peer=""):
        """The runner kills this machine, whatever it does, and starts another one instead."""
        self.say_verdict(f"again {peer}".rstrip())
        time.sleep(slow(60))
