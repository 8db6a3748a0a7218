#include "core/patterns/draft.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/base/scanner.h"
#include "core/kernel/index_data.h"
#include "core/kernel/subtile.h"

namespace heddle::pattern {
namespace {

std::vector<Expr> exprs(const Texts& texts) {
  std::vector<Expr> all;
  for (const std::string& text : texts) all.push_back(expr(text));
  return all;
}

}  // namespace

Expr expr(const std::string& text) {
  if (const auto number = read_number<std::int64_t>(text)) return Expr(*number);
  Result<Expr> read = Expr::parse(text);
  HEDDLE_ASSERT(read.ok(), "a pattern's expression can be read");
  return *std::move(read);
}

OpDraft& OpDraft::in(const Texts& operands) {
  for (const std::string& text : operands) {
    const std::size_t bracket = text.find("[-1]");
    op.inputs.push_back({text.substr(0, bracket), bracket == std::string::npos ? 0 : 1});
  }
  return *this;
}

OpDraft& OpDraft::out(const std::string& value) {
  op.outputs.push_back(value);
  return *this;
}

OpDraft& OpDraft::at(const std::string& tensor, const Texts& coordinates) {
  op.tensor = tensor;
  op.at = exprs(coordinates);
  return *this;
}

OpDraft& OpDraft::with(const std::string& attribute, Attr value) {
  op.attrs[attribute] = std::move(value);
  return *this;
}

OpDraft& OpDraft::only_if(const std::string& condition) {
  op.when = expr(condition);
  return *this;
}

void KernelDraft::param(const std::string& name, std::int64_t value, std::int64_t small, std::string about,
                        std::vector<std::int64_t> choices) {
  kernel.params.push_back({name, value, small == value ? std::nullopt : std::optional(small), std::move(choices), std::move(about)});
}

void KernelDraft::condition(const std::string& text, std::string about) { kernel.conditions.push_back({expr(text), std::move(about)}); }

void KernelDraft::tensor(const std::string& name, DType dtype, const Texts& shape, TensorRole role) {
  kernel.tensors.push_back({name, dtype, exprs(shape), role});
}

Tensor& KernelDraft::index(const std::string& name, const Texts& shape, const std::string& data) {
  tensor(name, DType::I32, shape, TensorRole::Index);
  Tensor& made = kernel.tensors.back();
  made.data = parse_index_data(data).value();
  return made;
}

void KernelDraft::grid(const std::string& name, const std::string& size) { kernel.grid.push_back({name, expr(size)}); }

TileValue& KernelDraft::value(const std::string& name, DType dtype, const Texts& shape, Space space) {
  TileValue& made = kernel.values.emplace_back();
  made.name = name;
  made.dtype = dtype;
  made.shape = exprs(shape);
  made.space = space;
  return made;
}

void KernelDraft::smem(const std::string& name, DType dtype, const Texts& shape) { value(name, dtype, shape, Space::Smem); }

void KernelDraft::registers(const std::string& name, DType dtype, const Texts& shape, const std::string& registers) {
  TileValue& made = value(name, dtype, shape, Space::Register);
  if (!registers.empty()) made.registers = expr(registers);
}

OpDraft KernelDraft::add(std::vector<TileOp>& list, const std::string& name, const std::string& kind) {
  TileOp& op = list.emplace_back();
  op.name = name;
  op.kind = kind;
  return {op};
}

Result<Kernel> for_consumers(const Kernel& kernel, const std::string& param, std::int64_t parts) {
  Result<Kernel> cut = subtile(kernel, {param, parts});
  if (!cut) return cut;
  cut->name = kernel.name;
  cut->max_groups = static_cast<int>(parts) + 1;
  return cut;
}

Error bad_option(const std::string& option, std::string message, std::string hint) {
  return Error{ErrorKind::Input, {{"", "/" + option, std::move(message), std::move(hint)}}};
}

PatternOption size(std::string name, std::int64_t standard, std::int64_t step, std::string about) {
  return {std::move(name), std::move(about), PatternOption::Type::Integer, std::to_string(standard), {}, step, 1 << 24, step};
}

PatternOption choice(std::string name, Texts choices, std::string standard, std::string about) {
  return {std::move(name), std::move(about), PatternOption::Type::Choice, std::move(standard), std::move(choices)};
}

PatternOption flag(std::string name, std::string about) {
  return {std::move(name), std::move(about), PatternOption::Type::Flag, "no", {"no", "yes"}};
}

PatternOption grouped_queries() {
  return {"group", "heads of queries for each head of keys: 1, or more for grouped queries", PatternOption::Type::Integer, "1", {}, 1, 256,
          1};
}

PatternOption activation(bool none, std::string standard) {
  Texts words{"relu", "gelu", "silu", "sigmoid", "tanh"};
  if (none) words.insert(words.begin(), "none");
  return choice("activation", std::move(words), std::move(standard), "function of every element");
}

}  // namespace heddle::pattern
