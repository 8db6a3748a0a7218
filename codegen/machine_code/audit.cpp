// One walk over each role's steady loop in the order of the addresses, with the spans of the text that its lines belong to.
#include "codegen/machine_code/audit.h"

#include <algorithm>
#include <map>

#include "codegen/machine_code/loop_timing.h"
#include "codegen/machine_code/loops.h"

namespace heddle::codegen {
namespace {

std::size_t span_of(const Emission& emission, int line) {
  const auto after = std::upper_bound(emission.lines.begin(), emission.lines.end(), line,
                                      [](int l, const SourceSpan& span) { return l < span.first_line; });
  if (line == 0 || after == emission.lines.begin()) return kNoSpan;
  const auto found = after - 1;
  return line <= found->last_line ? static_cast<std::size_t>(found - emission.lines.begin()) : kNoSpan;
}

/// An instruction of a loop.
struct Item {
  const MachineInstruction* instruction = nullptr;
  OpClass what = OpClass::Other;
  std::size_t span = kNoSpan;
};

/// Whether the instruction is where the step of its span happens, not only on the way there.
bool is_point(const Item& item, const Emission& emission) {
  if (item.span == kNoSpan) return false;
  const StepKind kind = emission.lines[item.span].kind;
  switch (item.what) {
    case OpClass::BarrierWait: return kind == StepKind::Wait;
    case OpClass::NamedBarrier: return kind == StepKind::TakeTurn || kind == StepKind::PassTurn || kind == StepKind::Sync;
    case OpClass::ProductWait: return kind == StepKind::Retire;
    case OpClass::BarrierArrive: return kind == StepKind::Arrive;
    case OpClass::TensorSignal: return kind == StepKind::Signal;
    case OpClass::TensorWait: return kind == StepKind::AwaitWrites;
    case OpClass::Product:
    case OpClass::TensorProduct:
    case OpClass::BulkCopy: return kind == StepKind::Issue;
    default: return false;
  }
}

/// Wgmmas have no rows of their own in the line table, but keep the order of the text, and a fence begins each op's batch: where
/// there are as many batches as there are such ops in the loop's text, they are matched in order.
void match_products(std::vector<Item>& items, const std::vector<std::size_t>& spans) {
  std::size_t batches = 0;
  for (const Item& item : items) batches += item.what == OpClass::ProductFence ? 1 : 0;
  if (batches == 0 || batches != spans.size()) return;
  // The loop may begin elsewhere than its text.
  const auto match = [&](std::size_t shift, bool write) {
    int agree = 0;
    std::size_t batch = batches - 1;  // wgmmas before the first fence belong to the last one
    for (Item& item : items) {
      if (item.what == OpClass::ProductFence) batch = (batch + 1) % batches;
      if (item.what != OpClass::Product) continue;
      const std::size_t span = spans[(batch + shift) % batches];
      agree += item.span == span ? 1 : 0;
      if (write) item.span = span;
    }
    return agree;
  };
  std::size_t best = 0;
  for (std::size_t shift = 1; shift < batches; ++shift)
    if (match(shift, false) > match(best, false)) best = shift;
  match(best, true);
}

struct Walk {
  const Problem& problem;
  const Emission& emission;
  std::vector<Item> items;  ///< in the order of the addresses
  std::vector<Item> flow;   ///< as they are executed

  const SourceSpan& span(const Item& item) const { return emission.lines[item.span]; }

  void stretches(RoleLoopAudit& loop) const {
    loop.stretches.push_back({StepKind::Advance, std::nullopt, {}});
    for (const Item& item : items) {
      if (is_point(item, emission) && loop.stretches.back().span != item.span) loop.stretches.push_back({span(item).kind, item.span, {}});
      ++loop.stretches.back().counts[item.what];
      ++loop.counts[item.what];
    }
  }

  void turns(RoleLoopAudit& loop) const {
    std::optional<ClassCounts> since;
    for (const Item& item : items) {
      const bool takes = item.what == OpClass::NamedBarrier && item.span != kNoSpan && span(item).kind == StepKind::TakeTurn;
      if (takes && !only_arrives(*item.instruction))
        since.emplace();
      else if (since && item.what == OpClass::Product) {
        loop.turns.push_back({item.span == kNoSpan ? OpRef{} : span(item).op, since->all(), since->issue()});
        since.reset();
      } else if (since)
        ++(*since)[item.what];
    }
  }

  void moved(RoleLoopAudit& loop) const {
    std::vector<std::pair<std::size_t, std::size_t>> points;  // place in the loop, span
    for (std::size_t i = 0; i < items.size(); ++i)
      if (is_point(items[i], emission) && (points.empty() || points.back().second != items[i].span)) points.emplace_back(i, items[i].span);
    struct Count {
      int of = 0, down = 0, up = 0;
      std::map<std::size_t, int> past;
    };
    std::map<std::size_t, Count> counts;  // by span
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Item& item = items[i];
      if (item.span == kNoSpan || !is_work(item.what) || span(item).kind != StepKind::Compute || span(item).part != Section::Part::Steady)
        continue;
      Count& count = counts[item.span];
      ++count.of;
      bool down = false, up = false;
      for (const auto& [place, point] : points) {
        if (emission.lines[point].part != Section::Part::Steady) continue;
        const bool sank = item.span < point && i > place, rose = item.span > point && i < place;
        down = down || sank;
        up = up || rose;
        if (sank || rose) ++count.past[point];
      }
      count.down += down ? 1 : 0;
      count.up += up ? 1 : 0;
    }
    for (const auto& [from, count] : counts) {
      if (count.down + count.up == 0) continue;
      const auto most =
          std::max_element(count.past.begin(), count.past.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      loop.moved.push_back({emission.lines[from].op, count.of, count.down, count.up, most->first});
    }
  }

  void drains(RoleLoopAudit& loop) const {
    if (loop.counts[OpClass::Product] == 0) return;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].what != OpClass::ProductWait || wgmmas_left(*items[i].instruction) > 0 || items[i].span == kNoSpan) continue;
      ClassCounts until;
      for (std::size_t k = 1; k < items.size(); ++k) {
        const Item& next = items[(i + k) % items.size()];
        if (next.what == OpClass::Product) break;
        ++until[next.what];
      }
      loop.drains.push_back({span(items[i]).op, until.issue()});
    }
  }

  void interrupted(RoleLoopAudit& loop) const {
    struct Batch {
      int products = 0;
      Cycle gap = 0;
    };
    std::map<std::size_t, Batch> batches;  // by span
    std::size_t last = kNoSpan;
    ClassCounts since;
    for (const Item& item : items) {
      if (!is_product(item.what) || item.span == kNoSpan) {
        ++since[item.what];
        continue;
      }
      Batch& batch = batches[item.span];
      ++batch.products;
      if (item.span == last) batch.gap = std::max(batch.gap, since.issue());
      last = item.span;
      since = {};
    }
    for (const auto& [from, batch] : batches) {
      const OpRef op = emission.lines[from].op;
      if (op.list != OpRef::List::Body || op.index >= problem.ops.size()) continue;
      Cycle busy = 0;
      for (const UnitUse& use : problem.ops[op.index].uses) busy = std::max(busy, use.work());
      const Cycle each = busy / batch.products;
      if (each > 0 && batch.gap > each) loop.interrupted.push_back({op, batch.gap, each});
    }
  }

  /// What uses tensor memory or guards it keeps the order of the text, but for where the loop begins.
  void reordered(RoleLoopAudit& loop) const {
    std::vector<std::size_t> spans;
    bool tensor = false;
    for (const Item& item : flow) {
      if (item.span == kNoSpan || span(item).part != Section::Part::Steady) continue;
      const bool own = item.what == OpClass::TensorLoad || item.what == OpClass::TensorStore || item.what == OpClass::TensorProduct ||
                       item.what == OpClass::TensorSignal;
      tensor = tensor || own;
      const bool guards = is_point(item, emission) && item.what != OpClass::BulkCopy;
      if ((own || guards) && (spans.empty() || spans.back() != item.span)) spans.push_back(item.span);
    }
    if (!tensor) return;
    std::vector<std::pair<std::size_t, std::size_t>> falls;
    for (std::size_t i = 0; i < spans.size(); ++i)
      if (const std::size_t next = spans[(i + 1) % spans.size()]; next < spans[i]) falls.emplace_back(spans[i], next);
    if (falls.size() < 2) return;
    // One fall is the loop's end: the deepest.
    falls.erase(
        std::max_element(falls.begin(), falls.end(), [](const auto& a, const auto& b) { return a.first - a.second < b.first - b.second; }));
    const auto point = [&](std::size_t s) {
      return Reordered::Point{emission.lines[s].kind, emission.lines[s].op, emission.lines[s].first_line};
    };
    for (const auto& [early, late] : falls) loop.reordered.push_back({point(late), point(early)});
  }

  void places(std::vector<OpCodePlace>& into) const {
    std::map<std::size_t, OpCodePlace> found;
    Cycle issue = 0;
    for (const Item& item : items) {
      if (item.span != kNoSpan && (span(item).kind == StepKind::Compute || span(item).kind == StepKind::Issue)) {
        OpCodePlace& place = found.try_emplace(item.span, OpCodePlace{item.span, -1, 0}).first->second;
        ++place.instructions;
        if (place.issue < 0 && (is_work(item.what) || is_product(item.what) || item.what == OpClass::BulkCopy)) place.issue = issue;
      }
      issue += issue_cycles(item.what);
    }
    for (const auto& [s, place] : found)
      if (place.issue >= 0) into.push_back(place);
  }
};

/// The smallest loop that has at least half of a role's steady instructions.
const MachineLoop* steady_loop(const std::vector<MachineLoop>& loops, const std::vector<bool>& steady) {
  const auto all = static_cast<std::size_t>(std::count(steady.begin(), steady.end(), true));
  const MachineLoop* best = nullptr;
  for (const MachineLoop& loop : loops) {
    const auto own = static_cast<std::size_t>(
        std::count_if(loop.instructions.begin(), loop.instructions.end(), [&](std::size_t i) { return steady[i]; }));
    if (own > 0 && 2 * own >= all && (!best || loop.instructions.size() < best->instructions.size())) best = &loop;
  }
  return best;
}

}  // namespace

MachineAudit audit(const std::vector<MachineInstruction>& code, const Problem& problem, const Program& program, const Emission& emission) {
  MachineAudit audit;
  audit.lines = std::any_of(code.begin(), code.end(), [](const MachineInstruction& i) { return i.line > 0; });
  if (!audit.lines) return audit;
  const std::vector<MachineLoop> loops = find_loops(code);
  std::vector<std::size_t> spans(code.size());
  for (std::size_t i = 0; i < code.size(); ++i) spans[i] = span_of(emission, code[i].line);
  RoleLoopTiming timing({code, problem, program, emission, spans});
  for (std::size_t role = 0; role < program.roles.size(); ++role) {
    const auto& sections = program.roles[role].sections;
    const auto steady = std::find_if(sections.begin(), sections.end(),
                                     [](const Section& s) { return s.part == Section::Part::Steady && s.loop && !s.steps.empty(); });
    if (steady == sections.end()) continue;
    std::vector<bool> is_steady(code.size(), false);
    for (std::size_t i = 0; i < code.size(); ++i)
      is_steady[i] = spans[i] != kNoSpan && emission.lines[spans[i]].role == role && emission.lines[spans[i]].part == Section::Part::Steady;
    const MachineLoop* best = steady_loop(loops, is_steady);
    if (!best) continue;
    Walk walk{problem, emission, {}, {}};
    for (const std::size_t i : best->instructions) walk.items.push_back({&code[i], class_of(code[i]), spans[i]});
    for (const std::size_t i : best->flow) walk.flow.push_back({&code[i], class_of(code[i]), spans[i]});
    std::vector<std::size_t> products;
    for (std::size_t s = 0; s < emission.lines.size(); ++s)
      if (const SourceSpan& span = emission.lines[s]; span.role == role && span.part == Section::Part::Steady &&
                                                      span.kind == StepKind::Issue && span.op.list == OpRef::List::Body &&
                                                      span.op.index < problem.ops.size() && problem.ops[span.op.index].kind == "mma")
        products.push_back(s);
    match_products(walk.items, products);
    RoleLoopAudit loop;
    loop.role = role;
    loop.iterations = steady->unroll;
    loop.inner = std::any_of(loops.begin(), loops.end(), [&](const MachineLoop& other) {
      return other.instructions.size() < best->instructions.size() &&
             std::includes(best->instructions.begin(), best->instructions.end(), other.instructions.begin(), other.instructions.end());
    });
    walk.stretches(loop);
    walk.turns(loop);
    walk.moved(loop);
    walk.drains(loop);
    walk.interrupted(loop);
    walk.reordered(loop);
    walk.places(audit.places);
    timing.add(*best, loops, role);
    audit.loops.push_back(std::move(loop));
  }
  timing.run(audit);
  return audit;
}

std::optional<Cycle> MachineAudit::iteration() const {
  std::optional<Cycle> most;
  for (const RoleLoopAudit& loop : loops)
    if (loop.time) most = std::max(most.value_or(0), loop.time->iteration);
  return most;
}

}  // namespace heddle::codegen
