// What most files of this folder include, compiled once where HEDDLE_UNITY is on. No file may rely on it: each includes what it uses.
#pragma once
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>
#include "core/check/checker.h"
#include "solver/search/solve.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"
