#include "app/cli/kernel_run_options.h"

namespace heddle::app {

Result<KernelRunOptions> kernel_run_options(const Arguments& arguments, const Machine&) {
  KernelRunOptions options;
  options.trips = arguments.integer("--trips");
  options.causal = arguments.has("--causal");
  options.persistent = arguments.has("--persistent");
  options.longest_first = arguments.has("--longest-first");
  if (const auto ctas = arguments.integer("--ctas")) options.ctas = static_cast<int>(*ctas);
  SimulateOptions& loop = options.loop;
  if (arguments.text("--arbitration") == "first-come") loop.arbitration = Arbitration::FirstCome;
  loop.jitter.percent = static_cast<int>(arguments.integer("--jitter").value_or(0));
  loop.jitter.every_op = arguments.has("--jitter-all");
  const std::string shape = arguments.text("--jitter-shape").value_or("uniform");
  loop.jitter.shape = shape == "normal" ? JitterShape::Normal : shape == "tail" ? JitterShape::Tail : JitterShape::Uniform;
  loop.jitter.seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(1));
  return options;
}

}  // namespace heddle::app
