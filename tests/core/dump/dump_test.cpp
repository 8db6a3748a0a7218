// Dumps of a compiler's scheduler, read into Heddle's own terms. The fixtures are hand-written in its formats.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/analysis/bounds.h"
#include "core/base/atomic_file.h"
#include "core/base/suggest.h"
#include "core/check/checker.h"
#include "core/dump/dump_files.h"
#include "core/dump/dump_json.h"
#include "core/dump/native.h"
#include "core/dump/views.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/library/source.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::dump;

namespace {

std::string fixture(const std::string& name) { return test::repository_path("tests/dumps/" + name); }
Dump dump_of(const std::string& name) { return parse_dump(read_file(fixture(name)).value(), name).value(); }

Problem problem_of(const std::string& address) {
  return resolve(load_kernel(fixture(address)).value(), load_machine(fixture(address)).value()).value();
}

std::vector<std::string> names(const dump::DumpLoop& loop) { return names_of(loop.nodes); }

}  // namespace

TEST_CASE("types of a dump give shape, element and place", "[core]") {
  const TileType tile = parse_tile_type("tensor<128x64xf32, #ttg.linear<{register = [[0, 1]]}>>");
  CHECK(tile.space == TileType::Space::Register);
  CHECK(tile.text() == "128x64 f32");
  CHECK(tile.bytes() == 32768);
  CHECK(parse_tile_type("!ttg.memdesc<64x128xbf16, #s, #ttg.shared_memory>").space == TileType::Space::Smem);
  CHECK(parse_tile_type("!ttg.memdesc<128x64xf32, #e, #ttng.tensor_memory, mutable>").space == TileType::Space::Tmem);
  CHECK(parse_tile_type("!ttg.async.token").space == TileType::Space::Token);
  CHECK(parse_tile_type("tensor<128x!tt.ptr<f32>, #b>").element == "ptr");
  CHECK_FALSE(parse_tile_type("i32").tile());
  for (const char* odd : {"", "tensor<", "tensor<>", "tensor<x>", "tensor<0x4xf32>", "tensor<99999999999999999999xf32>", "!ttg.memdesc<64x",
                          "tensor<2x2x2x2x2x2x2x2x2xi1>"})
    CHECK_NOTHROW(parse_tile_type(odd).bytes());
}

TEST_CASE("ops of a dump are named by what they do, and by their node's number", "[core]") {
  const Dump dump = dump_of("scores.schedule_graph.json");
  CHECK(dump.format == Format::ScheduleGraph);
  REQUIRE(dump.loops.size() == 2);
  CHECK(names(dump.loops[0]) ==
        std::vector<std::string>{"muli_0", "load_K_1", "smem_alloc_2", "transpose_3", "mma_4", "tmem_load_5", "reduce_max_6", "max_7"});
  CHECK(dump.loops[0].nodes[1].what == "load K 64x128 bf16");
  CHECK(dump.loops[0].nodes[4].what == "mma 128x64x128 bf16");
  CHECK(dump.loops[1].nodes[0].super);
  CHECK(dump.loops[1].nodes[0].inner_loop == 0);
}

TEST_CASE("what travels along an edge follows from the program", "[core]") {
  const dump::DumpLoop loop = dump_of("scores.schedule_graph.json").loops[0];
  const auto edge = [&](std::size_t from, std::size_t to) {
    return *std::find_if(loop.edges.begin(), loop.edges.end(), [&](const dump::DumpEdge& e) { return e.from == from && e.to == to; });
  };
  CHECK(edge(0, 1).carrier == Carrier::Scalar);
  CHECK(edge(1, 2).carrier == Carrier::Memory);
  CHECK(edge(4, 5).carrier == Carrier::Memory);
  CHECK(edge(5, 6).carrier == Carrier::Register);
  CHECK(edge(5, 6).bytes == 32768);
  CHECK(edge(5, 4).order_only);
  CHECK_FALSE(edge(1, 2).order_only);
  CHECK(crossing_cost(edge(5, 6)) == 150 + 512);
  CHECK(crossing_cost(edge(4, 5)) == 60);
  REQUIRE(loop.residents.size() == 2);
  CHECK(loop.residents[0].tile.bytes() == 32768);
}

TEST_CASE("the full reading leaves out views, fills rings from loads, and holds units for occupancies", "[core]") {
  const Problem p = problem_of("scores.schedule_graph.json#0");
  CHECK(p.ops.size() == 6);
  CHECK_FALSE(p.find_op("transpose_3").valid());
  const OpId load = p.find_op("load_K_1"), mma = p.find_op("mma_4");
  CHECK(p.op(load).uses[0].duration == 96);  // 6 cycles per KiB
  CHECK(p.op(mma).uses[0].duration == 256);  // 128 x 64 x 128 at 4096 a cycle
  CHECK(p.op(mma).kind == "mma");
  const auto ring = std::find_if(p.channels.begin(), p.channels.end(), [&](const Channel& c) { return c.writer == load; });
  REQUIRE(ring != p.channels.end());
  CHECK(ring->size == 16384);
  REQUIRE(ring->readers.size() == 1);
  CHECK(ring->readers[0].op == mma);
  CHECK(p.resident_smem == 32768);
  CHECK(p.resident_columns == 64);
  CHECK(compute_bounds(p).rec_mii == 500);
}

TEST_CASE("the compiler's reading has every node, issue slots, and the compiler's lower bound", "[core]") {
  const Problem p = problem_of("scores.schedule_graph.json#0,issue-slots");
  CHECK(p.ops.size() == 8);
  CHECK(p.op(p.find_op("mma_4")).uses[0].duration == 30);
  CHECK(p.channels.empty());
  for (const heddle::Edge& e : p.edges) CHECK(e.handoff == 0);
  CHECK(compute_bounds(problem_of("scores.ddg.json#issue-slots")).min_ii() == 256);
}

TEST_CASE("an inner loop runs once at a time", "[core]") {
  CHECK(compute_bounds(problem_of("scores.schedule_graph.json#1")).min_ii() == 8000);
}

TEST_CASE("the stored schedule is read as it stands, groups of copied ops from their readers", "[core]") {
  const std::string file = fixture("scores.schedule_graph.json");
  const Problem p = problem_of("scores.schedule_graph.json#0");
  const Schedule s = read_schedule(file, p).value();
  CHECK(s.ii == 500);
  CHECK(s.provenance.kind == "imported");
  CHECK(s.group(p.find_op("muli_0")) == s.group(p.find_op("load_K_1")));
  CHECK(s.groups.size() == 3);
  CHECK(s.groups[2].role == "wg2");
  const auto ring = std::find_if(p.channels.begin(), p.channels.end(), [&](const Channel& c) { return c.name == "load_K_1"; });
  CHECK(s.depths[static_cast<std::size_t>(ring - p.channels.begin())] == 4);
  const Problem slots = problem_of("scores.schedule_graph.json#0,issue-slots");
  const Verdict verdict = check(slots, read_schedule(file, slots).value());
  REQUIRE(verdict.violations.size() == 1);
  CHECK(verdict.violations[0].family == "dependence");
}

TEST_CASE("the other formats are read too", "[core]") {
  const Dump flat = dump_of("flat.schedule_graph.json");
  CHECK(flat.loops[0].stated_ii == 64);
  CHECK(flat.loops[0].nodes[1].group == 1);
  const Dump curated = dump_of("small.curated.json");
  CHECK(curated.format == Format::Curated);
  REQUIRE(curated.loops[0].nodes[1].table.size() == 2);
  CHECK(curated.loops[0].nodes[1].table[1].offset == 1);
  const Dump cycles = dump_of("cycles.joint.json");
  CHECK(cycles.format == Format::JointCycles);
  CHECK(cycles.loops[0].nodes[0].name == "TC_3");
  CHECK(problem_of("cycles.joint.json").ops[0].name == "TMA_0");  // a body defines before it reads
  const Dump groups = dump_of("groups.joint.json");
  CHECK(groups.loops[0].clusters.size() == 3);
  CHECK(groups.loops[0].scheduled());
}

TEST_CASE("several loops have to be told apart, and the fault lists them", "[core]") {
  const std::string file = fixture("scores.schedule_graph.json");
  const auto none = load_kernel(file);
  REQUIRE_FALSE(none.ok());
  CHECK(to_string(none.error()).find("#0: 8 ops, II 500, #1: 2 ops (outer)") != std::string::npos);
  CHECK(to_string(load_kernel(file + "#7").error()).find("no loop 7") != std::string::npos);
  CHECK(to_string(load_kernel(file + "#7,nonsense").error()).find("'nonsense' after #") != std::string::npos);
  CHECK(to_string(load_kernel(file + "#variant3").error()).find("2 loops") != std::string::npos);
  CHECK(load_kernel(file + "#loop1").ok());
}

TEST_CASE("faults of a dump say where they are", "[core]") {
  const std::string good = read_file(fixture("scores.ddg.json")).value();
  const auto faults_with = [&](std::string from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    const auto dump = parse_dump(text, "f.json");
    REQUIRE_FALSE(dump.ok());
    return to_string(dump.error());
  };
  CHECK(faults_with("\"src\": 1, \"dst\": 2", "\"src\": 1, \"dst\": 22").find("/loops/0/ddg/edges/1/dst") != std::string::npos);
  CHECK(faults_with("\"latency\": 556, \"self", "\"latency\": -5, \"self").find("/loops/0/ddg/nodes/0/latency") != std::string::npos);
  CHECK(faults_with("\"src\": 2, \"dst\": 3", "\"src\": 2, \"dst\": 1").find("cycle") != std::string::npos);
  CHECK(faults_with("ddg-0.1", "ddg-0.9").find("/schema_version") != std::string::npos);
  CHECK(faults_with("\"op_ref\": \"op_33\"", "\"op_ref\": \"op_99\"").find("op_99") != std::string::npos);
}

TEST_CASE("a dump is told from Heddle's own files by its content", "[core]") {
  const auto is_dump = [](const std::string& name) {
    const auto source = compilers_file(name);
    return source && source->kind() == SourceKind::Dump;
  };
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) CHECK_FALSE(is_dump(entry.path));
  for (const char* name : {"scores.ddg.json", "flat.schedule_graph.json", "small.curated.json", "cycles.joint.json", "groups.joint.json"})
    CHECK(is_dump(fixture(name)));
  CHECK_FALSE(is_dump("no such file"));
}

TEST_CASE("what a unit is held for in sum bounds II as a unit, not as a recurrence that the file does not have", "[core]") {
  const Problem p = problem_of("scores.ddg.json#issue-slots");
  const Bounds bounds = compute_bounds(p);
  CHECK(bounds.res_mii == 256);
  CHECK(p.unit(bounds.binding_unit).name == "TC");
  CHECK(bounds.rec_mii < 256);
  CHECK(bounds.sentence.find("TC") != std::string::npos);
  for (const heddle::Edge& e : p.edges) CHECK(e.from != e.to);
  // The sum is a rule of its own: slots that fit do not make up for it.
  Schedule s;
  s.ii = 255;
  s.groups.resize(1);
  for (std::size_t v = 0; v < p.ops.size(); ++v) s.ops.push_back({static_cast<Cycle>(v) * 10'000, GroupId(0)});
  derive_groups(p, s);
  s.depths.assign(p.channels.size(), 0);
  const Verdict verdict = check(p, s);
  CHECK(std::any_of(verdict.violations.begin(), verdict.violations.end(),
                    [](const Violation& v) { return v.family == "unit" && v.message.find("in sum, II 255") != std::string::npos; }));
}

TEST_CASE("the limits of a joint-solver problem are demands of its own names", "[core]") {
  const Dump dump = dump_of("cycles.joint.json");
  const Problem p = problem_of("cycles.joint.json");
  CHECK(compute_bounds(p).min_ii() == 10);
  const Constraints rules = problem_rules(dump, dump.loops[0], p);
  REQUIRE(rules.size() == 2);
  CHECK((rules[0].kind == ConstraintKind::IIRange && rules[0].low == 10 && rules[0].high == 80));
  CHECK((rules[1].kind == ConstraintKind::MaxStageSmem && rules[1].high == 40000));
  REQUIRE(rules[1].rings.size() == 1);
  CHECK((rules[1].rings[0].writer == "op_1" && rules[1].rings[0].readers == std::vector<std::string>{"TC_3"} &&
         rules[1].rings[0].bytes == 16384));
  const Dump groups = dump_of("groups.joint.json");
  const Constraints of_groups = problem_rules(groups, groups.loops[0], problem_of("groups.joint.json"));
  CHECK((of_groups[0].kind == ConstraintKind::IIRange && of_groups[0].low == 40 && of_groups[0].high == 40));
}

TEST_CASE("what streams is there at once where the problem says so", "[core]") {
  std::string text = read_file(fixture("cycles.joint.json")).value();
  const auto latency = [&] { return parse_dump(text, "j.json").value().loops[0].edges[0].latency; };
  CHECK(latency() == 25);
  text.replace(text.find("\"random_seed\""), 0, "\"streaming_vl\": true, ");
  CHECK(latency() == 0);
}

TEST_CASE("the emitter bears no channel out of the group of an inner loop, and no more registers than there are", "[core]") {
  const Dump dump = dump_of("columns.schedule_graph.json");
  const Problem outer = problem_of("columns.schedule_graph.json#1");
  const Constraints rules = emitter_rules(dump.loops[1], outer, registers_beside(dump, dump.loops[1]));
  const auto closed =
      std::find_if(rules.begin(), rules.end(), [](const UserConstraint& c) { return c.kind == ConstraintKind::ClosedGroup; });
  REQUIRE(closed != rules.end());
  CHECK(closed->ops == std::vector<std::string>{"inner_loop_1"});
  CHECK(registers_beside(dump, dump.loops[1]) == 3 * 768 + 19456);  // three groups of one warp and one of four
  CHECK(registers_beside(dump, dump.loops[0]) == 19456);
  CHECK(rules.back().kind == ConstraintKind::MaxWidthRegisters);
  CHECK(rules.back().high == 65536 - 3 * 768 - 19456);
  for (const UserConstraint& c : emitter_rules(dump.loops[0], problem_of("columns.schedule_graph.json#0")))
    CHECK(c.kind != ConstraintKind::ClosedGroup);
  CHECK((width_registers(1) == 768 && width_registers(2) == 1536 && width_registers(3) == 19456 && width_registers(4) == 19456 &&
         width_registers(8) == 59392));
}

TEST_CASE("a dump that is not there is no such file, whatever follows the mark", "[core]") {
  for (const char* name : {"nosuch.ddg.json", "nosuch.ddg.json#0", "nosuch.ddg.json#0,issue-slots"}) {
    CAPTURE(name);
    CHECK(to_string(load_kernel(name).error()) == "nosuch.ddg.json: no such file");
    CHECK(to_string(load_machine(name).error()) == "nosuch.ddg.json: no such file");
  }
}

TEST_CASE("a loop without ops is named, and the only one with ops is meant", "[core]") {
  Dump dump = dump_of("columns.schedule_graph.json");
  dump.loops[1].nodes.clear();
  CHECK(find_loop(dump, {"f.json", {}, {}, 0}).value()->id == 0);
  CHECK(to_string(find_loop(dump, {"f.json", 1, {}, 0}).error()).find("loop 1 has no ops") != std::string::npos);
}
