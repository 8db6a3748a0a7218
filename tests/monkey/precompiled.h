// The headers of the window's tests.
#pragma once
#include "tests/ui/precompiled.h"
