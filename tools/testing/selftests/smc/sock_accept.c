#include "lib.h"
const struct test_case accept_cases[] = { { 0 } };
