#include "app/bench/judge_step.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/command/exit_code.h"
#include "app/jobs/heddle_child.h"
#include "core/answers/measurement_summary.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

constexpr double kSlow = 0.15;  ///< of the predicted cycles per iteration

/// The output that says most: the first that is wrong.
const OutputCheck* first_wrong(const Measurement& m) {
  if (!m.verification) return nullptr;
  for (const OutputCheck& check : m.verification->checks)
    if (!check.passed) return &check;
  return nullptr;
}

StepVerdict wrong_result(const OutputCheck& check) {
  const std::string where = fmt::format("{} of {} elements of {} on {} inputs", check.wrong, check.elements, check.tensor, check.input);
  if (check.untouched == check.elements)
    return {StepOutcome::Wrong, "nothing was written to " + check.tensor,
            "the launch and the maps of the output: grid, parameters, does a consumer reach its store"};
  if (check.untouched > 0)
    return {StepOutcome::Wrong, fmt::format("{} of {} elements of {} were never written", check.untouched, check.elements, check.tensor),
            "the order of tiles and the boxes of the output's map"};
  switch (check.pattern) {
    case ErrorPattern::Everything:
      return {StepOutcome::Wrong, where + " are wrong: all of it", "tensor maps and the launch: extents, strides, the order of arguments"};
    case ErrorPattern::Panels:
      return {StepOutcome::Wrong, where + " are wrong, in whole panels of 128 bytes",
              "strides between panels: leading and stride byte offsets of descriptors, addresses of panels in a slot"};
    case ErrorPattern::Chunks:
      return {StepOutcome::Wrong, where + " are wrong, chunks of 16 bytes out of place",
              "the swizzle: map, descriptor and generic stores must agree, bases be aligned to 1024 bytes"};
    case ErrorPattern::Rows:
      return {StepOutcome::Wrong, where + " are wrong, rows of 16 exchanged", "the order of matrices in stmatrix, rows of a fragment"};
    case ErrorPattern::Tiles:
      return {StepOutcome::Wrong, where + " are wrong, in whole tiles",
              "the order of tiles, and phases where a block goes on to its next tile"};
    case ErrorPattern::None:
    case ErrorPattern::Scattered: break;
  }
  if (check.wrong == 0)
    return {StepOutcome::Wrong, check.tensor + " is off everywhere by a little", "rounding: types of intermediate values"};
  return {StepOutcome::Wrong, where + " are wrong, here and there",
          "a race: barriers between writer and reader; compute-sanitizer's racecheck"};
}

StepVerdict slow_or_good(const BenchStep& step, const Measurement& m) {
  std::string finding = measurement_headline(m, TextStyle{});
  const auto residual = m.predicted ? m.prediction_residual() : m.ii_residual();
  if (residual && *residual > kSlow)
    return {StepOutcome::Slow, finding,
            fmt::format("the loop takes {:.0f} % longer than {}: compare rings, turns and clusters, then the profile of {}",
                        100 * *residual, m.predicted ? "predicted" : "its schedule says", step.subject)};
  if (m.timing && m.timing->ratio() && *m.timing->ratio() < 1 - kSlow)
    return {StepOutcome::Good, finding,
            "the loop takes no longer than expected: look at prologue, epilogue, tiles left over and the clock"};
  return {StepOutcome::Good, finding, {}};
}

/// Half the distance between the slowest and the fastest block, as a fraction: below it two medians do not differ.
double spread(const TimedKernel& k) {
  if (k.blocks_us.empty() || k.median_us <= 0) return 0;
  const auto [low, high] = std::minmax_element(k.blocks_us.begin(), k.blocks_us.end());
  return (*high - *low) / 2 / k.median_us;
}

StepVerdict compared(const BenchStep& step, const Measurement& m, const Measurement* beside) {
  const bool both = m.timing && beside && beside->timing && m.timing->kernel.median_us > 0 && beside->timing->kernel.median_us > 0;
  if (!both) return {StepOutcome::Good, measurement_headline(m, TextStyle{}), fmt::format("{} has no times to compare with", step.beside)};
  const TimedKernel &a = beside->timing->kernel, &b = m.timing->kernel;
  const double gain = a.median_us / b.median_us - 1, noise = std::max(spread(a), spread(b));
  std::string finding;
  if (std::abs(gain) <= noise)
    finding = fmt::format("as fast as {}: {:+.1f} %, and blocks differ by {:.1f} %", step.beside, 100 * gain, 100 * noise);
  else
    finding = fmt::format("{:.1f} % {} than {}", 100 * std::abs(gain), gain > 0 ? "faster" : "slower", step.beside);
  if (a.sustained_us > 0 && b.sustained_us > 0)
    finding += fmt::format(", sustained {:+.1f} %", 100 * (a.sustained_us / b.sustained_us - 1));
  return {StepOutcome::Good, finding, gain > noise ? "better than what Heddle does by itself: consider it as the default" : std::string()};
}

std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.empty() ? "done" : line;
}

/// By the measurement's status, or by how the command ended where it wrote none.
StepVerdict by_status(const BenchStep& step, const ChildResult& child, const Measurement* m, const std::string& log) {
  if (m) switch (m->status) {
      case RunStatus::Verified:
      case RunStatus::Unverified: return slow_or_good(step, *m);
      case RunStatus::Wrong:
        if (const OutputCheck* check = first_wrong(*m)) return wrong_result(*check);
        return {StepOutcome::Wrong, m->sentence, {}};
      case RunStatus::Unstable:
        return {StepOutcome::Unstable, m->sentence, "a race: compute-sanitizer's racecheck; deeper rings hide it or do not"};
      case RunStatus::TimedOut: return {StepOutcome::Hung, m->sentence, "counts and phases of barriers"};
      case RunStatus::Faulted:
        return {StepOutcome::Faulted, m->sentence,
                m->device ? "maps, parameters, shared memory; compute-sanitizer's memcheck" : "the driver, before any kernel: nvidia-smi"};
      case RunStatus::Refused:
        return {StepOutcome::Refused, m->sentence, "the launch: registers, shared memory, clusters; or who else has the GPU's memory"};
      case RunStatus::NoGpu: return {StepOutcome::Unavailable, m->sentence, {}};
    }
  if (child.timed_out)
    return {StepOutcome::Hung, fmt::format("ended after {:g} s", step.limit_seconds),
            log + ": was it the search, the compiler or the kernel"};
  if (child.code == kDone) return {StepOutcome::Good, first_line(child.out), {}};
  const std::string said = ending_of(child, step.words.front());
  if (child.signal != 0) return {StepOutcome::Faulted, said, {}};
  if (child.code == kEnvironment) return {StepOutcome::Unavailable, said, {}};
  if (child.code == kKernelFailed) return {StepOutcome::Refused, said, "heddle compile of the same kernel"};
  return {StepOutcome::Failed, said, {}};
}

}  // namespace

const char* to_string(StepOutcome outcome) {
  switch (outcome) {
    case StepOutcome::Good: return "good";
    case StepOutcome::Slow: return "slow";
    case StepOutcome::Wrong: return "wrong";
    case StepOutcome::Unstable: return "unstable";
    case StepOutcome::Hung: return "hung";
    case StepOutcome::Faulted: return "faulted";
    case StepOutcome::Refused: return "refused";
    case StepOutcome::Failed: return "failed";
    case StepOutcome::Unavailable: return "unavailable";
    case StepOutcome::Unneeded: return "unneeded";
    case StepOutcome::Skipped: return "skipped";
    case StepOutcome::NoTime: return "no-time";
    case StepOutcome::Interrupted: return "interrupted";
  }
  return "";
}

bool is_final(StepOutcome outcome) { return outcome <= StepOutcome::Refused; }

bool is_bad(StepOutcome outcome) { return outcome >= StepOutcome::Wrong && outcome <= StepOutcome::Failed; }

StepVerdict judge_step(const BenchStep& step, const ChildResult& child, const Measurement* measured, const Measurement* beside,
                       const std::string& log) {
  if (child.cancelled) return {StepOutcome::Interrupted, "interrupted", {}};
  constexpr int kSanitizerFound = 9;  // as its command line demands (steps.cpp)
  if (step.kind == BenchStepKind::Sanitize && child.code == kSanitizerFound)
    return {StepOutcome::Faulted, "compute-sanitizer reports errors", "its report in " + log};
  StepVerdict verdict = by_status(step, child, measured, log);
  if (step.kind == BenchStepKind::FollowUp) verdict.next = is_bad(verdict.outcome) ? step.if_not : step.if_right;
  if (step.kind == BenchStepKind::Compare && measured && (verdict.outcome == StepOutcome::Good || verdict.outcome == StepOutcome::Slow))
    return compared(step, *measured, beside);
  return verdict;
}

}  // namespace heddle::app
