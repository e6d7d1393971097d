#include "lib.h"
const struct test_case sockopt_cases[] = { { 0 } };
