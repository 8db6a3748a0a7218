#include "codegen/run/measure.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/profile/decode.h"
#include "codegen/run/reference.h"
#include "core/base/hash.h"
#include "core/base/saturate.h"
#include "core/base/version.h"
#include "core/formats/schedule_json.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

Result<std::vector<TensorPlan>> tensors_of(const Kernel& kernel, const Problem& problem, const Scope& params) {
  std::vector<TensorPlan> tensors;
  for (const Tensor& tensor : kernel.tensors) {
    TensorPlan plan{tensor.name, tensor.dtype, {}, tensor.role, 0, {}};
    if (problem.layouts)
      if (const auto order = problem.layouts->packed.find(tensor.name); order != problem.layouts->packed.end())
        plan.packed = order->second == PackedOrder::Lines ? 2 : 1;
    std::int64_t bytes = std::max(bits_of(tensor.dtype) / 8, 1);
    for (const Expr& extent : tensor.shape) {
      const auto value = extent.evaluate(params);
      if (!value.ok()) return value.error();
      if (*value < 1) return Error::input(fmt::format("tensor '{}' has an extent of {}", tensor.name, *value));
      plan.shape.push_back(*value);
      bytes = sat_mul(bytes, *value);
    }
    if (bytes > kMostBytes)
      return Error::input(fmt::format("tensor '{}' has more than a terabyte", tensor.name), "choose smaller parameters");
    const std::size_t rank = plan.shape.size();
    if (plan.packed != 0 &&
        (rank < 2 || plan.shape[rank - 2] % kPackedRows != 0 || plan.shape.back() % packed_columns(bits_of(tensor.dtype)) != 0))
      return Error::input(fmt::format("tensor '{}' is prepacked and has no whole blocks of {} rows and {} columns", tensor.name,
                                      kPackedRows, packed_columns(bits_of(tensor.dtype))));
    if (tensor.role == TensorRole::Index && params.tables)
      if (const auto table = params.tables->find(tensor.name); table != params.tables->end()) plan.indices = *table->second.values;
    tensors.push_back(std::move(plan));
  }
  return tensors;
}

/// "V13.0.88": what ptxas writes of itself into a cubin.
std::string ptxas_version(const std::string& cubin) {
  const std::size_t at = cubin.find("Cuda compilation tools, release ");
  const std::size_t v = at == std::string::npos ? at : cubin.find(", V", at);
  if (v == std::string::npos || v > at + 60) return {};
  std::string version;
  for (std::size_t i = v + 2;
       i < cubin.size() && (std::isalnum(static_cast<unsigned char>(cubin[i])) || cubin[i] == '.') && version.size() < 20; ++i)
    version += cubin[i];
  return version;
}

}  // namespace

Result<PreparedRun> prepare_run(const MeasureRequest& request) {
  PreparedRun prepared;
  RunPlan& plan = prepared.plan;
  plan.kernel = request.kernel.name;
  plan.machine = request.problem.machine;
  plan.arch = request.compile.arch;
  auto tensors = tensors_of(request.kernel, request.problem, request.program.params);
  if (!tensors.ok()) return tensors.error();
  plan.tensors = std::move(*tensors);

  std::optional<Error> failed;
  const auto built = [&](Recording recording, std::optional<RecordPlan>* records) -> std::optional<KernelPlan> {
    if (failed) return std::nullopt;
    EmitResult emitted = emit_cuda(request.kernel, request.problem, request.schedule, request.program, recording);
    if (!emitted.emission) {
      failed = Error::input(emitted.refusals.front().sentence);
      return std::nullopt;
    }
    auto compiled = compile_cuda(emitted.emission->source, request.compile);
    if (!compiled.ok()) {
      failed = compiled.error();
      return std::nullopt;
    }
    if (recording == Recording::None) {
      const PtxasReport& report = compiled->report;
      prepared.build = {compiled->compiler,
                        ptxas_version(compiled->cubin),
                        Hash().add(compiled->cubin).hex(),
                        report.registers,
                        report.spill_stores + report.spill_loads,
                        emitted.emission->launch.smem_bytes,
                        emitted.emission->launch.threads,
                        0};
    }
    if (records) *records = emitted.emission->records;
    return KernelPlan{std::move(compiled->cubin), std::move(emitted.emission->launch),
                      emitted.emission->records ? emitted.emission->records->words() : 0};
  };
  if (auto kernel = built(Recording::None, nullptr)) plan.plain = std::move(*kernel);
  if (request.time) plan.loop = built(Recording::Loop, &prepared.loop);
  if (request.profile) plan.ops = built(Recording::Ops, &prepared.ops);
  if (failed) return *failed;

  if (request.verify) {
    if (auto text = reference_text(request.kernel, plan.tensors)) {
      auto compiled = compile_cuda(text->source, request.compile);
      if (!compiled.ok()) return compiled.error();
      plan.reference = std::move(text->plan);
      plan.reference->cubin = std::move(compiled->cubin);
    }
    plan.cases = cases_for(request.kernel, request.program.params, plan.tensors, plan.reference.has_value(), request.seed, prepared.remark);
  } else {
    prepared.remark = "its result was not asked for";
  }
  if (request.library) plan.libraries = libraries_for(request.kernel, plan.tensors);
  if (plan.libraries.empty()) plan.no_library = request.library ? "no library is known to compute this" : "none was asked for";
  const bool listed =
      std::any_of(plan.tensors.begin(), plan.tensors.end(), [](const TensorPlan& t) { return t.role == TensorRole::Index; });
  plan.flops = listed ? listed_flops(request.kernel, request.program.params) : flops_of(request.kernel, plan.tensors);
  plan.seed = request.seed;
  plan.repeats = request.repeats, plan.launches = request.launches, plan.warmups = request.warmups;
  plan.blocks = request.time ? request.blocks : 0;
  plan.sustained_launches = request.sustained_launches;
  plan.left_out = left_out_of_time(request.kernel);
  plan.pause_seconds = request.pause_seconds;
  return prepared;
}

Measurement unmeasured(const MeasureRequest& request, RunStatus status, std::string sentence) {
  Measurement m;
  m.kernel = request.kernel.name;
  m.machine = request.problem.machine;
  m.params = request.problem.params;
  m.schedule = request.schedule.name;
  m.schedule_hash = schedule_hash(request.problem, request.schedule);
  m.schedule_text = schedule_text(request.problem, request.schedule);
  m.predicted_ii = request.schedule.ii;
  m.heddle = version();
  m.status = status;
  m.sentence = std::move(sentence);
  return m;
}

Measurement measurement_of(const MeasureRequest& request, const PreparedRun& prepared, RunResult&& result) {
  Measurement found = std::move(result.found);
  Measurement m = unmeasured(request, found.status, std::move(found.sentence));
  m.device = std::move(found.device);
  m.verification = std::move(found.verification);
  m.timing = std::move(found.timing);
  m.profile = std::move(found.profile);
  m.build = prepared.build;
  if (found.build) m.build->blocks = found.build->blocks;
  if (m.status == RunStatus::Unverified && m.sentence.empty()) m.sentence = prepared.remark;
  if (const auto bytes = result.records.find("loop"); bytes != result.records.end() && prepared.loop) {
    const LoopTimes loop = decode_loop(*prepared.loop, request.program, bytes->second);
    if (m.timing) m.timing->cycles_per_iteration = loop.cycles_per_iteration;
    if (loop.cycles_per_iteration > 0) m.measured_ii = loop.cycles_per_iteration;
    if (m.device) m.device->clock_mhz = loop.clock_mhz;
  }
  if (const auto bytes = result.records.find("ops"); bytes != result.records.end() && prepared.ops) {
    std::optional<double> ii;
    KernelProfile profile =
        decode_ops(*prepared.ops, request.kernel, request.problem, request.schedule, request.program, bytes->second, ii);
    if (m.profile) profile.median_us = m.profile->median_us, profile.plain_us = m.profile->plain_us;
    profile.trusted = profile.plain_us > 0 && std::abs(profile.cost()) < kProfileCost;
    m.profile = std::move(profile);
    if (!m.measured_ii) m.measured_ii = ii;
  }
  return m;
}

}  // namespace heddle::codegen
