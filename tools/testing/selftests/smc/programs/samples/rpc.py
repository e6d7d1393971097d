# SPDX-License-Identifier: GPL-2.0
"""A gRPC server that returns what it gets, and its client."""
import concurrent.futures
import sys

import grpc

OPTIONS = [("grpc.max_receive_message_length", 16 << 20), ("grpc.enable_http_proxy", 0)]


class Echo(grpc.GenericRpcHandler):
    def service(self, details):
        if details.method == "/test/one":
            return grpc.unary_unary_rpc_method_handler(lambda data, _: data)
        return grpc.stream_stream_rpc_method_handler(lambda parts, _: parts)


def serve(port):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=[Echo()], options=OPTIONS)
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    server.wait_for_termination()


def ask(port):
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=OPTIONS) as channel:
        one, many = channel.unary_unary("/test/one"), channel.stream_stream("/test/many")
        bodies = [bytes([n]) * (n * 4096) for n in range(50)] + [b"x" * (4 << 20)]
        for body in bodies:
            print(len(body), one(body) == body)
        for body, call in [(body, one.future(body)) for body in bodies]:
            print(len(body), call.result() == body)
        print(list(many(iter(bodies))) == bodies)


if __name__ == "__main__":
    {"server": serve, "client": ask}[sys.argv[1]](sys.argv[2])
