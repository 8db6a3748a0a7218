// What most files include, compiled once where HEDDLE_PCH is on. No file may rely on it: each includes what it uses.
#pragma once
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>
