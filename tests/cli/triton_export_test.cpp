// A schedule given back to Triton on the command line: the text that comes out, what is said beside it, and what is refused.
#include <catch2/catch.hpp>

#include <filesystem>

#include "app/command/exit_code.h"
#include "app/command/option_words.h"
#include "app/jobs/triton_return.h"
#include "core/base/json.h"
#include "core/triton/kernel/native.h"
#include "core/triton/read/files.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using test::contains;
using test::run_heddle;

namespace {

std::string text(const std::string& name) { return test::repository_path("tests/triton/texts/" + name); }
const std::string kAttention = text("attention_forward.sm90.scheduled.ttgir");
const std::string kGemm = text("gemm_descriptors.sm90.scheduled.ttgir");
const std::string kEarlyProduct = text("attention_forward.sm90.compute_pipelined.scheduled.ttgir");
const std::string kLog = text("attention_forward_ws.sm100.mlir-enable-dump.log");

/// The text with exp2 a stage before what it reads.
std::string with_early_exp() {
  std::string edited = test::read_text(kAttention);
  const std::size_t at = edited.find("loop.stage = 2", edited.find("%p_17 = math.exp2"));
  return edited.replace(at, 14, "loop.stage = 1");
}

}  // namespace

TEST_CASE("without a schedule a scheduled text is written as it is, byte for byte", "[app]") {
  const test::ScratchFolder folder;
  for (const std::string& name : {kAttention, kGemm, text("gemm_persistent.sm100.scheduled.ttgir"),
                                  text("attention_forward_ws.sm100.partitioned.ttgir"), text("gemm_pointers.sm80.scheduled.ttgir")}) {
    const auto run = run_heddle({"export", name, "--out", folder.path("own.ttgir")});
    CAPTURE(name, run.err);
    CHECK(run.code == kDone);
    CHECK(test::read_text(folder.path("own.ttgir")) == test::read_text(name));
    CHECK(contains(run.err, "the text's own schedule"));
    CHECK(contains(run.err, "heddle_triton.py finish"));
  }
  const auto own = run_heddle({"export", kGemm, "--format", "ttgir", "--quiet"});
  CHECK(own.out == test::read_text(kGemm));
  CHECK(own.err.empty());
}

TEST_CASE("of a log the module alone is written", "[app]") {
  const std::string pass = kLog + "#tritongpu-automatic-warp-specialization";
  const auto address = triton::parse_address(pass);
  REQUIRE(address.ok());
  const auto program = triton::read_program(*address);
  if (!program) return;  // that pass is not in the log
  const auto run = run_heddle({"export", pass, "--format", "ttgir", "--quiet"});
  CAPTURE(run.err);
  REQUIRE(run.code == kDone);
  CHECK(run.out == program->module->text);
  CHECK(run.out.size() < test::read_text(kLog).size());
}

TEST_CASE("a text that breaks a rule of Triton's passes is refused by its name, and nothing is written", "[app]") {
  const test::ScratchFolder folder;
  const std::string out = folder.path("out.ttgir");
  const auto early = run_heddle({"export", kEarlyProduct, "--out", out});
  CAPTURE(early.err);
  CHECK(early.code == kNegative);
  CHECK(contains(early.err, "triton-product: "));
  CHECK_FALSE(std::filesystem::exists(out));
  const auto order = run_heddle({"export", folder.write("edited.ttgir", with_early_exp()), "--out", out});
  CHECK(order.code == kNegative);
  CHECK(contains(order.err, "triton-order: "));
  CHECK(contains(order.err, "%p_17"));
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a text whose ring is filled before it is read is not in order, and is not given out", "[app]") {
  const test::ScratchFolder folder;
  const std::string text = test::repository_path("tests/triton/broken/rms_rows.sm90.scheduled.ttgir"), out = folder.path("out.ttgir");
  const auto checked = run_heddle({"check", text});
  CHECK(checked.code == kNegative);
  CHECK(contains(checked.out, "triton-ring: %t_8 (tt.load"));
  const auto exported = run_heddle({"export", text, "--format", "ttgir", "--out", out});
  CHECK(exported.code == kNegative);
  CHECK(contains(exported.err, "triton-ring: "));
  CHECK_FALSE(std::filesystem::exists(out));
  const auto audited = run_heddle({"audit", text, "--no-solve"});
  CHECK(audited.code == kNegative);
  CHECK(contains(audited.out, "a slot of a ring is filled before what was there is read"));
}

TEST_CASE("check judges a text by Triton's rules, whether or not the model can run it", "[app]") {
  const test::ScratchFolder folder;
  const auto fine = run_heddle({"check", kAttention, "--quiet"});
  CHECK(fine.code == kDone);
  CHECK(contains(fine.out, "in order by Triton's rules: loop #0"));
  CHECK(contains(fine.out, "8 families, 26 ops, 23 dependences"));
  const std::string edited = folder.write("edited.ttgir", with_early_exp());
  const auto broken = run_heddle({"check", edited});
  CHECK(broken.code == kNegative);
  CHECK(contains(broken.out, "triton-order: "));
  const auto json = parse_json(run_heddle({"check", edited, "--json"}).out, "out");
  REQUIRE(json.ok());
  CHECK(contains(json->pretty(), "\"valid\": false"));
  const Json::Array& violations = *json->find("violations")->items();
  REQUIRE_FALSE(violations.empty());
  CHECK(*violations[0].find("rule")->string() == "triton-order");
  CHECK(*violations[0].find("line")->integer() > 0);
  const Json::Array& loops = *json->find("loops")->items();
  REQUIRE(loops.size() == 1);
  CHECK(*loops[0].find("loop")->integer() == 0);
  CHECK(loops[0].find("violations")->items()->size() == violations.size());
  // An op without a stage: there is no schedule for the model, and the verdict has its name all the same.
  std::string none = test::read_text(kGemm);
  const std::size_t at = none.find("loop.stage = ");
  none.erase(at, std::string("loop.stage = 0 : i32").size());
  while (none[at] == ',' || none[at] == ' ') none.erase(at, 1);
  if (none[at] == '}' && none[at - 2] == ',') none.erase(at - 2, 2);
  const auto unstaged = run_heddle({"check", folder.write("none.ttgir", none)});
  CAPTURE(unstaged.out, unstaged.err);
  CHECK(unstaged.code == kNegative);
  CHECK(contains(unstaged.out, "triton-stage: "));
}

TEST_CASE("check says of a text without stages that there is nothing to judge but memory", "[app]") {
  for (const char* name : {"attention_forward.sm90.input.ttgir", "gemm_descriptors.sm90.final.ttgir"}) {
    const auto run = run_heddle({"check", text(name)});
    CAPTURE(name, run.out, run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.out, "nothing to judge"));
  }
  CHECK(contains(run_heddle({"check", text("swiglu_elementwise.sm90.scheduled.ttgir")}).out, "nothing to judge"));
  CHECK(run_heddle({"check", text("gemm_pointers.sm80.scheduled.ttgir")}).code == kDone);  // no machine file is for it
  const auto loop = run_heddle({"check", kGemm, "--loop", "7"});
  CHECK(loop.code == kInvalidInput);
  CHECK(contains(loop.err, "#0"));
}

TEST_CASE("what is no Triton text has no place for Triton's attributes", "[app]") {
  const auto run = run_heddle({"export", "gemm_hopper", "h100", "--format", "ttgir"});
  CHECK(run.code == kInvalidInput);
  CHECK(contains(run.err, "gemm_hopper is none"));
  CHECK(run.out.empty());
}

TEST_CASE("a text is not written over the one that the schedule is of", "[app]") {
  const test::ScratchFolder folder;
  const std::string copy = folder.write("copy.ttgir", test::read_text(kGemm));
  const auto run = run_heddle({"export", copy, "--out", copy});
  CHECK(run.code == kUsage);
  CHECK(contains(run.err, "would replace"));
  CHECK(test::read_text(copy) == test::read_text(kGemm));
  CHECK(run_heddle({"export", copy, "--out", folder.path("no/such/folder.ttgir")}).code == kEnvironment);
}

TEST_CASE("texts that cannot be given back are refused with their sentence", "[app]") {
  const test::ScratchFolder folder;
  for (const char* name : {"gemm_descriptors.sm90.final.ttgir", "swiglu_elementwise.sm90.scheduled.ttgir"}) {
    const auto run = run_heddle({"export", text(name), "--out", folder.path("out.ttgir")});
    CAPTURE(name, run.err);
    CHECK(run.code == kInvalidInput);
    CHECK_FALSE(run.err.empty());
    CHECK_FALSE(std::filesystem::exists(folder.path("out.ttgir")));
  }
  std::filesystem::create_directory(folder.path("cache"));
  CHECK(run_heddle({"export", folder.path("cache"), "--format", "ttgir"}).code == kInvalidInput);
  CHECK(run_heddle({"export", kGemm + "#7", "--format", "ttgir"}).code == kInvalidInput);
}

TEST_CASE("the rotated loop is printed from the text and its program, and is not written over that", "[app]") {
  const std::string rotated = text("rotated/attention_descriptors.sm90.scheduled.ttgir"), source = text("rotated/rotated.py");
  const test::ScratchFolder folder;
  const auto run = run_heddle({"export", rotated, "--format", "python", "--source", source});
  CAPTURE(run.err);
  REQUIRE(run.code == kDone);
  CHECK(contains(run.out, "for "));
  CHECK(contains(run.err, "takes the place of lines"));
  CHECK(run_heddle({"export", rotated, "--source", source, "--out", folder.path("loop.py")}).code == kDone);
  CHECK(test::read_text(folder.path("loop.py")) == run.out);
  const std::string copy = folder.write("copy.py", test::read_text(source));
  CHECK(run_heddle({"export", rotated, "--source", copy, "--out", copy}).code == kUsage);
  CHECK(test::read_text(copy) == test::read_text(source));
  const auto missing = run_heddle({"export", kGemm, "--format", "python", "--source", folder.path("no.py")});
  CHECK(missing.code == kInvalidInput);
  CHECK(contains(missing.err, "no.py"));
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("a solved schedule goes into the text, which is in order then, and needs what was said", "[app]") {
  const test::ScratchFolder folder;
  const std::string best = folder.path("best.json"), out = folder.path("best.ttgir");
  REQUIRE(run_heddle({"solve", kAttention + "#triton", "--out", best}).code == kDone);
  const auto run = run_heddle({"export", kAttention, best, "--out", out});
  CAPTURE(run.err);
  REQUIRE(run.code == kDone);
  CHECK(contains(run.err, " ops change:"));
  CHECK(contains(run.err, "... and"));
  CHECK(contains(run.err, "predicted: shared memory "));
  CHECK(contains(run.err, "less than the"));  // what Hopper's Triton cannot express has its price
  CHECK(contains(run.err, "heddle emit"));
  CHECK(contains(run.err, "--format python"));
  CHECK(test::read_text(out) != test::read_text(kAttention));
  CHECK(run_heddle({"check", out}).code == kDone);
  CHECK(contains(run_heddle({"check", kAttention + "#triton", best}).out, "can be given back to Triton"));
  // All of what changes, where it is wanted; and nothing but the text where nothing is.
  CHECK_FALSE(contains(run_heddle({"export", kAttention, best, "--format", "ttgir", "--verbose"}).err, "... and"));
  const auto quiet = run_heddle({"export", kAttention, best, "--format", "ttgir", "--quiet"});
  CHECK(quiet.out == test::read_text(out));
}

TEST_CASE("Triton's own schedule is not held to what a search for its passes obeys", "[app]") {
  const auto run = run_heddle({"check", text("attention_forward_ws.sm100.partitioned.ttgir")});
  CAPTURE(run.out);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "by the model of b200: valid"));
}

TEST_CASE("a schedule of the free reading is refused with its price and the ways out", "[app]") {
  const auto run = run_heddle({"export", kAttention + "#free", "--format", "ttgir"});
  CAPTURE(run.err);
  CHECK(run.code == kInvalidInput);
  CHECK(run.out.empty());
  CHECK(contains(run.err, "less than the"));
  CHECK(contains(run.err, "heddle emit"));
  const auto compare = run_heddle({"compare", kAttention});
  CHECK(contains(compare.out, "Give it back to Triton:\n  heddle solve"));
  CHECK(contains(compare.out, "#free"));
}

TEST_CASE("a schedule that is another's, or breaks a rule, does not get into the text", "[app]") {
  const test::ScratchFolder folder;
  const std::string best = folder.path("best.json"), out = folder.path("out.ttgir");
  REQUIRE(run_heddle({"solve", kGemm + "#triton", "--out", best}).code == kDone);
  const auto other = run_heddle({"export", kAttention, best, "--out", out});
  CHECK(other.code == kInvalidInput);
  CHECK(contains(other.err, best));
  // A load a thousand iterations late.
  std::string moved = test::read_text(best);
  const std::size_t at = moved.find("\"start\": ");
  moved.replace(at, std::string("\"start\": 0").size(), "\"start\": 999999");
  const auto late = run_heddle({"export", kGemm, folder.write("late.json", moved), "--out", out});
  CAPTURE(late.err);
  CHECK(late.code != kDone);
  // The text has changed since: it has other tiles.
  std::string changed = test::read_text(kGemm);
  for (std::size_t i = 0; (i = changed.find("%acc", i)) != std::string::npos; i += 5) changed.replace(i, 4, "%sum");
  CHECK(run_heddle({"export", folder.write("changed.ttgir", changed), best, "--out", out}).code == kInvalidInput);
  CHECK_FALSE(std::filesystem::exists(out));
}
#endif

TEST_CASE("what Triton may make otherwise is not predicted as if it were exact", "[app]") {
  Machine machine;
  machine.limits.smem_bytes = 1000;
  triton::TritonMemory before, after;
  before.shared_bytes = 100, before.warps = 8;
  after.shared_bytes = 200, after.warps = 16;
  CHECK(predicted(before, after, machine) == "predicted: shared memory 100 -> 200 of 1 000 bytes, 8 -> 16 warps");
  after.unsure = "these partitions are not Triton's own";
  const std::string unsure = predicted(before, after, machine);
  CHECK(contains(unsure, "perhaps 16 warps"));
  CHECK(contains(unsure, "may differ, in bytes and in warps: these partitions"));
  CHECK_FALSE(contains(unsure, "8 -> "));
}

TEST_CASE("a folder's name stays one string of Python", "[app]") {
  CHECK(use_line("a\n\"b\\") == "import heddle_triton; heddle_triton.use(\"a\\x0a\\\"b\\\\\")");
}

TEST_CASE("what is wrong with a kernel made of a text is said of the text and its line", "[app]") {
  const auto address = triton::parse_address(kGemm + "#triton");
  REQUIRE(address.ok());
  const auto program = triton::read_program(*address);
  REQUIRE(program.ok());
  const auto native = triton::to_native(*program, program->loops.at(0), triton::TextReading::Triton);
  REQUIRE(native.ok());
  const Kernel& kernel = native->kernel;
  Error error{ErrorKind::Input,
              {{kernel.source, "/tensors/0/shape/1", "expected 1 or more, found 0", ""}, {"demands.json", "/0", "odd", ""}}};
  error = triton::unresolved_text(std::move(error), *program, *native, kernel);
  const Fault& fault = error.faults[0];
  CHECK(fault.file == program->file);
  CHECK(fault.pointer == std::to_string(native->origins[0].text_line));
  CHECK(contains(fault.message, "how large the tensor '" + kernel.tensors[0].name + "' is cannot be worked out"));
  CHECK(contains(in_options(error).faults[0].hint, "--param NAME=VALUE"));
  CHECK(error.faults[1].pointer == "/0");
}
