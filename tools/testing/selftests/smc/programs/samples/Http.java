// SPDX-License-Identifier: GPL-2.0
// A web server that returns what it gets, and its client.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;

class Http {
	static HttpRequest post(int port, byte[] body) {
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/"))
			.version(HttpClient.Version.HTTP_1_1)
			.POST(HttpRequest.BodyPublishers.ofByteArray(body)).build();
	}

	static byte[] body(int n) {
		byte[] body = new byte[n * 4096 + 1];
		Arrays.fill(body, (byte) n);
		return body;
	}

	static String judged(HttpResponse<byte[]> answer, byte[] wanted) {
		return answer.statusCode() + " " + answer.body().length + " " +
			Arrays.equals(answer.body(), wanted);
	}

	static void serve(int port) throws Exception {
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 50);
		server.createContext("/", exchange -> {
			byte[] body = exchange.getRequestBody().readAllBytes();
			exchange.sendResponseHeaders(200, body.length);
			exchange.getResponseBody().write(body);
			exchange.close();
		});
		server.setExecutor(Executors.newFixedThreadPool(4));
		server.start();
	}

	static void ask(int port) throws Exception {
		HttpClient client = HttpClient.newHttpClient();
		for (int n = 0; n < 30; n++)
			System.out.println(judged(client.send(post(port, body(n)),
				HttpResponse.BodyHandlers.ofByteArray()), body(n)));
		List<CompletableFuture<String>> answers = new ArrayList<>();
		for (int n = 0; n < 30; n++) {
			byte[] body = body(n);
			answers.add(client.sendAsync(post(port, body),
				HttpResponse.BodyHandlers.ofByteArray())
				.thenApply(answer -> judged(answer, body)));
		}
		for (CompletableFuture<String> answer : answers)
			System.out.println(answer.get());
	}

	public static void main(String[] words) throws Exception {
		int port = Integer.parseInt(words[1]);
		if (words[0].equals("server"))
			serve(port);
		else
			ask(port);
		if (words[0].equals("client"))
			System.exit(0);
	}
}
