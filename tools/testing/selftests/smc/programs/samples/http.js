// SPDX-License-Identifier: GPL-2.0
// A web server that returns what it gets with its length, and its client.
const http = require('http');
const [what, port] = process.argv.slice(2);

function serve() {
	http.createServer((request, response) => {
		const parts = [];
		request.on('data', part => parts.push(part));
		request.on('end', () => {
			const body = Buffer.concat(parts);
			response.setHeader('length', body.length);
			response.end(body);
		});
	}).listen(port, '127.0.0.1');
}

function post(agent, body) {
	return new Promise((resolve, reject) => {
		const request = http.request({host: '127.0.0.1', port, agent, method: 'POST'}, response => {
			let size = 0, same = true;
			response.on('data', part => {
				same = same && part.equals(body.subarray(size, size + part.length));
				size += part.length;
			});
			response.on('end', () => resolve(
				`${response.statusCode} ${response.headers.length} ${size} ${same}`));
		});
		request.on('error', reject);
		request.end(body);
	});
}

async function ask() {
	const kept = new http.Agent({keepAlive: true, maxSockets: 4});
	const bodies = Array.from({length: 100}, (_, n) => Buffer.alloc(n * 1000, `${n} `));
	console.log((await Promise.all(bodies.map(body => post(kept, body)))).join('\n'));
	for (let n = 0; n < 20; n++)
		console.log(await post(new http.Agent(), Buffer.alloc(n)));
	console.log(await post(kept, Buffer.alloc(4 << 20, 'large')));
	kept.destroy();
}

what === 'server' ? serve() : ask();
