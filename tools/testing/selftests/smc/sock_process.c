#include "lib.h"
const struct test_case process_cases[] = { { 0 } };
