// Loading and lowering.
#include "tests/codegen/fixture.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "codegen/program/text.h"
#include "core/base/atomic_file.h"
#include "core/formats/schedule_json.h"
#include "core/kernel/switches.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/patterns/pattern.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

namespace heddle::test {

namespace {

/// The machine that a kernel is written for.
std::string machine_of(const std::string& kernel) { return kernel.ends_with("_blackwell") ? "b200" : "h100"; }

std::string schedule_of(const std::string& kernel) { return "tests/schedules/" + kernel + "_" + machine_of(kernel) + ".json"; }

Lowering scheduled(const Result<Kernel>& kernel, const Scope& params, const std::string& path, const LayoutChoices& choices = {}) {
  const auto machine = load_machine(repository_path("assets/machines/" + machine_of(kernel.ok() ? kernel->name : "") + ".json"));
  REQUIRE(kernel.ok());
  REQUIRE(machine.ok());
  const auto text = read_file(repository_path(path));
  REQUIRE(text.ok());
  const auto head = parse_schedule_head(*text, path);
  REQUIRE(head.ok());
  const auto problem = resolve(*kernel, *machine, params, {}, choices.empty() ? head->layouts : choices);
  REQUIRE(problem.ok());
  const auto schedule = read_schedule(repository_path(path), *problem);
  REQUIRE(schedule.ok());
  return {*settled(*kernel, params), *problem, *schedule};
}

}  // namespace

Lowering lowering(const std::string& name, const Scope& params) { return lowering(name, params, schedule_of(name)); }

Lowering lowering(const std::string& name, const Scope& params, const std::string& path) {
  const std::string cuts = name.substr(std::min(name.find('['), name.size()));
  return scheduled(load_kernel(repository_path("kernels/" + name.substr(0, name.size() - cuts.size()) + ".json") + cuts), params, path);
}

Lowering lowered_fixture(const std::string& name, const Scope& params, const LayoutChoices& choices) {
  return scheduled(load_kernel(repository_path("tests/kernels/" + name + ".json")), params, schedule_of(name), choices);
}

Lowering lowered_pattern(const std::string& name, const std::string& pattern, const std::map<std::string, std::string>& options,
                         const Scope& params) {
  return scheduled(kernel_of(*find_pattern(pattern), {options.begin(), options.end()}, name), params, schedule_of(name));
}

Lowering laid_out(Lowering from, const LayoutChoices& choices) {
  const auto machine = load_machine(repository_path("assets/machines/" + machine_of(from.kernel.name) + ".json"));
  REQUIRE(machine.ok());
  std::vector<Fault> faults;
  from.problem.layouts = std::make_shared<const LayoutPlan>(plan_layouts(from.kernel, from.problem.params, *machine, choices, faults));
  for (const Fault& fault : faults) UNSCOPED_INFO(to_string(fault));
  REQUIRE(faults.empty());
  from.schedule.layouts = choices;
  return from;
}

codegen::Program program_of(const Lowering& from, std::optional<std::int64_t> trips, const codegen::BuildOptions& options) {
  const codegen::BuildResult built = codegen::build_program(from.kernel, from.problem, from.schedule, trips, options);
  std::string refused;
  for (const codegen::Refusal& refusal : built.refusals) refused += refusal.rule + ": " + refusal.sentence + "\n";
  INFO(refused);
  REQUIRE(built.program.has_value());
  return *built.program;
}

const std::vector<std::string>& lowered_kernels() {
  static const std::vector<std::string> names{"gemm_hopper",
                                              "gemm_pointers_hopper",
                                              "attention_forward_hopper",
                                              "attention_forward_causal_hopper",
                                              "swiglu_dual_gemm_hopper",
                                              "layernorm",
                                              "attention_delta",
                                              "attention_round_dq",
                                              "gemm_fp8_hopper",
                                              "gemm_w4a16_hopper",
                                              "gemm_w4a16_prepacked_hopper",
                                              "attention_forward_fp8_hopper",
                                              "attention_block_sparse_hopper",
                                              "attention_paged_hopper",
                                              "gemm_grouped_hopper",
                                              "spmm_bsr_hopper",
                                              "embedding_bag_hopper",
                                              "gemm_gather_hopper"};
  return names;
}

const std::vector<std::string>& blackwell_kernels() {
  static const std::vector<std::string> names{"gemm_blackwell", "attention_forward_blackwell", "attention_backward_blackwell"};
  return names;
}

int deepest(const codegen::Program& program) {
  int depth = 1;
  for (const codegen::Buffer& buffer : program.buffers) depth = std::max(depth, buffer.depth);
  return depth;
}

}  // namespace heddle::test
