#include "planner/checkpoint/replay.h"

#include <gtest/gtest.h>
