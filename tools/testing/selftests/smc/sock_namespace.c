#include "lib.h"
const struct test_case namespace_cases[] = { { 0 } };
