// What an audit finds in a stored schedule; the figures are computed by hand from the fixture.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/base/atomic_file.h"
#include "core/dump/audit.h"
#include "core/dump/audit_json.h"
#include "core/dump/audit_report.h"
#include "core/dump/dump_json.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::dump;

namespace {

std::string text_of(const std::string& name) { return read_file(test::repository_path("tests/dumps/" + name)).value(); }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

DumpLoopAudit audit_of(const std::string& text) { return audit(parse_dump(text, "f.json").value()).loops.at(0); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an audit finds broken dependences and what the groups sustain", "[core]") {
  const Dump dump = parse_dump(text_of("scores.schedule_graph.json"), "f.json").value();
  const DumpAudit all = audit(dump);
  const DumpLoopAudit& a = all.loops.at(0);
  CHECK(a.illegal());
  REQUIRE(a.broken.size() == 1);  // reduce_max_6 ends at 1251, max_7 starts at 1240
  CHECK(a.broken[0].slack == -11);
  CHECK_FALSE(a.broken[0].repairable);
  CHECK(a.min_ii == 500);
  CHECK(a.program.cycles() == 620);  // mma 400, tmem_load 100, a barrier of 60 each way
  CHECK(a.unsustainable());
  CHECK(a.pipelined.cycles() == 620);
  CHECK(a.slot_conflicts.empty());
  CHECK_FALSE(all.clean());
  CHECK(contains(sentence(dump.loops[0], a.program), "mma_4 400 + 60 hand-off"));
  CHECK_FALSE(all.loops.at(1).illegal());
  CHECK(all.loops.at(1).program.cycles() == 8000);
}

TEST_CASE("memory is counted with storage from outside the loop, without channels that carry nothing", "[core]") {
  const MemoryAudit m = audit_of(text_of("scores.schedule_graph.json")).memory;
  CHECK(m.smem == 4 * 16384 + 32768);
  CHECK(m.smem_stated == 4 * 16384 + 32768);  // the second term is the channel for a token
  CHECK(m.resident_smem == 32768);
  CHECK(m.tmem == 64);
  REQUIRE(m.unneeded.size() == 1);
  CHECK(m.unneeded[0].buffer == 2);
}

TEST_CASE("rings too deep and too shallow, and groups that never meet, are told", "[core]") {
  const std::string text = text_of("scores.schedule_graph.json");
  const DumpLoopAudit deep = audit_of(text);
  REQUIRE(deep.too_deep.size() == 1);
  CHECK(deep.too_deep[0].alive == 2);  // from 1 to 1001 at II 500
  REQUIRE(deep.never_together.size() == 1);
  CHECK(deep.never_together[0] == std::vector<std::int64_t>{0, 1});
  const DumpLoopAudit shallow = audit_of(replaced(text, "\"count\": 4, \"size_bytes\": 16384", "\"count\": 1, \"size_bytes\": 16384"));
  REQUIRE(shallow.too_shallow.size() == 1);
}

TEST_CASE("a repairable dependence and a unit taken twice are told apart", "[core]") {
  std::string text = text_of("scores.schedule_graph.json");
  text = replaced(text, "\"cycle\": 1240, \"stage\": 2", "\"cycle\": 1499, \"stage\": 2");
  CHECK_FALSE(audit_of(text).illegal());
  const DumpLoopAudit slow = audit_of(replaced(text, "\"src\": 7, \"dst\": 7, \"kind\": \"data\", \"distance\": 1, \"latency\": 5",
                                               "\"src\": 7, \"dst\": 7, \"kind\": \"data\", \"distance\": 1, \"latency\": 510"));
  REQUIRE(slow.broken.size() == 1);
  CHECK(slow.broken[0].repairable);
  const DumpLoopAudit twice = audit_of(replaced(text, "\"cycle\": 1101", "\"cycle\": 1010"));
  CHECK_FALSE(twice.slot_conflicts.empty());
}

TEST_CASE("loops inside each other hold their rings together, loops that follow each other do not", "[core]") {
  const Dump dump = parse_dump(text_of("scores.schedule_graph.json"), "f.json").value();
  CHECK(audit(dump).smem == 4 * 16384 + 32768);
  Dump apart = dump;
  apart.loops[1] = apart.loops[0];
  apart.loops[1].id = 1;
  CHECK(audit(apart).smem == 4 * 16384 + 32768);
}

TEST_CASE("an audit reads as text, as Markdown and as JSON", "[core]") {
  const Dump dump = parse_dump(text_of("scores.schedule_graph.json"), "f.json").value();
  const DumpAudit all = audit(dump);
  const std::string text = audit_text(dump, all, {});
  for (const char* part : {"1 illegal, 1 cannot keep the stated II", "reduce_max_6 (stage 2) -> max_7", "11 cycles short of latency 150",
                           "II 500 is stated, 620", "wg0, wg1"}) {
    CAPTURE(text, part);
    CHECK(contains(text, part));
  }
  TextStyle ascii;
  ascii.utf8 = false;
  for (const char c : audit_text(dump, all, ascii)) CHECK(static_cast<unsigned char>(c) < 128);
  CHECK(contains(audit_markdown(dump, all), "| ✗ | period | II 500 is stated, 620"));
  const Json json = audit_json(dump, all);
  CHECK(*(*json.find("loops")->items())[0].find("sustainable")->integer() == 620);
}

TEST_CASE("files without schedules and groups are audited for what they have", "[core]") {
  for (const char* name : {"scores.ddg.json", "small.curated.json", "cycles.joint.json", "groups.joint.json", "flat.schedule_graph.json"}) {
    const Dump dump = parse_dump(text_of(name), name).value();
    CAPTURE(name);
    CHECK(audit(dump).clean());
    CHECK_FALSE(audit_text(dump, audit(dump), {}).empty());
  }
}

TEST_CASE("a view waits for nothing: what fills its storage or reads it does", "[core]") {
  // The allocation of G is in the group of its load, and the product of another group reads it; only the load waits there.
  const std::string text = text_of("columns.schedule_graph.json");
  CHECK(audit_of(text).program.cycles() == 128);  // the product after itself; not the 500 of a load that waits behind its view
  CHECK(audit(parse_dump(text, "f.json").value()).clean());
  // In the group of the product the view stands before it, and is no op of that group's order.
  const std::string moved = replaced(text, "\"op_kind\": \"ttg.local_alloc\", \"pipeline\": \"NONE\", \"warp_group\": 0",
                                     "\"op_kind\": \"ttg.local_alloc\", \"pipeline\": \"NONE\", \"warp_group\": 2");
  CHECK(audit_of(moved).program.cycles() == audit_of(text).program.cycles());
}

TEST_CASE("a wait behind a view is one of the op that reads the view", "[core]") {
  // The product reads a view in its own group, whose storage a load of another group fills: the product waits, and after it the
  // reader of its result in a third group. Both loads in one group: the first waits again when the second has its slot.
  std::string text = text_of("columns.schedule_graph.json");
  text = replaced(text, "\"op_kind\": \"tt.descriptor_load\", \"pipeline\": \"TMA\", \"warp_group\": 1",
                  "\"op_kind\": \"tt.descriptor_load\", \"pipeline\": \"TMA\", \"warp_group\": 0");
  const DumpLoopAudit a = audit_of(text);
  CHECK(a.program.cycles() <= 300);
  for (const ProgramStep& step : a.program.cycle)
    if (step.kind != ProgramStep::Kind::Dependence)
      for (const std::size_t op : {step.from, step.to}) CHECK((op != 2 && op != 3 && op != 4));
}

TEST_CASE("loops that fit one by one but not together are not in order", "[core]") {
  Dump dump = parse_dump(text_of("columns.schedule_graph.json"), "f.json").value();
  CHECK(audit(dump).smem == 98304 + 16384);
  dump.smem_budget = 98304 + 16384 - 1;
  const DumpAudit all = audit(dump);
  for (const DumpLoopAudit& a : all.loops) CHECK_FALSE(all.too_small(a));
  CHECK(all.over_budget());
  CHECK_FALSE(all.clean());
  CHECK(contains(audit_headline(dump, all), "all loops together need 114688 of 114687 bytes"));
  CHECK_FALSE(contains(audit_text(dump, all, {}), "in order"));
  CHECK(*audit_json(dump, all).find("clean")->boolean() == false);
}

TEST_CASE("a cross anywhere means not in order, and only that does", "[core]") {
  std::vector<Dump> dumps;
  for (const char* name : {"scores.schedule_graph.json", "columns.schedule_graph.json", "flat.schedule_graph.json", "scores.ddg.json"})
    for (const std::int64_t budget : {1'000'000, 114'687, 98'303, 20'000, 100}) {
      Dump dump = parse_dump(text_of(name), name).value();
      dump.smem_budget = budget;
      dumps.push_back(dump);
      for (DumpNode& n : dump.loops[0].nodes)
        if (n.cycle && n.native == "mma") *n.cycle += 3000;
      dumps.push_back(dump);
    }
  int crosses = 0;
  for (const Dump& dump : dumps) {
    const DumpAudit all = audit(dump);
    std::vector<AuditRow> rows = audit_rows(dump, all);
    for (const DumpLoopAudit& a : all.loops)
      for (AuditRow& row : audit_rows(dump, a)) rows.push_back(std::move(row));
    const bool cross = std::any_of(rows.begin(), rows.end(), [](const AuditRow& r) { return r.weight == RowMark::Wrong; });
    CAPTURE(dump.file, dump.smem_budget, audit_text(dump, all, {}));
    CHECK(all.clean() == !cross);
    CHECK(contains(audit_text(dump, all, {}), "✗") == cross);
    crosses += cross;
  }
  CHECK(crosses > 10);
  CHECK(crosses < static_cast<int>(dumps.size()));
}

TEST_CASE("a loop without ops stands beside the others; a file of such loops only is refused", "[core]") {
  const std::string good = text_of("columns.schedule_graph.json");
  const std::string empty =
      R"({"loop_id": 7, "is_outer": false, "warp_groups": [], "schedule_loop": {"id": 7, "II": 1, "max_stage": 0, "buffers": [],
    "graph": {"nodes": [], "edges": [], "cross_wg_barriers": []}}}, {"loop_id": 0)";
  const std::string with = replaced(good, "{\n      \"loop_id\": 0", empty);
  const Dump dump = parse_dump(with, "f.json").value();
  REQUIRE(dump.loops.size() == 3);
  CHECK_FALSE(dump.loops[0].scheduled());
  CHECK(audit(dump).clean());
  CHECK(contains(audit_text(dump, audit(dump), {}), "no ops"));
  const auto none = parse_dump(
      R"({"schema_version": "ddg-0.1", "kernel": {"name": "k"}, "ops": {}, "loops": [{"loop_id": 0, "ddg": {"nodes": [], "edges": []}}]})",
      "e.json");
  REQUIRE_FALSE(none.ok());
  CHECK(contains(to_string(none.error()), "e.json: /loops/0: the loop has no ops; there is nothing to schedule"));
}
