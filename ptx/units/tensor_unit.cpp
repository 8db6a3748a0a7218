#include "ptx/units/tensor_unit.h"

#include <fmt/format.h>

#include "ptx/judge/reference.h"

namespace heddle::ptx {

TensorUnit& tensor_unit(ClusterRun& run) {
  if (run.tensor_memory == nullptr) {
    auto made = std::make_unique<TensorUnit>();
    for (int cta = 0; cta < run.cluster_size(); ++cta) {
      made->memories.emplace_back(run.components, run.findings);
      const std::string of = run.cluster_size() > 1 ? fmt::format(" of CTA {}", cta) : std::string();
      made->queues.push_back({run.components.add("the tensor core" + of), {}, 0, 0});
    }
    made->waiting.resize(static_cast<std::size_t>(run.cluster_size()));
    run.tensor_memory = std::move(made);
  }
  return static_cast<TensorUnit&>(*run.tensor_memory);
}

WarpTensor& tensor_of(ClusterRun& run, Warp& warp) {
  if (warp.tensor == nullptr) {
    auto made = std::make_unique<WarpTensor>();
    made->loads.component = run.components.add(fmt::format("tcgen05.ld of {}", warp_reference(warp.index)));
    made->stores.component = run.components.add(fmt::format("tcgen05.st of {}", warp_reference(warp.index)));
    warp.tensor = std::move(made);
  }
  return static_cast<WarpTensor&>(*warp.tensor);
}

KnownClocks tensor_known(ClusterRun& run, Warp& warp) {
  const WarpTensor& tensor = tensor_of(run, warp);
  KnownClocks known{warp.known.seen, {}, tensor.fenced};
  // A warp needs no fence for what it has waited for itself.
  known.tensor.raise(tensor.loads.component, tensor.loads.over);
  known.tensor.raise(tensor.stores.component, tensor.stores.over);
  return known;
}

int ctas_of(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction) {
  if (!instruction.has("cta_group::2")) return 1;
  if (run.cluster_size() % 2 == 0) return 2;
  run.find(CheckRule::ProductShape, fragment, instruction, fmt::format("cta_group::2 in a cluster of {}", run.cluster_size()));
  return 1;
}

}  // namespace heddle::ptx
