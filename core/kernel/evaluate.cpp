#include "core/kernel/evaluate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/core.h>

#include "core/base/hash.h"
#include "core/base/random.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/kernel/formula.h"
#include "core/kernel/rounding.h"
#include "core/kernel/switches.h"

namespace heddle {
namespace {

constexpr std::int64_t kMaxTensorElements = std::int64_t{1} << 28;

std::string index_text(std::int64_t offset, const std::vector<std::int64_t>& shape) {
  std::string text = "]";
  for (std::size_t d = shape.size(); d-- > 0;) {
    text = (d > 0 ? "," : "") + std::to_string(offset % shape[d]) + text;
    offset /= shape[d];
  }
  return "[" + text;
}

/// Long loops look at the token now and then.
bool stops_at(std::size_t i, const std::stop_token& stop) { return i % (std::size_t{1} << 16) == 0 && stop.stop_requested(); }

void compare(TensorComparison& result, const Array& array, const ExpectedTensor& expected, const std::stop_token& stop) {
  const auto& values = expected.values;
  result.compared = true;
  result.tolerance = expected.tolerance;
  double error_squares = 0, value_squares = 0, worst = -1;
  std::size_t looked_at = 0;
  for (double x : values)
    if (!std::isnan(x)) value_squares += x * x, ++looked_at;
  const double count = static_cast<double>(std::max<std::size_t>(1, looked_at)), typical = std::sqrt(value_squares / count);
  for (std::size_t i = 0; i < values.size() && !stops_at(i, stop); ++i) {
    if (std::isnan(values[i])) continue;
    const double error = std::fabs(array.data[i] - values[i]);
    // Written so that NaN counts as beyond.
    if (!(error <= expected.tolerance.absolute + expected.tolerance.relative * std::fabs(values[i]))) ++result.beyond;
    const double size = std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
    error_squares += size * size;
    result.max_abs_error = std::max(result.max_abs_error, size);
    if (std::fabs(values[i]) >= typical && values[i] != 0)
      result.max_rel_error = std::max(result.max_rel_error, size / std::fabs(values[i]));
    if (size > worst) {
      worst = size;
      result.worst =
          fmt::format("{}: {:.6g}, expected {:.6g}", index_text(static_cast<std::int64_t>(i), array.shape), array.data[i], values[i]);
    }
  }
  const double error = std::sqrt(error_squares / count);
  result.rms_error = typical == 0 ? 0 : error / typical;
  result.pass = result.beyond == 0 && result.rms_error <= expected.tolerance.rms;
}

TensorComparison measure(const std::string& name, const GlobalTensor& tensor, const std::stop_token& stop) {
  TensorComparison result;
  result.tensor = name;
  result.dtype = tensor.dtype;
  result.shape = tensor.array.shape;
  double squares = 0;
  for (std::size_t i = 0; i < tensor.array.data.size() && !stops_at(i, stop); ++i) {
    const float x = tensor.array.data[i];
    if (!std::isfinite(x)) ++result.not_finite;
    squares += static_cast<double>(x) * x;
  }
  result.rms_value = std::sqrt(squares / static_cast<double>(tensor.array.data.size()));
  result.pass = result.not_finite == 0;
  return result;
}

Error with_source(const Kernel& kernel, Error error) {
  for (Fault& fault : error.faults)
    if (fault.file.empty()) fault.file = kernel.source;
  return error;
}

}  // namespace

const char* eval_verdict(bool compared, bool pass) {
  if (!compared) return pass ? "finite, not compared" : "not finite, not compared";
  return pass ? "agrees" : "differs";
}

Result<TensorMap> make_tensors(const Kernel& given, const Scope& scope, std::uint64_t seed, const std::stop_token& stop) {
  const Result<Kernel> now = settled(given, scope);
  if (!now) return now.error();
  const Kernel& kernel = *now;
  TensorMap tensors;
  Error error;
  std::int64_t elements = 0;
  for (std::size_t t = 0; t < kernel.tensors.size(); ++t) {
    const Tensor& tensor = kernel.tensors[t];
    GlobalTensor made{tensor.dtype, tensor.role, {}};
    std::int64_t size = 1;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      const auto where = fmt::format("/tensors/{}/shape/{}", t, d);
      const auto extent = tensor.shape[d].evaluate(scope);
      if (!extent.ok()) {
        for (const Fault& f : extent.error().faults) error.faults.push_back({kernel.source, where, f.message, f.hint});
        continue;
      }
      if (*extent < 1)
        error.faults.push_back(
            {kernel.source, where, fmt::format("tensor '{}': an extent must be at least 1, found {}", tensor.name, *extent), ""});
      made.array.shape.push_back(*extent);
      size = sat_mul(size, std::max<std::int64_t>(*extent, 1));
    }
    elements = sat_add(elements, size);
    if (error.faults.empty() && elements <= kMaxTensorElements) {
      if (const auto table = scope.tables ? scope.tables->find(tensor.name) : IndexTables::const_iterator{};
          tensor.role == TensorRole::Index && scope.tables && table != scope.tables->end()) {
        made.array.data.assign(table->second.values->begin(), table->second.values->end());
      } else if (tensor.role == TensorRole::Input) {
        // One stream per tensor, so that a tensor's numbers do not depend on its neighbours.
        SplitMix64 random(Hash().add(seed).add(tensor.name).value());
        made.array.data.resize(static_cast<std::size_t>(size));
        for (std::size_t i = 0; i < made.array.data.size() && !stops_at(i, stop); ++i)
          made.array.data[i] = round_to(tensor.dtype, near_normal(random.next()));
      } else {
        const bool once = tensor.role == TensorRole::Output;
        made.array.data.assign(static_cast<std::size_t>(size), once ? std::numeric_limits<float>::quiet_NaN() : 0.0f);
      }
    }
    tensors.insert_or_assign(tensor.name, std::move(made));
  }
  if (error.faults.empty() && elements > kMaxTensorElements)
    error.faults.push_back({kernel.source, "/tensors",
                            fmt::format("the tensors have {} elements in all; at most {} are held in memory", elements, kMaxTensorElements),
                            "choose smaller parameters"});
  if (!error.faults.empty()) return error;
  return tensors;
}

Result<EvalReport> evaluate(const Kernel& given, const Scope& overrides, std::uint64_t seed, const std::stop_token& stop,
                            const BlockListener& listener) {
  const auto start = std::chrono::steady_clock::now();
  EvalReport report;
  report.kernel = given.name;
  report.seed = seed;
  report.reference = given.reference;
  auto scope = parameter_scope(given, overrides, true);
  if (!scope.ok()) return scope.error();
  report.params = *scope;
  const Result<Kernel> now = settled(given, *scope);
  if (!now) return now.error();
  const Kernel& kernel = *now;

  const Reference* reference = nullptr;
  std::optional<Formula> formula;
  if (is_formula(kernel.reference)) {
    auto read = Formula::parse(kernel.reference, kernel);
    if (!read.ok()) return read.error();
    formula = *std::move(read);
    report.formula = "the formula in its file";
  } else if (!kernel.reference.empty()) {
    reference = find_reference(kernel.reference);
    std::vector<std::string> names;
    for (const Reference& r : references()) names.push_back(r.name);
    if (!reference)
      return Error{ErrorKind::Input,
                   {{kernel.source, "/reference",
                     fmt::format("unknown formula '{}'; known are {}, or write it out: \"C = A @ B\"", kernel.reference, list_of(names)),
                     did_you_mean(kernel.reference, names)}}};
    report.formula = reference->about;
  }
  auto tensors = make_tensors(kernel, *scope, seed, stop);
  if (!tensors.ok()) return tensors.error();
  if (auto planned = plan_execution(kernel, *scope, *tensors); !planned.ok()) return planned.error();
  const FormulaNumbers numbers{with_switches(kernel, *scope), scalars_of(kernel, *scope)};
  if (reference) {
    if (auto fits = check_tensors(*reference, *tensors); !fits.ok()) return with_source(kernel, fits.error());
    if (reference->prepare) reference->prepare(*tensors, numbers, stop);
  }

  auto count = execute(kernel, *scope, *tensors, stop, listener);
  if (!count.ok()) return count.error();
  report.count = *count;
  report.cancelled = count->cancelled;
  std::vector<ExpectedTensor> expected;
  if (formula && !report.cancelled) {
    const auto complaint = formula->compute(*tensors, numbers, stop, expected);
    report.cancelled = stop.stop_requested();
    if (!complaint.empty()) return Error{ErrorKind::Input, {{kernel.source, "/reference", complaint, ""}}};
  }
  if (reference && !report.cancelled) {
    const auto complaint = reference->compute(*tensors, numbers, stop, expected);
    report.cancelled = stop.stop_requested();
    if (!complaint.empty())
      return Error{ErrorKind::Input,
                   {{kernel.source, "/tensors",
                     fmt::format("the shapes do not fit the formula '{}': wanted {}", kernel.reference, complaint), reference->about}}};
  }
  report.pass = !report.cancelled;
  for (const Tensor& tensor : kernel.tensors) {
    if (!is_written(tensor.role) || report.cancelled) continue;
    const GlobalTensor& computed = tensors->find(tensor.name)->second;
    report.tensors.push_back(measure(tensor.name, computed, stop));
    for (const ExpectedTensor& e : expected)
      if (e.tensor == tensor.name) compare(report.tensors.back(), computed.array, e, stop);
    report.pass = report.pass && report.tensors.back().pass;
    report.cancelled = stop.stop_requested();
  }
  if (report.cancelled) {
    report.tensors.clear();
    report.pass = false;
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace heddle
