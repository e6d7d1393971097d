# SPDX-License-Identifier: GPL-2.0
"""The server and client programs of the acts of make demo."""
import os
import subprocess

from telling import fail, show

TOOLS = f"{os.environ['SMC_ROOT']}/build/tools"
SRV = "/tmp/srv"
PORT = {"SMC": 8080, "TCP": 8081}
# The prefix that a user would type in front of a program.
PREFIX = {"SMC": [f"{TOOLS}/smc_run"], "TCP": []}


def run(*argv, check=True):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        show(run(f"{TOOLS}/smcss", "-a", "-d", check=False).stdout)
        fail(f"{' '.join(argv)} did not end within five minutes")
    if check and done.returncode:
        show(done.stdout + done.stderr)
        fail(f"{' '.join(argv)} ended with status {done.returncode}")
    return done


def checksum_of(path):
    # sha256sum, since libcrypto's vector code is five times slower in emulation
    return run("sha256sum", path).stdout.split()[0]


def start_nginx(mode, address="127.0.0.1"):
    """Starts nginx, which returns when it listens."""
    directory = f"/tmp/nginx-{mode}"
    os.makedirs(directory)
    with open(f"{directory}/nginx.conf", "w", encoding="ascii") as conf:
        conf.write(f"""
user root;
worker_processes 1;
pid {directory}/pid;
error_log {directory}/error.log;
events {{ worker_connections 1024; }}
http {{
	access_log off;
	sendfile on;
	keepalive_requests 1000000;
	server {{ listen {address}:{PORT[mode]}; root {SRV}; }}
}}
""")
    run(*PREFIX[mode], "nginx", "-p", directory, "-e", f"{directory}/error.log",
        "-c", f"{directory}/nginx.conf")


def stop_nginx(mode):
    run("nginx", "-p", f"/tmp/nginx-{mode}", "-c", f"/tmp/nginx-{mode}/nginx.conf", "-s", "stop")
