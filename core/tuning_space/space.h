// A space of configurations: named parameters of five kinds, and constraints between them as expressions (heddle.space/1).
//
// A configuration gives every parameter a value. Finite parameters hold the number of a value (0, 1, ... in the order of the space), real
// ones the value itself, so that one list of numbers is enough; a permutation is the number of its arrangement in lexicographic
// order. What the values mean for a kernel is said in core/tuning_space/candidate.h.
//
// Constraints are integer expressions (core/base/expr.h) that hold where they are not 0. They see
//   integer, ordinal   the parameter's name: its value
//   categorical        the parameter's name, to be compared with the names of values: grid == persistent
//   permutation        NAME_ITEM: the position of the item, from 0: order_i < order_k
// A constraint that cannot be evaluated (division by zero, overflow) does not hold. Real parameters take no part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/base/result.h"

namespace heddle {

enum class ParameterKind { Real, Integer, Ordinal, Categorical, Permutation };
const char* to_string(ParameterKind kind);  ///< "real", "integer", "ordinal", "categorical", "permutation"

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::Ordinal;
  double least = 0, most = 1;        ///< real
  std::int64_t low = 0, high = 0;    ///< integer
  std::vector<std::int64_t> values;  ///< ordinal, rising
  std::vector<std::string> words;    ///< categorical: the values; permutation: the items in their usual order
  bool log = false;                  ///< distances are those of logarithms; all values are then positive
  double standard = 0;               ///< the default, as in a Config
  std::vector<double> prior;         ///< weight of each value of a finite parameter, > 0; empty: all alike
  std::string about;

  bool finite() const { return kind != ParameterKind::Real; }
  std::int64_t count() const;                        ///< of values; 0 for a real one
  std::int64_t number_at(std::int64_t index) const;  ///< integer and ordinal
};

/// One entry per parameter, see above.
using Config = std::vector<double>;

struct SearchSpace {
  std::string name, about;
  std::vector<Parameter> parameters;
  std::vector<Expr> constraints;

  const Parameter* find(std::string_view name) const;
};

inline constexpr std::size_t kMostParameters = 64;
inline constexpr std::size_t kMostPermuted = 8;       ///< items of one permutation: 40 320 arrangements
inline constexpr std::int64_t kMostValues = 1 << 20;  ///< of one finite parameter

/// What no single parameter is to blame for: names given twice, constraints over unknown names or real parameters. Pointers are those of a
/// space file ("/constraints/0"), `file` is for messages only.
std::vector<Fault> validate(const SearchSpace& space, const std::string& file = {});

/// Item numbers in order, of the arrangement with this number; and the way back.
std::vector<std::size_t> arrangement(std::int64_t index, std::size_t items);
std::int64_t arrangement_number(const std::vector<std::size_t>& items);

Config default_config(const SearchSpace& space);

/// The names that a parameter contributes; for finding out what a constraint is about.
std::vector<std::string> scope_names(const Parameter& parameter);
/// Their values, as constraints see them. Words of categorical parameters are numbers of their own.
void add_to_scope(const SearchSpace& space, std::size_t parameter, double value, Scope& scope);
/// Words of all categorical parameters, whatever their values.
Scope words_scope(const SearchSpace& space);
/// Whether it holds; not so where it cannot be evaluated.
bool holds(const Expr& constraint, const Scope& scope);

/// "256", "0.125", "persistent", "k i j"
std::string value_text(const Parameter& parameter, double value);
/// "TILE_N=256 stages=4 grid=persistent"
std::string config_text(const SearchSpace& space, const Config& config);

}  // namespace heddle
