# SPDX-License-Identifier: GPL-2.0
"""Web servers, proxies and caches."""
import contextlib

from program import HERE, LOOPBACK
from services import both_ends, digest, pattern, service

SMALL, LARGE = b"small\n" * 20, pattern(4 << 20)
BEHIND = 8190		# port of the server behind a proxy
WRITTEN = "%{http_code} %{num_connects} %{size_download}\\n"


def pages(play):
    """Fills the directory of documents."""
    play.file("pages/small", SMALL)
    play.file("pages/large", LARGE)
    return play.path("pages")


def fetched(play, url, *options, requests=50, large=True):
    """Fetches a small page again and again on one connection, and then with a connection for each
    request; and a large page. Returns the pages, the status codes, and curl's own count of the
    connections."""
    curl = ("curl", "-sS", "-k", "-w", WRITTEN, *options)
    output = play.client(*curl, f"{url}/small?[1-{requests}]")
    output += play.client(*curl, "-H", "Connection: close", f"{url}/small?[1-10]")
    if large:
        output += play.client(*curl, "-o", play.path("got"), f"{url}/large")
        output += digest(play.path("got"))
    return output


def certificate(play):
    """Returns the paths of a key and a certificate."""
    key, cert = play.path("key.pem"), play.path("cert.pem")
    play.client("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", key, "-out", cert)
    return key, cert


@contextlib.contextmanager
def behind(play):
    """A web server for a proxy: lighttpd."""
    conf = play.file("behind.conf", f"""
server.port = {BEHIND}
server.bind = "{LOOPBACK}"
server.document-root = "{pages(play)}"
""")
    with play.server("lighttpd", "-D", "-f", conf, port=BEHIND):
        yield


@service("apache2", "apache2-bin", "apache2 curl openssl", 8101,
         "event MPM: pages on one and on many connections, a large page, TLS")
def apache(play):
    key, cert = certificate(play)
    modules = "mpm_event authz_core socache_shmcb ssl"
    conf = play.file("apache.conf", "".join(
        f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"
        for name in modules.split()) + f"""
ServerRoot {play.directory}
ServerName localhost
PidFile {play.path('pid')}
ErrorLog {play.path('log')}
DefaultRuntimeDir {play.directory}
StartServers 1
User www-data
Group www-data
DocumentRoot {pages(play)}
Listen {play.at}
Listen {LOOPBACK}:{play.port + 1}
<VirtualHost *:{play.port + 1}>
SSLEngine on
SSLCertificateFile {cert}
SSLCertificateKeyFile {key}
</VirtualHost>
""")
    with play.server("apache2", "-DFOREGROUND", "-f", conf):
        return fetched(play, f"http://{play.at}") + fetched(
            play, f"https://{LOOPBACK}:{play.port + 1}", requests=10)


@service("lighttpd", "lighttpd", "lighttpd curl", BEHIND,
         "pages on one and on many connections, a large page")
def lighttpd(play):
    with behind(play):
        return fetched(play, f"http://{play.at}")


@service("haproxy", "haproxy", "haproxy lighttpd curl", 8103,
         "as a proxy for lighttpd, both sides SMC")
def haproxy(play):
    conf = play.file("haproxy.cfg", f"""
global
	nbthread 2
defaults
	mode http
	timeout connect 60s
	timeout client 60s
	timeout server 60s
listen proxy
	bind {play.at}
	server behind {LOOPBACK}:{BEHIND}
""")
    with behind(play), play.server("haproxy", "-db", "-f", conf):
        return fetched(play, f"http://{play.at}")


@service("varnish", "varnish", "varnishd gcc lighttpd curl", 8104,
         "as a cache of lighttpd, both sides SMC")
def varnish(play):
    with behind(play), play.server(
            "varnishd", "-F", "-j", "none", "-a", play.at, "-b", f"{LOOPBACK}:{BEHIND}", "-n",
            play.path("varnish"), "-s", "default,64m", "-p", "thread_pools=1", "-p",
            "thread_pool_min=10"):
        return fetched(play, f"http://{play.at}")


@service("squid", "squid", "squid lighttpd curl", 8105,
         "as curl's proxy in front of lighttpd, also with CONNECT")
def squid(play):
    conf = play.file("squid.conf", f"""
http_port {play.at}
http_access allow all
cache deny all
cache_effective_user proxy
pid_filename {play.path('pid')}
cache_log {play.path('log')}
access_log none
cache_store_log none
coredump_dir {play.directory}
pinger_enable off
netdb_filename none
visible_hostname localhost
shutdown_lifetime 0 seconds
""")
    play.client("chown", "-R", "proxy", play.directory)
    with behind(play), play.server("squid", "-N", "-f", conf):
        url, proxy = f"http://{LOOPBACK}:{BEHIND}", ("-x", f"http://{play.at}")
        return fetched(play, url, *proxy) + fetched(play, url, *proxy, "-p", requests=5)


@service("Node.js", "nodejs", "node", 8106,
         "http: 100 requests on connections that are kept, 20 on others, both ends")
def node(play):
    return both_ends(play, "node", f"{HERE}/samples/http.js")


@service("Java", "default-jdk-headless", "java javac", 8107,
         "HttpServer and HttpClient: requests one after the other and at the same time, both ends")
def java(play):
    classes = play.path("classes")
    play.client("javac", "-d", classes, f"{HERE}/samples/Http.java")
    return both_ends(play, "java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-Xmx256m",
                     "-cp", classes, "Http")
