// Schedules given back to the compiler in its own formats.
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/check/checker.h"
#include "core/dump/audit.h"
#include "core/dump/dump_json.h"
#include "core/dump/export.h"
#include "core/dump/native.h"
#include "core/dump/text_patch.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::dump;

namespace {

struct Case {
  std::string text;
  Dump dump;
  Problem problem;
  Schedule stored;

  explicit Case(const std::string& name, std::size_t loop = 0)
      : text(read_file(test::repository_path("tests/dumps/" + name)).value()), dump(parse_dump(text, name).value()) {
    problem = problem_for(loop);
    if (auto s = to_schedule(dump, dump.loops[loop], problem)) stored = *std::move(s);
  }
  Problem problem_for(std::size_t loop) const {
    const DumpReading reading = default_reading(dump.format);
    return resolve(to_kernel(dump, dump.loops[loop], reading), to_machine(dump, dump.loops[loop], reading)).value();
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A legal schedule of the fixture with the product's reader in another group.
Schedule better(const Case& c) {
  Schedule s = c.stored;
  s.ii = 620;
  const auto put = [&](const char* op, Cycle start, std::size_t group) { s.ops[c.problem.find_op(op).index()] = {start, GroupId(group)}; };
  put("muli_0", 0, 1);
  put("load_K_1", 1, 1);
  put("mma_4", 661, 1);
  put("tmem_load_5", 1121, 2);
  put("reduce_max_6", 1341, 2);
  put("max_7", 1491, 2);
  derive_groups(c.problem, s);
  for (int& depth : s.depths) depth = depth > 0 ? 2 : 0;
  return s;
}

}  // namespace

TEST_CASE("an unchanged export is the file, byte for byte", "[core]") {
  const Case c("scores.schedule_graph.json");
  CHECK(export_schedule_graph(c.text, c.dump, 0, c.problem, c.stored).value() == c.text);
  const Case outer("scores.schedule_graph.json", 1);
  CHECK(export_schedule_graph(outer.text, outer.dump, 1, outer.problem, outer.stored).value() == outer.text);
  const Case flat("flat.schedule_graph.json");
  CHECK(export_schedule_graph(flat.text, flat.dump, 0, flat.problem, flat.stored).value() == flat.text);
}

TEST_CASE("an export changes the schedule and nothing else, and reads back as the schedule", "[core]") {
  const Case c("scores.schedule_graph.json");
  const Schedule s = better(c);
  const Verdict verdict = check(c.problem, s);
  CAPTURE(verdict.valid() ? "" : verdict.violations[0].message);
  REQUIRE(verdict.valid());
  const std::string out = export_schedule_graph(c.text, c.dump, 0, c.problem, s).value();
  REQUIRE(parse_json(out, {}).ok());
  for (const char* kept : {"\"x_made_up\": [1.50, {\"kept\": \"as written\"}]", "\"partition_cost\": 499.9970",
                           "\"op_90110\": {\"kind\": \"tt.descriptor_load\"", "\"II\": 8000", "\"child_pipeline_id\": 1"})
    CHECK(contains(out, kept));
  CHECK(contains(out, "\"II\": 620"));
  CHECK_FALSE(contains(out, "\"id\": 2, \"kind\": \"smem\""));  // the channel for a token
  CHECK(contains(out, "\"producer_node\": 4, \"consumer_node\": 5"));
  const Dump again = parse_dump(out, "again.json").value();
  const auto read = to_schedule(again, again.loops[0], c.problem);
  REQUIRE(read);
  CHECK(read->ii == s.ii);
  for (std::size_t v = 0; v < s.ops.size(); ++v) CHECK(read->ops[v].start == s.ops[v].start);
  CHECK(read->depths == s.depths);
  // Stage, cluster and order follow from the cycles.
  for (const DumpNode& n : again.loops[0].nodes) CHECK(*n.stage == *n.cycle / 620);
  CHECK(*again.loops[0].max_stage == 2);
}

TEST_CASE("the older form keeps its own names", "[core]") {
  const Case c("flat.schedule_graph.json");
  Schedule s = c.stored;
  s.ops[1].start = 130;
  const std::string out = export_schedule_graph(c.text, c.dump, 0, c.problem, s).value();
  CHECK(contains(out, "\"partition\": 1"));
  CHECK_FALSE(contains(out, "warp_group"));
  CHECK(contains(out, "\"cycle\": 130, \"stage\": 2"));
}

TEST_CASE("variants are documents of their own, read by number", "[core]") {
  const Case c("scores.schedule_graph.json");
  const std::string out = export_variants(c.text, c.dump, 0, c.problem, {c.stored, better(c)}).value();
  const Dump first = parse_dump(out, "v.json", 0).value(), second = parse_dump(out, "v.json", 1).value();
  CHECK(first.variants == 2);
  CHECK(first.loops[0].stated_ii == 500);
  CHECK(second.loops[0].stated_ii == 620);
  CHECK_FALSE(parse_dump(out, "v.json", 2).ok());
  // One variant of them changes alone.
  const std::string changed = export_schedule_graph(out, second, 0, c.problem, c.stored).value();
  CHECK(parse_dump(changed, "v.json", 1).value().loops[0].stated_ii == 500);
  CHECK(changed.substr(0, out.size() / 3) == out.substr(0, out.size() / 3));
}

TEST_CASE("a joint-solver problem is answered in its own format", "[core]") {
  const Case c("cycles.joint.json");
  Schedule s;
  s.ii = 10;
  s.groups.resize(1);
  s.ops.resize(4);
  const auto put = [&](const char* op, Cycle start) { s.ops[c.problem.find_op(op).index()] = {start, GroupId(0)}; };
  put("TMA_0", 2);
  put("op_1", 27);
  put("TC_3", 27);
  put("CUDA_2", 39);
  derive_groups(c.problem, s);
  s.depths.assign(c.problem.channels.size(), 0);
  const std::string out = export_joint_solution(c.dump, c.problem, s).value();
  const JointSolution read = parse_joint_solution(out, "s.json").value();
  CHECK(read.ii == 10);
  CHECK(std::find(read.cycles.begin(), read.cycles.end(), std::pair<std::int64_t, Cycle>{3, 25}) != read.cycles.end());
  CHECK(read.depths == std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}});
  // 3 stages, 1 slot, no carried span but 3 -> 3, spans 25 + 0 + 12, 16384 bytes.
  CHECK(contains(out, "\"objective\": 30671872"));
  put("CUDA_2", 90);
  put("TC_3", 77);
  const auto refused = export_joint_solution(c.dump, c.problem, s);
  REQUIRE_FALSE(refused.ok());  // six slots of 16384 bytes in 40000
  CHECK(contains(to_string(refused.error()), "shared memory"));
}

TEST_CASE("groups that a joint-solver problem forbids are refused", "[core]") {
  const Case c("groups.joint.json");
  CHECK(export_joint_solution(c.dump, c.problem, c.stored).ok());
  Schedule s = c.stored;
  for (Placement& p : s.ops) p.group = GroupId(0);
  const auto refused = export_joint_solution(c.dump, c.problem, s);
  REQUIRE_FALSE(refused.ok());
  CHECK(contains(to_string(refused.error()), "clusters 0 and 2 must not share a group"));
  CHECK(contains(to_string(refused.error()), "another group"));
}

TEST_CASE("what has no place for a schedule is refused with a reason", "[core]") {
  const Case ddg("scores.ddg.json");
  CHECK(contains(to_string(export_schedule_graph(ddg.text, ddg.dump, 0, ddg.problem, {}).error()), "no place for a schedule"));
  CHECK(contains(to_string(export_joint_solution(ddg.dump, ddg.problem, {}).error()), "no joint-solver problem"));
}

TEST_CASE("a patch changes spans of text and leaves the rest", "[core]") {
  const std::string text = "{ \"a\" : [1, {\"b\": \"x\\\"]}\"}], \"c\":2.50 }";
  const TextSpan root = index_text(text);
  TextPatch patch(text);
  CHECK(patch.apply() == text);
  patch.replace(root.find("c"), "2.50");
  CHECK(patch.empty());
  patch.replace(root.find("a")->items[1].find("b"), "7");
  CHECK(patch.apply() == "{ \"a\" : [1, {\"b\": 7}], \"c\":2.50 }");
  patch.replace_all(root.find("a"), "[]");
  CHECK(patch.apply() == "{ \"a\" : [], \"c\":2.50 }");
}

TEST_CASE("a view goes with what reads it, and the export sustains what it states", "[core]") {
  const Case c("columns.schedule_graph.json");
  Schedule s = c.stored;
  s.ii = 280;
  const Verdict verdict = check(c.problem, s);
  s.ops[c.problem.find_op("add_8").index()].start += 1;  // not the stored schedule: the file is written anew
  const std::string out = export_schedule_graph(c.text, c.dump, 0, c.problem, s).value();
  const Dump again = parse_dump(out, "again.json").value();
  const dump::DumpLoop& loop = again.loops[0];
  const auto group = [&](std::int64_t id) { return loop.find(id)->group; };
  CHECK(group(2) == group(5));
  CHECK(group(3) == group(5));
  CHECK(group(4) == group(5));
  CHECK(contains(out, "\"producer_node\": 0, \"consumer_node\": 2"));
  CHECK(audit(again).loops[0].program.cycles() <= 280);
}

TEST_CASE("an answer about groups has the objective and the plan that its validator asks for", "[core]") {
  std::string text = read_file(test::repository_path("tests/dumps/groups.joint.json")).value();
  const std::string plan =
      R"("lowering_templates": [{"id": 0, "relation": "different_wg", "src_node": 1, "dst_node": 2, "src_cluster": 1, "dst_cluster": 2, "events": [
    {"id": 0, "kind": "tc_commit", "owner": "src", "anchor_node": 1, "placement": "after", "pipeline": "NONE", "issue_duration": 30, "completion_latency": 0, "blocking": false, "async": true, "distance": 0, "frequency": 1, "bytes": 0, "depth": 1, "semaphore": "full"},
    {"id": 1, "kind": "wait", "owner": "dst", "anchor_node": 2, "placement": "before", "pipeline": "NONE", "issue_duration": 30, "completion_latency": 0, "blocking": true, "async": false, "distance": 0, "frequency": 2, "bytes": 0, "depth": 1, "semaphore": "full"}]},
    {"id": 1, "relation": "same_wg", "src_node": 1, "dst_node": 2, "src_cluster": 1, "dst_cluster": 2, "events": []}])";
  const std::string none = "\"lowering_templates\": []";
  text.replace(text.find(none), none.size(), plan);
  const Dump dump = parse_dump(text, "g.json").value();
  const Problem problem =
      resolve(to_kernel(dump, dump.loops[0], DumpReading::IssueSlots), to_machine(dump, dump.loops[0], DumpReading::IssueSlots)).value();
  Schedule s = to_schedule(dump, dump.loops[0], problem).value();
  const Json apart = parse_json(export_joint_solution(dump, problem, s).value(), "a").value();
  CHECK(*apart.find("objective")->integer() == 2 * (90 + 60) - 3);  // what crossing issues, three groups
  CHECK_FALSE(*apart.find("objective_minimized")->boolean());
  CHECK(*apart.find("lowering_plan")->find("version")->string() == "lowering-plan-0.1");
  const Json::Array& templates = *apart.find("lowering_plan")->find("templates")->items();
  REQUIRE(templates.size() == 2);
  CHECK(*templates[0].find("active")->boolean());
  CHECK_FALSE(*templates[1].find("active")->boolean());
  const Json::Array& events = *templates[0].find("events")->items();
  REQUIRE(events.size() == 2);
  CHECK((*events[0].find("cycle")->integer() == 84 && *events[0].find("wg")->integer() == 1 &&
         *events[0].find("stream_order")->integer() == 0));
  CHECK((*events[1].find("cycle")->integer() == 110 && *events[1].find("wg")->integer() == 2));  // twice 30 before 170
  // Load and product in one group: they are issued in the same four slots, and nothing crosses between them.
  s.ops[problem.find_op("TC_1").index()].group = s.group(problem.find_op("TMA_0"));
  CHECK(*parse_json(export_joint_solution(dump, problem, s).value(), "a").value().find("objective")->integer() == 2 * (4 + 60) - 2);
}

TEST_CASE("an answer about groups keeps the memory and the registers that the problem allows", "[core]") {
  const std::string text = read_file(test::repository_path("tests/dumps/groups.joint.json")).value();
  const auto refused = [&](std::string from, const std::string& to) {
    std::string other = text;
    other.replace(other.find(from), from.size(), to);
    const Dump dump = parse_dump(other, "g.json").value();
    const Problem problem =
        resolve(to_kernel(dump, dump.loops[0], DumpReading::IssueSlots), to_machine(dump, dump.loops[0], DumpReading::IssueSlots)).value();
    const auto answer = export_joint_solution(dump, problem, to_schedule(dump, dump.loops[0], problem).value());
    return answer ? std::string() : to_string(answer.error());
  };
  CHECK(contains(refused("\"smem_budget\": 232448", "\"smem_budget\": 31"), "32 bytes of shared memory are needed, the problem allows 31"));
  CHECK(refused("\"smem_budget\": 232448", "\"smem_budget\": 32").empty());
  CHECK(contains(refused("\"sm_regs\": 65536", "\"reg_budget\": 50687, \"sm_regs\": 65536"), "50688 registers"));
}

TEST_CASE("where there is no schedule, the answer to a joint-solver problem says whether that is proved", "[core]") {
  const Case c("cycles.joint.json");
  SolveOutcome outcome;
  outcome.explanation = "because";
  outcome.status = Status::Infeasible;
  const Json no = parse_json(export_joint_failure(c.dump, outcome).value(), "a").value();
  CHECK(*no.find("status")->string() == "infeasible");
  CHECK(*no.find("proven_unsat")->boolean());
  CHECK(*no.find("stats")->find("unsat_iis")->items()->at(0).integer() == 80);
  outcome.status = Status::Unknown;
  outcome.timed_out = true;
  const Json unknown = parse_json(export_joint_failure(c.dump, outcome).value(), "a").value();
  CHECK(*unknown.find("status")->string() == "inconclusive");
  CHECK_FALSE(*unknown.find("proven_unsat")->boolean());
  CHECK(*unknown.find("budget_exhausted")->string() == "walltime");
  CHECK_FALSE(export_joint_failure(Case("scores.ddg.json").dump, outcome).ok());
}
