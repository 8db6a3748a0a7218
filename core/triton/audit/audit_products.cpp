// Products that Triton does not give to the asynchronous tensor cores: which it chose instead, why, and what would change it. The
// conditions are those of its pass tritongpu-accelerate-matmul (versions 3.4 to 3.9), read from its source.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/triton/audit/audit_parts.h"
#include "core/triton/read/flow.h"
#include "core/triton/read/op_words.h"

namespace heddle::triton {
namespace {

/// wgmma and tcgen05.mma take rows by 64 and columns by 8, issued by groups of four warps.
constexpr std::int64_t kRows = 64, kColumns = 8, kGroup = 4;

std::string rounding_of(const mlir::Op& product) {
  const std::size_t at = product.words.find("inputPrecision");
  if (at == std::string::npos) return {};
  const std::size_t begin = product.words.find_first_not_of(" =", at + std::string_view("inputPrecision").size());
  if (begin == std::string::npos) return {};
  return product.words.substr(begin, product.words.find_first_of(" ,", begin) - begin);
}

struct Reason {
  std::string why, cure;
};

Reason reason_of(const TritonProgram& program, const mlir::Op& product, const char* wanted) {
  const std::vector<std::int64_t>& shape = program.type(product.results[0]).tile.shape;
  const Type& left = program.operand_type(product, 0);
  const bool f32 = left.tile.element == "f32", f64 = left.tile.element == "f64";
  if (f64) return {"its operands are f64", "no asynchronous product takes them"};
  if (f32 && rounding_of(product) != "tf32")
    return {"its operands are f32 and input_precision is not \"tf32\"", "tl.dot(..., input_precision=\"tf32\"), or operands of 16 bits"};
  if (shape.size() != 2) return {fmt::format("it has {} dimensions", shape.size()), "products of two dimensions"};
  if (shape[0] % kRows != 0) {
    std::string cure = fmt::format("blocks of {} rows", kRows);
    if (shape[1] % kRows == 0 && shape[0] % kColumns == 0) cure += ", or the operands exchanged (a transposed product has enough)";
    return {fmt::format("{} rows are {} {}", shape[0], shape[0] < kRows ? "fewer than" : "no multiple of", kRows), cure};
  }
  if (shape[1] % kColumns != 0) return {fmt::format("{} columns are no multiple of {}", shape[1], kColumns), "blocks of more columns"};
  if (program.num_warps % kGroup != 0)
    return {fmt::format("it has {}, and {} is issued by groups of {}", count_of(program.num_warps, "warp"), wanted, kGroup),
            fmt::format("num_warps={}", kGroup)};
  return {fmt::format("{} does not take {} here", wanted, left.tile.element), "another type of its operands"};
}

}  // namespace

std::optional<Finding> audit_products(const TritonProgram& program, const LoopSite& loop) {
  const Flow flow(program, loop.op);
  const char* wanted = program.target >= 100 && program.target < 120 ? "tcgen05.mma" : "wgmma";
  Finding finding{"products", RowMark::Fine, {}, {}, {}};
  std::size_t synchronous = 0, scalar = 0;
  for (const mlir::OpId id : flow.ops()) {
    const mlir::Op& op = program.module->op(id);
    if (op.name != "tt.dot" || op.results.empty()) continue;
    const bool tensor_cores = program.type(op.results[0]).layout.kind == TritonLayout::Kind::NvidiaMma;
    ++(tensor_cores ? synchronous : scalar);
    finding.ops.push_back(id);
    if (program.target < 90 || program.target >= 120) {
      if (!tensor_cores) finding.details.push_back(fmt::format("{}: it runs without tensor cores", describe_op(program, op)));
      continue;
    }
    const Reason reason = reason_of(program, op, wanted);
    finding.details.push_back(fmt::format("{}: {}, because {}; {} would change it", describe_op(program, op),
                                          tensor_cores ? "mma.sync" : "no tensor core at all", reason.why, reason.cure));
  }
  if (synchronous + scalar == 0) return std::nullopt;
  if (scalar > 0) finding.weight = RowMark::Waste;
  std::vector<std::string> parts;
  if (synchronous > 0)
    parts.push_back(fmt::format("{} by mma.sync, which warps wait for", count_of(static_cast<std::int64_t>(synchronous), "product")));
  if (scalar > 0) parts.push_back(fmt::format("{} by FMA", count_of(static_cast<std::int64_t>(scalar), "product")));
  finding.sentence = fmt::format("{} (not {})", fmt::join(parts, " and "), wanted);
  return finding;
}

}  // namespace heddle::triton
