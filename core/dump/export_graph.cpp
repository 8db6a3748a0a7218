// The patch of a schedule_graph.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/json.h"
#include "core/base/saturate.h"
#include "core/dump/export.h"
#include "core/dump/native.h"
#include "core/dump/text_patch.h"
#include "core/dump/views.h"
#include "core/problem/storage.h"

namespace heddle::dump {
namespace {

Error refuse(const Dump& dump, std::string message, std::string hint = {}) {
  return Error::in_file(dump.file, std::move(message), std::move(hint));
}

/// Where every node of the file starts, and in which of the file's groups.
struct ExportPlan {
  std::vector<Cycle> cycle;
  std::vector<std::int64_t> group;
};

std::int64_t first_free_group(const Dump& dump) {
  std::int64_t next = 0;
  for (const DumpLoop& loop : dump.loops) {
    for (const DumpGroup& g : loop.groups) next = std::max(next, g.id + 1);
    for (const DumpNode& n : loop.nodes) next = std::max(next, n.group + 1);
  }
  return next;
}

/// One of the loops of a dump.
struct LoopOfDump {
  const Dump& dump;
  std::size_t index;
  const DumpLoop& loop() const { return dump.loops[index]; }
};

class Exporter {
 public:
  Exporter(std::string_view text, const TextSpan& document, const LoopOfDump& at, const Problem& problem, const Schedule& schedule)
      : text_(text), patch_(text), document_(document), at_(at), loop_(at.loop()), problem_(problem), schedule_(schedule) {}

  std::string run() {
    plan();
    locate(at_.index);
    timing();
    nodes();
    groups();
    const bool moved = cuts_differ();
    buffers(moved);
    barriers(moved);
    return patch_.apply(document_);
  }

 private:
  /// The file's number for each of our groups: the one it shares most ops with, else a new one.
  std::vector<std::int64_t> group_numbers() const {
    std::map<std::pair<std::size_t, std::int64_t>, int> shared;
    for (const DumpNode& n : loop_.nodes)
      if (const OpId op = problem_.find_op(n.name); op.valid() && n.group >= 0) ++shared[{schedule_.group(op).index(), n.group}];
    std::vector<std::pair<int, std::pair<std::size_t, std::int64_t>>> order;
    for (const auto& [pair, count] : shared) order.emplace_back(-count, pair);
    std::sort(order.begin(), order.end());
    std::vector<std::int64_t> numbers(schedule_.groups.size(), kUnassigned);
    std::set<std::int64_t> taken;
    for (const auto& [count, pair] : order)
      if (numbers[pair.first] < 0 && taken.insert(pair.second).second) numbers[pair.first] = pair.second;
    std::int64_t next = first_free_group(at_.dump);
    for (std::int64_t& n : numbers)
      if (n < 0) {
        // Numbers of this loop that are no longer in use come first.
        const auto unused =
            std::find_if(loop_.groups.begin(), loop_.groups.end(), [&](const DumpGroup& g) { return !taken.contains(g.id); });
        n = unused != loop_.groups.end() ? unused->id : next++;
        taken.insert(n);
      }
    return numbers;
  }

  void plan() {
    const std::vector<std::int64_t> numbers = group_numbers();
    plan_.cycle.assign(loop_.nodes.size(), 0);
    plan_.group.assign(loop_.nodes.size(), kUnassigned);
    std::vector<std::size_t> hidden;
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      const DumpNode& n = loop_.nodes[i];
      const OpId op = problem_.find_op(n.name);
      if (!op.valid()) {
        hidden.push_back(i);
        continue;
      }
      plan_.cycle[i] = schedule_.start(op);
      // What every group computes for itself still belongs to none.
      plan_.group[i] = n.group < 0 && n.scalar ? n.group : numbers[schedule_.group(op).index()];
    }
    // Views in the order of the program: each is ready when what it names is, and in the group of what reads it.
    for (const std::size_t v : hidden) {
      for (const DumpEdge& e : loop_.edges)
        if (e.to == v && e.distance == 0) plan_.cycle[v] = std::max(plan_.cycle[v], plan_.cycle[e.from] + e.latency);
      const auto readers = readers_through_views(loop_, v);
      if (!readers.empty()) plan_.group[v] = plan_.group[readers[0].first];
      for (const DumpEdge& e : loop_.edges)
        if (readers.empty() && e.to == v && e.distance == 0) plan_.group[v] = plan_.group[e.from];
    }
  }

  void locate(std::size_t index) {
    outer_ = &document_.find("loops")->items[index];
    const TextSpan* inner = outer_->find("schedule_loop");
    schedule_at_ = inner ? inner : outer_;
    graph_ = schedule_at_->find("graph");
    nodes_ = graph_->find("nodes");
  }

  std::int64_t stage(std::size_t node) const { return plan_.cycle[node] / schedule_.ii; }

  void timing() {
    patch_.replace(schedule_at_->find("II"), std::to_string(schedule_.ii));
    std::int64_t stages = 0, copies = 0;
    Cycle first = -1;
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      stages = std::max(stages, stage(i));
      if (loop_.nodes[i].native == "mma" && (first < 0 || plan_.cycle[i] < first)) first = plan_.cycle[i];
    }
    for (const DumpBuffer& b : loop_.buffers)
      if (b.kind == "smem") copies = std::max(copies, count_of(b) - 1);
    patch_.replace(schedule_at_->find("max_stage"), std::to_string(std::max(stages, copies)));
    if (first >= 0) patch_.replace(schedule_at_->find("prologue_latency"), std::to_string(first));
  }

  void nodes() {
    // Dense rank of the cycle among the nodes of a stage.
    std::map<std::int64_t, std::set<Cycle>> cycles;
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) cycles[stage(i)].insert(plan_.cycle[i]);
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      const TextSpan& node = nodes_->items[static_cast<std::size_t>(loop_.nodes[i].position)];
      if (const TextSpan* placed = node.find("schedule")) {
        const auto& of_stage = cycles[stage(i)];
        patch_.replace(placed->find("cycle"), std::to_string(plan_.cycle[i]));
        patch_.replace(placed->find("stage"), std::to_string(stage(i)));
        patch_.replace(placed->find("cluster"), std::to_string(std::distance(of_stage.begin(), of_stage.find(plan_.cycle[i]))));
      }
      patch_.replace(node.find(node.find("warp_group") ? "warp_group" : "partition"), std::to_string(plan_.group[i]));
    }
  }

  void groups() {
    const TextSpan* at = outer_->find("warp_groups");
    if (!at) return;
    std::map<std::int64_t, std::pair<int, std::set<std::string>>> members;
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      if (plan_.group[i] < 0) continue;
      auto& [warps, units] = members[plan_.group[i]];
      warps = std::max(warps, loop_.nodes[i].min_warps);
      units.insert(loop_.nodes[i].unit.empty() ? "NONE" : loop_.nodes[i].unit);
    }
    std::string out = "[";
    for (const auto& [id, facts] : members) {
      int warps = 1;
      while (warps < facts.first) warps *= 2;
      out += fmt::format("{}{{\"id\": {}, \"num_warps\": {}, \"pipelines\": [", out.size() > 1 ? ", " : "", id, warps);
      bool first = true;
      for (const std::string& unit : facts.second) {
        out += (first ? "" : ", ") + Json(unit).line();
        first = false;
      }
      out += "]}";
    }
    patch_.replace(at, out + "]");
  }

  // ---- buffers

  /// The op of the problem whose ring a buffer is; invalid where it has none.
  OpId writer_of(const DumpBuffer& b) const {
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      if (loop_.nodes[i].produces != b.id) continue;
      if (const OpId op = problem_.find_op(loop_.nodes[i].name); op.valid()) return op;
      for (const DumpEdge& e : loop_.edges)
        if (e.to == i && e.distance == 0)
          if (const OpId op = problem_.find_op(loop_.nodes[e.from].name); op.valid()) return op;
    }
    return {};
  }

  std::int64_t depth_of(OpId writer) const {
    for (std::size_t c = 0; c < problem_.channels.size(); ++c)
      if (problem_.channels[c].writer == writer) return schedule_.depths[c];
    return 0;
  }

  std::int64_t count_of(const DumpBuffer& b) const {
    const DumpBuffer* of = &b;
    if (b.kind == "barrier")
      for (const DumpBuffer& data : loop_.buffers)
        if (data.id == b.paired && data.kind != "barrier") of = &data;
    const OpId writer = writer_of(*of);
    const std::int64_t depth = writer.valid() ? depth_of(writer) : 0;
    return depth > 0 ? depth : b.count;
  }

  /// First write to last read, in flat time.
  std::pair<Cycle, Cycle> life(const DumpBuffer& b) const {
    for (std::size_t i = 0; i < loop_.nodes.size(); ++i) {
      if (loop_.nodes[i].produces != b.id) continue;
      Cycle begin = plan_.cycle[i];
      for (const DumpEdge& e : loop_.edges)
        if (e.to == i && e.distance == 0 && is_load(loop_.nodes[e.from])) begin = plan_.cycle[e.from];
      Cycle end = begin;
      for (const auto& [reader, distance] : readers_through_views(loop_, i))
        end = std::max(end, sat_add(sat_add(plan_.cycle[reader], sat_mul(distance, schedule_.ii)), loop_.nodes[reader].latency));
      return {begin, end};
    }
    return {b.live_start, b.live_end};
  }

  /// Edges that cross groups and need a barrier, in the order of the graph.
  std::vector<const DumpEdge*> cuts(const std::vector<std::int64_t>& group) const {
    std::vector<const DumpEdge*> found;
    for (const DumpEdge& e : loop_.edges)
      if (group[e.from] >= 0 && group[e.to] >= 0 && group[e.from] != group[e.to] && e.carrier != Carrier::Scalar) found.push_back(&e);
    return found;
  }

  /// Whether other edges cross than in the file.
  bool cuts_differ() const {
    std::vector<std::int64_t> before;
    for (const DumpNode& n : loop_.nodes) before.push_back(n.group);
    return cuts(before) != cuts(plan_.group) || before != plan_.group;
  }

  void buffers(bool moved) {
    const TextSpan* at = schedule_at_->find("buffers");
    if (!at) return;
    for (std::size_t i = 0; i < loop_.buffers.size(); ++i) {
      const DumpBuffer& b = loop_.buffers[i];
      if (b.synthesized) continue;
      const std::int64_t count = count_of(b);
      const TextSpan& item = at->items[i];
      patch_.replace(item.find("count"), std::to_string(count));
      patch_.replace(item.find("total_bytes"), std::to_string(sat_mul(count, b.size_bytes)));
      const DumpBuffer* of = &b;
      for (const DumpBuffer& data : loop_.buffers)
        if (b.kind == "barrier" && data.id == b.paired) of = &data;
      if (!writer_of(*of).valid()) continue;
      const auto [begin, end] = life(*of);
      patch_.replace(item.find("live_start"), std::to_string(begin));
      patch_.replace(item.find("live_end"), std::to_string(end));
    }
    if (!moved) return;
    // Channels between groups follow the program's own buffers, in every dump; where they do not, they all stay.
    std::size_t own = loop_.buffers.size();
    while (own > 0 && loop_.buffers[own - 1].synthesized) --own;
    std::vector<std::string> items;
    for (std::size_t i = 0; i < own; ++i) items.push_back(patch_.apply(at->items[i]));
    std::int64_t next = own > 0 ? loop_.buffers[own - 1].id + 1 : 0;
    for (const DumpEdge* e : cuts(plan_.group)) {
      const DumpNode& from = loop_.nodes[e->from];
      const bool loaded = is_load(from) && from.produces < 0 && !allocated(e->from);
      if ((e->carrier != Carrier::Register && !loaded) || from.produces >= 0 || channel_.contains(e->from)) continue;
      const TileType& tile = from.result;
      const std::int64_t bytes = e->carrier == Carrier::Register ? e->bytes : tile.bytes();
      const OpId op = problem_.find_op(from.name);
      const std::int64_t count = std::max<std::int64_t>(1, op.valid() ? depth_of(op) : 1);
      Cycle end = plan_.cycle[e->to];
      std::string shape;
      for (const std::int64_t extent : tile.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", extent);
      items.push_back(
          fmt::format("{{\"id\": {}, \"kind\": \"smem\", \"shape\": [{}], \"element_bits\": {}, \"count\": {}, \"size_bytes\": {}, "
                      "\"total_bytes\": {}, "
                      "\"merge_group_id\": null, \"paired_buffer_id\": null, \"live_start\": {}, \"live_end\": {}, \"def_op\": null}}",
                      next, shape, tile.bits, count, bytes, sat_mul(bytes, count), plan_.cycle[e->from], end));
      channel_[e->from] = {next++, bytes, count};
    }
    replace_list(at, items);
  }

  bool allocated(std::size_t load) const {
    return std::any_of(loop_.edges.begin(), loop_.edges.end(),
                       [&](const DumpEdge& e) { return e.from == load && loop_.nodes[e.to].produces >= 0; });
  }

  /// One item per line, indented as the first one was.
  void replace_list(const TextSpan* at, const std::vector<std::string>& items) {
    if (items.empty()) return patch_.replace(at, "[]");
    const std::size_t line = text_.rfind('\n', at->begin) == std::string_view::npos ? 0 : text_.rfind('\n', at->begin) + 1;
    const std::size_t indent = text_.find_first_not_of(" \t", line) - line;
    const std::string pad(indent, ' ');
    std::string out = "[\n";
    for (std::size_t i = 0; i < items.size(); ++i) out += pad + "  " + items[i] + (i + 1 < items.size() ? ",\n" : "\n");
    replace_whole(at, out + pad + "]");
  }

  /// What was patched inside goes with it.
  void replace_whole(const TextSpan* at, std::string with) { patch_.replace_all(at, std::move(with)); }

  // ---- barriers

  void barriers(bool moved) {
    const TextSpan* at = graph_->find("cross_wg_barriers");
    if (!at) return;
    if (!moved) {
      for (std::size_t i = 0; i < std::min(at->items.size(), loop_.barriers.size()); ++i)
        if (const auto b = std::find_if(loop_.buffers.begin(), loop_.buffers.end(),
                                        [&](const DumpBuffer& x) { return x.id == loop_.barriers[i].buffer; });
            b != loop_.buffers.end() && !b->synthesized)
          patch_.replace(at->items[i].find("depth"), std::to_string(count_of(*b)));
      return;
    }
    std::vector<std::string> items;
    std::set<std::pair<std::size_t, std::size_t>> written;
    for (const DumpEdge* e : cuts(plan_.group)) {
      if (!written.insert({e->from, e->to}).second) continue;
      const DumpNode& from = loop_.nodes[e->from];
      std::int64_t buffer = -1, bytes = 0, depth = 1;
      if (const auto channel = channel_.find(e->from); channel != channel_.end()) {
        buffer = channel->second.id;
        bytes = channel->second.bytes;
        depth = channel->second.count;
      } else {
        std::int64_t produced = from.produces;
        for (const DumpEdge& next : loop_.edges)
          if (produced < 0 && next.from == e->from && is_load(from)) produced = loop_.nodes[next.to].produces;
        for (const DumpBuffer& b : loop_.buffers)
          if (b.id == produced && b.kind != "barrier") {
            buffer = b.id;
            bytes = b.kind == "smem" ? b.size_bytes : 0;
            depth = count_of(b);
          }
      }
      items.push_back(fmt::format(
          "{{\"producer_node\": {}, \"consumer_node\": {}, \"producer_wg\": {}, \"consumer_wg\": {}, \"kind\": \"{}\", \"depth\": {}, "
          "\"paired_buffer_id\": {}, \"expect_bytes\": {}}}",
          from.id, loop_.nodes[e->to].id, plan_.group[e->from], plan_.group[e->to], from.native == "mma" ? "named" : "mbarrier", depth,
          buffer < 0 ? "null" : std::to_string(buffer), bytes));
    }
    replace_list(at, items);
  }

  struct NewChannel {
    std::int64_t id = 0, bytes = 0, count = 1;
  };

  std::string_view text_;
  TextPatch patch_;
  const TextSpan& document_;
  const LoopOfDump at_;
  const DumpLoop& loop_;
  const Problem& problem_;
  const Schedule& schedule_;
  ExportPlan plan_;
  const TextSpan *outer_ = nullptr, *schedule_at_ = nullptr, *graph_ = nullptr, *nodes_ = nullptr;
  std::map<std::size_t, NewChannel> channel_;  ///< by producing node
};

Result<Ok> can_export(const Dump& dump, std::size_t loop, const Problem& problem) {
  if (dump.format != Format::ScheduleGraph)
    return refuse(dump, fmt::format("a {} file has no place for a schedule", to_string(dump.format)),
                  "export into the schedule_graph file of the same kernel");
  if (!dump.loops[loop].scheduled())
    return refuse(dump, fmt::format("loop {} has no schedule that could be replaced", dump.loops[loop].id));
  if (!has_ops_of(dump.loops[loop], problem))
    return refuse(dump, fmt::format("loop {} has other ops than the schedule", dump.loops[loop].id));
  return Ok{};
}

}  // namespace

Result<std::string> export_schedule_graph(std::string_view text, const Dump& dump, std::size_t loop, const Problem& problem,
                                          const Schedule& schedule) {
  if (const Result<Ok> fine = can_export(dump, loop, problem); !fine) return fine.error();
  // The stored schedule itself changes nothing, however the file may round.
  const std::optional<Schedule> stored = to_schedule(dump, dump.loops[loop], problem);
  if (stored && same_program(*stored, schedule)) return std::string(text);
  const TextSpan root = index_text(text);
  const TextSpan& document = dump.variants > 0 ? root.find("variants")->items[static_cast<std::size_t>(dump.variant)] : root;
  const std::string changed = Exporter(text, document, {dump, loop}, problem, schedule).run();
  return std::string(text.substr(0, document.begin)) + changed + std::string(text.substr(document.end));
}

Result<std::string> export_variants(std::string_view text, const Dump& dump, std::size_t loop, const Problem& problem,
                                    const std::vector<Schedule>& schedules) {
  if (const Result<Ok> fine = can_export(dump, loop, problem); !fine) return fine.error();
  const TextSpan root = index_text(text);
  const TextSpan& document = dump.variants > 0 ? root.find("variants")->items[static_cast<std::size_t>(dump.variant)] : root;
  std::string out =
      fmt::format("{{\n\"schema_version\": \"0.1\",\n\"num_variants\": {},\n\"sorted_by\": \"predicted_perf_desc\",\n\"variants\": [\n",
                  schedules.size());
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    std::string one = Exporter(text, document, {dump, loop}, problem, schedules[i]).run();
    const TextSpan span = index_text(one);
    TextPatch patch(one);
    if (const TextSpan* id = span.find("variant_id"))
      patch.replace(id, std::to_string(i));
    else
      patch.insert(span.begin + 1, fmt::format("\n  \"variant_id\": {},", i));
    out += patch.apply() + (i + 1 < schedules.size() ? ",\n" : "\n");
  }
  return out + "]\n}\n";
}

}  // namespace heddle::dump
