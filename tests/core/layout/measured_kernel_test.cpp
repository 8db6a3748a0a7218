// Kernels as the passes of plan_layouts() look at them, and the passes one by one.
#include <catch2/catch.hpp>

#include "core/kernel/packed.h"
#include "core/layout/default_layouts.h"
#include "core/layout/layout_objections.h"
#include "core/layout/measured_kernel.h"
#include "core/layout/packed_tensors.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

Scope defaults_of(const Kernel& kernel) {
  Scope params;
  for (const Param& p : kernel.params) params[p.name] = p.value;
  return params;
}

}  // namespace

TEST_CASE("a measured kernel has its extents as numbers, and its ops in the order in which they run", "[core]") {
  const Kernel kernel = load_kernel("attention_backward_hopper").value();
  const Machine machine = load_machine("h100").value();
  const Scope params = defaults_of(kernel);
  const MeasuredKernel measured = measure(kernel, params, machine);
  CHECK(measured.products());
  CHECK_FALSE(measured.tensor_products());
  REQUIRE(measured.ops.size() == kernel.prologue.size() + kernel.body.size() + kernel.epilogue.size());
  CHECK(&measured.ops[kernel.prologue.size()].get() == &kernel.body.front());
  CHECK(&measured.ops.back().get() == (kernel.epilogue.empty() ? &kernel.body.back() : &kernel.epilogue.back()));
  for (std::size_t v = 0; v < kernel.values.size(); ++v) {
    CHECK(measured.index_of(kernel.values[v].name) == v);
    REQUIRE(measured.shapes[v].size() == kernel.values[v].shape.size());
    for (std::size_t d = 0; d < measured.shapes[v].size(); ++d)
      CHECK(measured.shapes[v][d] == kernel.values[v].shape[d].evaluate(params).value());
  }
}

TEST_CASE("the family of layouts follows from the machine and from whether the kernel multiplies", "[core]") {
  const Kernel kernel = load_kernel("attention_backward_hopper").value();
  const Scope params = defaults_of(kernel);
  CHECK(measure(kernel, params, load_machine("b200").value()).family == LayoutPlan::Family::TensorProducts);
  CHECK(measure(kernel, params, load_machine("toy").value()).family == LayoutPlan::Family::None);
  Kernel without = kernel;
  std::erase_if(without.body, [](const TileOp& op) { return op.kind == "mma"; });
  CHECK(measure(without, params, load_machine("h100").value()).family == LayoutPlan::Family::Rows);
}

TEST_CASE("no tile in shared memory objects to lying as it does by default", "[core]") {
  const Kernel kernel = load_kernel("attention_backward_hopper").value();
  const Machine machine = load_machine("h100").value();
  const Scope params = defaults_of(kernel);
  const MeasuredKernel measured = measure(kernel, params, machine);
  std::vector<Fault> faults;
  LayoutPlan plan;
  plan.packed = find_packed(measured, {}, faults);
  plan.values = default_layouts(measured, plan.packed);
  CHECK(faults.empty());
  for (std::size_t v = 0; v < plan.values.size(); ++v) {
    if (!plan.values[v].layout || kernel.values[v].space != Space::Smem || measured.shapes[v].size() != 2) continue;
    INFO(kernel.values[v].name);
    CHECK(shared_objection(measured, plan, v, *plan.values[v].layout) == "");
  }
}
