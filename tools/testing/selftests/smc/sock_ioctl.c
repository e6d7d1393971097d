#include "lib.h"
const struct test_case ioctl_cases[] = { { 0 } };
