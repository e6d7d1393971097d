#include "lib.h"
const struct test_case shutdown_cases[] = { { 0 } };
