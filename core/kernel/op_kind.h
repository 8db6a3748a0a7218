// The catalogue of tile instructions: one entry per kind, so that reading, costing, executing and emitting agree on what a
// kind is. What a kind computes is defined in core/kernel; what it costs, in the machine file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/kernel/kernel.h"

namespace heddle {

/// An attribute that a kind accepts: its type, what it is when nothing is said, and what it does.
struct OpAttribute {
  enum class Type { Flag, Integer, Number, Function, Text, Expression };
  const char* name;
  Type type;
  const char* standard;  ///< as a file has it; empty: there is none
  const char* about;
  std::int64_t low = 0, high = 0;  ///< Integer
  bool needed = false;             ///< an op must give it
};

struct OpKind {
  static constexpr int kAnyOutputs = -1;
  const char* name;
  int min_inputs, max_inputs;
  int outputs;         ///< number of values defined; kAnyOutputs: whatever the file says
  bool reads_tensor;   ///< needs `tensor` and `at`, reads global memory
  bool writes_tensor;  ///< needs `tensor` and `at`, writes global memory
  std::span<const OpAttribute> attributes;
  const char* about;  ///< one sentence: what it computes

  const OpAttribute* find_attribute(std::string_view name) const;
};

/// Every kind, in the order in which documentation lists them.
std::span<const OpKind> op_kinds();
/// nullptr when unknown.
const OpKind* find_op_kind(std::string_view name);

/// An element function of kind "elementwise" (attribute "fn").
struct ElementwiseFunction {
  const char* name;
  int operands;
  const char* about;
};
std::span<const ElementwiseFunction> elementwise_functions();

/// A `load` that is written into shared memory while others compute (cp.async).
bool is_async_load(const TileOp& op);

/// A gather whose rows its first coordinate says, where kRowName is the row of the tile.
bool looks_rows_up(const TileOp& op);
inline constexpr const char* kRowName = "row";

/// Of a store: the tensor's first row that it leaves as it is, like all after it (`before`); a row is the tile's first dimension. Nothing:
/// it stores all rows, or the attribute is no expression.
std::optional<Expr> end_of_rows(const TileOp& op);

/// A number as attributes have it: an integer, or text with a decimal number. Nothing where it is none.
std::optional<float> number_of(const Attr& attr);
/// What is wrong with a value of an attribute: "expected 0 or 1"; empty when it is fine.
std::string attribute_fault(const OpAttribute& attribute, const Attr& value);

}  // namespace heddle
