#include "lib.h"
const struct test_case signal_cases[] = { { 0 } };
