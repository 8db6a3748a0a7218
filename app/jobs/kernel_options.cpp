#include "app/jobs/kernel_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/scanner.h"

namespace heddle::app {
namespace {

constexpr const char* kPrefix = "emit ";  ///< of the choices of a project

}  // namespace

const char* to_string(codegen::Recording records) {
  switch (records) {
    case codegen::Recording::None: return "none";
    case codegen::Recording::Loop: return "loop";
    case codegen::Recording::Ops: return "ops";
  }
  return "none";
}

KernelOptions within_limits(KernelOptions options) {
  options.build.cluster = options.build.cluster == 2 ? 2 : 1;
  if (options.trips) options.trips = std::clamp<std::int64_t>(*options.trips, 1, kMostTrips);
  return options;
}

std::vector<OptionWord> option_words(const KernelOptions& options) {
  std::vector<OptionWord> words;
  if (options.trips) words.push_back({"--trips", fmt::format("{}", *options.trips)});
  if (options.build.cluster != 1) words.push_back({"--cluster", fmt::format("{}", options.build.cluster)});
  if (!options.build.turns) words.push_back({"--no-turns", {}});
  if (!options.build.deep_rings) words.push_back({"--least-rings", {}});
  if (options.build.run_time_sizes) words.push_back({"--sizes", "run-time"});
  if (options.records != codegen::Recording::None) words.push_back({"--records", to_string(options.records)});
  return words;
}

std::string describe(const KernelOptions& options) {
  std::string text;
  for (const OptionWord& word : option_words(options)) {
    std::string name = word.flag + 2;
    std::replace(name.begin(), name.end(), '-', ' ');
    text += (text.empty() ? "" : ", ") + name + (word.value.empty() ? "" : " " + word.value);
  }
  return text.empty() ? "as usual" : text;
}

std::map<std::string, std::string> to_choices(const KernelOptions& options) {
  std::map<std::string, std::string> choices;
  for (const OptionWord& word : option_words(options))
    choices[std::string(kPrefix) + (word.flag + 2)] = word.value.empty() ? "on" : word.value;
  return choices;
}

KernelOptions options_from(const std::map<std::string, std::string>& choices) {
  const auto at = [&](const char* name) {
    const auto found = choices.find(std::string(kPrefix) + name);
    return found == choices.end() ? std::string() : found->second;
  };
  KernelOptions options;
  options.trips = read_number<std::int64_t>(at("trips"));
  options.build.cluster = static_cast<int>(std::clamp<std::int64_t>(read_number<std::int64_t>(at("cluster")).value_or(1), 1, 2));
  options.build.turns = at("no-turns") != "on";
  options.build.deep_rings = at("least-rings") != "on";
  options.build.run_time_sizes = at("sizes") == "run-time";
  for (const auto records : {codegen::Recording::Loop, codegen::Recording::Ops})
    if (at("records") == to_string(records)) options.records = records;
  return within_limits(options);
}

}  // namespace heddle::app
