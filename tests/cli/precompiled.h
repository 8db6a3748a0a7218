// What most files of this folder include, compiled once where HEDDLE_UNITY is on. No file may rely on it: each includes what it uses.
#pragma once
#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <algorithm>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
#include <nlohmann/json.hpp>
#include "app/cli/cli.h"
#include "tests/app/cli_support.h"
