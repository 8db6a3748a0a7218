// Inside core/patterns: a kernel while a pattern writes it down, with expressions and operands as a kernel file has them.
#pragma once

#include <string>
#include <vector>

#include "core/kernel/kernel.h"
#include "core/patterns/pattern.h"

namespace heddle::pattern {

using Texts = std::vector<std::string>;

inline constexpr std::int64_t kConsumerRows = 64;  ///< of a warp group's part of a tile

/// "TILE_M/2". Pre: it can be read.
Expr expr(const std::string& text);

/// A tile instruction being written.
struct OpDraft {
  TileOp& op;
  /// "c", "c[-1]"
  OpDraft& in(const Texts& operands);
  OpDraft& out(const std::string& value);
  /// A box of a tensor; without a tensor, the place of a mask.
  OpDraft& at(const std::string& tensor, const Texts& coordinates);
  OpDraft& with(const std::string& attribute, Attr value);
  /// Of the parameters.
  OpDraft& only_if(const std::string& condition);
};

class KernelDraft {
 public:
  Kernel kernel;

  void param(const std::string& name, std::int64_t value, std::int64_t small, std::string about, std::vector<std::int64_t> choices = {});
  void condition(const std::string& text, std::string about);
  void tensor(const std::string& name, DType dtype, const Texts& shape, TensorRole role = TensorRole::Input);
  Tensor& index(const std::string& name, const Texts& shape, const std::string& data);
  void grid(const std::string& name, const std::string& size);
  void smem(const std::string& name, DType dtype, const Texts& shape);
  /// `registers` per thread, where they are not size / threads.
  void registers(const std::string& name, DType dtype, const Texts& shape, const std::string& registers = {});
  OpDraft before(const std::string& name, const std::string& kind) { return add(kernel.prologue, name, kind); }
  OpDraft loop(const std::string& name, const std::string& kind) { return add(kernel.body, name, kind); }
  OpDraft after(const std::string& name, const std::string& kind) { return add(kernel.epilogue, name, kind); }

 private:
  TileValue& value(const std::string& name, DType dtype, const Texts& shape, Space space);
  static OpDraft add(std::vector<TileOp>& list, const std::string& name, const std::string& kind);
};

/// The kernel with its tiles of `parts` * 64 rows cut into one for each consumer warp group; `param` has the rows.
Result<Kernel> for_consumers(const Kernel& kernel, const std::string& param, std::int64_t parts);

/// A fault of an option.
Error bad_option(const std::string& option, std::string message, std::string hint = {});

// Options that several patterns share.
PatternOption size(std::string name, std::int64_t standard, std::int64_t step, std::string about);
PatternOption choice(std::string name, Texts choices, std::string standard, std::string about);
PatternOption flag(std::string name, std::string about);
/// How many heads of queries share one of keys and values.
PatternOption grouped_queries();
/// Of relu, gelu ... "none" first where `none`.
PatternOption activation(bool none, std::string standard);

// The patterns (gemm.cpp, attention.cpp, rows.cpp).
Pattern gemm();
Pattern batched_gemm();
Pattern dual_gemm();
Pattern attention();
Pattern attention_backward();
Pattern layernorm();
Pattern rmsnorm();
Pattern softmax();
Pattern elementwise();

}  // namespace heddle::pattern
