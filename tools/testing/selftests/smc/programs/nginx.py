# SPDX-License-Identifier: GPL-2.0
"""nginx: files, many requests on one connection, TLS, and as a proxy with SMC on both sides."""
import hashlib
import os

from lib.slow import slow
from program import LOOPBACK, PREFIX, run, server, succeeds

CONNECTIONS = 10
PLAIN, TLS, PROXY = 8080, 8443, 8081
WRK_TIMEOUT = "60s"	# wrk takes 8 MB of memory for each second
SMC = PREFIX["smc"]
DIRECTORY = "/tmp/nginx"


def configuration(host, behind):
    """Serves files at host, and there a proxy for the files at behind."""
    return f"""
user root;
daemon off;
worker_processes 2;
pid {DIRECTORY}/pid;
error_log {DIRECTORY}/error.log;
events {{ worker_connections 512; }}
http {{
	access_log off;
	sendfile on;
	keepalive_requests 1000000;
	client_body_temp_path {DIRECTORY}/body;
	proxy_temp_path {DIRECTORY}/proxy;
	upstream behind {{ server {behind}:{PLAIN}; keepalive 4; }}
	server {{ listen {host}:{PLAIN}; root {DIRECTORY}; }}
	server {{
		listen {host}:{TLS} ssl;
		ssl_certificate {DIRECTORY}/cert.pem;
		ssl_certificate_key {DIRECTORY}/key.pem;
		root {DIRECTORY};
	}}
	server {{
		listen {host}:{PROXY};
		location / {{
			proxy_pass http://behind;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}}
	}}
}}
"""


def prepare(host=LOOPBACK, behind=LOOPBACK, mib=32):
    """Returns the hash of the large file."""
    os.makedirs(DIRECTORY, exist_ok=True)
    data = os.urandom(mib << 20)
    for name, content in (("large", data), ("small", b"small\n" * 20),
                          ("conf", configuration(host, behind).encode())):
        with open(f"{DIRECTORY}/{name}", "wb") as file:
            file.write(content)
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", f"{DIRECTORY}/key.pem",
        "-out", f"{DIRECTORY}/cert.pem")
    return hashlib.sha256(data).hexdigest()


def nginx():
    return server(*SMC, "nginx", "-e", f"{DIRECTORY}/error.log", "-c", f"{DIRECTORY}/conf",
                  port=PLAIN)


def fetched(url, wanted):
    """Does curl get the right file?"""
    got = f"{DIRECTORY}/got"
    if not succeeds(*SMC, "curl", "-s", "-S", "-k", "-f", "-o", got, url):
        return False
    with open(got, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == wanted


def cases():
    wanted = prepare()
    with nginx():
        yield "nginx: 32 MiB by sendfile", fetched(f"http://127.0.0.1:{PLAIN}/large", wanted)
        yield "nginx: 32 MiB over TLS", fetched(f"https://127.0.0.1:{TLS}/large", wanted)
        yield "nginx: 32 MiB through a proxy", fetched(f"http://127.0.0.1:{PROXY}/large", wanted)
        for name, port, count in (("", PLAIN, 10000), (" through a proxy", PROXY, 5000)):
            status, said = run(*SMC, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code} ",
                               f"http://127.0.0.1:{port}/small?[1-{count}]", timeout=slow(300))
            yield f"nginx: {count} requests on a connection{name}", (
                status == 0 and said.split() == ["200"] * count)
        status, said = run(*SMC, "wrk", "-t", 2, "-c", 50, "-d", "5s", "--timeout", WRK_TIMEOUT,
                           "-H", "Connection: close", f"http://127.0.0.1:{PLAIN}/small")
        yield "nginx: wrk with a connection for each request", (
            status == 0 and "Socket errors" not in said and "Non-2xx" not in said)
