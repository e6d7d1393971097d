#include "lib.h"
const struct test_case close_cases[] = { { 0 } };
