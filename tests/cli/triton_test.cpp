// Triton's texts on the command line: every command that takes a kernel, audit, the three schedules, and what is no text of Triton's.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "app/command/exit_code.h"
#include "core/base/json.h"
#include "tests/app/cli_support.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using test::contains;
using test::run_heddle;

namespace {

std::string text(const std::string& name) { return test::repository_path("tests/triton/texts/" + name); }
const std::string kAttention = text("attention_forward.sm90.scheduled.ttgir");
const std::string kGemm = text("gemm_descriptors.sm90.scheduled.ttgir");
const std::string kLog = text("attention_forward_ws.sm100.mlir-enable-dump.log");

/// A folder as Triton's cache has it, with two kernels.
void fill_cache(const test::ScratchFolder& folder) {
  for (const char* kernel : {"gemm_descriptors", "attention_forward"}) {
    std::filesystem::create_directory(folder.path(kernel));
    folder.write(std::string(kernel) + "/" + kernel + ".ttgir", test::read_text(text(std::string(kernel) + ".sm90.scheduled.ttgir")));
  }
}

}  // namespace

TEST_CASE("audit of a Triton text without solving", "[app]") {
  const auto run = run_heddle({"audit", kAttention, "--no-solve"});
  CAPTURE(run.err);
  CHECK(run.code == kDone);
  CHECK(test::golden_difference("triton_audit_attention.txt", run.out).empty());
  CHECK(contains(run_heddle({"audit", kAttention, "--no-solve", "--markdown"}).out, "| ! | overlap |"));
  CHECK(contains(run_heddle({"audit", kAttention, "--no-solve", "--quiet"}).out, "nothing is wrong"));
  const auto both = parse_json(run_heddle({"audit", kAttention, kGemm, "--no-solve", "--json"}).out, "out");
  REQUIRE(both.ok());
  REQUIRE(both->items()->size() == 2);
  CHECK((*both->items())[0].find("loops"));
}

TEST_CASE("audit exits with 4 where stages let an op read another iteration's tile", "[app]") {
  const test::ScratchFolder folder;
  std::string edited = test::read_text(kAttention);
  const std::size_t at = edited.find("loop.stage = 2", edited.find("%p_17 = math.exp2"));
  edited.replace(at, 14, "loop.stage = 1");
  const auto run = run_heddle({"audit", folder.write("edited.ttgir", edited), "--no-solve"});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "wrong: order"));
}

TEST_CASE("dumps and Triton texts are audited side by side, each by its content", "[app]") {
  const auto run = run_heddle({"audit", test::repository_path("tests/dumps/flat.schedule_graph.json"), kGemm, "--no-solve", "--quiet"});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "gemm_descriptors, sm_90"));
}

TEST_CASE("texts without a loop or for sm_80 open with their sentence, and are not solved", "[app]") {
  const auto none = run_heddle({"audit", text("swiglu_elementwise.sm90.scheduled.ttgir")});
  CHECK(none.code == kDone);
  CHECK(contains(none.out, "the kernel has no loop"));
  CHECK(contains(none.out, "shared memory"));
  const auto old = run_heddle({"audit", text("gemm_pointers.sm80.scheduled.ttgir")});
  CHECK(old.code == kDone);
  CHECK(contains(old.out, "sm_80"));
  CHECK(contains(old.out, "of 166912 bytes"));
  for (const char* name : {"swiglu_elementwise.sm90.scheduled.ttgir", "gemm_pointers.sm80.scheduled.ttgir"}) {
    const auto run = run_heddle({"solve", text(name)});
    CAPTURE(name, run.err);
    CHECK(run.code == kInvalidInput);
    CHECK(run.out.empty());
    CHECK_FALSE(run.err.empty());
  }
}

TEST_CASE("the machine may be left out, and is taken where it is given", "[app]") {
  CHECK(contains(run_heddle({"analyze", kGemm}).out, "h100"));
  CHECK(contains(run_heddle({"analyze", kGemm, "h200"}).out, "h200"));
  CHECK(contains(run_heddle({"analyze", kGemm + "#triton"}).out, "h100"));
  const auto typo = run_heddle({"check", kGemm, "h10"});
  CHECK(typo.code == kInvalidInput);
  CHECK(contains(typo.err, "did you mean 'h100'?"));
  CHECK(contains(run_heddle({"analyze", kGemm, "h100", "h100"}).err, "does not expect"));
}

TEST_CASE("words after # and options name the same loop, pass and reading", "[app]") {
  CHECK(run_heddle({"analyze", kLog + "#tritongpu-partition-scheduling"}).out ==
        run_heddle({"analyze", kLog, "--pass", "tritongpu-partition-scheduling"}).out);
  CHECK(run_heddle({"analyze", kGemm + "#0,triton"}).out == run_heddle({"analyze", kGemm, "--loop", "0", "--reading", "triton"}).out);
  const auto loop = run_heddle({"solve", kGemm + "#7"});
  CHECK(loop.code == kInvalidInput);
  CHECK(contains(loop.err, "#0"));  // the loops that there are
  const auto pass = run_heddle({"audit", kLog + "#no-such-pass", "--no-solve"});
  CHECK(pass.code == kInvalidInput);
  CHECK(contains(pass.err, "no-such-pass"));
}

TEST_CASE("a folder with several kernels lists them with the words to type", "[app]") {
  const test::ScratchFolder folder;
  fill_cache(folder);
  const auto list = run_heddle({"list", folder.path("")});
  CAPTURE(list.err);
  CHECK(list.code == kDone);
  CHECK(contains(list.out, "#attention_forward"));
  CHECK(contains(list.out, "#gemm_descriptors"));
  const auto json = parse_json(run_heddle({"list", folder.path(""), "--json"}).out, "out");
  REQUIRE(json.ok());
  CHECK(json->find("texts")->items()->size() == 2);
  for (const char* command : {"solve", "audit", "show", "check"}) {
    const auto run = run_heddle({command, folder.path("")});
    CAPTURE(command, run.err);
    CHECK(run.code == kInvalidInput);
    CHECK(contains(run.err, "attention_forward"));
    CHECK(contains(run.err, "gemm_descriptors"));
  }
  CHECK(run_heddle({"audit", folder.path("") + "#gemm_descriptors", "--no-solve"}).code == kDone);
  CHECK(contains(run_heddle({"list", kLog}).out, "#tritongpu-schedule-loops:2"));
  CHECK(contains(run_heddle({"list", "machine"}).err, "machines"));
}

TEST_CASE("what is no text of Triton's is refused with a sentence, by every command", "[app]") {
  const test::ScratchFolder folder;
  std::filesystem::create_directory(folder.path("empty"));
  std::string garbage(4096, '\0');
  for (std::size_t i = 0; i < garbage.size(); ++i) garbage[i] = static_cast<char>(i * 37 % 251);
  std::string amd = test::read_text(kGemm);
  amd.replace(amd.find("cuda:90"), 7, "hip:gfx942");
  for (const std::string& file : {folder.write("empty.ttgir", ""), folder.write("garbage.ttgir", garbage), folder.write("amd.ttgir", amd),
                                  folder.write("cut.ttgir", test::read_text(kGemm).substr(0, 3000)), folder.path("empty")}) {
    for (const char* command : {"solve", "audit", "analyze", "show", "compare"}) {
      const auto run = run_heddle({command, file});
      CAPTURE(command, file, run.out, run.err);
      CHECK(run.code == kInvalidInput);
      CHECK(contains(run.err, file.substr(0, file.find('#'))));
      CHECK_FALSE(contains(run.err, "needs MACHINE"));
    }
  }
  CHECK(contains(run_heddle({"solve", folder.path("nosuch.ttgir")}).err, "no such file"));
  if (geteuid() != 0) {  // root may read everything
    std::filesystem::create_directory(folder.path("closed"));
    chmod(folder.path("closed").c_str(), 0);
    CHECK(run_heddle({"list", folder.path("closed")}).code != kDone);
    CHECK(run_heddle({"audit", folder.path("closed")}).code != kDone);
    chmod(folder.path("closed").c_str(), 0700);
  }
}

TEST_CASE("help says how a Triton text is named", "[app]") {
  for (const char* command : {"solve", "check", "export"}) CHECK(contains(run_heddle({command, "--help"}).out, "Triton"));
  CHECK(contains(run_heddle({"audit", "--help"}).out, "FILE#PASS"));
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("Triton's own schedule is looked at without solving", "[app]") {
  const auto show = run_heddle({"show", kGemm});
  CAPTURE(show.err);
  CHECK(show.code == kDone);
  CHECK(contains(show.out, "II window"));
  const auto check = run_heddle({"check", kGemm});
  CAPTURE(check.out, check.err);
  CHECK(check.code == kDone);
  CHECK(contains(check.out, "sustainable period"));
  CHECK(run_heddle({"simulate", kGemm, "--quiet"}).code == kDone);
  CHECK(contains(run_heddle({"export", kGemm, "--format", "svg"}).out, "<svg"));
  // A text from before scheduling has none.
  const std::string before = text("attention_forward.sm90.input.ttgir");
  const auto input = run_heddle({"check", before + "#triton", before});
  CHECK(input.code == kInvalidInput);
  CHECK(contains(input.err, "no schedule of Triton's own"));
}

TEST_CASE("a Triton text is solved in either reading, and its schedule is a file like any other", "[app]") {
  const test::ScratchFolder folder;
  const std::string best = folder.path("best.json");
  const auto solved = run_heddle({"solve", kGemm + "#triton", "--out", best});
  CAPTURE(solved.out, solved.err);
  REQUIRE(solved.code == kDone);
  CHECK(run_heddle({"check", kGemm + "#triton", best}).code == kDone);
  CHECK(run_heddle({"check", kGemm + "#triton", "h100", best}).code == kDone);
  CHECK(run_heddle({"diff", kGemm + "#triton", kGemm + "#triton", best}).err.empty());
  const auto free = run_heddle({"solve", kGemm, "--out", best});
  CHECK((free.code == kDone || free.code == kNoProof));
  if (free.code == kDone) CHECK(run_heddle({"check", kGemm + "#free", best}).code == kDone);
}

TEST_CASE("compare of a Triton text lays three schedules side by side; with a reading it is the scoreboard", "[app]") {
  const auto run = run_heddle({"compare", kGemm, "--json"});
  CAPTURE(run.err);
  CHECK((run.code == kDone || run.code == kNoProof));
  const auto json = parse_json(run.out, "out");
  REQUIRE(json.ok());
  const Json::Array& sides = *json->find("sides")->items();
  REQUIRE(sides.size() == 3);
  std::int64_t own = 0, passes = 0;
  for (const Json& side : sides) {
    REQUIRE(side.find("ii"));
    if (*side.find("whose")->string() == "Triton's") own = *side.find("period")->integer();
    if (*side.find("whose")->string() == "the best Triton could do") passes = *side.find("period")->integer();
  }
  CHECK(own >= passes);
  CHECK_FALSE(json->find("options")->items()->empty());
  const auto board = run_heddle({"compare", kGemm + "#triton", "--no-baselines"});
  CAPTURE(board.out, board.err);
  CHECK(contains(board.out, "triton's own"));
  CHECK(contains(board.out, "solver"));
  const auto refused = run_heddle({"compare", kGemm, "--ii", "1000"});
  CHECK(refused.code == kUsage);
  CHECK(contains(refused.err, "#triton"));
  CHECK(contains(run_heddle({"compare", kGemm, "--format", "html"}).err, "html"));
}

TEST_CASE("audit ends with the three schedules", "[app]") {
  const auto run = run_heddle({"audit", kGemm});
  CAPTURE(run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "the best the machine could do"));
  CHECK(contains(run.out, "num_stages"));
}
#endif
