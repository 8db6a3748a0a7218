// What most files of this folder include, compiled once where HEDDLE_UNITY is on. No file may rely on it: each includes what it uses.
#pragma once
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>
#include "tests/support/fake_solver.h"
#include "tests/support/window/harness.h"
