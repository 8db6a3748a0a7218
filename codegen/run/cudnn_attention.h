// cuDNN's attention: the operation graph, and the execution plans that its heuristics recommend for it.
#pragma once

#include <string>
#include <vector>

#include "codegen/run/cudnn.h"
#include "codegen/run/plan.h"

namespace heddle::codegen::cudnn {

/// How the graph says it.
enum class AttentionForm {
  Pattern,      ///< two matrix products with a scale, a mask and a softmax of single operations between them: what 9.0 and later know
  OneOperation  ///< an operation of its own: since 9.13.1, without mask
};

/// A handle of the device in this process, or, without a device, the properties of one.
struct Device {
  Handle handle = nullptr;
  Descriptor properties = nullptr;
};

struct AttentionPlan {
  Descriptor plan = nullptr;
  std::int64_t workspace = 0;  ///< bytes
};

/// Numbers that the graph refers to by value: they stay in the host's memory while it is executed.
struct AttentionScalars {
  float scale = 1, masked = 0;
  std::int32_t queries = 0, keys = 0;
};

/// Ids of the tensors, for a variant pack.
inline constexpr std::int64_t kQId = 1, kKId = 2, kVId = 3, kOId = 4, kScaleId = 5, kMaskedId = 6, kQueriesId = 7, kKeysId = 8;

struct AttentionPlans {
  std::vector<AttentionPlan> plans;  ///< in the order of recommendation
  std::int64_t recommended = 0;      ///< engines that the heuristics know for it, before each is looked at
  std::string why_none;              ///< in cuDNN's words, where there are none
};

/// Whether this version has this form for it.
bool has_form(const Api& api, const LibraryAttention& attention, AttentionForm form);

AttentionScalars attention_scalars(const Api& api, const LibraryAttention& attention);

/// Builds the graph with `maker`, which keeps everything. Pre: `dtype` is bf16 or f16.
AttentionPlans plan_attention(Maker& maker, const LibraryAttention& attention, DType dtype, AttentionForm form, const Device& device);

}  // namespace heddle::codegen::cudnn
