// What most files of this folder include, compiled once where HEDDLE_UNITY is on. No file may rely on it: each includes what it uses.
#pragma once
#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include "tests/app/cli_support.h"
