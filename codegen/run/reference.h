// What the results of a run are compared with: for the formulas we have a straightforward kernel for, that kernel on the GPU,
// at any size; for any other kernel its direct formula, or else the kernel file itself executed, on the CPU at small sizes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/run/plan.h"
#include "core/kernel/kernel.h"

namespace heddle::codegen {

struct ReferenceText {
  std::string source;  ///< CUDA C++ to compile; plan.cubin is what comes of it
  ReferencePlan plan;
};

/// Nothing for formulas without a kernel of ours, or tensors that are not the formula's.
std::optional<ReferenceText> reference_text(const Kernel& kernel, const std::vector<TensorPlan>& tensors);

/// Sets of inputs with what is expected of each output. `on_gpu`: by reference_text(). Empty without it where the CPU would take
/// too long: then `why_not` says so.
std::vector<CasePlan> cases_for(const Kernel& kernel, const Scope& params, const std::vector<TensorPlan>& tensors, bool on_gpu,
                                std::uint64_t seed, std::string& why_not);

/// What vendors' libraries compute of the same: gemm, and attention's forward pass. Its backward pass is not among them: cuDNN's
/// takes O and other statistics than our kernel, so it would not run on the same buffers.
std::vector<LibraryPlan> libraries_for(const Kernel& kernel, const std::vector<TensorPlan>& tensors);

/// What one launch leaves to other kernels though its caller needs it, in words; empty: nothing.
std::string left_out_of_time(const Kernel& kernel);

/// Floating-point operations of one launch, as papers count them; 0: not counted.
std::int64_t flops_of(const Kernel& kernel, const std::vector<TensorPlan>& tensors);
/// The same where trips are looked up: those of the loop's mmas in all trips that tiles ask for, none of those that only the pipeline
/// needs. Pre: `params` has the index tensors.
std::int64_t listed_flops(const Kernel& kernel, const Scope& params);

}  // namespace heddle::codegen
