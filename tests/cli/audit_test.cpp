// A compiler's dumps on the command line: audit, every command that takes a kernel, and the way back. The last case runs the
// compiler's own emitter where HEDDLE_SCHED2TLX names the folder that holds its Python package.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "app/command/exit_code.h"
#include "core/base/json.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using test::contains;
using test::run_heddle;

namespace {

std::string dump(const std::string& name) { return test::repository_path("tests/dumps/" + name); }
const std::string kScores = dump("scores.schedule_graph.json");

}  // namespace

TEST_CASE("audit says what is wrong and exits with 4, with 0 when all is in order", "[app]") {
  const auto run = run_heddle({"audit", kScores, "--no-solve"});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "II 500 is stated, 620 is what the warp groups sustain"));
  CHECK(contains(run.out, "loop 1 (outer)"));
  CHECK_FALSE(contains(run_heddle({"audit", kScores + "#0", "--no-solve"}).out, "loop 1"));
  CHECK_FALSE(contains(run_heddle({"audit", kScores, "--loop", "0", "--no-solve"}).out, "loop 1"));
  CHECK(run_heddle({"audit", dump("flat.schedule_graph.json"), "--no-solve", "--quiet"}).code == kDone);
  CHECK(contains(run_heddle({"audit", kScores, "--no-solve", "--markdown"}).out, "| ✗ | dependences |"));
  const auto json = parse_json(run_heddle({"audit", kScores, dump("scores.ddg.json"), "--no-solve", "--json"}).out, "out");
  REQUIRE(json.ok());
  CHECK(json->items()->size() == 2);
}

TEST_CASE("audit refuses what is no dump, each file by itself", "[app]") {
  const test::ScratchFolder folder;
  const auto run = run_heddle(
      {"audit", folder.path("none.json"), folder.write("text.json", "{\"schema_version\": \"9\"}"), kScores + "#9", "--no-solve"});
  CHECK(run.code == kInvalidInput);
  CHECK(contains(run.err, "none.json"));
  CHECK(contains(run.err, "known: ddg-0.1"));
  CHECK(contains(run.err, "no loop 9"));
  CHECK(run_heddle({"audit"}).code == kUsage);
  CHECK(run_heddle({"audit", kScores, "--json", "--markdown"}).code == kUsage);
}

TEST_CASE("loops that together exceed shared memory are not in order: text, JSON and exit code", "[app]") {
  const test::ScratchFolder folder;
  // The staging tile of the outer loop grows; each loop for itself still fits.
  std::string text = test::read_text(dump("columns.schedule_graph.json"));
  const std::string tile = "\"element_bits\": 16, \"count\": 1, \"size_bytes\": 16384, \"total_bytes\": 16384";
  REQUIRE(contains(text, tile));
  text.replace(text.find(tile), tile.size(), "\"element_bits\": 16, \"count\": 9, \"size_bytes\": 16384, \"total_bytes\": 147456");
  const std::string file = folder.write("large.json", text);
  const auto run = run_heddle({"audit", file, "--no-solve"});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "all loops together need 245760 of 232448 bytes of shared memory"));
  CHECK_FALSE(contains(run.out, "in order"));
  CHECK(contains(run_heddle({"audit", file, "--no-solve", "--json"}).out, "\"clean\": false"));
  CHECK(run_heddle({"audit", dump("columns.schedule_graph.json"), "--no-solve"}).code == kDone);
}

TEST_CASE("a file that is not there is no such file, in every command that takes a kernel", "[app]") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"solve", "nosuch.ddg.json"},
                                                {"solve", "nosuch.json", "h100"},
                                                {"check", "nosuch.json#0,issue-slots"},
                                                {"show", "nosuch.json#0"},
                                                {"export", "nosuch.json", "--loop", "0", "--format", "svg"},
                                                {"audit", "nosuch.json#0"}}) {
    const auto run = run_heddle(words);
    CAPTURE(words[0], run.err);
    CHECK(run.code == kInvalidInput);
    CHECK(contains(run.err, ": no such file"));
    CHECK_FALSE(contains(run.err, "needs MACHINE"));
  }
}

TEST_CASE("help says how a loop of a dump and its reading are named", "[app]") {
  for (const char* command : {"solve", "audit", "check", "export"})
    CHECK(contains(run_heddle({command, "--help"}).out, "FILE#0,issue-slots"));
}

TEST_CASE("a dump stands for a kernel, its machine and its schedule", "[app]") {
  const std::string loop = kScores + "#0";
  CHECK(run_heddle({"check", loop}).code == kNegative);
  CHECK(contains(run_heddle({"check", kScores, "--loop", "0", "--reading", "issue-slots"}).out, "max_7 starts at 1240"));
  CHECK(contains(run_heddle({"analyze", loop}).out, "RecMII 500"));
  CHECK(contains(run_heddle({"show", loop}).out, "wg2"));
  CHECK(contains(run_heddle({"export", loop, "--format", "dot"}).out, "load_K_1"));
  CHECK(contains(run_heddle({"analyze", kScores}).err, "say which one"));
  CHECK(contains(run_heddle({"emit", loop}).err, "numbers only"));
  CHECK(run_heddle({"check", dump("scores.ddg.json")}).code == kInvalidInput);  // it has no schedule
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("a dump is solved, compared with its own schedule, and given back", "[app]") {
  const test::ScratchFolder folder;
  const std::string best = folder.path("best.json"), out = folder.path("out.json");
  CHECK(contains(run_heddle({"solve", kScores, "--loop", "0", "--out", best}).out, "II 500"));
  CHECK(contains(run_heddle({"solve", kScores, "--loop", "0", "--emitter", "--quiet"}).out, "II 620"));
  const auto diff = run_heddle({"diff", kScores + "#0", kScores + "#0", best});
  CHECK(contains(diff.out, "ring load_K_1 depth"));
  const auto board = run_heddle({"compare", kScores + "#0", best, "--no-baselines"});
  CHECK(contains(board.out, "stored"));
  CHECK(contains(board.out, "solver"));
  CHECK(run_heddle({"export", kScores + "#0", best, "--format", "schedule_graph", "--out", out}).code == kDone);
  CHECK(run_heddle({"check", out + "#0"}).code == kDone);
  const auto same = folder.path("same.json");
  CHECK(run_heddle({"export", kScores + "#0", "--format", "schedule_graph", "--out", same}).code == kDone);
  CHECK(test::read_text(same) == test::read_text(kScores));
  const auto variants = folder.path("variants.json");
  CHECK(run_heddle({"export", kScores + "#0", "--format", "variants", "--count", "2", "--out", variants}).code == kDone);
  CHECK(run_heddle({"check", variants + "#0,variant1"}).code == kDone);
}

TEST_CASE("what is solved as the compiler's emitter demands is sustained by the program that it writes", "[app]") {
  const test::ScratchFolder folder;
  const std::string best = folder.path("best.json"), out = folder.path("out.json");
  REQUIRE(run_heddle({"solve", kScores + "#0", "--emitter", "--out", best}).code == kDone);
  REQUIRE(run_heddle({"export", kScores + "#0", best, "--format", "schedule_graph", "--out", out}).code == kDone);
  CHECK(contains(run_heddle({"audit", out + "#0", "--no-solve"}).out, "the warp groups sustain the stated II"));
}

TEST_CASE("a joint-solver problem is solved and answered", "[app]") {
  const test::ScratchFolder folder;
  const std::string problem = dump("cycles.joint.json"), answer = folder.path("answer.json");
  CHECK(run_heddle({"export", problem, "--format", "joint-solver", "--out", answer}).code == kDone);
  CHECK(run_heddle({"check", problem, answer}).code == kDone);
  CHECK(contains(run_heddle({"audit", problem}).out, "II 10 proved least"));
  // Groups at given cycles: clusters stay whole, what must cross does.
  const std::string groups = dump("groups.joint.json"), solved = folder.path("groups.json");
  CHECK(contains(run_heddle({"solve", groups, "--out", solved}).out, "II 40"));
  CHECK(run_heddle({"check", groups, solved}).code == kDone);
  CHECK(contains(run_heddle({"export", groups, solved, "--format", "joint-solver"}).out, "\"wg\": {\"0\": 0, \"1\": 0, \"2\": 1}"));
}

TEST_CASE("what a joint-solver problem allows is part of the question, and that there is no schedule is an answer", "[app]") {
  const test::ScratchFolder folder;
  const std::string good = test::read_text(dump("cycles.joint.json")), answer = folder.path("answer.json");
  const auto asked = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    REQUIRE(contains(text, from));
    text.replace(text.find(from), from.size(), to);
    return folder.write("problem.json", text);
  };
  // The product follows itself after 10 cycles.
  const std::string low = asked("\"min_ii\": 10, \"max_ii\": 80", "\"min_ii\": 2, \"max_ii\": 9");
  CHECK(run_heddle({"solve", low}).code == kNegative);
  CHECK(run_heddle({"export", low, "--format", "joint-solver", "--out", answer}).code == kNegative);
  CHECK(contains(test::read_text(answer), "\"status\": \"infeasible\""));
  CHECK(contains(test::read_text(answer), "\"proven_unsat\": true"));
  // One slot of 16384 bytes does not fit, at no II.
  const std::string small = asked("\"smem_budget\": 40000", "\"smem_budget\": 16383");
  CHECK(run_heddle({"export", small, "--format", "joint-solver", "--out", answer}).code == kNegative);
  CHECK(contains(test::read_text(answer), "\"proven_unsat\": true"));
  // Nor do three of them: the least II leaves the tile alive in two stages.
  const std::string far = asked("\"src\": 1, \"dst\": 3, \"latency\": 0", "\"src\": 1, \"dst\": 3, \"latency\": 160");
  CHECK(run_heddle({"export", far, "--format", "joint-solver", "--out", answer}).code ==
        kNegative);  // two stages of 80 cycles hold at most 159
  const std::string near = asked("\"src\": 1, \"dst\": 3, \"latency\": 0", "\"src\": 1, \"dst\": 3, \"latency\": 60");
  CHECK(run_heddle({"export", near, "--format", "joint-solver", "--out", answer}).code == kDone);
  CHECK(contains(test::read_text(answer), "\"objective_minimized\": false"));
  CHECK(run_heddle({"check", near, answer}).code == kDone);
}

TEST_CASE("the budget of a problem of groups is searched, and where its cycles move they stay in their stages", "[app]") {
  const test::ScratchFolder folder;
  const std::string good = test::read_text(dump("groups.joint.json"));
  const auto asked = [&](const std::vector<std::pair<std::string, std::string>>& changes) {
    std::string text = good;
    for (const auto& [from, to] : changes) {
      REQUIRE(contains(text, from));
      text.replace(text.find(from), from.size(), to);
    }
    return folder.write("problem.json", text);
  };
  // A product's result must cross: 16 bytes beside the 5 that are taken. The load's need not.
  const std::pair<std::string, std::string> taken{"\"committed_smem\": 0", "\"committed_smem\": 5"};
  const std::string fits = asked({taken, {"\"smem_budget\": 232448", "\"smem_budget\": 21"}});
  const std::string solved = folder.path("solved.json");
  const auto answer_of = [&](const std::string& problem) {
    CHECK(run_heddle({"solve", problem, "--out", solved}).code == kDone);
    return run_heddle({"export", problem, solved, "--format", "joint-solver"});
  };
  const auto run = answer_of(fits);
  CAPTURE(run.out, run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "\"wg\": {\"0\": 0, \"1\": 0, \"2\": 1}"));
  const std::string less = asked({taken, {"\"smem_budget\": 232448", "\"smem_budget\": 20"}});
  CHECK(run_heddle({"solve", less}).code == kNegative);
  const std::string moves = asked({{"partition", "joint"}});
  const auto moved = answer_of(moves);
  CAPTURE(moved.out, moved.err);
  CHECK(moved.code == kDone);
  const auto answer = parse_json(moved.out, "");
  REQUIRE(answer);
  const Json* cycles = answer->find("cycles");
  REQUIRE(cycles);
  for (const auto& [node, stage] : {std::pair("0", 0), {"1", 2}, {"2", 4}, {"3", 4}}) {
    REQUIRE(cycles->find(node));
    REQUIRE(cycles->find(node)->integer());
    CHECK(*cycles->find(node)->integer() / 40 == stage);
  }
}

TEST_CASE("explain names a unit's sum by the issue-slots reading, and no recurrence", "[app]") {
  const auto run = run_heddle({"explain", dump("scores.ddg.json") + "#issue-slots"});
  CAPTURE(run.out);
  CHECK(contains(run.out, "TC: mma_2 needs 256 cycles"));
  CHECK_FALSE(contains(run.out, "recurrence"));
}

TEST_CASE("an export is a program that sustains what the emitter's demands promised", "[app]") {
  const test::ScratchFolder folder;
  const std::string file = dump("columns.schedule_graph.json"), best = folder.path("best.json"), out = folder.path("out.json");
  for (const char* loop : {"#0", "#1"}) {
    REQUIRE(run_heddle({"solve", file + loop, "--emitter", "--out", best}).code == kDone);
    REQUIRE(run_heddle({"export", file + loop, best, "--format", "schedule_graph", "--out", out}).code == kDone);
    const auto audit = run_heddle({"audit", out + loop, "--no-solve"});
    CAPTURE(audit.out);
    CHECK(contains(audit.out, "the warp groups sustain the stated II"));
  }
}

TEST_CASE("a file with an empty loop is audited, solved and exported for the others", "[app]") {
  const test::ScratchFolder folder;
  std::string text = test::read_text(dump("columns.schedule_graph.json"));
  const std::string first = "\"loops\": [";
  text.insert(text.find(first) + first.size(),
              R"({"loop_id": 7, "is_outer": false, "warp_groups": [], "schedule_loop": {"id": 7, "II": 1, "max_stage": 0, "buffers": [],
    "graph": {"nodes": [], "edges": [], "cross_wg_barriers": []}}},)");
  const std::string file = folder.write("with_empty.json", text), best = folder.path("best.json"), out = folder.path("out.json");
  CHECK(run_heddle({"audit", file}).code == kDone);
  CHECK(contains(run_heddle({"solve", file + "#7"}).err, "loop 7 has no ops"));
  REQUIRE(run_heddle({"solve", file + "#0", "--emitter", "--out", best}).code == kDone);
  REQUIRE(run_heddle({"export", file + "#0", best, "--format", "schedule_graph", "--out", out}).code == kDone);
  CHECK(contains(test::read_text(out), "\"loop_id\": 7"));
  CHECK(run_heddle({"check", out + "#0"}).code == kDone);
}

TEST_CASE("audit solves the loops anew", "[app]") {
  const auto run = run_heddle({"audit", kScores + "#0"});
  CHECK(contains(run.out, "II 500 proved least"));
  CHECK(contains(run.out, "II 620 proved least"));
}

TEST_CASE("the compiler's own emitter accepts exports", "[app][.slow]") {
  const char* folder = std::getenv("HEDDLE_SCHED2TLX");
  if (!folder) {
    WARN("skipped: HEDDLE_SCHED2TLX does not name a checkout of sched2tlx");
    return;
  }
  const test::ScratchFolder scratch;
  int emitted = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(folder) / "examples")) {
    const std::string file = entry.path().string();
    if (entry.path().extension() != ".json" || !entry.path().filename().string().starts_with("schedule_graph")) continue;
    CAPTURE(file);
    const std::string same = scratch.path("same.json"), best = scratch.path("best.json"), out = scratch.path("out.json");
    REQUIRE(run_heddle({"export", file, "--loop", "0", "--format", "schedule_graph", "--out", same}).code == kDone);
    CHECK(test::read_text(same) == test::read_text(file));
    REQUIRE(run_heddle({"solve", file, "--loop", "0", "--emitter", "--out", best}).code == kDone);
    REQUIRE(run_heddle({"export", file, best, "--loop", "0", "--format", "schedule_graph", "--out", out}).code == kDone);
    const std::string emit = "PYTHONPATH='" + std::string(folder) + "' python3 -m sched2tlx '" + out + "' -o '" + out +
                             ".py' >/dev/null 2>&1 && python3 -m py_compile '" + out + ".py'";
    CHECK(std::system(emit.c_str()) == 0);
    ++emitted;
  }
  CHECK(emitted > 0);
}
#endif

TEST_CASE("several files with --json are one list, also where some cannot be read", "[app]") {
  const auto run = run_heddle({"audit", "nothing.json", kScores, "nor.this", "--no-solve", "--json"});
  CHECK(run.code == kInvalidInput);
  const Result<Json> list = parse_json(run.out, "");
  REQUIRE(list);
  REQUIRE((list->items() && list->items()->size() == 3));
  CHECK((*list->items())[0].find("faults"));
  CHECK((*list->items())[1].find("loops"));
  CHECK(contains(run.err, "nor.this"));
}
