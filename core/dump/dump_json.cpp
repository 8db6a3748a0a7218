#include "core/dump/dump_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/dump/parts.h"

namespace heddle::dump {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;

std::string text_of(const Json& root, const char* key) {
  const Json* value = root.find(key);
  return value && value->string() ? *value->string() : std::string();
}

enum class Shape { None, Graph, Schedule, Variants, Joint, JointSolution };

Shape shape_of(const Json& root) {
  if (!root.is_object() || root.find("schema")) return Shape::None;
  const std::string version = text_of(root, "schema_version"), joint = text_of(root, "version");
  if (joint.starts_with("joint-solver-0.")) return root.find("status") ? Shape::JointSolution : Shape::Joint;
  if (version.starts_with("ddg-0.") || version.starts_with("curated-ddg-0.")) return Shape::Graph;
  if (root.find("variants") && version == "0.1") return Shape::Variants;
  if (root.find("loops") && (version == "0.1" || root.find("kernel"))) return Shape::Schedule;
  return Shape::None;
}

void read_kernel_name(ObjectReader& root, Dump& dump) {
  if (const auto kernel = root.find("kernel"); kernel && kernel->json().is_object()) {
    ObjectReader object(*kernel);
    if (const auto name = object.find("name")) dump.kernel = name->name().value_or("");
  }
}

void read_graph_document(ObjectReader& root, Dump& dump) {
  const std::string version = root.string("schema_version");
  dump.format = version.starts_with("curated") ? Format::Curated : Format::Ddg;
  const std::string expected = dump.format == Format::Curated ? "curated-ddg-0.2" : "ddg-0.1";
  if (version != expected)
    root.find("schema_version")->fault(fmt::format("version \"{}\" is not known", version), "expected \"" + expected + "\"");
  read_kernel_name(root, dump);
  if (const auto config = root.find("config"); config && config->json().is_object()) {
    ObjectReader object(*config);
    dump.algorithm = object.string("schedule_algo");
    dump.smem_budget = object.integer("smem_budget_bytes", 0, kMostBytes, dump.smem_budget);
    dump.tmem_budget = object.integer("tmem_budget_bytes", 0, kMostBytes, dump.tmem_budget);
  }
  const ReadOps ops = read_ops(root);
  for (const Cursor& item : root.required_list("loops")) {
    DumpLoop& loop = dump.loops.emplace_back();
    loop.id = static_cast<std::int64_t>(dump.loops.size()) - 1;
    loop.pointer = item.pointer();
    ObjectReader object(item);
    read_loop_facts(object, loop);
    std::vector<int> node_ops;
    if (const auto graph = object.require("ddg")) {
      ObjectReader ddg(*graph);
      read_graph(ddg, ops, loop, node_ops);
    }
    finish_loop(loop, ops, node_ops, item.log());
  }
}

}  // namespace

bool is_dump_text(std::string_view text) {
  // Cheap first: files of ours say so near their beginning; a dump says what it is anywhere, its keys may be sorted.
  if (text.substr(0, 4096).find("\"heddle.") != std::string_view::npos) return false;
  const auto says = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  if (!says("\"schema_version\"") && !says("joint-solver-0.") && !(says("\"kernel\"") && says("\"ops\""))) return false;
  const Result<Json> json = parse_json(text, {});
  if (!json) return says("\"ddg-0.1\"") || says("\"curated-ddg-0.2\"") || says("joint-solver-0.") || says("\"schema_version\"");
  const Shape shape = shape_of(*json);
  return shape != Shape::None && shape != Shape::JointSolution;
}

bool is_joint_solution_text(std::string_view text) {
  if (text.find("joint-solver-0.") == std::string_view::npos) return false;
  const Result<Json> json = parse_json(text, {});
  return json && shape_of(*json) == Shape::JointSolution;
}

Result<Dump> parse_dump(std::string_view text, const std::string& file, int variant) {
  const Result<Json> json = parse_json(text, file);
  if (!json) return json.error();
  ReadLog log{file, {}, {}, {}};
  Dump dump;
  dump.file = file;
  {
    const Cursor at(*json, {}, log);
    switch (shape_of(*json)) {
      case Shape::Graph: {
        ObjectReader root(at);
        read_graph_document(root, dump);
        break;
      }
      case Shape::Schedule: {
        ObjectReader root(at);
        read_kernel_name(root, dump);
        read_schedule_document(root, dump);
        break;
      }
      case Shape::Variants: {
        ObjectReader root(at);
        const std::vector<Cursor> variants = root.required_list("variants");
        dump.variants = static_cast<int>(variants.size());
        if (variant < 0 || variant >= dump.variants) {
          at.fault(fmt::format("the file has {} variants, there is no number {}", dump.variants, variant), "the first is 0");
          break;
        }
        dump.variant = variant;
        ObjectReader document(variants[static_cast<std::size_t>(variant)]);
        if (!document.good()) break;
        read_kernel_name(document, dump);
        read_schedule_document(document, dump);
        break;
      }
      case Shape::Joint: {
        ObjectReader root(at);
        read_joint_problem(root, dump);
        break;
      }
      case Shape::JointSolution:
        at.fault("a solution of a joint-solver problem has no graph", "name the problem, and give this file as SCHEDULE");
        break;
      case Shape::None:
        at.fault("this is no dump of a scheduler that is known here",
                 "known: ddg-0.1, schedule_graph 0.1 (one or variants), curated-ddg-0.2, joint-solver-0.1 and 0.2");
        break;
    }
    if (log.faults.empty() && dump.loops.empty()) at.fault("the file has no loops");
    // One that is empty stands beside the others; a file of such loops only asks nothing.
    if (log.faults.empty() && std::all_of(dump.loops.begin(), dump.loops.end(), [](const DumpLoop& l) { return l.nodes.empty(); }))
      for (const DumpLoop& loop : dump.loops) log.fault(loop.pointer, "the loop has no ops; there is nothing to schedule");
  }
  if (dump.kernel.empty()) dump.kernel = "dump";
  cut_off(log.faults, "faults");
  if (!log.faults.empty()) return log.error();
  return dump;
}

}  // namespace heddle::dump
