#include "core/triton/read/op_words.h"

#include <fmt/format.h>

namespace heddle::triton {

std::string source_of(const TritonProgram& program, const mlir::Op& op) {
  const mlir::Location& location = program.module->location(op);
  if (location.line <= 0 || location.file.empty()) return {};
  const std::size_t slash = location.file.find_last_of('/');
  return fmt::format("{}:{}", slash == std::string::npos ? location.file : location.file.substr(slash + 1), location.line);
}

std::string name_of(const TritonProgram& program, const mlir::Op& op) {
  return op.results.empty() ? op.name : "%" + program.module->value(op.results.front()).name;
}

std::string describe_op(const TritonProgram& program, const mlir::Op& op) {
  const std::string source = source_of(program, op), where = fmt::format("line {}{}{}", op.line, source.empty() ? "" : ", ", source);
  return op.results.empty() ? fmt::format("{} ({})", op.name, where) : fmt::format("{} ({}, {})", name_of(program, op), op.name, where);
}

}  // namespace heddle::triton
