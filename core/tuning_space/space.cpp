#include "core/tuning_space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/suggest.h"

namespace heddle {

const char* to_string(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Real: return "real";
    case ParameterKind::Integer: return "integer";
    case ParameterKind::Ordinal: return "ordinal";
    case ParameterKind::Categorical: return "categorical";
    case ParameterKind::Permutation: break;
  }
  return "permutation";
}

std::int64_t Parameter::count() const {
  switch (kind) {
    case ParameterKind::Real: return 0;
    case ParameterKind::Integer: return high - low + 1;
    case ParameterKind::Ordinal: return static_cast<std::int64_t>(values.size());
    case ParameterKind::Categorical: return static_cast<std::int64_t>(words.size());
    case ParameterKind::Permutation: break;
  }
  std::int64_t product = 1;
  for (std::size_t i = 2; i <= words.size(); ++i) product *= static_cast<std::int64_t>(i);
  return product;
}

std::int64_t Parameter::number_at(std::int64_t index) const {
  return kind == ParameterKind::Integer ? low + index : values[static_cast<std::size_t>(index)];
}

const Parameter* SearchSpace::find(std::string_view wanted) const {
  const auto it = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == wanted; });
  return it == parameters.end() ? nullptr : &*it;
}

std::vector<std::size_t> arrangement(std::int64_t index, std::size_t items) {
  std::vector<std::size_t> left(items), out;
  for (std::size_t i = 0; i < items; ++i) left[i] = i;
  std::int64_t block = 1;
  for (std::size_t i = 2; i < items; ++i) block *= static_cast<std::int64_t>(i);
  for (std::size_t i = items; i > 0; --i) {
    const auto at = static_cast<std::size_t>(index / block);
    index %= block;
    out.push_back(left[at]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
    if (i > 2) block /= static_cast<std::int64_t>(i - 1);
  }
  return out;
}

std::int64_t arrangement_number(const std::vector<std::size_t>& items) {
  std::int64_t number = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto smaller =
        std::count_if(items.begin() + static_cast<std::ptrdiff_t>(i), items.end(), [&](std::size_t x) { return x < items[i]; });
    number = number * static_cast<std::int64_t>(items.size() - i) + smaller;
  }
  return number;
}

Config default_config(const SearchSpace& space) {
  Config config;
  for (const Parameter& p : space.parameters) config.push_back(p.standard);
  return config;
}

std::vector<std::string> scope_names(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::Real) return {};
  if (parameter.kind != ParameterKind::Permutation) return {parameter.name};
  std::vector<std::string> names;
  for (const std::string& item : parameter.words) names.push_back(parameter.name + "_" + item);
  return names;
}

Scope words_scope(const SearchSpace& space) {
  Scope scope;
  for (const Parameter& p : space.parameters)
    if (p.kind == ParameterKind::Categorical)
      for (const std::string& word : p.words) scope.emplace(word, static_cast<std::int64_t>(scope.size()));
  return scope;
}

void add_to_scope(const SearchSpace& space, std::size_t parameter, double value, Scope& scope) {
  const Parameter& p = space.parameters[parameter];
  const auto index = static_cast<std::int64_t>(value);
  switch (p.kind) {
    case ParameterKind::Real: return;
    case ParameterKind::Integer:
    case ParameterKind::Ordinal: scope[p.name] = p.number_at(index); return;
    case ParameterKind::Categorical: {
      const auto word = scope.find(p.words[static_cast<std::size_t>(index)]);
      scope[p.name] = word == scope.end() ? index : word->second;
      return;
    }
    case ParameterKind::Permutation: break;
  }
  const std::vector<std::size_t> order = arrangement(index, p.words.size());
  for (std::size_t at = 0; at < order.size(); ++at) scope[p.name + "_" + p.words[order[at]]] = static_cast<std::int64_t>(at);
}

bool holds(const Expr& constraint, const Scope& scope) {
  const Result<std::int64_t> value = constraint.evaluate(scope);
  return value && *value != 0;
}

std::string value_text(const Parameter& p, double value) {
  const auto index = static_cast<std::int64_t>(value);
  switch (p.kind) {
    case ParameterKind::Real: return fmt::format("{}", value);
    case ParameterKind::Integer:
    case ParameterKind::Ordinal: return std::to_string(p.number_at(index));
    case ParameterKind::Categorical: return p.words[static_cast<std::size_t>(index)];
    case ParameterKind::Permutation: break;
  }
  std::string text;
  for (const std::size_t item : arrangement(index, p.words.size())) text += (text.empty() ? "" : ",") + p.words[item];
  return text;
}

std::string config_text(const SearchSpace& space, const Config& config) {
  std::string text;
  for (std::size_t p = 0; p < space.parameters.size(); ++p)
    text += fmt::format("{}{}={}", p ? " " : "", space.parameters[p].name, value_text(space.parameters[p], config[p]));
  return text;
}

std::vector<Fault> validate(const SearchSpace& space, const std::string& file) {
  std::vector<Fault> faults;
  const auto fault = [&](std::string pointer, std::string message, std::string hint = {}) {
    if (faults.size() < 100) faults.push_back({file, std::move(pointer), std::move(message), std::move(hint)});
  };
  if (space.parameters.empty()) fault("/parameters", "a space needs at least one parameter");
  if (space.parameters.size() > kMostParameters)
    fault("/parameters", fmt::format("{} parameters, at most {} are searched", space.parameters.size(), kMostParameters));
  std::map<std::string, std::string> taken;  // name in scopes -> whose
  std::vector<std::string> known;
  std::set<std::string> reals;
  for (std::size_t i = 0; i < space.parameters.size(); ++i) {
    const Parameter& p = space.parameters[i];
    const std::string at = fmt::format("/parameters/{}/name", i);
    if (p.kind == ParameterKind::Real) reals.insert(p.name);
    std::vector<std::string> names = scope_names(p);
    if (std::find(names.begin(), names.end(), p.name) == names.end()) names.push_back(p.name);
    for (const std::string& name : names)
      if (const auto [it, fresh] = taken.emplace(name, at); !fresh)
        fault(at, fmt::format("the name '{}' is already taken by {}", name, it->second));
  }
  for (const Parameter& p : space.parameters)
    for (const std::string& name : scope_names(p)) known.push_back(name);
  std::set<std::string> words;
  for (const auto& [word, number] : words_scope(space)) {
    words.insert(word);
    known.push_back(word);
  }
  for (std::size_t c = 0; c < space.constraints.size(); ++c)
    for (const std::string& name : space.constraints[c].names()) {
      const std::string at = fmt::format("/constraints/{}", c);
      if (reals.count(name)) {
        fault(at, fmt::format("'{}' is real; constraints are about whole numbers", name), "make it an integer or an ordinal");
      } else if (words.count(name) && taken.count(name)) {
        fault(at, fmt::format("'{}' is a parameter and a value of another one", name), "give one of them another name");
      } else if (std::find(known.begin(), known.end(), name) == known.end()) {
        const std::string hint = did_you_mean(name, known);
        fault(at, fmt::format("no parameter gives a meaning to '{}'", name), hint.empty() ? "known here: " + list_of(known) : hint);
      }
    }
  return faults;
}

}  // namespace heddle
