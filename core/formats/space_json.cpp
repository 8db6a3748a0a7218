#include "core/formats/space_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/atomic_file.h"
#include "core/base/words.h"
#include "core/formats/cost_json.h"

namespace heddle {
namespace {

constexpr const char* kSpaceSchema = "heddle.space/1";

std::optional<double> signed_real(const Cursor& at) {
  if (const std::int64_t* whole = at.json().integer()) return static_cast<double>(*whole);
  if (const double* number = at.json().number(); number && std::isfinite(*number)) return *number;
  at.fault("expected a number, found " + describe(at.json()));
  return std::nullopt;
}

bool is_name(const std::string& text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

/// The number of the value that stands there.
std::optional<double> read_value_of(const Cursor& at, const Parameter& p) {
  switch (p.kind) {
    case ParameterKind::Real: {
      const auto value = signed_real(at);
      if (value && (*value < p.least || *value > p.most)) {
        at.fault(fmt::format("expected a number from {} to {}, found {}", p.least, p.most, *value));
        return std::nullopt;
      }
      return value;
    }
    case ParameterKind::Integer: {
      const auto value = at.integer(p.low, p.high);
      return value ? std::optional<double>(static_cast<double>(*value - p.low)) : std::nullopt;
    }
    case ParameterKind::Ordinal: {
      const auto value = at.integer(-kLargestNumber, kLargestNumber);
      if (!value) return std::nullopt;
      const auto it = std::find(p.values.begin(), p.values.end(), *value);
      if (it != p.values.end()) return static_cast<double>(it - p.values.begin());
      std::vector<std::string> known;
      for (const std::int64_t v : p.values) known.push_back(std::to_string(v));
      at.fault(fmt::format("{} is not among the values of '{}'", *value, p.name), "there is " + list_of(known));
      return std::nullopt;
    }
    case ParameterKind::Categorical: {
      const auto text = at.string();
      if (!text) return std::nullopt;
      const auto it = std::find(p.words.begin(), p.words.end(), *text);
      if (it != p.words.end()) return static_cast<double>(it - p.words.begin());
      const std::string hint = did_you_mean(*text, p.words);
      at.fault(fmt::format("'{}' is not among the values of '{}'", *text, p.name), hint.empty() ? "there is " + list_of(p.words) : hint);
      return std::nullopt;
    }
    case ParameterKind::Permutation: break;
  }
  std::vector<std::size_t> order;
  for (const std::string& item : at.names()) {
    const auto it = std::find(p.words.begin(), p.words.end(), item);
    if (it != p.words.end()) order.push_back(static_cast<std::size_t>(it - p.words.begin()));
  }
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.size() != p.words.size() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    at.fault(fmt::format("expected each item of '{}' once: {}", p.name, list_of(p.words)));
    return std::nullopt;
  }
  return static_cast<double>(arrangement_number(order));
}

Json value_of(const Parameter& p, double value) {
  const auto index = static_cast<std::int64_t>(value);
  switch (p.kind) {
    case ParameterKind::Real: return Json(value);
    case ParameterKind::Integer:
    case ParameterKind::Ordinal: return Json(p.number_at(index));
    case ParameterKind::Categorical: return Json(p.words[static_cast<std::size_t>(index)]);
    case ParameterKind::Permutation: break;
  }
  Json items = Json::array();
  for (const std::size_t item : arrangement(index, p.words.size())) items.push(p.words[item]);
  return items;
}

void read_numbers(ObjectReader& object, Parameter& p) {
  const auto list = object.required_list("values");
  for (const Cursor& item : list) {
    const auto value = item.integer(-kLargestNumber, kLargestNumber);
    if (!value) continue;
    if (!p.values.empty() && *value <= p.values.back())
      item.fault(fmt::format("{} does not rise above {}", *value, p.values.back()), "list the values from small to large, each once");
    p.values.push_back(*value);
  }
  if (list.empty() && object.cursor().json().find("values")) object.cursor().fault("an ordinal needs at least one value");
}

void read_words(ObjectReader& object, const char* key, std::size_t most, Parameter& p) {
  const auto list = object.required_list(key);
  for (const Cursor& item : list) {
    const auto word = item.name();
    if (!word) continue;
    if (!is_name(*word)) item.fault(fmt::format("\"{}\" is no name", *word), "letters, digits and _, so that constraints can speak of it");
    if (std::find(p.words.begin(), p.words.end(), *word) != p.words.end()) item.fault(fmt::format("'{}' is listed twice", *word));
    p.words.push_back(*word);
  }
  if (list.size() > most) object.cursor().fault(fmt::format("{} {}, at most {} are searched", list.size(), key, most));
  if (list.empty() && object.cursor().json().find(key)) object.cursor().fault(fmt::format("\"{}\" is empty", key));
}

void read_range(ObjectReader& object, Parameter& p) {
  if (p.kind == ParameterKind::Integer) {
    p.low = object.integer("low", -kLargestNumber, kLargestNumber);
    p.high = object.integer("high", -kLargestNumber, kLargestNumber);
    if (p.high < p.low) {
      object.cursor().fault(fmt::format("nothing lies from {} to {}", p.low, p.high), "swap \"low\" and \"high\"");
      p.high = p.low;
    }
    if (p.count() > kMostValues) {
      object.cursor().fault(fmt::format("{} values, at most {} are searched", p.count(), kMostValues), "list fewer as an ordinal");
      p.high = p.low;
    }
    return;
  }
  const auto low = object.require("low"), high = object.require("high");
  p.least = low ? signed_real(*low).value_or(0) : 0;
  p.most = high ? signed_real(*high).value_or(p.least + 1) : p.least + 1;
  if (!(p.most > p.least)) {
    object.cursor().fault(fmt::format("nothing lies between {} and {}", p.least, p.most), "\"low\" is to be below \"high\"");
    p.most = p.least + 1;
  }
}

bool all_positive(const Parameter& p) {
  if (p.kind == ParameterKind::Real) return p.least > 0;
  if (p.kind == ParameterKind::Integer) return p.low > 0;
  return p.kind == ParameterKind::Ordinal && !p.values.empty() && p.values.front() > 0;
}

Parameter read_parameter(const Cursor& at) {
  ObjectReader object(at);
  Parameter p;
  p.name = object.name("name");
  if (!p.name.empty() && !is_name(p.name)) at.fault(fmt::format("\"{}\" is no name for a parameter", p.name), "letters, digits and _");
  p.about = object.string("about");
  const auto kind = object.require("kind");
  const auto word = kind ? kind->word("kind of parameter", words_up_to(ParameterKind::Permutation),
                                      [](std::string_view text) { return parse_word(text, ParameterKind::Permutation); })
                         : std::nullopt;
  if (!word) {
    for (const char* key : {"values", "low", "high", "items", "log", "default", "prior"}) object.find(key);
    return p;
  }
  p.kind = *word;
  const std::size_t faults = at.log().faults.size();
  switch (p.kind) {
    case ParameterKind::Real:
    case ParameterKind::Integer: read_range(object, p); break;
    case ParameterKind::Ordinal: read_numbers(object, p); break;
    case ParameterKind::Categorical: read_words(object, "values", kLongestList, p); break;
    case ParameterKind::Permutation: read_words(object, "items", kMostPermuted, p); break;
  }
  p.log = object.boolean("log", false);
  if (p.log && at.log().faults.size() == faults && !all_positive(p)) at.fault("\"log\" needs numbers above 0", "leave it out");
  const auto standard = object.find("default");
  const auto prior = object.find("prior");
  if (at.log().faults.size() > faults) return p;  // values are not known: nothing more to say about them
  if (p.kind == ParameterKind::Real) p.standard = p.log ? std::sqrt(p.least * p.most) : (p.least + p.most) / 2;
  if (standard) p.standard = read_value_of(*standard, p).value_or(p.standard);
  if (prior) {
    for (const Cursor& item : prior->items()) {
      const auto weight = signed_real(item);
      if (weight && *weight <= 0) item.fault(fmt::format("expected a weight above 0, found {}", *weight));
      p.prior.push_back(weight.value_or(1));
    }
    if (static_cast<std::int64_t>(p.prior.size()) != p.count())
      prior->fault(p.finite() ? fmt::format("expected {} weights, one per value, found {}", p.count(), p.prior.size())
                              : "a real parameter takes no prior");
  }
  return p;
}

void read_space_root(ObjectReader& root, SearchSpace& space) { space = read_space_from(root); }

}  // namespace

SearchSpace read_space_from(ObjectReader& root) {
  SearchSpace space;
  space.name = root.string("name");
  space.about = root.string("about");
  for (const Cursor& item : root.required_list("parameters")) space.parameters.push_back(read_parameter(item));
  for (const Cursor& item : root.list("constraints")) space.constraints.push_back(item.expr().value_or(Expr(1)));
  ReadLog& log = root.cursor().log();
  if (space.parameters.empty() && !root.cursor().json().find("parameters")) return space;
  std::vector<Fault> meaning = validate(space, log.file);
  for (Fault& fault : meaning) fault.pointer = root.cursor().pointer() + fault.pointer;
  std::erase_if(meaning, [&](const Fault& fault) { return log.touched(fault.pointer); });
  log.faults.insert(log.faults.end(), meaning.begin(), meaning.end());
  return space;
}

Result<SearchSpace> parse_space(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<SearchSpace>(text, file_name, kSpaceSchema, warnings, read_space_root);
}

Result<SearchSpace> read_space(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_space(*text, path, warnings) : text.error();
}

Json space_json(const SearchSpace& space) {
  Json root = Json::object();
  root.set("schema", kSpaceSchema);
  if (!space.name.empty()) root.set("name", space.name);
  if (!space.about.empty()) root.set("about", space.about);
  Json parameters = Json::array();
  for (const Parameter& p : space.parameters) {
    Json item = Json::object();
    item.set("name", p.name).set("kind", to_string(p.kind));
    switch (p.kind) {
      case ParameterKind::Real: item.set("low", p.least).set("high", p.most); break;
      case ParameterKind::Integer: item.set("low", p.low).set("high", p.high); break;
      case ParameterKind::Ordinal: {
        Json values = Json::array();
        for (const std::int64_t v : p.values) values.push(v);
        item.set("values", std::move(values));
        break;
      }
      case ParameterKind::Categorical: item.set("values", names_json(p.words)); break;
      case ParameterKind::Permutation: item.set("items", names_json(p.words)); break;
    }
    if (p.log) item.set("log", true);
    item.set("default", value_of(p, p.standard));
    if (!p.prior.empty()) {
      Json prior = Json::array();
      for (const double weight : p.prior) prior.push(weight);
      item.set("prior", std::move(prior));
    }
    if (!p.about.empty()) item.set("about", p.about);
    parameters.push(std::move(item));
  }
  root.set("parameters", std::move(parameters));
  Json constraints = Json::array();
  for (const Expr& constraint : space.constraints) constraints.push(constraint.text());
  root.set("constraints", std::move(constraints));
  return root;
}

Json config_json(const SearchSpace& space, const Config& config) {
  Json root = Json::object();
  for (std::size_t p = 0; p < space.parameters.size(); ++p) root.set(space.parameters[p].name, value_of(space.parameters[p], config[p]));
  return root;
}

std::optional<Config> read_config(const Cursor& at, const SearchSpace& space) {
  ObjectReader object(at);
  Config config;
  for (const Parameter& p : space.parameters) {
    const auto item = object.require(p.name.c_str());
    const auto value = item ? read_value_of(*item, p) : std::nullopt;
    if (value) config.push_back(*value);
  }
  if (config.size() != space.parameters.size()) return std::nullopt;
  return config;
}

}  // namespace heddle
