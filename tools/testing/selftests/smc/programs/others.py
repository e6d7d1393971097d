# SPDX-License-Identifier: GPL-2.0
"""File servers, names, tunnels, debuggers, and libraries that talk."""
import os
import re

from lib.slow import slow
from program import HERE, LOOPBACK, PATIENCE, run
from services import both_ends, digest, pattern, service
from web import certificate

LARGE = pattern(4 << 20)
LIMIT = ("-t", PATIENCE)	# how long socat waits for the rest after the end of its input


def tree(play, name):
    """Makes a directory with files of many sizes."""
    for n in range(60):
        play.file(f"{name}/{n % 7}/file{n}", LARGE[n:n + n * n * 40])
    play.file(f"{name}/large", LARGE)
    return play.path(name)


def seen(listing):
    """Returns a listing without what differs in each run."""
    return re.sub(r"\d\d:\d\d(:\d\d)?", "", listing)


@service("rsync", "rsync", "rsync", 8730, "a daemon: files are fetched, sent, and sent after changes")
def rsync(play):
    files, back = tree(play, "files"), play.path("back")
    os.mkdir(back)
    os.mkdir(play.path("got"))
    conf = play.file("rsyncd.conf", f"use chroot = no\nuid = root\ngid = root\nread only = no\n"
                     f"address = {LOOPBACK}\nlock file = {play.path('lock')}\n[files]\n"
                     f"path = {files}\n[back]\npath = {back}\n")
    url = f"rsync://{play.at}"
    with play.server("rsync", "--daemon", "--no-detach", f"--config={conf}", f"--port={play.port}"):
        output = play.client("rsync", "-ric", f"{url}/files/", play.path("got"))
        output += play.client("rsync", "-ric", f"{play.path('got')}/", f"{url}/back/")
        with open(f"{files}/large", "r+b") as file:
            file.seek(1 << 20)
            file.write(b"changed")
        output += play.client("rsync", "-ric", "--no-whole-file", f"{files}/", f"{url}/back/")
        for name in ("", "files", "back"):
            output += seen(play.client("rsync", f"{url}/{name}"))
    return "\n".join((output, digest(play.path("got")), digest(back)))


@service("vsftpd", "vsftpd", "vsftpd lftp curl", 2121,
         "lftp mirrors a directory and back, with parallel connections; curl, active and passive")
def vsftpd(play):
    tree(play, "root/files")
    run("install", "-d", "-m", "777", play.path("root/sent"))
    run("mkdir", play.path("empty"))
    conf = play.file("vsftpd.conf", f"""
listen=YES
listen_address={LOOPBACK}
listen_port={play.port}
background=NO
anonymous_enable=YES
anon_root={play.path('root')}
write_enable=YES
anon_upload_enable=YES
anon_mkdir_write_enable=YES
anon_umask=022
secure_chroot_dir={play.path('empty')}
seccomp_sandbox=NO
connect_from_port_20=NO
ftp_data_port=2120
xferlog_enable=NO
""")
    url = f"ftp://{play.at}"
    quiet = "set net:timeout 600; set cmd:interactive no; set ftp:ssl-allow no; "
    with play.server("vsftpd", conf):
        play.client("lftp", "-c", f"{quiet} open {url}; mirror -P 4 files {play.path('got')}; "
                    f"mirror -R {play.path('got')} sent/files")
        output = "".join(play.client("curl", "-sS", *how, f"{url}/files/3/file38", "-o",
                                     play.path(name), "-w", "%{num_connects} %{size_download}\n")
                         for name, how in (("passive", ()), ("active", ("-P", LOOPBACK))))
        output += play.client("curl", "-sS", "-l", f"{url}/files/")
    return output + "\n".join(digest(play.path(name)) for name in
                              ("got", "root/sent", "passive", "active"))


@service("Samba", "samba", "smbd smbclient", 4450, "smbclient writes files, reads them, lists them")
def samba(play):
    files, share = tree(play, "files"), play.path("share")
    run("install", "-d", "-m", "777", share)
    for name in ("private", "lock", "state", "cache", "run", "ncalrpc"):
        os.mkdir(play.path(name))
    conf = play.file("smb.conf", f"""
[global]
smb ports = {play.port}
interfaces = lo
bind interfaces only = yes
private dir = {play.path('private')}
lock directory = {play.path('lock')}
state directory = {play.path('state')}
cache directory = {play.path('cache')}
pid directory = {play.path('run')}
ncalrpc dir = {play.path('ncalrpc')}
log file = {play.path('log')}
map to guest = Bad User
guest account = root
disable spoolss = yes
load printers = no
server role = standalone server
[share]
path = {share}
guest ok = yes
read only = no
""")
    client = ("smbclient", "-s", conf, "-N", "-p", play.port, f"//{LOOPBACK}/share", "-c")
    # It ends all processes of its group.
    with play.server("smbd", "-F", "--no-process-group", "-s", conf, start_new_session=True):
        output = play.client(*client, f"prompt; recurse; lcd {files}; mput *")
        output += play.client(*client, f"get large {play.path('got')}; cd 3; del file3")
        output += play.client(*client, "recurse; allinfo large; cd 3; dir f*3*")
    output = re.sub(r"\([\d.]+ .*/s.*|\w{3} \w{3} +\d+ .* \d{4}|.*blocks available.*|"
                    r".*_time:.*", "", output).replace(play.directory, "")
    return "\n".join((output, digest(play.path("got")), digest(share)))


ZONE = """$TTL 60
@ IN SOA ns hostmaster 1 60 60 60 60
@ IN NS ns
ns IN A 127.0.0.1
""" + "".join(f"host{n} IN A 10.0.{n % 256}.1\nhost{n} IN TXT \"{'t' * 200}\"\n" for n in range(200))


@service("BIND", "bind9", "named dig", 5301,
         "over TCP: a zone transfer, queries on one and on many connections")
def bind(play):
    play.file("zone", ZONE)
    conf = play.file("named.conf", f"""
options {{
	directory "{play.directory}";
	pid-file none;
	session-keyfile none;
	listen-on port {play.port} {{ {LOOPBACK}; }};
	listen-on-v6 {{ none; }};
	recursion no;
	dnssec-validation no;
	allow-transfer {{ any; }};
}};
controls {{ }};
zone "test" {{ type primary; file "zone"; }};
""")
    queries = play.file("queries", "".join(f"host{n}.test TXT\n" for n in range(50)))
    dig = ("dig", "+tcp", "+noall", "+answer", "+timeout=120", f"@{LOOPBACK}", "-p", play.port)
    with play.server("named", "-g", "-n", 1, "-c", conf):
        output = play.client(*dig, "test", "AXFR")
        output += play.client(*dig, "+keepopen", "-f", queries)
        return output + play.client(*dig, "-f", queries)


@service("dnsmasq", "dnsmasq-base", "dnsmasq dig", 5302, "over TCP: queries on many connections")
def dnsmasq(play):
    hosts = play.file("hosts", "".join(f"10.1.0.{n} host{n}.test\n" for n in range(1, 51)))
    queries = play.file("queries", "".join(f"host{n}.test A\n" for n in range(1, 51)))
    with play.server("dnsmasq", "-k", "-C", "/dev/null", "-p", play.port, "-a", LOOPBACK,
                     "--bind-interfaces", "-R", "-h", "-H", hosts, "-u", "root", "-x",
                     play.path("pid")):
        return play.client("dig", "+tcp", "+noall", "+answer", "+timeout=120", f"@{LOOPBACK}",
                           "-p", play.port, "-f", queries)


def echoed(play, times=5):
    """Sends lines and 4 MiB through a server that returns them, with socat as the client."""
    output = "".join(play.client("socat", *LIMIT, "-", f"TCP:{play.at}", input=f"line {n}\n")
                     for n in range(times))
    play.client("socat", *LIMIT, f"OPEN:{play.file('large', LARGE)},rdonly!!CREATE:{play.path('got')}",
                f"TCP:{play.at}")
    return output + digest(play.path("got"))


@service("socat", "socat", "socat", 8201, "a server that forks returns lines and 4 MiB")
def socat(play):
    with play.server("socat", *LIMIT, f"TCP-LISTEN:{play.port},bind={LOOPBACK},fork,reuseaddr",
                     "EXEC:cat"):
        return echoed(play)


@service("ncat", "ncat", "ncat openssl", 8202, "a server that forks sends 4 MiB, also with TLS")
def ncat(play):
    """A server that returned the data would block itself: ncat writes to its child without looking
    for what the child has written."""
    key, cert = certificate(play)
    listen = ("ncat", "-l", "-k", LOOPBACK, play.port, "--sh-exec", f"cat {play.file('large', LARGE)}")
    output = ""
    for theirs, ours in (((), ()), (("--ssl", "--ssl-key", key, "--ssl-cert", cert), ("--ssl",))):
        with play.server(*listen, *theirs):
            for number in range(3):
                got = play.path(f"got{number}")
                output += play.client("sh", "-c", f"ncat --recv-only {' '.join(ours)} {LOOPBACK} "
                                      f"{play.port} > {got}")
                output += digest(got)
    return output


@service("stunnel", "stunnel4", "stunnel socat openssl", 8203,
         "a TLS tunnel between two instances: lines and 4 MiB go there and back")
def stunnel(play):
    key, cert = certificate(play)
    common = "foreground = yes\npid =\ndebug = 4\n[tunnel]\n"
    inner, echo = play.port + 1, play.port + 2
    near = play.file("near.conf", f"{common}client = yes\naccept = {play.at}\n"
                     f"connect = {LOOPBACK}:{inner}\n")
    far = play.file("far.conf", f"{common}accept = {LOOPBACK}:{inner}\nconnect = {LOOPBACK}:{echo}\n"
                    f"cert = {cert}\nkey = {key}\n")
    with play.server("socat", *LIMIT, f"TCP-LISTEN:{echo},bind={LOOPBACK},fork,reuseaddr",
                     "EXEC:cat", port=echo), \
            play.server("stunnel", far, port=inner), play.server("stunnel", near):
        return echoed(play)


@service("systemd", "systemd", "systemd-socket-activate socat", 8204,
         "systemd-socket-activate hands connections to cat")
def systemd(play):
    with play.server("systemd-socket-activate", "-l", play.at, "--inetd", "-a", "/bin/cat"):
        return echoed(play)


@service("sccache", "sccache", "sccache gcc", 8205,
         "Rust's tokio: a server compiles 20 files, and has them the second time")
def sccache(play):
    def command(*rest):
        return ("env", f"SCCACHE_SERVER_PORT={play.port}", f"SCCACHE_DIR={play.path('cache')}",
                "SCCACHE_IDLE_TIMEOUT=0", *rest)

    with play.server(*command("SCCACHE_START_SERVER=1", "SCCACHE_NO_DAEMON=1", "sccache")):
        for turn in ("built", "cached"):
            os.mkdir(play.path(turn))
            for n in range(20):
                source = play.file(f"{n}.c", f"int f{n}(void) {{ return {n}; }}")
                play.client(*command("sccache", "gcc", "-c", source, "-o",
                                     play.path(f"{turn}/{n}.o")))
        output = play.client(*command("sccache", "--show-stats"))
    return "\n".join((*re.findall("Cache (?:hits|misses) .*", output), digest(play.path("built")),
                      digest(play.path("cached"))))


@service("Erlang", "erlang-base", "erl", 8206, "gen_tcp: 20 processes send terms, and get them back")
def erlang(play):
    ebin = play.path("")
    play.client("erlc", "-o", ebin, f"{HERE}/samples/terms.erl")
    return both_ends(play, "erl", "-noinput", "-pa", ebin, "+S", "1", "-run", "terms")


@service("gRPC", "python3-grpcio", "/usr/lib/python3/dist-packages/grpc", 8207,
         "in Python: calls one by one, at the same time, and as a stream")
def grpc(play):
    return both_ends(play, "/usr/bin/python3", f"{HERE}/samples/rpc.py")


@service("OpenMPI", "openmpi-bin", "mpirun", 8208,
         "four processes with btl tcp pass messages of up to 4 MiB around")
def mpi(play):
    """Nothing listens on the port: each process has one of its own."""
    return play.client("mpirun", "--allow-run-as-root", "--oversubscribe", "-np", 4, "--mca",
                       "plm", "isolated", "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
                       "--mca", "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo",
                       "/usr/bin/python3", f"{HERE}/samples/ring.py", timeout=slow(300))


GDB = """set pagination off
set width 0
set max-value-size unlimited
target remote {at}
remote get {large} {got}
break fibonacci
continue
backtrace
print n
delete
set var n = 20
dump binary value {before} block
restore {block} binary &block
dump binary value {after} block
python import os; gdb.execute(f"set var debugger = {{os.getpid()}}")
continue
set var stopped = 1
continue
print $_exitcode
"""


@service("gdbserver", "gdbserver", "gdbserver gdb gcc", 8209,
         "gdb stops a program by a breakpoint and by Ctrl-C, uses its memory, fetches a file")
def gdbserver(play):
    """The program is static, and gdb removes the breakpoint before it continues: a single step makes
    gdbserver read debug registers, which User Mode Linux of 6.12 gets wrong."""
    program, files = play.path("debugged"), ("got", "before", "after")
    play.client("gcc", "-g", "-static", "-o", program, f"{HERE}/samples/debugged.c")
    script = play.file("script", GDB.format(
        at=play.at, large=play.file("large", LARGE), block=play.file("block", LARGE[:1 << 20]),
        **{name: play.path(name) for name in files}))
    with play.server("gdbserver", "--once", "--no-startup-with-shell", play.at, program):
        output = play.client("gdb", "-q", "-nx", "-batch", "-x", script, program)
    output = re.sub(r"0x[0-9a-f]+|process \d+", "", output).replace(play.directory, "")
    # Ctrl-C stops the program in kill() or later.
    output = re.sub(r"(?<=SIGINT, Interrupt\.\n).*?(?=\[Inferior)", "", output, flags=re.S)
    return "\n".join((output, *(digest(play.path(name)) for name in files)))
