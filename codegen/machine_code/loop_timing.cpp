#include "codegen/machine_code/loop_timing.h"

#include <algorithm>

namespace heddle::codegen {

/// What only some passes do: the arithmetic of masks, which a whole warp group jumps over where nothing is masked.
bool RoleLoopTiming::seldom(std::size_t first, std::size_t last) const {
  int work = 0, masks = 0;
  for (std::size_t i = first; i < last; ++i) {
    if (text_.spans[i] == kNoSpan || !is_work(class_of(text_.code[i]))) continue;
    ++work;
    const OpRef op = text_.emission.lines[text_.spans[i]].op;
    const bool known = op.list == OpRef::List::Body && op.index < text_.problem.ops.size();
    masks += known && text_.problem.ops[op.index].kind == "mask" ? 1 : 0;
  }
  return 2 * masks > work;
}

void RoleLoopTiming::add(const MachineLoop& loop, const std::vector<MachineLoop>& loops, std::size_t role) {
  constexpr int kQuarters = 4;
  const Role& its = text_.program.roles[role];
  if (its.warps < kQuarters) return;
  for (const MachineLoop& other : loops) {
    const auto& inner = other.instructions;
    if (inner.size() < loop.instructions.size() &&
        std::includes(loop.instructions.begin(), loop.instructions.end(), inner.begin(), inner.end()))
      works_inside_ = works_inside_ || std::any_of(inner.begin(), inner.end(), [&](std::size_t i) {
                        const OpClass what = class_of(text_.code[i]);
                        return is_work(what) || is_product(what);
                      });
  }
  Entry entry{role, one_pass(text_.code, loop, [&](std::size_t first, std::size_t last) { return seldom(first, last); })};
  const QuarterWarp warp = quarter_warp(text_.code, entry.pass, 32 * its.warps);
  products_ = products_ ||
              std::any_of(warp.steps.begin(), warp.steps.end(), [](const QuarterStep& step) { return step.unit == QuarterUnit::Product; });
  warps_.insert(warps_.end(), static_cast<std::size_t>(its.warps / kQuarters), warp);
  of_.insert(of_.end(), static_cast<std::size_t>(its.warps / kQuarters), entry);
}

/// Every role with mmas is here.
bool RoleLoopTiming::complete() const {
  for (std::size_t role = 0; role < text_.program.roles.size(); ++role)
    if (issues_products(text_.program.roles[role]) &&
        std::none_of(of_.begin(), of_.end(), [&](const Entry& entry) { return entry.role == role; }))
      return false;
  return true;
}

void RoleLoopTiming::run(MachineAudit& audit) const {
  if (!text_.program.arch.starts_with("sm_90") || !text_.problem.contention.known || !products_ || works_inside_ || !complete()) return;
  const auto times = run_quarter(warps_, text_.problem.contention);
  if (!times) return;
  for (RoleLoopAudit& loop : audit.loops)
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (of_[w].role != loop.role) continue;
      if (!loop.time) audit.unknown += warps_[w].unknown;
      LoopTime time = time_of(w, (*times)[w], loop.iterations);
      if (!loop.time || loop.time->iteration < time.iteration) loop.time = std::move(time);  // of two warp groups the slower
    }
}

LoopTime RoleLoopTiming::time_of(std::size_t warp, const QuarterTimes& times, int iterations) const {
  LoopTime time{times.pass / iterations, times.in_turn / iterations, 0, {}};
  for (std::size_t s = 0; s < times.waited.size(); ++s) {
    const QuarterUnit unit = warps_[warp].steps[s].unit;
    const Cycle cycles = times.waited[s] / iterations;
    if (unit == QuarterUnit::Product) time.held += times.waited[s];
    if (cycles == 0 || (unit != QuarterUnit::ProductWait && unit != QuarterUnit::TakeTurn)) continue;
    const std::size_t span = text_.spans[of_[warp].pass[s]];
    time.waits.push_back({unit == QuarterUnit::TakeTurn ? StepKind::TakeTurn : StepKind::Retire,
                          span == kNoSpan ? std::nullopt : std::optional(span), cycles});
  }
  time.held /= iterations;
  return time;
}

}  // namespace heddle::codegen
