// The pattern is the one that cuDNN's documentation gives for its flash attention (softmax with its statistics, which stay virtual
// here): without the statistics it is taken for another operation, which has no engine for these shapes.
#include "codegen/run/cudnn_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "codegen/run/library.h"

namespace heddle::codegen {
namespace cudnn {
namespace {

constexpr std::size_t kOneOperationSince = 91301, kInfinityMasksSince = 91000;
constexpr std::int64_t kFirstVirtualId = 100, kAlignment = 16, kMostEngines = 8;

class AttentionGraph {
 public:
  AttentionGraph(Maker& maker, const LibraryAttention& a, DType dtype) : maker_(maker), a_(a), type_(dtype == DType::F16 ? kHalf : kBf16) {}

  std::vector<Descriptor> operations(AttentionForm form) {
    const Descriptor q = tensor(kQId, type_, {1, a_.heads, a_.queries, a_.columns}),
                     v = tensor(kVId, type_, {1, a_.heads, a_.keys, a_.columns});
    const Descriptor o = tensor(kOId, type_, {1, a_.heads, a_.queries, a_.columns}), scale = scalar(kScaleId, kFloat);
    if (form == AttentionForm::OneOperation) {
      const Descriptor k = tensor(kKId, type_, {1, a_.heads, a_.keys, a_.columns}), sdpa = maker_.make(kSdpaForward);
      maker_.set(sdpa, kSdpaQ, {q}).set(sdpa, kSdpaK, {k}).set(sdpa, kSdpaV, {v}).set(sdpa, kSdpaO, {o}).set(sdpa, kSdpaScale, {scale});
      return {maker_.finish(sdpa)};
    }
    // K is handed over transposed: the same bytes with other strides.
    const Descriptor k =
        tensor(kKId, type_, {1, a_.heads, a_.columns, a_.keys}, {a_.heads * a_.keys * a_.columns, a_.keys * a_.columns, 1, a_.columns});
    Descriptor scores = product(q, k, virtual_scores());
    scores = pointwise(kMul, virtual_scores(), scores, scale);
    if (a_.causal) scores = masked(scores);
    const Descriptor most = reduce(kReduceMax, scores);
    const Descriptor powers = pointwise(kExp, virtual_scores(), pointwise(kSub, virtual_scores(), scores, most));
    const Descriptor sum = reduce(kReduceAdd, powers);
    pointwise(kAdd, virtual_row(), most, pointwise(kLog, virtual_row(), sum));
    product(pointwise(kDiv, virtual_scores(type_), powers, sum), v, o);
    return std::move(operations_);
  }

 private:
  Descriptor tensor(std::int64_t id, int type, const std::vector<std::int64_t>& extents, std::vector<std::int64_t> strides = {},
                    int kind = 0) {
    if (strides.empty()) {
      strides.assign(extents.size(), 1);
      for (std::size_t d = extents.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * extents[d];
    }
    const Descriptor t = maker_.make(kTensor);
    maker_.set(t, kTensorId, std::vector{id})
        .set_word(t, kTensorType, kDataTypeType, type)
        .set(t, kTensorExtents, extents)
        .set(t, kTensorStrides, strides);
    maker_.set(t, kTensorAlignment, std::vector{kAlignment});
    if (kind != 0) maker_.set_flag(t, kind);
    return maker_.finish(t);
  }
  Descriptor scalar(std::int64_t id, int type) { return tensor(id, type, {1, 1, 1, 1}, {}, kTensorByValue); }
  Descriptor virtual_scores(int type = kFloat) { return tensor(next_id_++, type, {1, a_.heads, a_.queries, a_.keys}, {}, kTensorVirtual); }
  Descriptor virtual_row() { return tensor(next_id_++, kFloat, {1, a_.heads, a_.queries, 1}, {}, kTensorVirtual); }

  Descriptor keep(Descriptor operation, Descriptor result) {
    operations_.push_back(maker_.finish(operation));
    return result;
  }
  Descriptor product(Descriptor a, Descriptor b, Descriptor c) {
    const Descriptor how = maker_.make(kMatmul);
    maker_.set_word(how, kMatmulPrecision, kDataTypeType, kFloat).finish(how);
    const Descriptor operation = maker_.make(kMatmulOperation);
    maker_.set(operation, kMatmulOf, {how}).set(operation, kMatmulA, {a}).set(operation, kMatmulB, {b}).set(operation, kMatmulC, {c});
    return keep(operation, c);
  }
  Descriptor reduce(int what, Descriptor x) {
    const Descriptor how = maker_.make(kReduction), y = virtual_row();
    maker_.set_word(how, kReductionOperator, kReductionType, what).set_word(how, kReductionPrecision, kDataTypeType, kFloat).finish(how);
    const Descriptor operation = maker_.make(kReductionOperation);
    maker_.set(operation, kReductionOf, {how}).set(operation, kReductionX, {x}).set(operation, kReductionY, {y});
    return keep(operation, y);
  }
  struct Details {
    int precision = kFloat, axis = -1;
    Descriptor chooser = nullptr;
  };
  Descriptor pointwise(int mode, Descriptor y, Descriptor x, Descriptor b = nullptr, const Details& details = {kFloat, -1, nullptr}) {
    const Descriptor how = maker_.make(kPointwise);
    maker_.set_word(how, kPointwiseMode, kPointwiseModeType, mode).set_word(how, kPointwisePrecision, kDataTypeType, details.precision);
    if (details.axis >= 0) maker_.set(how, kPointwiseAxis, std::vector<std::int64_t>{details.axis});
    maker_.finish(how);
    const Descriptor operation = maker_.make(kPointwiseOperation);
    maker_.set(operation, kPointwiseOf, {how}).set(operation, kPointwiseX, {x});
    if (b) maker_.set(operation, kPointwiseB, {b});
    if (details.chooser) maker_.set(operation, kPointwiseT, {details.chooser});
    maker_.set(operation, kPointwiseY, {y});
    return keep(operation, y);
  }
  /// Keeps scores where row + keys - queries >= column.
  Descriptor masked(Descriptor scores) {
    Descriptor row = pointwise(kIndex, virtual_scores(kInt32), scores, nullptr, {kFloat, 2, nullptr});
    const Descriptor column = pointwise(kIndex, virtual_scores(kInt32), scores, nullptr, {kFloat, 3, nullptr});
    if (a_.keys != a_.queries) {
      row = pointwise(kAdd, virtual_scores(kInt32), row, scalar(kKeysId, kInt32), {kInt32, 3, nullptr});
      row = pointwise(kSub, virtual_scores(kInt32), row, scalar(kQueriesId, kInt32), {kInt32, 3, nullptr});
    }
    const Descriptor seen = pointwise(kCompareGe, virtual_scores(kBool), row, column, {kBool, -1, nullptr});
    return pointwise(kSelect, virtual_scores(), scores, scalar(kMaskedId, kFloat), {kFloat, -1, seen});
  }

  Maker& maker_;
  const LibraryAttention& a_;
  int type_;
  std::int64_t next_id_ = kFirstVirtualId;
  std::vector<Descriptor> operations_;
};

}  // namespace

bool has_form(const Api& api, const LibraryAttention& attention, AttentionForm form) {
  return form == AttentionForm::Pattern || (api.version() >= kOneOperationSince && !attention.causal);
}

AttentionScalars attention_scalars(const Api& api, const LibraryAttention& attention) {
  const float masked =
      api.version() >= kInfinityMasksSince ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::lowest();
  return {static_cast<float>(1 / std::sqrt(static_cast<double>(attention.columns))), masked, static_cast<std::int32_t>(attention.queries),
          static_cast<std::int32_t>(attention.keys)};
}

AttentionPlans plan_attention(Maker& maker, const LibraryAttention& attention, DType dtype, AttentionForm form, const Device& device) {
  AttentionPlans found;
  const Api& api = maker.api();
  const auto why_not = [&](std::string why) {
    if (found.why_none.empty()) found.why_none = std::move(why);  // what is said first is the cause
  };
  const Descriptor graph = maker.make(kOperationGraph);
  maker.set(graph, kGraphOperations, AttentionGraph(maker, attention, dtype).operations(form));
  if (device.handle) maker.set(graph, kGraphHandle, {device.handle}, kHandleType);
  maker.finish(graph);
  if (!maker.good()) {
    why_not(maker.take_failure());
    return found;
  }
  for (const int mode : {kRecommended, kFallback}) {
    const Descriptor heuristics = maker.make(kHeuristics);
    maker.set(heuristics, kHeuristicsGraph, {graph}).set_word(heuristics, kHeuristicsMode, kHeuristicModeType, mode);
    if (device.properties) maker.set(heuristics, kHeuristicsDevice, {device.properties});
    maker.finish(heuristics);
    std::vector<Descriptor> configs;
    for (std::int64_t k = 0; k < kMostEngines; ++k) configs.push_back(maker.make(kEngineConfig));
    if (!maker.good()) {
      why_not(maker.take_failure());
      continue;
    }
    std::int64_t known = 0, count = 0;
    (void)api.get(heuristics, kHeuristicsResults, kDescriptorType, 0, &known, nullptr);
    // Those that the library finds it cannot run after all are left out.
    if (const int status = api.get(heuristics, kHeuristicsResults, kDescriptorType, kMostEngines, &count, configs.data()); status != 0)
      why_not(api.says(status));
    else if (count < 1)
      why_not(api.reason());
    found.recommended += known;
    for (std::int64_t k = 0; k < std::min(count, kMostEngines); ++k) {
      const Descriptor plan = maker.make(kExecutionPlan);
      maker.set(plan, kPlanEngineConfig, {configs[static_cast<std::size_t>(k)]});
      if (device.handle) maker.set(plan, kPlanHandle, {device.handle}, kHandleType);
      if (device.properties) maker.set(plan, kPlanDevice, {device.properties});
      maker.finish(plan);
      if (!maker.good()) {
        why_not(maker.take_failure());
        continue;
      }
      AttentionPlan made{plan, 0};
      std::int64_t one = 0;
      if (api.get(plan, kPlanWorkspace, kInt64Type, 1, &one, &made.workspace) == 0 && made.workspace >= 0) found.plans.push_back(made);
    }
    if (!found.plans.empty()) break;
  }
  return found;
}

}  // namespace cudnn

namespace {

/// What a started plan needs: graph, plan, memory, and a pack of pointers per set of buffers.
struct CudnnAttention {
  CudnnAttention(const cudnn::Api& api, cudnn::Handle handle, const LibraryAttention& attention)
      : maker(api), handle(handle), attention(attention), scalars(cudnn::attention_scalars(api, attention)) {}

  cudnn::Maker maker;
  cudnn::Handle handle;
  LibraryAttention attention;
  cudnn::AttentionScalars scalars;
  cuda::Memory workspace = 0;
  std::map<std::vector<cuda::Memory>, cudnn::Descriptor> packs;

  cudnn::Descriptor pack(const std::vector<cuda::Memory>& buffers) {
    cudnn::Descriptor& made = packs[buffers];
    if (made) return made;
    const auto at = [&](std::size_t tensor) { return reinterpret_cast<void*>(buffers[tensor]); };
    std::vector<std::int64_t> ids{cudnn::kQId, cudnn::kKId, cudnn::kVId, cudnn::kOId, cudnn::kScaleId};
    std::vector<void*> pointers{at(attention.q), at(attention.k), at(attention.v), at(attention.o), &scalars.scale};
    if (attention.causal) ids.push_back(cudnn::kMaskedId), pointers.push_back(&scalars.masked);
    if (attention.causal && attention.keys != attention.queries) {
      ids.insert(ids.end(), {cudnn::kQueriesId, cudnn::kKeysId});
      pointers.insert(pointers.end(), {&scalars.queries, &scalars.keys});
    }
    made = maker.make(cudnn::kVariantPack);
    maker.set(made, cudnn::kPackIds, ids).set(made, cudnn::kPackPointers, pointers, cudnn::kPointerType);
    maker.set(made, cudnn::kPackWorkspace, {reinterpret_cast<void*>(workspace)}, cudnn::kPointerType).finish(made);
    if (!maker.good()) made = nullptr;
    return made;
  }
};

}  // namespace

Result<std::vector<LibraryKernel>> open_cudnn(const LibraryAttention& attention, const std::vector<TensorPlan>& tensors,
                                              const cuda::Driver& driver, cuda::Stream stream) {
  const auto api = cudnn::open_api();
  if (!api.ok()) return api.error();
  const std::string name = api->name();
  if (attention.causal && attention.keys < attention.queries)
    return Error::environment(fmt::format("{} has no causal mask for more queries than keys", name));
  cudnn::Handle handle = nullptr;
  if (const int status = api->create(&handle); status != 0)
    return Error::environment(fmt::format("{} does not start ({})", name, api->says(status)));
  if (const int status = api->set_stream(handle, stream); status != 0)
    return Error::environment(fmt::format("{} takes no stream ({})", name, api->says(status)));
  std::vector<LibraryKernel> kernels;
  std::string why;
  for (const auto form : {cudnn::AttentionForm::Pattern, cudnn::AttentionForm::OneOperation}) {
    if (!cudnn::has_form(*api, attention, form)) continue;
    const auto state = std::make_shared<CudnnAttention>(*api, handle, attention);
    const cudnn::AttentionPlans found = cudnn::plan_attention(state->maker, attention, tensors[attention.q].dtype, form, {handle, nullptr});
    if (why.empty()) why = found.why_none;
    std::int64_t most = 0;
    for (const cudnn::AttentionPlan& plan : found.plans) most = std::max(most, plan.workspace);
    if (most > 0 && driver.allocate(&state->workspace, static_cast<std::size_t>(most)) != 0) {
      why = fmt::format("no room for its workspace of {} bytes", most);
      continue;
    }
    for (const cudnn::AttentionPlan& plan : found.plans)
      kernels.push_back({name, [state, plan](const std::vector<cuda::Memory>& buffers) {
                           const cudnn::Descriptor pack = state->pack(buffers);
                           if (!pack) return state->maker.take_failure();
                           const int status = state->maker.api().execute(state->handle, plan.plan, pack);
                           return status == 0 ? std::string{} : state->maker.api().says(status);
                         }});
  }
  if (kernels.empty())
    return Error::environment(fmt::format("{} has no engine for this{}", name, why.empty() ? "" : fmt::format(" ({})", why)));
  return kernels;
}

}  // namespace heddle::codegen
