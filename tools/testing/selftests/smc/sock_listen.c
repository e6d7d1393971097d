#include "lib.h"
const struct test_case listen_cases[] = { { 0 } };
