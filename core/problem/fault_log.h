// Where resolving collects what is wrong with a kernel, a machine or a parameter, so that all of it is reported at
// once.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/base/result.h"

namespace heddle {

/// A spot in a user's file: "/rules/3/latency" of h100.json.
struct FaultPlace {
  std::string file, pointer;
};

/// What a number may be, both ends included.
struct Range {
  std::int64_t low = 0, high = 0;
};

/// Cycles, amounts, sizes and parameters beyond this are mistakes, and would endanger the arithmetic on them.
inline constexpr std::int64_t kAbsurd = std::int64_t{1} << 31;

class FaultLog {
 public:
  /// The same fault at the same place counts once.
  void add(const FaultPlace& place, std::string message, std::string hint = {});

  /// The expression's value; a fault and nothing when it has none or lies outside `range`.
  std::optional<std::int64_t> number(const Expr& expr, const Scope& scope, Range range, const FaultPlace& place, const std::string& what);

  bool empty() const { return faults_.empty(); }
  Error error() const { return {ErrorKind::Input, faults_}; }

 private:
  std::vector<Fault> faults_;
};

}  // namespace heddle
