// SPDX-License-Identifier: GPL-2.0
/* Streams of random bytes that both roles can compute; checksums, sending and receiving. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "xfer.h"

/* splitmix64: any word of the stream can be computed without those before it */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t word_at(uint64_t seed, uint64_t index)
{
	/* The bytes are the same on every machine. */
	return htole64(mix(mix(seed) + index));
}

uint64_t draw(uint64_t *state)
{
	return mix((*state)++);
}

size_t draw_size(uint64_t *state, size_t most)
{
	uint64_t r = draw(state);
	int bits = 64 - __builtin_clzll(most);
	size_t limit = 1ul << (r % bits + 1);

	if (limit > most)
		limit = most;
	return 1 + (r >> 16) % limit;
}

void fill(void *buf, size_t len, uint64_t seed, uint64_t pos)
{
	uint8_t *p = buf;

	while (len) {
		uint64_t word = word_at(seed, pos / 8);
		size_t skip = pos % 8, part = 8 - skip < len ? 8 - skip : len;

		memcpy(p, (uint8_t *)&word + skip, part);
		p += part;
		pos += part;
		len -= part;
	}
}

void verify(const void *buf, size_t len, uint64_t seed, uint64_t pos)
{
	const uint8_t *p = buf;

	while (len) {
		uint64_t word = word_at(seed, pos / 8);
		size_t skip = pos % 8, part = 8 - skip < len ? 8 - skip : len;

		if (memcmp(p, (uint8_t *)&word + skip, part)) {
			for (size_t i = 0; i < part; i++)
				if (p[i] != ((uint8_t *)&word)[skip + i])
					die("byte %llu is 0x%02x instead of 0x%02x (received at %p)",
					    (unsigned long long)pos + i, p[i],
					    ((uint8_t *)&word)[skip + i], (void *)(p + i));
		}
		p += part;
		pos += part;
		len -= part;
	}
}

void send_all(int fd, const void *buf, size_t len)
{
	const char *p = buf;

	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("send of %zu bytes returned %zd", len, n);
		p += n;
		len -= n;
	}
}

void recv_all(int fd, void *buf, size_t len)
{
	char *p = buf;

	while (len) {
		ssize_t n = recv(fd, p, len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			die("recv of %zu bytes returned %zd", len, n);
		p += n;
		len -= n;
	}
}

void send_stream(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk)
{
	char *buf = buffer(chunk);

	while (len) {
		size_t part = len < chunk ? len : chunk;

		fill(buf, part, seed, pos);
		send_all(fd, buf, part);
		pos += part;
		len -= part;
	}
	free(buf);
}

void recv_stream(int fd, uint64_t seed, uint64_t pos, size_t len, size_t chunk)
{
	char *buf = buffer(chunk);

	while (len) {
		size_t part = len < chunk ? len : chunk;

		recv_all(fd, buf, part);
		verify(buf, part, seed, pos);
		pos += part;
		len -= part;
	}
	free(buf);
}

/* ---- SHA-256 (FIPS 180-4) ---- */

static const uint32_t k256[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static inline uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void sha256_block(struct sha256 *s, const uint8_t *p)
{
	uint32_t w[64], v[8], t1, t2;

	for (int i = 0; i < 16; i++) {
		memcpy(&w[i], p + 4 * i, 4);
		w[i] = be32toh(w[i]);
	}
	for (int i = 16; i < 64; i++)
		w[i] = (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10) + w[i - 7] +
		       (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 16];
	memcpy(v, s->state, sizeof(v));
	for (int i = 0; i < 64; i++) {
		t1 = v[7] + (ror(v[4], 6) ^ ror(v[4], 11) ^ ror(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + k256[i] + w[i];
		t2 = (ror(v[0], 2) ^ ror(v[0], 13) ^ ror(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		v[7] = v[6];
		v[6] = v[5];
		v[5] = v[4];
		v[4] = v[3] + t1;
		v[3] = v[2];
		v[2] = v[1];
		v[1] = v[0];
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		s->state[i] += v[i];
}

void sha256_init(struct sha256 *s)
{
	static const uint32_t start[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->state, start, sizeof(start));
	s->bytes = 0;
}

void sha256_update(struct sha256 *s, const void *data, size_t len)
{
	size_t used = s->bytes % 64;
	const uint8_t *p = data;

	s->bytes += len;
	if (used) {
		size_t part = 64 - used < len ? 64 - used : len;

		memcpy(s->block + used, p, part);
		p += part;
		len -= part;
		if (used + part < 64)
			return;
		sha256_block(s, s->block);
	}
	for (; len >= 64; p += 64, len -= 64)
		sha256_block(s, p);
	memcpy(s->block, p, len);
}

void sha256_text(struct sha256 *s, char text[65])
{
	uint64_t bits = htobe64(s->bytes * 8);
	static const uint8_t pad[64] = { 0x80 };

	sha256_update(s, pad, 1 + (119 - s->bytes % 64) % 64);
	sha256_update(s, &bits, 8);
	for (int i = 0; i < 8; i++)
		sprintf(text + 8 * i, "%08x", s->state[i]);
}
