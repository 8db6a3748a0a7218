// The catalogue of tile instructions: one entry per kind, so that reading, costing, executing and emitting agree on what a
// kind is. What a kind computes is defined in core/kernel; what it costs, in the machine file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct OpKind {
  static constexpr int kAnyOutputs = -1;
  const char* name;
  int min_inputs, max_inputs;
  int outputs;         ///< number of values defined; kAnyOutputs: whatever the file says
  bool reads_tensor;   ///< needs `tensor` and `at`, reads global memory
  bool writes_tensor;  ///< needs `tensor` and `at`, writes global memory
  const char* attrs;   ///< space-separated names of accepted attributes
  const char* about;   ///< one sentence: what it computes
};

/// Every kind, in the order in which documentation lists them.
std::span<const OpKind> op_kinds();
/// nullptr when unknown.
const OpKind* find_op_kind(std::string_view name);

/// The element functions of kind "elementwise" (attribute "fn"): "add", "mul", ...
std::vector<std::string_view> elementwise_functions();

}  // namespace heddle
