#include "core/triton/give_back.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/analysis/period.h"
#include "core/base/text_style.h"
#include "core/triton/audit_parts.h"
#include "core/triton/decisions.h"
#include "core/triton/partition_plan.h"
#include "core/triton/rules.h"

namespace heddle::triton {
namespace {

constexpr int kMostPasses = 8;
constexpr int kMostAhead = 16;  ///< stages by which a load is moved for a ring as deep as the schedule's

bool is_load(const Op& op) { return op.kind == "tma_load" || op.kind == "load" || op.kind == "gather"; }

/// How an order is written: with as few clusters as it takes, or with one for each op that does work, which leaves no doubt about the
/// others.
enum class Clusters { Few, OneEach };

/// Stages and clusters for the ops of a loop. The schedule decides about ops that do work; the others (views, indices, addresses) go where
/// these need them. Every group has a loop of its own, and so a turn of its own.
class Pipeline {
 public:
  Pipeline(const Program& program, const LoopSite& loop, const Native& native, const Problem& problem, const Schedule& schedule)
      : problem_(problem), schedule_(schedule), hopper_(program.target >= 90 && program.target < 100) {
    const mlir::Module& module = *program.module;
    old_ = decisions_of(program, loop);
    const mlir::Block* body = module.body(loop.op);
    std::map<mlir::OpId, std::size_t> place;
    for (std::size_t i = 0; i < body->ops.size(); ++i) place[body->ops[i]] = i;
    if (!body->ops.empty() && module.op(body->ops.back()).name == "scf.yield") terminator_ = body->ops.size() - 1;
    // Of several ops that one op of the text stands for (a store and the copy behind it), the first decides.
    std::vector<std::size_t> by_start(problem.ops.size());
    std::iota(by_start.begin(), by_start.end(), std::size_t{0});
    std::stable_sort(by_start.begin(), by_start.end(), [&](std::size_t a, std::size_t b) { return start(a) < start(b); });
    for (const std::size_t i : by_start)
      for (const mlir::OpId id : native.origins[i].of)
        if (const auto at = place.find(id); at != place.end() && problem.ops[i].kind != "opaque") of_.emplace(at->second, i);
    // A chain of ops stands where its last one does.
    for (const auto& [at, op] : of_) last_place_[op] = at;
    const auto apart = [&](std::size_t a, std::size_t b) {
      const auto group_a = group_at(a), group_b = group_at(b);
      return group_a && group_b && *group_a != *group_b;
    };
    for (const auto& edges : {edges_of(program, loop), overwrites_of(program, loop)})
      for (const SsaEdge& edge : edges)
        if (const std::size_t from = place.at(edge.from), to = place.at(edge.to); !apart(from, to))
          edges_.push_back({from, to, edge.distance});
  }

  /// The groups that have work.
  std::set<GroupId> groups() const {
    std::set<GroupId> found;
    for (const auto& [op, place] : last_place_) found.insert(schedule_.ops[op].group);
    return found;
  }

  /// The group of every op of the text that does work.
  std::map<std::size_t, GroupId> group_of_places() const {
    std::map<std::size_t, GroupId> found;
    for (const auto& [place, op] : of_) found.emplace(place, schedule_.ops[op].group);
    return found;
  }

  /// Stages that follow from where each group's turn is taken to begin, and clusters from its order; a load of `ahead` so many stages
  /// earlier. `rings_fit`: those of the text as it is are no deeper than the schedule's.
  Decisions decide(const std::map<std::size_t, int>& ahead, bool rings_fit, Clusters clusters) const {
    Decisions decided = old_;
    bool changed = false, new_order = false;
    std::map<std::size_t, std::int64_t> stage;
    for (const GroupId group : groups()) {
      const std::vector<std::size_t> written = written_order(group);
      const bool moves = std::any_of(written.begin(), written.end(), [&](std::size_t op) { return ahead.count(op) > 0; });
      if (rings_fit && !moves && runs_as_written(written)) {
        for (const std::size_t op : written) stage[op] = old(op).stage.value_or(0);
        continue;
      }
      changed = true;
      const Cycle cut = best_cut(group, ahead);
      const std::vector<std::size_t> order = calm(turn(cut, written), written, cut);
      for (const std::size_t op : order) stage[op] = stage_from(cut, op) - ahead_of(ahead, op);
      std::int64_t next = 0;
      for (std::size_t i = 0; i < order.size(); ++i) {
        // Within a cluster the order of the text holds.
        if (i > 0 && (clusters == Clusters::OneEach || last_place_.at(order[i]) < last_place_.at(order[i - 1]))) ++next;
        std::optional<std::int64_t>& cluster = decided.ops[last_place_.at(order[i])].cluster;
        if (order != written || !cluster) cluster = next;
      }
      new_order |= order != written;
    }
    if (!changed) return old_;
    std::int64_t first = stage.empty() ? 0 : stage.begin()->second;
    for (const auto& [op, s] : stage) first = std::min(first, s);
    for (const auto& [place, op] : of_) {
      decided.ops[place].stage = stage.at(op) - first;
      decided.ops[place].cluster = decided.ops[last_place_.at(op)].cluster;
    }
    carry_along(decided, new_order);
    decided.max_stage = 0;
    for (const Decision& each : decided.ops) decided.max_stage = std::max(*decided.max_stage, each.stage.value_or(0));
    return decided;
  }

  /// Ops of different partitions need no order: barriers keep it.
  void take_apart(const std::vector<std::vector<std::int64_t>>& partitions) {
    std::erase_if(edges_, [&](const Edge& edge) { return triton::apart(partitions[edge.from], partitions[edge.to]); });
  }

  /// Where the op that fills a channel stands in the loop's body.
  std::optional<std::size_t> place_of(heddle::OpId op) const {
    const auto found = last_place_.find(op.index());
    return found == last_place_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  struct Edge {
    std::size_t from, to;  ///< places
    int distance;
  };

  Cycle start(std::size_t op) const { return schedule_.ops[op].start; }
  const Decision& old(std::size_t op) const { return old_.ops[last_place_.at(op)]; }

  std::optional<GroupId> group_at(std::size_t place) const {
    const auto found = of_.find(place);
    return found == of_.end() ? std::nullopt : std::optional(schedule_.ops[found->second].group);
  }

  static int ahead_of(const std::map<std::size_t, int>& ahead, std::size_t op) {
    const auto found = ahead.find(op);
    return found == ahead.end() ? 0 : found->second;
  }

  static Position position(const Decisions& of, std::size_t place) {
    return {of.ops[place].stage.value_or(0), of.ops[place].cluster.value_or(0), place};
  }

  /// A group's ops in the order in which the text runs them within a step.
  std::vector<std::size_t> written_order(GroupId group) const {
    std::vector<std::size_t> order;
    for (const auto& [op, place] : last_place_)
      if (schedule_.ops[op].group == group) order.push_back(op);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(old(a).cluster.value_or(0), last_place_.at(a)) < std::tuple(old(b).cluster.value_or(0), last_place_.at(b));
    });
    return order;
  }

  /// Whether a turn of the loop as the text has it is one of the schedule: its ops start one after the other and all within II of the
  /// first.
  bool runs_as_written(const std::vector<std::size_t>& written) const {
    std::optional<Cycle> first, last;
    for (const std::size_t op : written) {
      if (!old(op).stage || !old(op).cluster) return false;
      const Cycle at = start(op) - *old(op).stage * schedule_.ii;
      if ((last && at < *last) || (first && at - *first > schedule_.ii)) return false;
      if (!first) first = at;
      last = at;
    }
    return true;
  }

  Cycle best_cut(GroupId group, const std::map<std::size_t, int>& ahead) const {
    const std::vector<std::size_t> written = written_order(group);
    std::set<Cycle> cuts{0};
    for (const std::size_t op : written) cuts.insert(start(op) % schedule_.ii);
    std::optional<std::tuple<std::size_t, std::int64_t, std::size_t, bool, std::size_t, Cycle>> best;
    for (const Cycle cut : cuts) {
      const std::tuple key(early_products(written, cut), surplus(cut), carried(group, cut), turn(cut, written) != written,
                           moved(written, cut, ahead), cut);
      if (!best || key < *best) best = key;
    }
    return std::get<5>(*best);
  }

  /// The order of a group's ops from this cycle on. Copies that are issued one after the other stay in the order of the text: they share a
  /// barrier there, and which comes first matters little to what reads them stages later.
  std::vector<std::size_t> turn(Cycle cut, const std::vector<std::size_t>& written) const {
    std::map<std::size_t, std::size_t> rank;
    for (std::size_t i = 0; i < written.size(); ++i) rank[written[i]] = i;
    std::vector<std::size_t> order = written;
    const auto phase = [&](std::size_t op) {
      const Cycle since = (start(op) - cut) % schedule_.ii;
      return since < 0 ? since + schedule_.ii : since;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return phase(a) < phase(b); });
    for (auto run = order.begin(); run != order.end();) {
      const auto end = std::find_if_not(run, order.end(), [&](std::size_t op) { return is_load(problem_.ops[op]); });
      std::sort(run, end, [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
      run = end == order.end() ? end : end + 1;
    }
    return order;
  }

  /// The same turn with its copies where the text has them, if by the model that order sustains the schedule's II too: what changes nothing
  /// for the better is not written.
  std::vector<std::size_t> calm(std::vector<std::size_t> order, const std::vector<std::size_t>& written, Cycle cut) const {
    const auto copies = [&](std::size_t op) { return is_load(problem_.ops[op]); };
    std::vector<std::size_t> other;
    for (const std::size_t op : order)
      if (!copies(op)) other.push_back(op);
    for (std::size_t i = written.size(); i-- > 0;) {
      if (!copies(written[i])) continue;
      // In front of the op that it stands in front of in the text.
      const auto next = i + 1 < written.size() ? std::find(other.begin(), other.end(), written[i + 1]) : other.end();
      other.insert(next, written[i]);
    }
    if (other == order) return order;
    Schedule tried = schedule_;
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) tried.ops[i].start = start(i) - cut;
    for (std::size_t i = 0; i < other.size(); ++i)
      tried.ops[other[i]].start = stage_from(cut, other[i]) * schedule_.ii + static_cast<Cycle>(i);
    // Indices and bounds go with the load that they are for.
    for (const heddle::Edge& edge : problem_.edges)
      if (problem_.op(edge.from).kind == "opaque") tried.ops[edge.from.index()].start = tried.ops[edge.to.index()].start;
    Cycle first = tried.ops.front().start;
    for (const heddle::Placement& op : tried.ops) first = std::min(first, op.start);
    const Cycle windows = first < 0 ? (-first + schedule_.ii - 1) / schedule_.ii : 0;
    for (heddle::Placement& op : tried.ops) op.start += windows * schedule_.ii;
    const Period period = sustainable_period(problem_, tried);
    return !period.deadlock && period.cycles() <= schedule_.ii ? other : order;
  }

  /// Rounded down, also in front of the cut.
  std::int64_t stage_from(Cycle cut, std::size_t op) const {
    const Cycle since = start(op) - cut;
    return since >= 0 ? since / schedule_.ii : -((-since + schedule_.ii - 1) / schedule_.ii);
  }

  /// Bytes that rings by stages take beyond the depths of the schedule.
  std::int64_t surplus(Cycle cut) const {
    std::vector<int> stage;
    for (std::size_t i = 0; i < problem_.ops.size(); ++i) stage.push_back(static_cast<int>(stage_from(cut, i)));
    std::int64_t bytes = 0;
    for (std::size_t c = 0; c < problem_.channels.size(); ++c)
      if (const Channel& channel = problem_.channels[c]; is_load(problem_.op(channel.writer)) && channel.space == Space::Smem)
        bytes += channel.size * std::max(0, ring_slots(problem_, channel, stage) - schedule_.depths[c]);
    return bytes;
  }

  /// Values of a group's iteration that wait for another stage, in registers or as an accumulator that is taken back too early.
  std::size_t carried(GroupId group, Cycle cut) const {
    return static_cast<std::size_t>(std::count_if(problem_.edges.begin(), problem_.edges.end(), [&](const heddle::Edge& edge) {
      const std::size_t from = edge.from.index(), to = edge.to.index();
      return edge.distance == 0 && schedule_.ops[from].group == group && schedule_.ops[to].group == group && last_place_.count(from) &&
             last_place_.count(to) && !is_load(problem_.ops[from]) && stage_from(cut, from) != stage_from(cut, to);
    }));
  }

  /// Products in front of the last stage, which Triton predicates on Hopper.
  std::size_t early_products(const std::vector<std::size_t>& written, Cycle cut) const {
    if (!hopper_) return 0;
    std::int64_t last = stage_from(cut, written.front());
    for (const std::size_t op : written) last = std::max(last, stage_from(cut, op));
    return static_cast<std::size_t>(std::count_if(
        written.begin(), written.end(), [&](std::size_t op) { return problem_.ops[op].kind == "mma" && stage_from(cut, op) < last; }));
  }

  /// Ops whose stage becomes another one, counted from the group's first.
  std::size_t moved(const std::vector<std::size_t>& written, Cycle cut, const std::map<std::size_t, int>& ahead) const {
    std::int64_t was = old(written.front()).stage.value_or(0), is = stage_from(cut, written.front());
    for (const std::size_t op : written) {
      was = std::min(was, old(op).stage.value_or(0));
      is = std::min(is, stage_from(cut, op) - ahead_of(ahead, op));
    }
    return static_cast<std::size_t>(std::count_if(written.begin(), written.end(), [&](std::size_t op) {
      return old(op).stage.value_or(0) - was != stage_from(cut, op) - ahead_of(ahead, op) - is;
    }));
  }

  /// The others: as late as their readers allow. One whose neighbours stayed stays too.
  void carry_along(Decisions& decided, bool new_order) const {
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
    const auto stayed = [&](std::size_t place) { return decided.ops[place] == old_.ops[place]; };
    const auto holds = [&](const Edge* e) {
      return e->from == e->to || !runs_before(position(decided, e->to), e->distance, position(decided, e->from));
    };
    // Each round moves an op at most once; what is carried around the loop settles in a few.
    bool moved = true;
    for (int round = 0; moved && round < kMostPasses; ++round) {
      moved = false;
      for (std::size_t place = decided.ops.size(); place-- > 0;) {
        if (of_.count(place) || place == terminator_) continue;
        const std::vector<const Edge*>&to = users[place], &from = sources[place];
        const bool same_neighbours = std::all_of(to.begin(), to.end(), [&](const Edge* e) { return stayed(e->to); }) &&
                                     std::all_of(from.begin(), from.end(), [&](const Edge* e) { return stayed(e->from); });
        const bool right = std::all_of(to.begin(), to.end(), holds) && std::all_of(from.begin(), from.end(), holds);
        if (!new_order && same_neighbours && right && decided.ops[place].stage) continue;
        std::optional<std::tuple<std::int64_t, std::int64_t>> latest;
        for (const Edge* e : to) {
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
          for (const Edge* e : from) {
            const Position source = position(decided, e->from);
            const std::tuple bound(source.stage - e->distance, source.cluster);
            if (!latest || bound > *latest) latest = bound;
          }
        if (!latest && !decided.ops[place].stage) latest.emplace(0, 0);
        if (!latest || std::get<0>(*latest) < 0) continue;
        Decision& mine = decided.ops[place];
        if (mine.stage == std::get<0>(*latest) && mine.cluster == std::get<1>(*latest)) continue;
        mine.stage = std::get<0>(*latest);
        mine.cluster = std::get<1>(*latest);
        moved = true;
      }
    }
  }

  const Problem& problem_;
  const Schedule& schedule_;
  const bool hopper_;
  std::optional<std::size_t> terminator_;  ///< scf.yield belongs to no stage
  Decisions old_;
  std::map<std::size_t, std::size_t> of_;          ///< place in the loop's body -> the op of the problem that decides about it
  std::map<std::size_t, std::size_t> last_place_;  ///< the op -> the last of its places
  std::vector<Edge> edges_;                        ///< but for those from group to group
};

class Writer {
 public:
  Writer(const Program& program, const LoopSite& loop, const Native& native, const Problem& problem, const Schedule& schedule)
      : program_(program), loop_(loop), native_(native), problem_(problem), schedule_(schedule) {}

  Result<GivenBack> run(const Machine& machine) {
    if (const std::string why = why_not(); !why.empty())
      return fault(0, why, "give the text from before tritongpu-pipeline: heddle_triton.py dump writes it");
    Result<Program> told = tell(Clusters::Few);
    if (!told) return told.error();
    std::vector<RuleViolation> violations = broken_rules(*told, site_of(*told), machine);
    if (!violations.empty()) {
      notes_.clear();
      told = tell(Clusters::OneEach);
      if (!told) return told.error();
      if (std::vector<RuleViolation> others = broken_rules(*told, site_of(*told), machine); others.size() < violations.size())
        violations = std::move(others);
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

  const LoopSite& site_of(const Program& program) const { return program.loops[static_cast<std::size_t>(loop_.number)]; }

  Result<Program> tell(Clusters clusters) { return program_.form == Form::Input ? with_latencies() : with_stages(clusters); }

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
    if (!any)
      return fault(loop_.line, "the text stands before Triton has scheduled the loop, and there is no load whose depth it could be told");
    notes_.push_back(
        "the text stands before tritongpu-schedule-loops: it says how deep each load's ring is; stages and order are Triton's");
    return reread(decisions);
  }

  bool fills_ring(const Channel& channel) const { return filled_by_load(problem_, channel) && !channel.readers.empty(); }

  static const Buffer* ring_of(const std::vector<Buffer>& rings, mlir::OpId load) {
    const auto found = std::find_if(rings.begin(), rings.end(), [&](const Buffer& ring) { return ring.op == load; });
    return found == rings.end() ? nullptr : &*found;
  }

  /// Rings follow from stages, so that a load runs ahead until its ring is as deep as the schedule says.
  Result<Program> with_stages(Clusters clusters) {
    Pipeline pipeline(program_, loop_, native_, problem_, schedule_);
    if (loop_.partitioned || pipeline.groups().size() > 1) return with_partitions(pipeline, clusters);
    const bool rings_fit = std::all_of(native_.rings.begin(), native_.rings.end(), [&](const OwnRing& ring) {
      const auto of =
          std::find_if(problem_.channels.begin(), problem_.channels.end(), [&](const Channel& c) { return c.name == ring.value; });
      return of == problem_.channels.end() || ring.depth <= schedule_.depths[static_cast<std::size_t>(of - problem_.channels.begin())];
    });
    std::map<std::size_t, int> ahead;            ///< of ops of the problem
    std::map<std::size_t, std::int64_t> before;  ///< slots in the round before
    std::set<std::size_t> given_up;
    for (int round = 0;; ++round) {
      Result<Program> told = reread(pipeline.decide(ahead, rings_fit, clusters));
      if (!told) return told;
      const std::vector<Buffer> rings = rings_of(*told, site_of(*told));
      const mlir::Block* body = told->module->body(loop_.op);
      bool more = false;
      std::vector<std::string> notes;
      for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
        const Channel& channel = problem_.channels[c];
        const auto place = fills_ring(channel) ? pipeline.place_of(channel.writer) : std::nullopt;
        if (!place) continue;
        const std::size_t load = channel.writer.index();
        const Buffer* ring = ring_of(rings, body->ops[*place]);
        const std::int64_t slots = !ring || ring->synchronous ? 0 : ring->slots, wanted = std::max(1, schedule_.depths[c]);
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
          notes.push_back(fmt::format("the ring of {} has {} where the schedule has {}: {}", channel.name, count_of(slots, "slot"), wanted,
                                      slots > wanted ? "so many follow from the stages" : "Triton does not run this load further ahead"));
        }
      }
      if (more) continue;
      notes_.insert(notes_.end(), notes.begin(), notes.end());
      return told;
    }
  }

  /// Each warp group of the schedule becomes a partition.
  Result<Program> with_partitions(Pipeline& pipeline, Clusters clusters) {
    const mlir::Block* body = program_.module->body(loop_.op);
    std::vector<std::pair<mlir::OpId, int>> groups;
    for (const auto& [place, group] : pipeline.group_of_places()) groups.emplace_back(body->ops[place], static_cast<int>(group.index()));
    Result<PartitionPlan> plan = plan_partitions(program_, loop_, groups);
    if (!plan) return plan.error();
    std::vector<std::vector<std::int64_t>> lists(body->ops.size());
    std::vector<std::pair<mlir::OpId, std::vector<std::int64_t>>> inside;
    for (auto& [id, partitions] : plan->ops)
      if (const auto at = std::find(body->ops.begin(), body->ops.end(), id); at != body->ops.end())
        lists[static_cast<std::size_t>(at - body->ops.begin())] = std::move(partitions);
      else
        inside.emplace_back(id, std::move(partitions));
    pipeline.take_apart(lists);
    Decisions decisions = pipeline.decide({}, true, clusters);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      Decision& op = decisions.ops[i];
      // As Triton has it of loops that it specializes: else the products' group waits at barriers of its own.
      if (op.self_latency && op.partitions.empty()) op.self_latency = 0;
      op.partitions = std::move(lists[i]);
    }
    decisions.inside = std::move(inside);
    decisions.of_the_loop = std::move(plan->of_the_loop);
    Result<Program> told = reread(decisions);
    if (!told) return told;
    const std::vector<Buffer> rings = rings_of(*told, site_of(*told));
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      const auto place = fills_ring(channel) ? pipeline.place_of(channel.writer) : std::nullopt;
      if (!place) continue;
      const Buffer* ring = ring_of(rings, body->ops[*place]);
      if (ring && ring->slots != schedule_.depths[c])
        notes_.push_back(
            fmt::format("the ring of {} has {} where the schedule has {}: between partitions rings are as deep as the option "
                        "num_stages says that the kernel is compiled with",
                        channel.name, count_of(ring->slots, "slot"), schedule_.depths[c]));
    }
    return told;
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
