#include "lib.h"
const struct test_case epoll_cases[] = { { 0 } };
