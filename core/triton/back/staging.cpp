#include "core/triton/back/staging.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

#include "core/analysis/period.h"
#include "core/triton/memory/pipeline.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

constexpr int kMostPasses = 8;

bool is_copy(const heddle::Op& op) { return op.kind == "tma_load" || op.kind == "load" || op.kind == "gather"; }

}  // namespace

Staging::Staging(const TritonProgram& program, const LoopSite& loop, const Native& native, const Problem& problem, const Schedule& schedule)
    : problem_(problem), schedule_(schedule), hopper_(program.target >= 90 && program.target < 100), blackwell_(program.target >= 100) {
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
  const auto loads = [&](mlir::OpId id) { return module.op(id).name == "tt.load" || is_descriptor_load(module.op(id).name); };
  for (const std::size_t i : by_start) {
    const std::vector<mlir::OpId>& of = native.origins[i].of;
    for (const mlir::OpId id : of) {
      // What was loaded into registers is stored where it is read, which may be stages later.
      const bool follows = present_name(module.op(id).name) == "ttg.local_alloc" && std::any_of(of.begin(), of.end(), loads);
      if (const auto at = place.find(id); at != place.end() && problem.ops[i].kind != "opaque" && !follows) of_.emplace(at->second, i);
    }
  }
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
  for (const mlir::OpId id : body->ops)
    if (loads(id)) find_readers(module, *body, place.at(id));
}

std::set<GroupId> Staging::groups() const {
  std::set<GroupId> found;
  for (const auto& [op, place] : last_place_) found.insert(schedule_.ops[op].group);
  return found;
}

std::map<std::size_t, GroupId> Staging::group_of_places() const {
  std::map<std::size_t, GroupId> found;
  for (const auto& [place, op] : of_) found.emplace(place, schedule_.ops[op].group);
  return found;
}

Decisions Staging::decide(std::map<std::size_t, int> ahead, bool rings_fit, Clusters clusters) const {
  Decisions decided = old_;
  bool changed = false, new_order = false;
  std::map<std::size_t, std::int64_t> stage;
  for (const GroupId group : groups()) {
    const std::vector<std::size_t> written = written_order(group);
    const bool moves = std::any_of(written.begin(), written.end(), [&](std::size_t op) { return ahead.count(op) > 0; });
    if (rings_fit && !moves && aside_.empty() && behind_.empty() && runs_as_written(written) && !is_crowded(group)) {
      for (const std::size_t op : written) stage[op] = old(op).stage.value_or(0);
      continue;
    }
    changed = true;
    const Cycle cut = best_cut(group, ahead);
    const std::vector<std::size_t> order = put_loads_aside(calm(turn(cut, written), written, cut), ahead, cut);
    for (const std::size_t op : order) stage[op] = stage_from(cut, op) - ahead_of(ahead, op);
    std::int64_t next = 0;
    std::size_t first_of_cluster = 0;
    const bool anew = clusters == Clusters::OneEach || is_crowded(group);
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Within a cluster the order of the text holds.
      const bool shares =
          std::any_of(order.begin() + static_cast<std::ptrdiff_t>(first_of_cluster), order.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](std::size_t before) { return stage[before] != stage[order[i]] && share_ring(before, order[i]); });
      if (i > 0 && (clusters == Clusters::OneEach || shares || last_place_.at(order[i]) < last_place_.at(order[i - 1]))) {
        ++next;
        first_of_cluster = i;
      }
      std::optional<std::int64_t>& cluster = decided.ops[last_place_.at(order[i])].cluster;
      if (order != written || !cluster || anew) cluster = next;
    }
    new_order |= order != written || anew;
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

void Staging::take_apart(const std::vector<std::vector<std::int64_t>>& partitions) {
  const auto between = [&](const auto& pair) { return triton::apart(partitions[pair.from], partitions[pair.to]); };
  std::erase_if(edges_, between);
  std::erase_if(ring_reads_, between);
}

std::optional<std::size_t> Staging::place_of(heddle::OpId op) const {
  const auto found = last_place_.find(op.index());
  return found == last_place_.end() ? std::nullopt : std::optional(found->second);
}

void Staging::find_readers(const mlir::Module& module, const mlir::Block& body, std::size_t load) {
  std::vector<std::size_t> open{load};
  std::set<std::size_t> seen{load};
  for (std::size_t k = 0; k < open.size(); ++k)
    for (const Edge& edge : edges_) {
      if (edge.from != open[k] || !seen.insert(edge.to).second) continue;
      ring_reads_.push_back({load, edge.to, edge.distance});
      if (!of_.contains(edge.to) || present_name(module.op(body.ops[edge.to]).name) == "ttg.local_alloc") open.push_back(edge.to);
    }
}

bool Staging::share_ring(std::size_t a, std::size_t b) const {
  const auto belongs = [&](std::size_t place, std::size_t op) {
    const auto found = of_.find(place);
    return found != of_.end() && found->second == op;
  };
  return std::any_of(ring_reads_.begin(), ring_reads_.end(), [&](const Edge& read) {
    return (belongs(read.from, a) && belongs(read.to, b)) || (belongs(read.from, b) && belongs(read.to, a));
  });
}

bool Staging::is_crowded(GroupId group) const {
  return std::any_of(ring_reads_.begin(), ring_reads_.end(), [&](const Edge& read) {
    const Decision &load = old_.ops[read.from], &reader = old_.ops[read.to];
    return group_at(read.from) == group && group_at(read.to).value_or(group) == group && load.stage && reader.stage &&
           *load.stage < *reader.stage && load.cluster == reader.cluster;
  });
}

Cycle Staging::start(std::size_t op) const { return schedule_.ops[op].start; }

const Decision& Staging::old(std::size_t op) const { return old_.ops[last_place_.at(op)]; }

std::optional<GroupId> Staging::group_at(std::size_t place) const {
  const auto found = of_.find(place);
  return found == of_.end() ? std::nullopt : std::optional(schedule_.ops[found->second].group);
}

int Staging::ahead_of(const std::map<std::size_t, int>& ahead, std::size_t op) {
  const auto found = ahead.find(op);
  return found == ahead.end() ? 0 : found->second;
}

Position Staging::position(const Decisions& of, std::size_t place) {
  return {of.ops[place].stage.value_or(0), of.ops[place].cluster.value_or(0), place};
}

std::vector<std::size_t> Staging::written_order(GroupId group) const {
  std::vector<std::size_t> order;
  for (const auto& [op, place] : last_place_)
    if (schedule_.ops[op].group == group) order.push_back(op);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(old(a).cluster.value_or(0), last_place_.at(a)) < std::tuple(old(b).cluster.value_or(0), last_place_.at(b));
  });
  return order;
}

bool Staging::runs_as_written(const std::vector<std::size_t>& written) const {
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

Cycle Staging::best_cut(GroupId group, const std::map<std::size_t, int>& ahead) const {
  const std::vector<std::size_t> written = written_order(group);
  std::set<Cycle> cuts{0};
  for (const std::size_t op : written) cuts.insert(start(op) % schedule_.ii);
  std::optional<std::tuple<std::size_t, std::size_t, std::int64_t, std::size_t, bool, std::size_t, Cycle>> best;
  for (const Cycle cut : cuts) {
    const std::tuple key(early_products(written, cut), early_copies(group, cut), surplus(cut), carried(group, cut),
                         turn(cut, written) != written, moved(written, cut, ahead), cut);
    if (!best || key < *best) best = key;
  }
  return std::get<6>(*best);
}

std::vector<std::size_t> Staging::turn(Cycle cut, const std::vector<std::size_t>& written) const {
  std::map<std::size_t, std::size_t> rank;
  for (std::size_t i = 0; i < written.size(); ++i) rank[written[i]] = i;
  std::vector<std::size_t> order = written;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return phase(cut, a) < phase(cut, b); });
  for (auto run = order.begin(); run != order.end();) {
    const auto end = std::find_if_not(run, order.end(), [&](std::size_t op) { return is_copy(problem_.ops[op]); });
    std::sort(run, end, [&](std::size_t a, std::size_t b) { return rank[a] < rank[b]; });
    run = end == order.end() ? end : end + 1;
  }
  return order;
}

std::vector<std::size_t> Staging::calm(std::vector<std::size_t> order, const std::vector<std::size_t>& written, Cycle cut) const {
  const auto copies = [&](std::size_t op) { return is_copy(problem_.ops[op]); };
  std::vector<std::size_t> other;
  for (const std::size_t op : order)
    if (!copies(op)) other.push_back(op);
  for (std::size_t i = written.size(); i-- > 0;) {
    if (!copies(written[i])) continue;
    // In front of the op that it stands in front of in the text.
    const auto next = i + 1 < written.size() ? std::find(other.begin(), other.end(), written[i + 1]) : other.end();
    other.insert(next, written[i]);
  }
  return other == order || sustains(other, {}, cut) ? other : order;
}

bool Staging::sustains(const std::vector<std::size_t>& order, const std::map<std::size_t, int>& ahead, Cycle cut) const {
  Schedule tried = schedule_;
  for (std::size_t i = 0; i < problem_.ops.size(); ++i) tried.ops[i].start = start(i) - cut;
  for (std::size_t i = 0; i < order.size(); ++i)
    tried.ops[order[i]].start = (stage_from(cut, order[i]) - ahead_of(ahead, order[i])) * schedule_.ii + static_cast<Cycle>(i);
  // Indices and bounds go with the load that they are for.
  for (const heddle::Edge& edge : problem_.edges)
    if (problem_.op(edge.from).kind == "opaque") tried.ops[edge.from.index()].start = tried.ops[edge.to.index()].start;
  Cycle first = tried.ops.front().start;
  for (const heddle::Placement& op : tried.ops) first = std::min(first, op.start);
  const Cycle windows = first < 0 ? (-first + schedule_.ii - 1) / schedule_.ii : 0;
  for (heddle::Placement& op : tried.ops) op.start += windows * schedule_.ii;
  const Period period = sustainable_period(problem_, tried);
  return !period.deadlock && period.cycles() <= schedule_.ii;
}

std::vector<std::size_t> Staging::put_loads_aside(std::vector<std::size_t> order, std::map<std::size_t, int>& ahead, Cycle cut) const {
  /// In front of all who read what the load at that place brings, or behind them; false: it is there already.
  const auto move = [&](std::vector<std::size_t>& in, std::size_t place, bool behind) {
    const auto decides = of_.find(place);
    const auto at = decides == of_.end() ? in.end() : std::find(in.begin(), in.end(), decides->second);
    if (at == in.end()) return false;
    const auto reads = [&, load = *at](std::size_t op) { return op != load && share_ring(op, load); };
    if (behind) {
      const auto last = std::find_if(in.rbegin(), std::reverse_iterator(at), reads).base();
      if (last <= at) return false;
      std::rotate(at, at + 1, last);
    } else {
      std::rotate(std::find_if(in.begin(), at, reads), at, at + 1);
    }
    return true;
  };
  for (const std::size_t place : aside_) {
    const bool behind = blackwell_ && !in_front_.contains(place);
    if (move(order, place, behind) && behind) ++ahead[of_.at(place)];
  }
  std::vector<std::size_t> late = order;
  for (const std::size_t place : behind_)
    if (!aside_.contains(place)) move(late, place, true);
  return late == order || !sustains(late, ahead, cut) ? order : late;
}

Cycle Staging::phase(Cycle cut, std::size_t op) const {
  const Cycle since = (start(op) - cut) % schedule_.ii;
  return since < 0 ? since + schedule_.ii : since;
}

std::int64_t Staging::stage_from(Cycle cut, std::size_t op) const {
  const Cycle since = start(op) - cut;
  return since >= 0 ? since / schedule_.ii : -((-since + schedule_.ii - 1) / schedule_.ii);
}

std::int64_t Staging::surplus(Cycle cut) const {
  std::vector<int> stage;
  for (std::size_t i = 0; i < problem_.ops.size(); ++i) stage.push_back(static_cast<int>(stage_from(cut, i)));
  std::int64_t bytes = 0;
  for (std::size_t c = 0; c < problem_.channels.size(); ++c)
    if (const Channel& channel = problem_.channels[c]; is_copy(problem_.op(channel.writer)) && channel.space == Space::Smem)
      bytes += channel.size * std::max(0, ring_slots(problem_, channel, stage) - schedule_.depths[c]);
  return bytes;
}

std::size_t Staging::carried(GroupId group, Cycle cut) const {
  return static_cast<std::size_t>(std::count_if(problem_.edges.begin(), problem_.edges.end(), [&](const heddle::Edge& edge) {
    const std::size_t from = edge.from.index(), to = edge.to.index();
    return edge.distance == 0 && schedule_.ops[from].group == group && schedule_.ops[to].group == group && last_place_.count(from) &&
           last_place_.count(to) && !is_copy(problem_.ops[from]) && stage_from(cut, from) != stage_from(cut, to);
  }));
}

std::size_t Staging::early_products(const std::vector<std::size_t>& written, Cycle cut) const {
  if (!hopper_) return 0;
  std::int64_t last = stage_from(cut, written.front());
  for (const std::size_t op : written) last = std::max(last, stage_from(cut, op));
  return static_cast<std::size_t>(std::count_if(
      written.begin(), written.end(), [&](std::size_t op) { return problem_.ops[op].kind == "mma" && stage_from(cut, op) < last; }));
}

std::size_t Staging::early_copies(GroupId group, Cycle cut) const {
  std::size_t found = 0;
  for (const Channel& channel : problem_.channels) {
    if (!blackwell_ || !filled_by_load(problem_, channel)) continue;
    const std::size_t load = channel.writer.index();
    for (const Reader& reader : channel.readers)
      found += problem_.op(reader.op).kind == "mma" && schedule_.ops[load].group == group && schedule_.group(reader.op) == group &&
               phase(cut, load) < phase(cut, reader.op.index());
  }
  return found;
}

std::size_t Staging::moved(const std::vector<std::size_t>& written, Cycle cut, const std::map<std::size_t, int>& ahead) const {
  std::int64_t was = old(written.front()).stage.value_or(0), is = stage_from(cut, written.front());
  for (const std::size_t op : written) {
    was = std::min(was, old(op).stage.value_or(0));
    is = std::min(is, stage_from(cut, op) - ahead_of(ahead, op));
  }
  return static_cast<std::size_t>(std::count_if(written.begin(), written.end(), [&](std::size_t op) {
    return old(op).stage.value_or(0) - was != stage_from(cut, op) - ahead_of(ahead, op) - is;
  }));
}

void Staging::carry_along(Decisions& decided, bool new_order) const {
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
  std::vector<std::vector<std::size_t>> loads(old_.ops.size());
  for (const Edge& read : ring_reads_) loads[read.to].push_back(read.from);
  const auto beside_its_load = [&](std::size_t place, const std::tuple<std::int64_t, std::int64_t>& at) {
    return std::any_of(loads[place].begin(), loads[place].end(), [&](std::size_t load) {
      return decided.ops[load].stage < std::get<0>(at) && decided.ops[load].cluster == std::get<1>(at);
    });
  };
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
      const bool right = std::all_of(to.begin(), to.end(), holds) && std::all_of(from.begin(), from.end(), holds) &&
                         !beside_its_load(place, {decided.ops[place].stage.value_or(0), decided.ops[place].cluster.value_or(-1)});
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
      for (std::int64_t tries = 0; latest && tries <= last_cluster && beside_its_load(place, *latest); ++tries)
        *latest = std::get<1>(*latest) > 0 ? std::tuple(std::get<0>(*latest), std::get<1>(*latest) - 1)
                                           : std::tuple(std::get<0>(*latest) - 1, last_cluster);
      if (!latest || std::get<0>(*latest) < 0) continue;
      Decision& mine = decided.ops[place];
      if (mine.stage == std::get<0>(*latest) && mine.cluster == std::get<1>(*latest)) continue;
      mine.stage = std::get<0>(*latest);
      mine.cluster = std::get<1>(*latest);
      moved = true;
    }
  }
}

}  // namespace heddle::triton
