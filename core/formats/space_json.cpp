#include "core/formats/space_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/atomic_file.h"
#include "core/base/scanner.h"
#include "core/formats/members.h"

namespace heddle {
namespace {

constexpr const char* kSpaceSchema = "heddle.space/1";

std::optional<double> signed_real(const Cursor& at) {
  if (const std::int64_t* whole = at.json().integer()) return static_cast<double>(*whole);
  if (const double* number = at.json().number(); number && std::isfinite(*number)) return *number;
  at.fault("expected a number, found " + describe(at.json()));
  return std::nullopt;
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

struct SignedReal {
  void read(const Cursor& at, double& value) const { as::keep(value, signed_real(at)); }
  Json write(double value) const { return value; }
  Json schema(double, Json&) const { return schema::type("number"); }
};

struct RisingNumbers : as::List<as::Integer> {
  RisingNumbers() : as::List<as::Integer>{as::any_integer, 1} {}
  void read(const Cursor& at, std::vector<std::int64_t>& values) const {
    for (const Cursor& place : at.items()) {
      const auto value = place.integer(item.low, item.high);
      if (!value) continue;
      if (!values.empty() && *value <= values.back())
        place.fault(fmt::format("{} does not rise above {}", *value, values.back()), "list the values from small to large, each once");
      values.push_back(*value);
    }
    if (const Json::Array* items = at.json().items(); items && items->empty()) at.fault("an ordinal needs at least one value");
  }
};

/// Names that constraints can speak of, each once.
struct Words : as::List<as::Identifier> {
  explicit Words(std::size_t most) : as::List<as::Identifier>{as::identifier, 1, most, true} {}
  void read(const Cursor& at, std::vector<std::string>& words) const {
    for (const Cursor& place : at.items()) {
      const auto word = place.name();
      if (!word) continue;
      if (!is_name(*word))
        place.fault(fmt::format("\"{}\" is no name", *word), "letters, digits and _, so that constraints can speak of it");
      if (std::find(words.begin(), words.end(), *word) != words.end()) place.fault(fmt::format("'{}' is listed twice", *word));
      words.push_back(*word);
    }
    const Json::Array* items = at.json().items();
    if (items && items->empty()) at.fault("expected at least one");
    if (items && items->size() > most) at.fault(fmt::format("{} found, at most {} are searched", items->size(), most));
  }
};

/// What may stand for a value of the parameter. Nothing is read where its values are not `known`.
struct KnownValueOf {
  const Parameter& parameter;
  bool known;
  void read(const Cursor& at, double& value) const {
    if (known) as::keep(value, read_value_of(at, parameter));
  }
  Json write(double value) const { return value_of(parameter, value); }
  Json schema(double, Json& definitions) const {
    switch (parameter.kind) {
      case ParameterKind::Real: return schema::type("number");
      case ParameterKind::Integer:
      case ParameterKind::Ordinal: return as::any_integer.schema(0, definitions);
      case ParameterKind::Categorical: return as::identifier.schema({}, definitions);
      case ParameterKind::Permutation: break;
    }
    return Words(kMostPermuted).schema(parameter.words, definitions);
  }
};

struct WeightsOf {
  const Parameter& parameter;
  bool known;
  void read(const Cursor& at, std::vector<double>& weights) const {
    if (!known) return;
    for (const Cursor& place : at.items()) {
      const auto weight = signed_real(place);
      if (weight && *weight <= 0) place.fault(fmt::format("expected a weight above 0, found {}", *weight));
      weights.push_back(weight.value_or(1));
    }
    if (static_cast<std::int64_t>(weights.size()) != parameter.count())
      at.fault(parameter.finite() ? fmt::format("expected {} weights, one per value, found {}", parameter.count(), weights.size())
                                  : "a real parameter takes no prior");
  }
  Json write(const std::vector<double>& weights) const { return as::list(SignedReal{}).write(weights); }
  Json schema(const std::vector<double>&, Json&) const {
    return schema::list(schema::type("number").set("exclusiveMinimum", 0), 0, kLongestList, false);
  }
};

bool all_positive(const Parameter& p) {
  if (p.kind == ParameterKind::Real) return p.least > 0;
  if (p.kind == ParameterKind::Integer) return p.low > 0;
  return p.kind == ParameterKind::Ordinal && !p.values.empty() && p.values.front() > 0;
}

const char* about(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::Real: return "Any number from low to high.";
    case ParameterKind::Integer: return "Every whole number from low to high.";
    case ParameterKind::Ordinal: return "Whole numbers, rising.";
    case ParameterKind::Categorical: return "Values without an order.";
    case ParameterKind::Permutation: return "Orders of the items.";
  }
  return "";
}

/// Always text, so that a constraint looks like one.
struct ConstraintText : as::Expression {
  Json write(const Expr& constraint) const { return constraint.text(); }
};

/// What no single member is to blame for; where something is wrong, `p` becomes one that can be gone on with.
template <class Io>
void judge_values(Io& io, Parameter& p) {
  if (p.kind == ParameterKind::Real) {
    if (!(p.most > p.least)) {
      io.fault(fmt::format("nothing lies between {} and {}", p.least, p.most), "\"low\" is to be below \"high\"");
      p.most = p.least + 1;
    }
  } else if (p.kind == ParameterKind::Integer && (p.high < p.low || p.count() > kMostValues)) {
    if (p.high < p.low)
      io.fault(fmt::format("nothing lies from {} to {}", p.low, p.high), "swap \"low\" and \"high\"");
    else
      io.fault(fmt::format("{} values, at most {} are searched", p.count(), kMostValues), "list fewer as an ordinal");
    p.high = p.low;
  }
}

}  // namespace

template <class Io>
void visit(Io& io, Parameter& p) {
  io.required("name", p.name, as::identifier);
  if (!p.name.empty() && !is_name(p.name)) io.fault(fmt::format("\"{}\" is no name for a parameter", p.name), "letters, digits and _");
  io.kind("kind of parameter", p.kind, ParameterKind::Permutation, [&] {
    io.part("", about(p.kind));
    const std::size_t faults = io.faults();
    switch (p.kind) {
      case ParameterKind::Real:
        io.required("low", p.least, SignedReal{});
        io.required("high", p.most, SignedReal{});
        break;
      case ParameterKind::Integer:
        io.required("low", p.low, as::any_integer);
        io.required("high", p.high, as::any_integer);
        break;
      case ParameterKind::Ordinal: io.required("values", p.values, RisingNumbers()); break;
      case ParameterKind::Categorical: io.required("values", p.words, Words(kLongestList)); break;
      case ParameterKind::Permutation: io.required("items", p.words, Words(kMostPermuted)); break;
    }
    if (Io::reads) judge_values(io, p);
    io.optional("log", p.log);
    if (p.log && io.faults() == faults && !all_positive(p)) io.fault("\"log\" needs numbers above 0", "leave it out");
    const bool known = io.faults() == faults;
    if (p.kind == ParameterKind::Real && Io::reads)
      p.standard = p.log ? std::sqrt(p.least * p.most) : (p.least + p.most) / 2;  // unless "default" says something else
    io.always("default", p.standard, KnownValueOf{p, known});
    io.optional("prior", p.prior, WeightsOf{p, known});
    io.optional("about", p.about);
  });
}

template <class Io>
void visit(Io& io, SearchSpace& s) {
  io.optional("name", s.name);
  io.optional("about", s.about);
  io.required("parameters", s.parameters, as::list(as::part, 1, kMostParameters));
  io.always("constraints", s.constraints, as::list(ConstraintText{}),
            "expressions over parameters that hold where they are not 0; of a permutation NAME_ITEM is the position of the item");
}

Json space_schema() { return document_schema<SearchSpace>(kSpaceSchema, "Heddle space of configurations"); }

SearchSpace read_space_from(ObjectReader& root) {
  SearchSpace space;
  read_members(root, space);
  ReadLog& log = root.cursor().log();
  if (space.parameters.empty() && !root.cursor().json().find("parameters")) return space;
  std::vector<Fault> meaning = validate(space, log.file);
  for (Fault& fault : meaning) fault.pointer = root.cursor().pointer() + fault.pointer;
  std::erase_if(meaning, [&](const Fault& fault) { return log.touched(fault.pointer); });
  log.faults.insert(log.faults.end(), meaning.begin(), meaning.end());
  return space;
}

Result<SearchSpace> parse_space(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<SearchSpace>(text, file_name, kSpaceSchema, warnings,
                                    [](ObjectReader& root, SearchSpace& space) { space = read_space_from(root); });
}

Result<SearchSpace> read_space(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_space(*text, path, warnings) : text.error();
}

Json space_json(const SearchSpace& space) { return document_json(kSpaceSchema, space); }

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
