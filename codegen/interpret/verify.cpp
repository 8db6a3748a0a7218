// The reference is computed once, then the program is run under one order of events after the other and compared with it.
#include "codegen/interpret/verify.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/base/text_style.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/execute.h"
#include "core/kernel/switches.h"

namespace heddle::codegen {
namespace {

/// "element [3, 17]" of a row-major array.
std::string element_text(const Array& array, std::size_t index) {
  std::string text;
  auto left = static_cast<std::int64_t>(index);
  for (std::size_t d = array.shape.size(); d-- > 0;) {
    const std::int64_t extent = std::max<std::int64_t>(array.shape[d], 1);
    text = std::to_string(left % extent) + (text.empty() ? "" : ", ") + text;
    left /= extent;
  }
  return "element [" + text + "]";
}

/// The first tensor that differs, into `check`.
void compare_tensors(const TensorMap& computed, const TensorMap& expected, DataCheck& check) {
  for (const auto& [name, tensor] : computed) {
    const Array &have = tensor.array, &want = expected.at(name).array;
    if (have.data == want.data) continue;
    // Not-a-number is equal to nothing, and the same in both is no difference.
    std::size_t at = 0;
    const std::size_t count = std::min(have.data.size(), want.data.size());
    while (at < count &&
           (have.data[at] == want.data[at] || std::bit_cast<std::uint32_t>(have.data[at]) == std::bit_cast<std::uint32_t>(want.data[at])))
      ++at;
    if (at == count && have.data.size() == want.data.size()) continue;
    check.tensor = name;
    check.wrong = fmt::format("'{}' is not what heddle eval computes", printable(name));
    if (at < count) check.wrong += fmt::format(": {} is {}, not {}", element_text(want, at), have.data[at], want.data[at]);
    return;
  }
}

}  // namespace

std::string DataCheck::sentence() const {
  if (good()) return {};
  return fmt::format("interleaving {}: {}", done - 1, fault ? to_string(*fault) : wrong);
}

Result<DataCheck> verify_with_data(const DataRequest& request, const std::stop_token& stop, const std::function<void(std::int64_t)>& said) {
  const Kernel& usual = request.instance.kernel();
  const Scope& sizes = request.instance.problem().params;
  Scope given = request.params;
  for (const Param& param : usual.params)
    if (const auto it = sizes.find(param.name); !param.eval_value && it != sizes.end()) given.insert(*it);
  auto scope = parameter_scope(usual, given, true);
  if (!scope.ok()) return scope.error();
  InstanceSpec small = request.instance.spec();
  small.params = *scope;
  auto settled_kernel = settled(small.kernel, small.params);
  if (!settled_kernel.ok()) return settled_kernel.error();
  small.kernel = *std::move(settled_kernel);
  const Kernel& kernel = *small.kernel;
  if (kernel.off != usual.off)
    return Error::input("at its evaluation sizes the kernel has other ops than the schedule", "give the sizes that were solved for");
  const auto problem = make_problem(small);
  if (!problem.ok()) return problem.error();
  const auto built = build_program(kernel, *problem, request.schedule, {}, request.options);
  if (!built.program) return Error::input(fmt::format("at its evaluation sizes: {}", built.refusals.front().sentence));
  auto expected = make_tensors(kernel, problem->params, request.seed, stop);
  if (!expected.ok()) return expected.error();
  const TensorMap start = *expected;
  DataCheck check;
  const auto count = execute(kernel, problem->params, *expected, stop);
  if (!count.ok()) return count.error();
  check.stopped = count->cancelled;
  if (check.stopped) return check;
  check.blocks = count->blocks;
  check.trips = count->trips;
  check.roles = built.program->roles.size();
  // Where tiles add into one tensor, their order shows in the last bits: then every block has one tile, and blocks have an order.
  const bool adds = std::any_of(kernel.body.begin(), kernel.body.end(), [](const TileOp& op) { return op.kind == "atomic_add"; });
  for (std::int64_t k = 0; k < request.times && check.good(); ++k) {
    if (said) said(k);
    TensorMap tensors = start;
    const std::int64_t tiles = adds ? 1 : 1 + k % 3;
    auto fault = run_with_data(kernel, *built.program, tensors, {request.seed + static_cast<std::uint64_t>(k), tiles}, stop);
    if (!fault.ok()) return fault.error();
    if (stop.stop_requested()) {
      check.stopped = true;
      break;
    }
    check.done = k + 1;
    check.fault = std::move(*fault);
    if (!check.fault) compare_tensors(tensors, *expected, check);
  }
  return check;
}

}  // namespace heddle::codegen
