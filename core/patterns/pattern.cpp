#include "core/patterns/pattern.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/kernel/switches.h"
#include "core/patterns/draft.h"

namespace heddle {

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all{
      pattern::gemm(),      pattern::batched_gemm(), pattern::dual_gemm(), pattern::attention(),  pattern::attention_backward(),
      pattern::layernorm(), pattern::rmsnorm(),      pattern::softmax(),   pattern::elementwise()};
  return all;
}

const Pattern* find_pattern(std::string_view name) {
  const auto it = std::find_if(patterns().begin(), patterns().end(), [&](const Pattern& p) { return p.name == name; });
  return it == patterns().end() ? nullptr : &*it;
}

std::string allowed_text(const PatternOption& option) {
  if (option.type != PatternOption::Type::Integer) return list_of(option.choices);
  const std::string range = fmt::format("{} to {}", option.low, option.high);
  return option.step > 1 ? fmt::format("{}, a multiple of {}", range, option.step) : range;
}

std::string option_fault(const PatternOption& option, const std::string& value) {
  bool good = false;
  if (option.type == PatternOption::Type::Integer) {
    const auto number = read_number<std::int64_t>(value);
    good = number && *number >= option.low && *number <= option.high && *number % option.step == 0;
  } else {
    good = std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end();
  }
  return good ? "" : fmt::format("'{}' cannot be '{}'; expected {}", option.name, value, allowed_text(option));
}

Result<Kernel> kernel_of(const Pattern& pattern, const PatternChoices& choices, const std::string& name) {
  Error error;
  PatternChoices values;
  for (const PatternOption& option : pattern.options) values.emplace(option.name, option.standard);
  for (const auto& [key, value] : choices) {
    const auto option = std::find_if(pattern.options.begin(), pattern.options.end(),
                                     [&, &wanted = key](const PatternOption& o) { return o.name == wanted; });
    if (option == pattern.options.end()) {
      const std::vector<std::string> known = names_of(pattern.options);
      const std::string guess = did_you_mean(key, known);
      error.faults.push_back(
          {"", "/" + key, fmt::format("'{}' has no option '{}'", pattern.name, key), guess.empty() ? "it has " + list_of(known) : guess});
      continue;
    }
    if (const std::string fault = option_fault(*option, value); !fault.empty())
      error.faults.push_back({"", "/" + key, fault, did_you_mean(value, option->choices)});
    values.insert_or_assign(key, value);
  }
  if (!error.faults.empty()) return error;
  Result<Kernel> kernel = pattern.make(PatternValues(std::move(values)));
  if (!kernel) return kernel;
  kernel->name = name.empty() ? pattern.name : name;
  return settled(*kernel, {});
}

}  // namespace heddle
