// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "utf8.h"

size_t utf8_character(const uint8_t *text, size_t room, uint32_t *code)
{
	static const uint32_t least[] = { [2] = 0x80, [3] = 0x800, [4] = 0x10000 };
	size_t length = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2, i;
	uint32_t value = *text & (0x7f >> length);

	*code = *text;
	if (*text < 0xc0 || *text > 0xf7 || length > room)
		return 1;
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (text[i] & 0x3f);
	}
	if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 1;
	*code = value;
	return length;
}

bool utf8_printable(uint32_t code, size_t length)
{
	return code >= 0x20 && (code <= 0x7e || (length > 1 && code >= 0xa0));
}

int utf8_width(const char *text)
{
	size_t left = strlen(text), length;
	uint32_t code;
	int width = 0;

	for (; left; left -= length, text += length) {
		length = utf8_character((const uint8_t *)text, left, &code);
		width++;
	}
	return width;
}

void utf8_print(FILE *out, const char *text)
{
	size_t size = strlen(text), i, length;
	uint32_t code;

	for (i = 0; i < size; i += length) {
		length = utf8_character((const uint8_t *)text + i, size - i, &code);
		if (utf8_printable(code, length))
			fwrite(text + i, 1, length, out);
		else
			fputc('?', out);
	}
}
