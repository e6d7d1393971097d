#include "lib.h"
const struct test_case poll_cases[] = { { 0 } };
