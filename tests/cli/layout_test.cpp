// heddle layout on the command line: published facts, tables of the shipped kernels, pictures, and input that makes no sense.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "app/picture/picture.h"
#include "core/library/library.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

int ways_of(const std::vector<std::string>& words) {
  std::vector<std::string> args{"layout"};
  args.insert(args.end(), words.begin(), words.end());
  args.emplace_back("--json");
  const auto run = run_heddle(args);
  INFO(run.err);
  REQUIRE(run.code == kDone);
  return json::parse(run.out).at("ways");
}

/// Refused with a sentence, as invalid input, and with --json as an object too.
void check_refused(std::vector<std::string> args, const std::string& part) {
  args.insert(args.begin(), "layout");
  const auto run = run_heddle(args);
  INFO(run.err);
  CHECK(run.code == kInvalidInput);
  CHECK(run.out.empty());
  CHECK(contains(run.err, part));
  args.emplace_back("--json");
  const auto object = run_heddle(args);
  CHECK(object.code == kInvalidInput);
  CHECK(json::parse(object.out).is_object());
}

void check_usage(std::vector<std::string> args, const std::string& part) {
  args.insert(args.begin(), "layout");
  const auto run = run_heddle(args);
  INFO(run.err);
  CHECK(run.code == kUsage);
  CHECK(contains(run.err, part));
}

}  // namespace

TEST_CASE("published facts about ldmatrix, from the command line", "[app]") {
  CHECK(ways_of({"(64,64):(64,1)", "--type", "f16", "--access", "ldmatrix.x4"}) == 8);
  CHECK(ways_of({"Sw<3,3,3> o (64,64):(64,1)", "--type", "f16", "--access", "ldmatrix.x4"}) == 1);
  CHECK(ways_of({"Sw<3,3,4> o (64,64):(64,1)", "--type", "f16", "--access", "ldmatrix.x4"}) == 2);
  CHECK(ways_of({"panels 128", "--shape", "64,64", "--type", "f32", "--with", "accumulator", "--access", "st.shared.8"}) == 2);
  for (const char* panels : {"panels 128", "panels 64", "panels 32"})
    CHECK(ways_of({panels, "--shape", "64x64", "--type", "bf16", "--access", "stmatrix.x4", "--machine", "h200"}) == 1);
}

TEST_CASE("a layout by itself: facts, grid, banks, sentence and alternatives", "[app]") {
  const auto run = run_heddle({"layout", "(64,64):(64,1)", "--access", "ldmatrix.x4"});
  CHECK(run.code == kDone);
  for (const char* part :
       {"64 x 64 f16", "8-way", "128 bytes apart", "worst phase", "cycle 8", "7!", "alternatives", "panels 128", "rows more"})
    CHECK(contains(run.out, part));
  CHECK_FALSE(contains(run.out, "\x1b["));
  const auto registers = run_heddle({"layout", "accumulator", "--shape", "64,32", "--type", "f32"});
  CHECK(registers.code == kDone);
  CHECK(contains(registers.out, "in registers only"));
}

TEST_CASE("what Triton prints is read too", "[app]") {
  const auto run =
      run_heddle({"layout", "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
                  "--shape", "64,64"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "64 x 64"));
  CHECK(run_heddle({"layout", "#ttg.blocked<{", "--shape", "64,64"}).code == kInvalidInput);
}

TEST_CASE("every shipped kernel has a table on every machine that it fits", "[app]") {
  for (const heddle::LibraryEntry& kernel : heddle::list_library(heddle::Shelf::Kernels))
    for (const char* machine : {"h100", "b200"}) {
      CAPTURE(kernel.name, machine);
      if (run_heddle({"analyze", kernel.name, machine}).code != kDone) continue;
      const auto run = run_heddle({"layout", kernel.name, machine, "--json"});
      INFO(run.err);
      REQUIRE(run.code == kDone);
      const json table = json::parse(run.out);
      CHECK_FALSE(table.at("values").empty());
      for (const json& row : table.at("values"))
        for (const char* key : {"value", "tile", "space", "layout", "op", "instruction"}) CHECK(row.contains(key));
      CHECK(run_heddle({"layout", kernel.name, machine}).code == kDone);
    }
}

TEST_CASE("the store of dQ has no conflict as it is written today, and says what others would cost", "[app]") {
  const auto run = run_heddle({"layout", "attention_backward_hopper", "h100", "--value", "dqs0", "--json"});
  REQUIRE(run.code == kDone);
  const json view = json::parse(run.out);
  for (const char* key : {"title", "value", "op", "dtype", "rows", "columns", "registers", "memory", "instruction", "port", "least", "ways",
                          "why", "alternatives", "phases"})
    CHECK(view.contains(key));
  CHECK(view.at("op") == "stage_dq0");
  CHECK(view.at("ways") == 1);
  CHECK(view.at("alternatives").at(0).at("taken") == true);
  std::int64_t today = view.at("alternatives").at(0).at("ii_at_least"), plain = 0;
  for (const json& other : view.at("alternatives"))
    if (other.at("layout") == view.at("memory") && other.at("instruction") == "st.shared.8" && !other.contains("exchange")) {
      CHECK(other.at("ways") == 2);
      plain = other.at("ii_at_least");
    }
  CHECK(plain > today);
  // The op by itself means the same, and so does the register value.
  CHECK(json::parse(run_heddle({"layout", "attention_backward_hopper", "h100", "--op", "stage_dq0", "--json"}).out) == view);
  CHECK(json::parse(run_heddle({"layout", "attention_backward_hopper", "h100", "--value", "dq0", "--json"}).out).at("op") == "stage_dq0");
}

TEST_CASE("choices on the command line are what is shown", "[app]") {
  const auto run =
      run_heddle({"layout", "attention_backward_hopper", "h100", "--value", "dqs0", "--instruction", "stage_dq0=st.shared.8", "--json"});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  const json view = json::parse(run.out);
  CHECK(view.at("ways") == 2);
  CHECK(contains(view.at("why"), "2-way"));
}

TEST_CASE("two layouts side by side: values, texts, and what differs", "[app]") {
  const auto values = run_heddle({"layout", "attention_backward_hopper", "h100", "--value", "dsm0", "--compare", "dqs0"});
  INFO(values.err);
  CHECK(values.code == kDone);
  CHECK(contains(values.out, "what differs"));
  const auto texts = run_heddle({"layout", "(64,64):(64,1)", "--access", "ldmatrix.x4", "--compare", "Sw<3,3,3> o (64,64):(64,1)"});
  CHECK(texts.code == kDone);
  CHECK(contains(texts.out, "B needs 448 fewer"));
  const json both = json::parse(
      run_heddle({"layout", "(64,64):(64,1)", "--access", "ldmatrix.x4", "--compare", "Sw<3,3,3> o (64,64):(64,1)", "--json"}).out);
  CHECK(both.at("a").at("ways") == 8);
  CHECK(both.at("b").at("ways") == 1);
}

TEST_CASE("CSV, SVG and PNG are written", "[app]") {
  ScratchFolder folder;
  const auto csv = run_heddle({"layout", "(16,16):(16,1)", "--csv"});
  CHECK(csv.code == kDone);
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 257);
  const std::string svg = folder.path("a.svg"), png = folder.path("a.png");
  const auto run = run_heddle(
      {"layout", "(64,64):(64,1)", "--access", "ldmatrix.x4", "--svg", svg, "--png", png, "--theme", "dark", "--colour", "bank"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(heddle::test::read_text(svg).find("<svg") == 0);
  CHECK(contains(heddle::test::read_text(svg), "heddle-meet"));
  const auto picture = read_png(png);
  REQUIRE(picture.ok());
  CHECK(picture->width > 1000);
  const auto printed = run_heddle({"layout", "(16,16):(16,1)", "--svg", "-"});
  CHECK(printed.out.find("<svg") == 0);
  CHECK(run_heddle({"layout", "(16,16):(16,1)", "--png", folder.path("no/where/a.png")}).code == kEnvironment);
}

TEST_CASE("layouts that make no sense are refused with a sentence", "[app]") {
  check_refused({"(64,64):(64"}, "");
  check_refused({"Sw<20,20,20> o (64,64):(64,1)"}, "30");
  check_refused({"(64,64):(0,1)"}, "");
  check_refused({"{register = [[0, 1], [0, 1]]}", "--shape", "1,4"}, "");
  check_refused({"(64,64):(64,1)", "--access", "ldmatrix.x5"}, "did you mean");
  check_refused({"(64,64):(64,1)", "--access", "wgmma.ss.bf16"}, "ldmatrix.x4");
  check_refused({"(64,64):(64,1)", "--type", "f32", "--access", "ldmatrix.x4.trans"}, "16 bits");
  check_refused({"(64,64):(64,1)", "--type", "f17"}, "types: ");
  check_refused({"panels 128", "--shape", "64,"}, "--shape");
  check_refused({"panels 128", "--shape", "64,9999999999"}, "at most");
  check_refused({"panels 128", "--shape", "64,63"}, "");
  check_refused({"(64,64):(64,1)", "--machine", "toy", "--access", "ldmatrix.x4"}, "no catalogue");
  check_refused({"(64,64):(64,1)", "--with", "(64,64):(1,64)"}, "both layouts are of memory");
  check_refused({std::string(100'000, '(')}, "");
  std::string bases = "{register = [";
  for (int i = 0; i < 200'000; ++i) bases += "[0, 1], ";
  check_refused({bases + "[0, 1]]}", "--shape", "64,64"}, "");
}

TEST_CASE("a picture or grid of very many elements ends soon", "[app]") {
  ScratchFolder folder;
  const auto run = run_heddle({"layout", "(2048,2048):(2048,1)"});
  CHECK(run.code == kDone);
  CHECK(run.out.size() < 10'000);
  check_refused({"(2048,2048):(2048,1)", "--svg", folder.path("a.svg")}, "too many for a picture");
}

TEST_CASE("values, ops and words that do not exist or do not go together", "[app]") {
  check_refused({"attention_backward_hopper", "h100", "--value", "dqs9"}, "did you mean");
  check_refused({"attention_backward_hopper", "h100", "--value", "dqs0", "--op", "load_q"}, "stage_dq0");
  check_refused({"attention_backward_hopper", "h100", "--op", "stage_dq9"}, "did you mean");
  check_refused({"toy_fig1", "toy", "--value", "S"}, "");
  check_usage({"attention_backward_hopper"}, "MACHINE");
  check_usage({"attention_backward_hopper", "h100", "--access", "ldmatrix.x4"}, "layout by itself");
  check_usage({"attention_backward_hopper", "h100", "--csv"}, "--value or --op");
  check_usage({"(64,64):(64,1)", "--value", "x"}, "layout by itself");
  check_usage({"(64,64):(64,1)", "--csv", "--json"}, "leave one out");
  check_usage({"(64,64):(64,1)", "--png", "-"}, "needs a file");
  check_usage({"(64,64):(64,1)", "h100", "--machine", "h100"}, "leave one out");
  check_usage({"(64,64):(64,1)", "--colour", "red"}, "--colour");
}

TEST_CASE("layouts that are left to the solver are chosen, said, and saved with the schedule", "[app]") {
  const ScratchFolder folder;
  const std::string file = folder.path("chosen.json");
  const auto run = run_heddle({"solve", "attention_backward_hopper", "h100", "--choose", "all", "--least-ii", "--json", "--out", file});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("ii") == 2688);
  CHECK(answer.at("status") == "optimal");
  const json& chosen = answer.at("layouts_chosen");
  CHECK(chosen.at("decisions").size() == 3);
  CHECK(chosen.at("combinations") > 1000);
  CHECK(contains(chosen.at("claim"), "is the least over all schedules and the layouts and instructions of dQ, dqs0, dqs1, dsm0 and dsm1"));
  for (const json& decision : chosen.at("decisions")) CHECK(decision.at("candidates").at(int(decision.at("chosen"))).at("why") == "chosen");
  CHECK(run_heddle({"check", "attention_backward_hopper", "h100", file}).code == kDone);
  const auto words = run_heddle({"solve", "attention_backward_hopper", "h100", "--choose", "dqs0", "--least-ii"});
  CHECK(contains(words.out, "candidates for dqs0"));
}

TEST_CASE("what cannot be left to the solver is refused with what could be", "[app]") {
  const auto unknown = run_heddle({"solve", "attention_backward_hopper", "h100", "--choose", "dqs9", "--choose", "nothing"});
  CHECK(unknown.code == kInvalidInput);
  CHECK(contains(unknown.err, "did you mean 'dqs0'?"));
  CHECK(contains(unknown.err, "--choose nothing: "));
  const auto schedule =
      run_heddle({"simulate", "attention_backward_hopper", "h100", "attention_backward_hopper/fa3-backward", "--choose", "all"});
  CHECK(schedule.code == kInvalidInput);
  CHECK(contains(schedule.err, "a schedule has its own"));
  const auto none = run_heddle({"solve", "gemm_hopper", "h100", "--choose", "all"});
  CHECK(none.code == kDone);
  CHECK(contains(none.out, "there is nothing to choose"));
}

TEST_CASE("a demand's price is what it costs with the other layouts still open, and what is said of a layout has one too", "[app]") {
  const auto run = run_heddle({"price", "layernorm", "h100", "--choose", "all", "--demand", "layout xs panels 32", "--json"});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  const json prices = json::parse(run.out);
  CHECK(prices.at("all").at("ii") == 768);
  CHECK(prices.at("none").at("ii") == 456);
  CHECK(contains(prices.at("layouts_open"), "the layouts and instructions of xs and ys that the catalogue of h100 offers"));
  const json& row = prices.at("constraints").at(0);
  CHECK(row.at("demand") == "xs panels 32");
  CHECK(row.at("without").at("ii") == 456);
  CHECK(row.at("without").at("layouts").at("xs") == "panels 0");
  // Left as they are by default, nothing is open.
  const auto plain = run_heddle({"price", "attention_backward_hopper", "h100", "--instruction", "stage_dq0=st.shared.8"});
  CHECK(contains(plain.out, "128 cycles (2688 -> 2816)"));
  CHECK_FALSE(contains(plain.out, "open:"));
}

TEST_CASE("a constraints file demands layouts, and faults of them are said of that file", "[app]") {
  const ScratchFolder folder;
  const std::string file = folder.write("c.json", R"({"schema": "heddle.constraints/1", "layouts": {"dqs0": "panels 128"},
    "instructions": {"stage_dq0": "st.shared.8"}})");
  const auto run =
      run_heddle({"solve", "attention_backward_hopper", "h100", "--choose", "all", "--constraints", file, "--least-ii", "--json"});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  CHECK(json::parse(run.out).at("ii") == 2816);
  // What the command line says goes first.
  const auto other = run_heddle(
      {"solve", "attention_backward_hopper", "h100", "--constraints", file, "--demand", "layout dqs0 panels 32", "--least-ii", "--json"});
  CHECK(json::parse(other.out).at("ii") == 2688);
  const std::string wrong = folder.write("w.json", R"({"schema": "heddle.constraints/1", "layouts": {"dqs9": "panels 128"}})");
  const auto fault = run_heddle({"solve", "attention_backward_hopper", "h100", "--constraints", wrong});
  CHECK(fault.code == kInvalidInput);
  CHECK(contains(fault.err, "w.json"));
  CHECK(contains(fault.err, "dqs9"));
}

TEST_CASE("a front with layouts open is that of the combination that dominates all, and names it", "[app]") {
  const auto run = run_heddle({"pareto", "gemm_w4a16_prepacked_hopper", "h100", "--choose", "all", "--against", "stages", "--json"});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  const json front = json::parse(run.out);
  CHECK(contains(front.at("layouts_open"), "1 after those that others dominate are dropped"));
  CHECK(front.at("complete") == true);
  for (const json& step : front.at("steps"))
    if (step.at("schedule").is_object()) CHECK(step.at("schedule").at("layouts").contains("w0"));
}

TEST_CASE("with layouts open, II at another number is the least over them, as a what-if with the same number says", "[app]") {
  const auto run = run_heddle({"sensitivity", "gemm_w4a16_hopper", "h100", "--choose", "all", "--json"});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(contains(answer.at("layouts_open"), "the layouts and instructions of W, w0 and w1"));
  CHECK(answer.at("layouts").contains("w0"));
  int moving = 0;
  for (const json& row : answer.at("rows")) {
    if (row.at("effect") != "ii") continue;
    ++moving;
    const std::string number = row.at("number").get<std::string>() + "=+10%";
    const auto what_if = run_heddle({"solve", "gemm_w4a16_hopper", "h100", "--choose", "all", "--set", number, "--json"});
    INFO(number);
    REQUIRE(what_if.code == kDone);
    CHECK(json::parse(what_if.out).at("ii") == row.at("more").at("ii"));
  }
  CHECK(moving == 1);  // with packed weights the tensor core alone decides
}

TEST_CASE("explain names the conflicts that hold II up, and what other layouts give", "[app]") {
  const auto run = run_heddle({"explain", "attention_backward_hopper", "h100", "--instruction", "stage_dq0=st.shared.8", "--instruction",
                               "stage_dq1=st.shared.8", "--json"});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  const json answer = json::parse(run.out);
  std::map<std::string, std::int64_t> ways;
  for (const json& way : answer.at("relaxations"))
    if (way.at("ii").is_number()) ways[way.at("what")] = way.at("ii");
  CHECK(ways.at("2-way conflicts of dqs0") == 2816);
  CHECK(ways.at("2-way conflicts of dqs1") == 2816);
  CHECK(ways.at("all of these layouts") == 2688);
}

TEST_CASE("the scoreboard has how others choose layouts beside the joint optimum", "[app]") {
  const auto run =
      run_heddle({"compare", "attention_backward_hopper", "h100", "--choose", "all", "--no-hand", "--baseline", "serial", "--least-ii",
                  "--format", "json", "--timeout", "600"});  // it ends by itself; a slow machine only takes longer
  INFO(run.err);
  REQUIRE(run.code == kDone);
  const json board = json::parse(run.out);
  std::map<std::string, std::int64_t> ii;
  for (const json& contender : board.at("contenders"))
    if (contender.contains("ii") && contender.at("ii").is_number()) ii[contender.at("name")] = contender.at("ii");
  CHECK(ii.at("solver") == 2688);
  CHECK(ii.at("hexcute") >= 2688);
  CHECK(ii.at("triton-layouts") >= 2688);
}
