// Rows of the command table in few words: one function per kind of option.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "app/command/command_table.h"

namespace heddle::app::spec {

inline constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t kMostSeconds = 7 * 24 * 3600;

inline OptionSpec integer(std::string flag, std::string value, std::int64_t low, std::int64_t high, std::string about) {
  return {std::move(flag), "", std::move(value), std::move(about), ValueType::Integer, {}, low, high, false};
}

inline OptionSpec toggle(std::string flag, std::string about) {
  return {std::move(flag), "", "", std::move(about), ValueType::Switch, {}, 0, 0, false};
}

inline OptionSpec file(std::string flag, std::string short_flag, std::string about) {
  return {std::move(flag), std::move(short_flag), "FILE", std::move(about), ValueType::File, {}, 0, 0, false};
}

inline OptionSpec choice(std::string flag, std::string value, std::vector<std::string> choices, std::string about) {
  return {std::move(flag), "", std::move(value), std::move(about), ValueType::Choice, std::move(choices), 0, 0, false};
}

inline OptionSpec no_store() {
  return toggle("--no-store", "search even if the answer is kept from an earlier search (heddle store), and keep none");
}

}  // namespace heddle::app::spec
