#include "core/triton/give_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/text_style.h"
#include "core/triton/audit_parts.h"
#include "core/triton/decisions.h"
#include "core/triton/rules.h"

namespace heddle::triton {
namespace {

constexpr int kMostAhead = 16;  ///< stages by which a load is moved for a ring as deep as the schedule's

bool is_load(const Op& op) { return op.kind == "tma_load" || op.kind == "load" || op.kind == "gather"; }

/// Stages and clusters for one stream of ops. The schedule decides about ops that do work; the others (views, indices, addresses) go where
/// these need them.
class Pipeline {
 public:
  Pipeline(const Program& program, const LoopSite& loop, const Native& native, const Problem& problem, const Schedule& schedule)
      : module_(*program.module), native_(native), problem_(problem), schedule_(schedule) {
    old_ = decisions_of(program, loop);
    const mlir::Block* body = module_.body(loop.op);
    for (std::size_t i = 0; i < body->ops.size(); ++i) place_[body->ops[i]] = i;
    if (!body->ops.empty() && module_.op(body->ops.back()).name == "scf.yield") terminator_ = body->ops.size() - 1;
    for (const SsaEdge& edge : edges_of(program, loop)) edges_.push_back({place_.at(edge.from), place_.at(edge.to), edge.distance});
    for (const SsaEdge& edge : overwrites_of(program, loop)) edges_.push_back({place_.at(edge.from), place_.at(edge.to), edge.distance});
    hopper_ = program.target >= 90 && program.target < 100;
    // Of several ops that one op of the text stands for (a store and the copy behind it), the first decides.
    std::vector<std::size_t> by_start(problem.ops.size());
    for (std::size_t i = 0; i < by_start.size(); ++i) by_start[i] = i;
    std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) { return start(a) < start(b); });
    for (const std::size_t i : by_start)
      for (const mlir::OpId id : native.origins[i].of)
        if (const auto place = place_.find(id); place != place_.end() && problem.ops[i].kind != "opaque") of_.emplace(place->second, i);
  }

  /// The stages that follow from where the schedule's iteration is taken to begin, with `ahead` more for each load.
  Decisions decide(const std::map<std::size_t, int>& ahead) const {
    if (ahead.empty() && runs_as_written()) return old_;
    std::optional<std::tuple<std::size_t, std::size_t, bool, Cycle>> best;
    std::set<Cycle> cuts{0};
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) cuts.insert(start(i) % schedule_.ii);
    const std::vector<std::size_t> written = written_order();
    for (const Cycle cut : cuts) {
      const std::vector<std::int64_t> stage = stages_from(cut, ahead);
      const std::tuple key(early_products(stage), moved(stage), turn(cut) != written, cut);
      if (!best || key < *best) best = key;
    }
    const Cycle cut = std::get<Cycle>(*best);
    return told(stages_from(cut, ahead), turn(cut));
  }

  /// The load of the text that fills a channel.
  std::optional<std::size_t> load_of(const Channel& channel) const {
    for (const auto& [place, op] : of_)
      if (op == channel.writer.index()) return place;
    return std::nullopt;
  }

 private:
  struct Edge {
    std::size_t from, to;
    int distance;
  };

  Cycle start(std::size_t op) const { return schedule_.ops[op].start; }

  Position position(const Decisions& of, std::size_t place) const {
    return {of.ops[place].stage.value_or(0), of.ops[place].cluster.value_or(0), place};
  }

  /// Ops that do work, in the order in which the text runs them within a step.
  std::vector<std::size_t> written_order() const {
    std::vector<std::size_t> order;
    for (const auto& [place, op] : of_) order.push_back(place);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return old_.ops[a].cluster.value_or(0) < old_.ops[b].cluster.value_or(0); });
    return order;
  }

  /// Whether a turn of the loop as the text has it is one of the schedule: its ops start one after the other and all within II of the
  /// first, in every group, which has a loop of its own.
  bool runs_as_written() const {
    std::map<GroupId, std::pair<Cycle, Cycle>> of_group;
    for (const std::size_t place : written_order()) {
      const heddle::Placement& op = schedule_.ops[of_.at(place)];
      const Cycle at = op.start - old_.ops[place].stage.value_or(0) * schedule_.ii;
      const auto [range, fresh] = of_group.emplace(op.group, std::pair(at, at));
      if (at < range->second.second || at - range->second.first > schedule_.ii) return false;
      range->second.second = at;
    }
    return true;
  }

  /// The order of the schedule's ops from this cycle on. Copies that are issued one after the other stay in the order of the text: they
  /// share a barrier there, and which comes first matters little to what reads them stages later.
  std::vector<std::size_t> turn(Cycle cut) const {
    const std::vector<std::size_t> written = written_order();
    std::map<std::size_t, std::size_t> rank;
    for (std::size_t i = 0; i < written.size(); ++i) rank[written[i]] = i;
    std::vector<std::size_t> order = written;
    const auto phase = [&](std::size_t place) {
      const Cycle since = (start(of_.at(place)) - cut) % schedule_.ii;
      return since < 0 ? since + schedule_.ii : since;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return phase(a) < phase(b); });
    const auto copies = [&](std::size_t place) { return is_load(problem_.ops[of_.at(place)]); };
    for (auto run = order.begin(); run != order.end();) {
      const auto end = std::find_if_not(run, order.end(), copies);
      std::sort(run, end, [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
      run = end == order.end() ? end : end + 1;
    }
    return order;
  }

  std::vector<std::int64_t> stages_from(Cycle cut, const std::map<std::size_t, int>& ahead) const {
    std::vector<std::int64_t> stage(old_.ops.size(), 0);
    std::int64_t least = 0;
    bool any = false;
    for (const auto& [place, op] : of_) {
      // Rounded down, also in front of the cut.
      const Cycle since = start(op) - cut;
      stage[place] = since >= 0 ? since / schedule_.ii : -((-since + schedule_.ii - 1) / schedule_.ii);
      if (const auto more = ahead.find(place); more != ahead.end()) stage[place] -= more->second;
      least = any ? std::min(least, stage[place]) : stage[place];
      any = true;
    }
    for (std::int64_t& each : stage) each -= least;
    return stage;
  }

  /// Products in front of the last stage, which Triton predicates on Hopper.
  std::size_t early_products(const std::vector<std::int64_t>& stage) const {
    if (!hopper_) return 0;
    std::int64_t last = 0;
    for (const auto& [place, op] : of_) last = std::max(last, stage[place]);
    return static_cast<std::size_t>(std::count_if(
        of_.begin(), of_.end(), [&](const auto& each) { return problem_.ops[each.second].kind == "mma" && stage[each.first] < last; }));
  }

  std::size_t moved(const std::vector<std::int64_t>& stage) const {
    return static_cast<std::size_t>(std::count_if(
        of_.begin(), of_.end(), [&](const auto& each) { return old_.ops[each.first].stage.value_or(0) != stage[each.first]; }));
  }

  Decisions told(const std::vector<std::int64_t>& stage, const std::vector<std::size_t>& order) const {
    Decisions decided = old_;
    const bool keeps = order == written_order();
    for (std::size_t i = 0; i < order.size(); ++i) {
      Decision& op = decided.ops[order[i]];
      op.stage = stage[order[i]];
      // Another order needs a cluster for each op.
      if (!keeps || !op.cluster) op.cluster = static_cast<std::int64_t>(i);
    }
    carry_along(decided, keeps);
    decided.max_stage = 0;
    for (const Decision& each : decided.ops) decided.max_stage = std::max(*decided.max_stage, each.stage.value_or(0));
    return decided;
  }

  /// The others: as late as their readers allow. One whose neighbours stayed stays too.
  void carry_along(Decisions& decided, bool keeps_clusters) const {
    std::vector<std::vector<const Edge*>> users(old_.ops.size()), sources(old_.ops.size());
    for (const Edge& edge : edges_) {
      users[edge.from].push_back(&edge);
      sources[edge.to].push_back(&edge);
    }
    std::int64_t last_cluster = 0, last_stage = 0;
    for (const auto& [place, op] : of_) {
      last_cluster = std::max(last_cluster, *decided.ops[place].cluster);
      last_stage = std::max(last_stage, *decided.ops[place].stage);
    }
    // Each round moves an op at most once; what is carried around the loop settles in a few.
    bool moved = true;
    for (std::size_t round = 0; moved && round < 8; ++round) {
      moved = false;
      for (std::size_t place = decided.ops.size(); place-- > 0;) {
        if (of_.count(place) || place == terminator_) continue;
        const auto stayed = [&](std::size_t other) { return decided.ops[other] == old_.ops[other]; };
        const auto holds = [&](const Edge* e) {
          return e->from == e->to || !runs_before(position(decided, e->to), e->distance, position(decided, e->from));
        };
        const bool same_neighbours =
            std::all_of(users[place].begin(), users[place].end(), [&](const Edge* e) { return stayed(e->to); }) &&
            std::all_of(sources[place].begin(), sources[place].end(), [&](const Edge* e) { return stayed(e->from); });
        const bool right = std::all_of(users[place].begin(), users[place].end(), holds) &&
                           std::all_of(sources[place].begin(), sources[place].end(), holds);
        if (keeps_clusters && same_neighbours && right && decided.ops[place].stage) continue;
        std::optional<std::tuple<std::int64_t, std::int64_t>> latest;
        for (const Edge* e : users[place]) {
          if (e->to == place) continue;
          const Position user = position(decided, e->to);
          std::tuple bound(user.stage + e->distance, user.cluster);
          if (place > e->to)
            bound = user.cluster > 0 ? std::tuple(user.stage + e->distance, user.cluster - 1)
                                     : std::tuple(user.stage + e->distance - 1, last_cluster);
          // An address for the next iteration is no reason for a stage of its own.
          bound = std::min(bound, std::tuple(last_stage, last_cluster));
          if (!latest || bound < *latest) latest = bound;
        }
        // What only the end of the loop reads comes as soon as it can.
        if (!latest && !right)
          for (const Edge* e : sources[place]) {
            const Position source = position(decided, e->from);
            const std::tuple bound(source.stage - e->distance, source.cluster);
            if (!latest || bound > *latest) latest = bound;
          }
        if (!latest || std::get<0>(*latest) < 0) continue;
        Decision& mine = decided.ops[place];
        if (mine.stage == std::get<0>(*latest) && mine.cluster == std::get<1>(*latest)) continue;
        mine.stage = std::get<0>(*latest);
        mine.cluster = std::get<1>(*latest);
        moved = true;
      }
    }
  }

  const mlir::Module& module_;
  const Native& native_;
  const Problem& problem_;
  const Schedule& schedule_;
  bool hopper_ = false;
  std::optional<std::size_t> terminator_;  ///< scf.yield belongs to no stage
  Decisions old_;
  std::map<mlir::OpId, std::size_t> place_;  ///< in the loop's body
  std::map<std::size_t, std::size_t> of_;    ///< place -> the op of the problem that decides about it
  std::vector<Edge> edges_;
};

class Writer {
 public:
  Writer(const Program& program, const LoopSite& loop, const Native& native, const Problem& problem, const Schedule& schedule)
      : program_(program), loop_(loop), native_(native), problem_(problem), schedule_(schedule) {}

  Result<GivenBack> run(const Machine& machine) {
    if (const std::string why = why_not(); !why.empty())
      return fault(0, why, "give the text from before tritongpu-pipeline: heddle_triton.py dump writes it");
    Result<Program> told = program_.form == Form::Input ? with_latencies() : with_stages();
    if (!told) return told.error();
    const LoopSite& site = told->loops[static_cast<std::size_t>(loop_.number)];
    Error broken{ErrorKind::Input, {}};
    for (const RuleViolation& each : broken_rules(*told, site, machine))
      broken.faults.push_back({program_.file,
                               each.line > 0 ? fmt::format("{}", each.line) : "",
                               fmt::format("{}: {}", to_string(each.rule), each.message),
                               {}});
    if (!broken.faults.empty()) return broken;

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
    given.text = told->module->text;
    given.notes = std::move(notes_);
    given.memory = memory_of(*told);
    return given;
  }

 private:
  Error fault(int line, std::string message, std::string hint = {}) const {
    return Error{ErrorKind::Input, {{program_.file, line > 0 ? fmt::format("{}", line) : "", std::move(message), std::move(hint)}}};
  }

  std::string why_not() const {
    if (problem_.ops.size() != native_.origins.size() || schedule_.ops.size() != problem_.ops.size() || schedule_.ii < 1)
      return "the schedule is not one of this loop's triton reading";
    switch (program_.form) {
      case Form::Specialized: return "the text is warp specialized already: its stages and partitions have been carried out";
      case Form::Final: return "the text is finished: which op belongs to which stage is no longer in it";
      case Form::Input:
      case Form::Scheduled:
      case Form::Partitioned: return {};
    }
    return {};
  }

  Result<Program> reread(const Decisions& decisions) const {
    Result<mlir::Module> module = mlir::parse(write_decisions(program_, loop_, decisions), program_.file);
    if (!module) return module.error();
    return make_program(*std::move(module), program_.metadata, program_.pass);
  }

  /// Before Triton has scheduled the loop it can be told how far each load runs ahead.
  Result<Program> with_latencies() {
    Decisions decisions = decisions_of(program_, loop_);
    const mlir::Block* body = program_.module->body(loop_.op);
    bool any = false;
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (!fills_ring(channel)) continue;
      const bool still_read =
          std::any_of(channel.readers.begin(), channel.readers.end(), [&](const Reader& r) { return problem_.op(r.op).kind == "mma"; });
      for (const mlir::OpId id : native_.origins[channel.writer.index()].of)
        if (const auto at = std::find(body->ops.begin(), body->ops.end(), id); at != body->ops.end()) {
          decisions.ops[static_cast<std::size_t>(at - body->ops.begin())].latency = schedule_.depths[c] - (still_read ? 1 : 0);
          any = true;
        }
    }
    if (!any)
      return fault(loop_.line, "the text stands before Triton has scheduled the loop, and there is no load whose depth it could be told");
    notes_.push_back(
        "the text stands before tritongpu-schedule-loops: it says how deep each load's ring is; stages and order are Triton's");
    return reread(decisions);
  }

  bool fills_ring(const Channel& channel) const {
    return is_load(problem_.op(channel.writer)) && channel.space == Space::Smem && !channel.only_if_crossing && !channel.readers.empty();
  }

  /// Rings follow from stages, so that a load runs ahead until its ring is as deep as the schedule says.
  Result<Program> with_stages() {
    const Pipeline pipeline(program_, loop_, native_, problem_, schedule_);
    std::map<std::size_t, int> ahead;
    std::map<std::size_t, std::int64_t> before;  ///< slots in the round before
    std::set<std::size_t> given_up;
    for (int round = 0;; ++round) {
      Result<Program> told = reread(pipeline.decide(ahead));
      if (!told) return told;
      const std::vector<Buffer> rings = rings_of(*told, told->loops[static_cast<std::size_t>(loop_.number)]);
      const mlir::Block* body = told->module->body(loop_.op);
      bool more = false;
      std::vector<std::string> notes;
      for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
        const Channel& channel = problem_.channels[c];
        const auto place = fills_ring(channel) ? pipeline.load_of(channel) : std::nullopt;
        if (!place) continue;
        const auto ring = std::find_if(rings.begin(), rings.end(), [&](const Buffer& b) { return b.op == body->ops[*place]; });
        const std::int64_t slots = ring == rings.end() || ring->synchronous ? 0 : ring->slots, wanted = std::max(1, schedule_.depths[c]);
        if (slots < wanted && !given_up.count(*place)) {
          // A load that has run ahead and got no slot for it is one that Triton does not pipeline.
          const auto last = before.find(*place);
          if (round >= kMostAhead || (last != before.end() && ahead[*place] >= 2 && slots <= last->second)) {
            ahead.erase(*place);
            given_up.insert(*place);
          } else {
            ++ahead[*place];
          }
          before[*place] = slots;
          more = true;
        } else if (slots != wanted) {
          notes.push_back(fmt::format("the ring of {} has {} where the schedule has {}: {}", channel.name, count_of(slots, "slot"), wanted,
                                      slots > wanted ? "so many follow from the stages" : "Triton does not run this load further ahead"));
        }
      }
      if (more) continue;
      notes_.insert(notes_.end(), notes.begin(), notes.end());
      return told;
    }
  }

  const Program& program_;
  const LoopSite& loop_;
  const Native& native_;
  const Problem& problem_;
  const Schedule& schedule_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<GivenBack> give_back(const Program& program, const LoopSite& loop, const Native& native, const Problem& problem,
                            const Schedule& schedule, const Machine& machine) {
  return Writer(program, loop, native, problem, schedule).run(machine);
}

}  // namespace heddle::triton
