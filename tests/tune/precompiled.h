// What most files of this folder include, compiled once where HEDDLE_UNITY is on. No file may rely on it: each includes what it uses.
#pragma once
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <vector>
