// What other compilers dump: several loops, loops in loops, empty loops, views, groups of no op, rings that nobody reads.
#include <fmt/format.h>

#include "tests/strange/documents.h"

namespace heddle::strange {
namespace {

struct Kind {
  const char *kind, *unit;
  bool view;
};
constexpr Kind kKinds[] = {{"tt.descriptor_load", "TMA", false},
                           {"ttg.local_alloc", "NONE", true},
                           {"ttg.memdesc_trans", "NONE", true},
                           {"ttng.tc_gen5_mma", "TC", false},
                           {"ttng.tmem_load", "CUDA", false},
                           {"math.exp2", "SFU", false},
                           {"arith.mulf", "CUDA", false},
                           {"tt.reduce", "CUDA", false},
                           {"arith.truncf", "CUDA", false},
                           {"ttng.tmem_store", "CUDA", false},
                           {"tt.descriptor_store", "TMA", false},
                           {"arith.muli", "CUDA", false},
                           {"made.up", "SFU", false},
                           {"tt.expand_dims", "NONE", true}};

std::string type_for(Dice& dice, const std::string& kind) {
  const std::int64_t rows = dice.pick({1, 64, 128}), columns = dice.pick({1, 16, 64, 128});
  const std::string element = dice.pick({"f32", "bf16", "f16", "f8E4M3FN", "i32"});
  if (kind == "ttg.local_alloc" || kind == "ttg.memdesc_trans")
    return fmt::format("!ttg.memdesc<{}x{}x{}, #shared, #ttg.shared_memory>", rows, columns, element);
  if (kind == "ttng.tc_gen5_mma") return "!ttg.async.token";
  if (kind == "arith.muli") return "i32";
  if (kind == "tt.reduce") return fmt::format("tensor<{}xf32, #slice>", rows);
  return fmt::format("tensor<{}x{}x{}, #blocked>", rows, columns, element);
}

/// One loop's nodes and edges, and the ops they refer to.
struct Graph {
  Document nodes = Document::array(), edges = Document::array();
  std::vector<std::int64_t> ids;
};

class DumpBuilder {
 public:
  explicit DumpBuilder(Dice& dice) : dice_(dice) {}

  Document ddg(bool curated) {
    Document root{{"schema_version", curated ? "curated-ddg-0.2" : "ddg-0.1"}};
    if (dice_.chance(60))
      root["config"] = {{"schedule_algo", dice_.pick({"rau", "exhaustive", "none of these"})},
                        {"smem_budget_bytes", dice_.pick({65536, 232448, 1 << 30})},
                        {"tmem_budget_bytes", 262144}};
    if (dice_.chance(60)) root["kernel"] = kernel();
    types_ = !curated || dice_.chance(30);
    Document loops = Document::array();
    for (std::int64_t n = dice_.chance(70) ? 1 : dice_.between(2, 3), i = 0; i < n; ++i) {
      const Graph graph = nodes(i, curated ? Form::Curated : Form::Ddg);
      Document loop{{"loop_id", i}};
      if (dice_.chance(70)) loop["is_outer"] = i > 0 && dice_.chance(30);
      if (dice_.chance(70)) loop["trip_count"] = dice_.odd(0, 1 << 20);
      if (dice_.chance(40)) loop["min_ii"] = dice_.odd(0, 4000);
      loop["ddg"] = {{"nodes", graph.nodes}, {"edges", graph.edges}};
      loops.push_back(loop);
    }
    if (!ops_.empty()) root["ops"] = ops_;
    root["loops"] = loops;
    return root;
  }

  Document schedule_graph() {
    Document root = Document::object();
    const bool flat = dice_.chance(15);
    if (!flat) root["schema_version"] = "0.1";
    if (flat || dice_.chance(80)) root["kernel"] = kernel();
    types_ = dice_.chance(85);
    Document loops = Document::array();
    const std::int64_t count = dice_.chance(60) ? 1 : dice_.between(2, 3);
    for (std::int64_t i = 0; i < count; ++i) loops.push_back(schedule_loop(i, flat, i > 0 && dice_.chance(50) ? i - 1 : -1));
    if (flat && ops_.empty())
      ops_["op_0"] = {{"kind", "tt.return"}, {"scope", "function"}, {"operands", Document::array()}, {"result_types", Document::array()}};
    if (!ops_.empty()) root["ops"] = ops_;
    root["loops"] = loops;
    return root;
  }

  Document joint_cycles() {
    Document root{{"version", "joint-solver-0.1"}};
    const Graph graph = nodes(0, Form::JointCycles);
    root["min_ii"] = dice_.odd(1, 200);
    root["max_ii"] = root["min_ii"].get<std::int64_t>() + dice_.odd(0, 5000);
    if (dice_.chance(80)) root["smem_budget"] = dice_.pick({1024, 40000, 232448});
    if (dice_.chance(80)) root["tmem_col_limit"] = dice_.pick({0, 128, 512});
    root["nodes"] = graph.nodes;
    root["edges"] = graph.edges;
    Document buffers = Document::array();
    for (std::int64_t n = dice_.between(0, 2); n > 0; --n) {
      const std::int64_t node = dice_.pick(graph.ids);
      buffers.push_back({{"id", dice_.chance(70) ? node : 1000 + n},
                         {"alloc_node", node},
                         {"kind", dice_.chance(75) ? "smem" : "tmem"},
                         {"size_bytes", dice_.pick({0, 16, 4096, 16384})},
                         {"tmem_cols", dice_.pick({0, 32, 64})},
                         {"consumers", readers(graph)}});
    }
    root["buffers"] = buffers;
    if (dice_.chance(20)) root["canonical_root"] = dice_.pick(graph.ids);
    return root;
  }

  Document joint_groups() {
    Document root{{"version", "joint-solver-0.2"}, {"ii", dice_.odd(1, 3000)}};
    if (dice_.chance(60)) root["mode"] = dice_.pick({"partition", "joint"});
    if (dice_.chance(60)) root["max_wgs"] = dice_.between(1, 6);
    const Graph graph = nodes(0, Form::JointGroups);
    Document clusters = Document::array();
    std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(dice_.between(1, 4)));
    for (const std::int64_t id : graph.ids)
      if (dice_.chance(90))
        members[static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(members.size()) - 1))].push_back(id);
    for (std::size_t c = 0; c < members.size(); ++c)
      if (!members[c].empty() || dice_.chance(10))
        clusters.push_back({{"id", c}, {"min_warps", dice_.pick({1, 4, 8})}, {"nodes", members[c]}});
    root["clusters"] = clusters;
    root["nodes"] = graph.nodes;
    root["edges"] = graph.edges;
    Document buffers = Document::array();
    for (std::int64_t n = dice_.between(0, 2); n > 0; --n)
      buffers.push_back({{"id", n},
                         {"producer", dice_.pick(graph.ids)},
                         {"size_bytes", dice_.pick({0, 512, 16384})},
                         {"count", dice_.between(1, 4)},
                         {"min_count", 1},
                         {"kind", dice_.pick({"smem", "tmem"})},
                         {"consumers", {{{"node", dice_.pick(graph.ids)}, {"latency", 30}, {"distance", 0}}}}});
    root["buffers"] = buffers;
    if (clusters.size() > 1 && dice_.chance(40)) root["warp_group_conflicts"] = {{clusters[0]["id"], clusters[1]["id"]}};
    if (dice_.chance(50)) root["sm_regs"] = 65536;
    return root;
  }

 private:
  enum class Form { Ddg, Curated, Schedule, JointCycles, JointGroups };

  Document kernel() {
    return {{"name", dice_.pick({"k", "attention fwd", "x.y (z)", "nan", "kernel.with.dots"})}, {"args", Document::array()}};
  }

  Document readers(const Graph& graph) {
    Document list = Document::array();
    for (std::int64_t n = dice_.between(0, 2); n > 0; --n) list.push_back(dice_.pick(graph.ids));
    return list;
  }

  Graph nodes(std::int64_t loop, Form form) {
    Graph graph;
    const bool joint = form == Form::JointCycles || form == Form::JointGroups;
    const std::int64_t count = dice_.chance(15) ? 1 : dice_.between(2, 8);
    const bool gaps = dice_.chance(20);
    std::vector<std::string> refs;
    for (std::int64_t i = 0; i < count; ++i) {
      const Kind& kind = kKinds[dice_.between(0, static_cast<std::int64_t>(std::size(kKinds)) - 1)];
      const std::int64_t id = gaps ? 3 * i + loop : i;
      graph.ids.push_back(id);
      Document node{{"id", id}, {"pipeline", kind.view ? "NONE" : dice_.chance(95) ? kind.unit : "ODD"}};
      const std::int64_t latency = kind.view ? 0 : dice_.chance(95) ? dice_.between(0, 900) : dice_.odd(0, std::int64_t{1} << 31);
      if (joint) {
        node["duration"] = kind.view ? 0 : dice_.between(0, 60);
        if (dice_.chance(30)) node["streaming"] = dice_.chance(50);
        if (form == Form::JointGroups)
          node["latency"] = latency, node["cycle"] = dice_.between(0, 400), node["freq"] = dice_.chance(80) ? 1 : 4;
        graph.nodes.push_back(node);
        continue;
      }
      std::string ref = fmt::format("op_{}", 1000 * (loop + 1) + 10 * i);
      if (types_) {
        Document operands = Document::array();
        if (!refs.empty() && dice_.chance(80)) operands.push_back({{"op", dice_.pick(refs)}});
        if (dice_.chance(15)) operands.push_back({{"iter_arg", {{"loop", loop}, {"idx", dice_.between(0, 2)}}}});
        if (dice_.chance(10)) operands.push_back({{"unknown_block_arg", true}});
        ops_[ref] = {{"kind", kind.kind},
                     {"scope", fmt::format("loop:{}", loop)},
                     {"operands", operands},
                     {"result_types", {type_for(dice_, kind.kind)}}};
        refs.push_back(ref);
        node["op_ref"] = ref;
      } else {
        node["op_ref"] = nullptr;
      }
      node["op_kind"] = kind.kind;
      node["latency"] = latency;
      if (form != Form::Curated || dice_.chance(50)) node["self_latency"] = kind.view ? 0 : dice_.between(0, 60);
      if (dice_.chance(60)) node["occupancy"] = kind.view ? 0 : dice_.between(0, 300);
      if (dice_.chance(80)) node["min_warps"] = dice_.pick({1, 4, 8});
      if (form == Form::Curated && !kind.view && dice_.chance(60)) {
        Document amounts = Document::array();
        for (std::int64_t n = dice_.between(0, 6); n > 0; --n) amounts.push_back(dice_.between(0, 1));
        node["rrt"] = {{kind.unit, amounts}};
      }
      if (dice_.chance(5)) node["frequency_multiplier"] = dice_.between(1, 16);
      graph.nodes.push_back(node);
    }
    const auto edge = [&](std::size_t from, std::size_t to, std::int64_t distance) {
      Document e{{"src", graph.ids[from]},
                 {"dst", graph.ids[to]},
                 {"distance", distance},
                 {"latency", dice_.chance(70) ? graph.nodes[from].value("latency", std::int64_t{20}) : dice_.between(0, 60)}};
      if (!joint) e["kind"] = "data";
      if (form == Form::JointGroups && dice_.chance(30)) e["rt"] = dice_.pick({0, 90}), e["chan_bytes"] = 4096;
      graph.edges.push_back(e);
    };
    for (std::size_t i = 1; i < graph.ids.size(); ++i)
      for (std::int64_t n = dice_.between(0, 2); n > 0; --n)
        edge(static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(i) - 1)), i, dice_.chance(90) ? 0 : dice_.between(1, 2));
    for (std::int64_t n = dice_.between(0, 2); n > 0; --n) {
      const auto from = static_cast<std::size_t>(dice_.between(0, count - 1));
      edge(from, static_cast<std::size_t>(dice_.between(0, static_cast<std::int64_t>(from))), dice_.chance(90) ? 1 : dice_.odd(1, 1 << 20));
    }
    return graph;
  }

  Document schedule_loop(std::int64_t id, bool flat, std::int64_t inner) {
    Graph graph = nodes(id, Form::Schedule);
    const std::int64_t ii = dice_.chance(85) ? dice_.between(1, 2000) : dice_.odd(1, std::int64_t{1} << 31);
    const std::int64_t groups = dice_.between(0, 4);
    const bool placed = dice_.chance(85);
    std::int64_t now = 0, position = 0;
    for (Document& node : graph.nodes) {
      if (placed) {
        const std::int64_t cycle = std::min<std::int64_t>(dice_.chance(75) ? now : dice_.between(0, 4000), std::int64_t{1} << 31);
        now = cycle + node.value("latency", std::int64_t{0});
        node["schedule"] = {{"cycle", cycle}, {"stage", cycle / ii}, {"cluster", position++ % 3}};
      } else if (dice_.chance(50)) {
        node["schedule"] = nullptr;
      }
      node[flat ? "partition" : "warp_group"] = groups == 0 ? -1 : dice_.chance(10) ? -2 : dice_.between(0, groups - 1);
      if (dice_.chance(70)) node["produces_buffer"] = nullptr, node["consumes_buffers"] = Document::array();
    }
    if (inner >= 0) {
      const std::string ref = fmt::format("op_{}", 900 + id);
      if (types_)
        ops_[ref] = {{"kind", "scf.for"},
                     {"scope", fmt::format("loop:{}", id)},
                     {"operands", Document::array()},
                     {"result_types", {"!ttg.async.token"}}};
      Document& node = graph.nodes[0];
      if (types_) node["op_ref"] = ref;
      node["op_kind"] = "scf.for";
      node["pipeline"] = "NONE";
      node["child_pipeline_id"] = inner;
      node["prologue_latency"] = dice_.between(0, 900);
    }
    Document buffers = Document::array();
    for (std::int64_t n = dice_.between(0, 3), i = 0; i < n; ++i) {
      const std::int64_t bytes = dice_.pick({8, 512, 16384, 65536}), count = dice_.between(0, 4);
      buffers.push_back({{"id", i},
                         {"kind", dice_.pick({"smem", "smem", "tmem", "barrier", "register"})},
                         {"shape", {bytes / 8, 4}},
                         {"element_bits", 16},
                         {"count", count},
                         {"size_bytes", bytes},
                         {"total_bytes", bytes * count},
                         {"merge_group_id", nullptr},
                         {"paired_buffer_id", nullptr},
                         {"live_start", dice_.between(-5, 900)},
                         {"live_end", dice_.between(0, 2000)},
                         {"def_op", nullptr}});
    }
    Document barriers = Document::array();
    for (std::int64_t n = groups > 1 ? dice_.between(0, 2) : 0; n > 0; --n)
      barriers.push_back({{"producer_node", dice_.pick(graph.ids)},
                          {"consumer_node", dice_.pick(graph.ids)},
                          {"producer_wg", 0},
                          {"consumer_wg", 1},
                          {"kind", dice_.pick({"named", "mbarrier"})},
                          {"depth", dice_.between(0, 4)},
                          {"paired_buffer_id", nullptr},
                          {"expect_bytes", dice_.between(0, 4096)}});
    Document schedule{{"id", id},
                      {"II", ii},
                      {"max_stage", dice_.between(0, 4)},
                      {"trip_count", dice_.odd(0, 1 << 20)},
                      {"buffers", buffers},
                      {"graph", {{"nodes", graph.nodes}, {"edges", graph.edges}, {"cross_wg_barriers", barriers}}}};
    if (dice_.chance(30)) schedule["partition_cost"] = dice_.chance(50) ? Document(17.25) : Document(nullptr);
    Document loop{{"loop_id", id}, {"is_outer", inner >= 0}};
    if (flat) {
      loop.update(schedule);
      loop.erase("id");
      return loop;
    }
    Document list = Document::array();
    for (std::int64_t g = 0; g < groups; ++g) list.push_back({{"id", g}, {"num_warps", dice_.pick({1, 2, 4, 8})}, {"pipelines", {"NONE"}}});
    loop["warp_groups"] = list;
    loop["schedule_loop"] = schedule;
    return loop;
  }

  Dice& dice_;
  Document ops_ = Document::object();
  bool types_ = true;
};

/// Some answer; whether it holds is another matter.
Document solution_of(Dice& dice, const Document& problem) {
  Document cycles = Document::object(), groups = Document::object(), depths = Document::object();
  std::int64_t now = 0;
  for (const Document& node : problem["nodes"]) {
    cycles[std::to_string(node["id"].get<std::int64_t>())] = problem.contains("clusters") ? node["cycle"].get<std::int64_t>() : now;
    now += node["duration"].get<std::int64_t>() + dice.between(0, 40);
  }
  Document solution{{"version", problem["version"]},
                    {"status", dice.chance(95) ? "ok" : "proven_unsat"},
                    {"ii", problem.contains("ii") ? problem["ii"] : problem["max_ii"]},
                    {"cycles", cycles}};
  if (problem.contains("clusters")) {
    for (const Document& cluster : problem["clusters"]) groups[std::to_string(cluster["id"].get<std::int64_t>())] = dice.between(0, 2);
    solution["wg"] = groups;
  }
  for (const Document& buffer : problem["buffers"]) depths[std::to_string(buffer["id"].get<std::int64_t>())] = dice.between(1, 4);
  if (dice.chance(50)) solution["buffer_depths"] = depths;
  return solution;
}

}  // namespace

DumpDocument dump_document(Dice& dice) {
  DumpBuilder builder(dice);
  switch (dice.between(0, 6)) {
    case 0: return {builder.ddg(false), {}};
    case 1: return {builder.ddg(true), {}};
    case 2: {
      const Document problem = builder.joint_cycles();
      return {problem, solution_of(dice, problem)};
    }
    case 3: {
      const Document problem = builder.joint_groups();
      return {problem, solution_of(dice, problem)};
    }
    case 4: {
      if (dice.chance(60)) return {builder.schedule_graph(), {}};
      Document variants = Document::array();
      for (std::int64_t n = dice.between(1, 2); n > 0; --n) variants.push_back(DumpBuilder(dice).schedule_graph());
      return {{{"schema_version", "0.1"}, {"variants", variants}}, {}};
    }
    default: return {builder.schedule_graph(), {}};
  }
}

}  // namespace heddle::strange
