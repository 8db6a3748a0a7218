#include "core/triton/back/give_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/text_style.h"
#include "core/triton/back/partition_plan.h"
#include "core/triton/back/rules.h"
#include "core/triton/back/staging.h"
#include "core/triton/back/write_decisions.h"
#include "core/triton/memory/specialization.h"
#include "core/triton/read/decisions.h"
#include "core/triton/read/flow.h"
#include "core/triton/read/op_words.h"

namespace heddle::triton {
namespace {

constexpr int kMostAhead = 16;  ///< stages by which a load is moved for a ring as deep as the schedule's

class Writer {
 public:
  Writer(const TritonProgram& program, const LoopSite& loop, const Native& native, const Problem& problem, const Schedule& schedule)
      : program_(program), loop_(loop), native_(native), problem_(problem), schedule_(schedule) {}

  Result<GivenBack> run(const Machine& machine) {
    if (const std::string why = why_not(); !why.empty())
      return fault(0, why, "give the text from before tritongpu-pipeline: heddle_triton.py dump writes it");
    Result<TritonProgram> told = tell(Clusters::Few);
    if (!told) return told.error();
    std::vector<RuleViolation> violations = broken_rules(*told, site_of(*told), machine);
    const auto again = [&] {
      notes_.clear();
      told = tell(Clusters::OneEach);
      if (!told) return false;
      if (std::vector<RuleViolation> others = broken_rules(*told, site_of(*told), machine); others.size() < violations.size())
        violations = std::move(others);
      return true;
    };
    if (!violations.empty() && !again()) return told.error();
    // Between two mmas that are in flight the schedule knows that the first one has read its slot; Triton waits for it later.
    while (find_overwriting(*told, violations))
      if (!again()) return told.error();
    if (std::ranges::any_of(violations, [](const RuleViolation& each) { return each.rule == Rule::Ring; })) {
      in_front_ = overwriting_;
      if (!again()) return told.error();
    }
    if (!violations.empty()) return refusal(program_, violations);

    const LoopSite& site = site_of(*told);
    GivenBack given;
    const Decisions before = decisions_of(program_, loop_), after = decisions_of(*told, site);
    const mlir::Block* body = program_.module->body(loop_.op);
    for (std::size_t i = 0; i < after.ops.size(); ++i)
      if (const std::string words = change_words(before.ops[i], after.ops[i]); !words.empty())
        given.changes.push_back(fmt::format("{}: {}", describe_op(program_, program_.module->op(body->ops[i])), words));
    given.changed = given.changes.size();
    if (before.max_stage != after.max_stage)
      given.changes.push_back(
          fmt::format("the loop (line {}): last stage {} -> {}", loop_.line, before.max_stage.value_or(0), after.max_stage.value_or(0)));
    // Triton divides a branch among partitions by what its ops say, and what is said here is of the loop's own ops.
    if (loop_.partitioned && !given.changes.empty() && !Flow(program_, loop_.op).branches().empty())
      return fault(loop_.line, "the loop is divided into partitions and has a branch around ops on tiles: whose they are cannot be told");
    given.text = told->module->text;
    given.notes = std::move(notes_);
    given.memory = memory_of(*told);
    if (site.partitioned && !given.changes.empty())
      given.memory.unsure += std::string(given.memory.unsure.empty() ? "" : "; ") +
                             "these partitions are not Triton's own: what it hands to them may take some hundred bytes more";
    return given;
  }

 private:
  Error fault(int line, std::string message, std::string hint = {}) const {
    return Error{ErrorKind::Input, {{program_.file, line > 0 ? fmt::format("{}", line) : "", std::move(message), std::move(hint)}}};
  }

  const LoopSite& site_of(const TritonProgram& program) const { return program.loops[static_cast<std::size_t>(loop_.number)]; }

  /// Loads that fill a slot too early, if there are any that were not known.
  bool find_overwriting(const TritonProgram& told, const std::vector<RuleViolation>& violations) {
    const std::size_t known = overwriting_.size();
    const mlir::Block* body = told.module->body(site_of(told).op);
    for (const RuleViolation& each : violations)
      if (each.rule == Rule::Ring)
        overwriting_.insert(static_cast<std::size_t>(std::find(body->ops.begin(), body->ops.end(), each.ops.back()) - body->ops.begin()));
    return overwriting_.size() > known;
  }

  Result<TritonProgram> tell(Clusters clusters) { return program_.form == TextForm::Input ? with_latencies() : with_stages(clusters); }

  std::string why_not() const {
    if (problem_.ops.size() != native_.origins.size() || schedule_.ops.size() != problem_.ops.size() || schedule_.ii < 1)
      return "the schedule is not one of this loop's triton reading";
    switch (program_.form) {
      case TextForm::Specialized: return "the text is warp specialized already: its stages and partitions have been carried out";
      case TextForm::Final: return "the text is finished: which op belongs to which stage is no longer in it";
      case TextForm::Input:
      case TextForm::Scheduled:
      case TextForm::Partitioned: return {};
    }
    return {};
  }

  Result<TritonProgram> reread(const Decisions& decisions) const {
    Result<mlir::Module> module = mlir::parse(write_decisions(program_, loop_, decisions), program_.file);
    if (!module) return module.error();
    return make_program(*std::move(module), program_.metadata, program_.pass);
  }

  /// Before Triton has scheduled the loop it can be told how far each load runs ahead.
  Result<TritonProgram> with_latencies() {
    Decisions decisions = decisions_of(program_, loop_);
    const mlir::Block* body = program_.module->body(loop_.op);
    bool any = false;
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (!fills_ring(channel) || !runs_ahead(channel)) continue;
      // As many stages as the ring has slots to fill, and never fewer than the schedule has between the load and its readers.
      bool still_read = false;
      std::int64_t stages = 0;
      for (const Reader& reader : channel.readers) {
        still_read |= problem_.op(reader.op).kind == "mma";
        stages = std::max<std::int64_t>(stages, schedule_.stage(reader.op) + reader.distance - schedule_.stage(channel.writer));
      }
      const std::int64_t latency = std::max<std::int64_t>(stages, schedule_.depths[c] - (still_read ? 1 : 0));
      for (const mlir::OpId id : native_.origins[channel.writer.index()].of)
        if (const auto at = std::find(body->ops.begin(), body->ops.end(), id); at != body->ops.end()) {
          decisions.ops[static_cast<std::size_t>(at - body->ops.begin())].latency = latency;
          any = true;
        }
    }
    if (!any) {
      notes_.push_back("no load of the schedule runs ahead of its use: there is nothing to tell Triton");
      return reread(decisions);
    }
    notes_.push_back(
        "the text stands before tritongpu-schedule-loops: it says how deep each load's ring is; stages and order are Triton's");
    return reread(decisions);
  }

  /// A load in the stage of its use has no ring: Triton waits for it there.
  bool runs_ahead(const Channel& channel) const {
    return std::ranges::any_of(channel.readers, [&](const Reader& reader) {
      return schedule_.stage(reader.op) + reader.distance > schedule_.stage(channel.writer);
    });
  }

  bool fills_ring(const Channel& channel) const { return filled_by_load(problem_, channel) && !channel.readers.empty(); }

  static const TritonBuffer* ring_of(const std::vector<TritonBuffer>& rings, mlir::OpId load) {
    const auto found = std::find_if(rings.begin(), rings.end(), [&](const TritonBuffer& ring) { return ring.op == load; });
    return found == rings.end() ? nullptr : &*found;
  }

  /// Rings follow from stages, so that a load runs ahead until its ring is as deep as the schedule says.
  Result<TritonProgram> with_stages(Clusters clusters) {
    Staging staging(program_, loop_, native_, problem_, schedule_);
    staging.put_aside(overwriting_);
    staging.put_in_front(in_front_);
    if (loop_.partitioned || staging.groups().size() > 1) return with_partitions(staging, clusters);
    const bool rings_fit = std::all_of(native_.rings.begin(), native_.rings.end(), [&](const OwnRing& ring) {
      const auto of =
          std::find_if(problem_.channels.begin(), problem_.channels.end(), [&](const Channel& c) { return c.name == ring.value; });
      return of == problem_.channels.end() || ring.depth <= schedule_.depths[static_cast<std::size_t>(of - problem_.channels.begin())];
    });
    std::map<std::size_t, int> ahead;            ///< of ops of the problem
    std::map<std::size_t, std::int64_t> before;  ///< slots in the round before
    std::set<std::size_t> given_up;
    bool behind = false;
    for (int round = 0;; ++round) {
      Result<TritonProgram> told = reread(staging.decide(ahead, rings_fit, clusters));
      if (!told) return told;
      const std::vector<TritonBuffer> rings = rings_of(*told, site_of(*told));
      const mlir::Block* body = told->module->body(loop_.op);
      bool more = false;
      std::set<std::size_t> too_deep;
      std::vector<std::string> notes;
      for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
        const Channel& channel = problem_.channels[c];
        const auto place = fills_ring(channel) && runs_ahead(channel) ? staging.place_of(channel.writer) : std::nullopt;
        if (!place) continue;
        const std::size_t load = channel.writer.index();
        const TritonBuffer* ring = ring_of(rings, body->ops[*place]);
        const std::int64_t slots = !ring || ring->synchronous ? 0 : ring->slots, wanted = std::max(1, schedule_.depths[c]);
        // What is loaded stages ahead and has no ring is one that Triton loads into registers.
        if (ring && ring->slots == 0 && !ring->synchronous) given_up.insert(load);
        if (slots < wanted && !given_up.count(load)) {
          // A load that has run ahead and got no slot for it is one that Triton does not pipeline.
          const auto last = before.find(load);
          if (round >= kMostAhead || (last != before.end() && ahead[load] >= 2 && slots <= last->second)) {
            ahead.erase(load);
            given_up.insert(load);
          } else {
            ++ahead[load];
          }
          before[load] = slots;
          more = true;
        } else if (slots != wanted) {
          if (slots > wanted && program_.target < 100) too_deep.insert(*place);
          notes.push_back(fmt::format("the ring of {} has {} where the schedule has {}: {}", channel.name, count_of(slots, "slot"), wanted,
                                      slots > wanted ? "so many follow from the stages" : "Triton does not run this load further ahead"));
        }
      }
      if (more) continue;
      if (!too_deep.empty() && !std::exchange(behind, true)) {
        for (const std::size_t place : too_deep) staging.put_behind(place);
        continue;
      }
      notes_.insert(notes_.end(), notes.begin(), notes.end());
      return told;
    }
  }

  /// Each warp group of the schedule becomes a partition.
  Result<TritonProgram> with_partitions(Staging& staging, Clusters clusters) {
    const mlir::Block* body = program_.module->body(loop_.op);
    std::vector<std::pair<mlir::OpId, int>> groups;
    for (const auto& [place, group] : staging.group_of_places()) groups.emplace_back(body->ops[place], static_cast<int>(group.index()));
    Result<PartitionPlan> plan = plan_partitions(program_, loop_, groups);
    if (!plan) return plan.error();
    std::vector<std::vector<std::int64_t>> lists(body->ops.size());
    std::vector<std::pair<mlir::OpId, std::vector<std::int64_t>>> inside;
    for (auto& [id, partitions] : plan->ops)
      if (const auto at = std::find(body->ops.begin(), body->ops.end(), id); at != body->ops.end())
        lists[static_cast<std::size_t>(at - body->ops.begin())] = std::move(partitions);
      else
        inside.emplace_back(id, std::move(partitions));
    staging.take_apart(lists);
    Decisions decisions = staging.decide({}, true, clusters);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      Decision& op = decisions.ops[i];
      // As Triton has it of loops that it specializes: else the mmas' group waits at barriers of its own.
      if (op.self_latency && op.partitions.empty()) op.self_latency = 0;
      op.partitions = std::move(lists[i]);
    }
    decisions.inside = std::move(inside);
    decisions.of_the_loop = std::move(plan->of_the_loop);
    Result<TritonProgram> told = reread(decisions);
    if (!told) return told;
    const std::vector<TritonBuffer> rings = rings_of(*told, site_of(*told));
    const std::vector<PartitionHandOff> between = specialized_loads(*told, Places(*told), site_of(*told));
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      const auto place = fills_ring(channel) ? staging.place_of(channel.writer) : std::nullopt;
      if (!place) continue;
      const mlir::OpId load = body->ops[*place];
      const TritonBuffer* ring = ring_of(rings, load);
      const bool handed = std::any_of(between.begin(), between.end(), [&](const PartitionHandOff& each) { return each.op == load; });
      if (ring && ring->slots != schedule_.depths[c])
        notes_.push_back(fmt::format("the ring of {} has {} where the schedule has {}: {}", channel.name, count_of(ring->slots, "slot"),
                                     schedule_.depths[c],
                                     handed ? "between partitions rings are as deep as the option num_stages says that the kernel is "
                                              "compiled with"
                                            : "so many follow from the stages"));
    }
    return told;
  }

  const TritonProgram& program_;
  const LoopSite& loop_;
  const Native& native_;
  const Problem& problem_;
  const Schedule& schedule_;
  std::set<std::size_t> overwriting_, in_front_;  ///< places of loads
  std::vector<std::string> notes_;
};

}  // namespace

Result<GivenBack> give_back(const TritonProgram& program, const LoopSite& loop, const Native& native, const Problem& problem,
                            const Schedule& schedule, const Machine& machine) {
  return Writer(program, loop, native, problem, schedule).run(machine);
}

}  // namespace heddle::triton
