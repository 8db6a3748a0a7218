// heddle emit, compile and interpret, from words to text.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "codegen/compile/compile.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::repository_path;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

const std::string kGemm = repository_path("tests/schedules/gemm_hopper_h100.json");

}  // namespace

TEST_CASE("emit writes CUDA, or the program's steps", "[app]") {
  ScratchFolder folder;
  const auto run = run_heddle({"emit", "gemm_hopper", "h100", kGemm, "--out", folder.path("gemm.cu")});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(run.out.empty());
  CHECK(contains(heddle::test::read_text(folder.path("gemm.cu")), "extern \"C\" __global__"));
  const auto steps = run_heddle({"emit", "gemm_hopper", "h100", kGemm, "--program", "--trips", "1"});
  CHECK(steps.code == kDone);
  CHECK(contains(steps.out, "gemm_hopper: 1 trips, 384 threads"));
  CHECK(run_heddle({"emit", "gemm_hopper", "h100", kGemm, "-o", "/proc/nowhere/x"}).code == kEnvironment);
}

TEST_CASE("emit writes a package into a folder of its own", "[app]") {
  ScratchFolder folder;
  const std::vector<std::string> words{"emit", "gemm_hopper", "h100", kGemm, "--no-compile", "--format"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_heddle(more);
  };
  for (const char* format : {"package", "torch"}) {
    const auto run = with({format, "-o", folder.path(format)});
    INFO(run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.out, "heddle_gemm_hopper_run()"));
    CHECK(contains(heddle::test::read_text(folder.path(std::string(format) + "/README.md")), "--format " + std::string(format)));
    CHECK(with({format, "-o", folder.path(format), "-q"}).out.empty());  // once more
  }
  CHECK(contains(heddle::test::read_text(folder.path("package/gemm_hopper.cu")), "heddle_gemm_hopper_kernel("));
  CHECK(contains(heddle::test::read_text(folder.path("package/README.md")), "Prediction, not measured: "));
  CHECK(with({"package"}).code == kUsage);
  CHECK(with({"package", "-o", folder.path("x"), "--program"}).code == kUsage);
  CHECK(with({"package", "-o", folder.path("x"), "--records", "ops"}).code == kUsage);
  CHECK(with({"package", "-o", folder.path("package/README.md")}).code == kInvalidInput);
  const auto foreign = with({"package", "-o", repository_path("docs")});
  CHECK(foreign.code == kInvalidInput);
  CHECK(contains(foreign.err, "no package"));
  CHECK(contains(foreign.err, "--force"));
}

TEST_CASE("loops are cut where --cut says, role by role", "[app]") {
  const std::string schedule = repository_path("tests/schedules/attention_ping_pong.json");
  const auto emit = [&](std::vector<std::string> cuts) {
    std::vector<std::string> words{"emit", "attention_forward_hopper", "h100", schedule};
    words.insert(words.end(), cuts.begin(), cuts.end());
    const auto run = run_heddle(words);
    INFO(run.err);
    CHECK(run.code == kDone);
    return run.out;
  };
  const std::string usual = emit({});
  CHECK(emit({"--cut", "0", "--cut", "0"}) == usual);
  CHECK((emit({"--cut", "1"}) != usual || emit({"--cut", "0", "--cut", "1"}) != usual));
  CHECK(run_heddle({"emit", "attention_forward_hopper", "h100", schedule, "--cut", "-1"}).code == kUsage);
  CHECK(run_heddle({"emit", "attention_forward_hopper", "h100", schedule, "--cut", "1,0"}).code == kUsage);
}

TEST_CASE("interpret answers in a sentence, or as an object", "[app]") {
  const auto run = run_heddle({"interpret", "gemm_hopper", "h100", kGemm, "--trips", "5", "--interleavings", "50"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(run.out == "gemm_hopper: 50 interleavings of 3 roles over 2 tiles, 5 trips each: no deadlock, no race\n");
  const auto data = run_heddle({"interpret", "gemm_hopper", "h100", kGemm, "--data", "--interleavings", "1", "--json"});
  CHECK(data.code == kDone);
  CHECK(json::parse(data.out).at("fault").is_null());
}

TEST_CASE("machines and kernels that cannot be written are refused in a sentence", "[app]") {
#ifdef HEDDLE_HAS_SOLVER
  const std::string schedule = repository_path("tests/schedules/attention_forward_blackwell_b200.json");
  const auto run = run_heddle({"emit", "attention_forward_blackwell", "b200", schedule, "--cluster", "2"});
  CHECK(run.code == kNegative);
  CHECK(run.out.empty());
  CHECK(contains(run.err, "cluster: a pair of blocks needs mmas"));
  const auto toy = run_heddle({"compile", "toy_fig1", "toy", "--json"});
  CHECK((toy.code == kNegative || toy.code == kEnvironment));
#endif
  CHECK(run_heddle({"emit", "nothing_like_it", "h100"}).code == kInvalidInput);
  CHECK(run_heddle({"emit", "gemm_hopper", "h100", kGemm, "--trips", "0"}).code == kUsage);
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("what a schedule cannot express becomes a demand, and the solver finds one that can", "[app]") {
  const auto run = run_heddle({"interpret", "swiglu_dual_gemm_hopper", "h100", "--trips", "7", "--interleavings", "20"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.err, "epilogue_crosses_roles: "));
  CHECK(contains(run.err, "solved again with \"G0 and U0 in one group\""));
  CHECK(contains(run.out, "no deadlock, no race"));
}

TEST_CASE("a schedule that cannot become a kernel is kept, or with --again replaced by one that can", "[app]") {
  ScratchFolder folder;
  const std::string apart = folder.path("apart.json"), mended = folder.path("mended.json");
  const auto on_attention = [](const char* command, std::vector<std::string> options) {
    std::vector<std::string> words{command, "attention_forward_hopper", "h100", "-p", "KV=176"};  // has fewer programs than the default
    words.insert(words.end(), options.begin(), options.end());
    return run_heddle(words);
  };
  REQUIRE(on_attention("solve", {"--least-ii", "--demand", "cvt0 and PV0 apart", "--out", apart}).code == kDone);
  const auto kept = on_attention("emit", {apart});
  CHECK(kept.code == kNegative);
  CHECK(contains(kept.err, "product_hand_over: "));
  CHECK(contains(kept.err, "solve with --demand \"cvt0 and PV0 in one group\""));
  const auto again = on_attention("emit", {apart, "--again", "--out", folder.path("again.cu")});
  INFO(again.err);
  CHECK(again.code == kDone);
  CHECK(contains(again.err, "solved again with \"cvt0 and PV0 in one group\""));
  if (!heddle::codegen::find_compiler().ok()) return;
  const auto clean = on_attention("compile", {apart, "--again", "--no-cache", "--schedule", mended});
  INFO(clean.err);
  CHECK(clean.code == kDone);
  CHECK(on_attention("compile", {mended, "--no-cache"}).code == kDone);
}

TEST_CASE("what ptxas spills becomes another cut or a demand, in one command", "[app][.slow]") {
  if (!heddle::codegen::find_compiler().ok()) return;
  for (const char* kernel : {"swiglu_dual_gemm_hopper", "attention_backward_hopper"}) {
    ScratchFolder folder;
    const auto run = run_heddle(
        {"compile", kernel, "h100", "--no-cache", "--json", "--cuda", folder.path("kernel.cu"), "--schedule", folder.path("kernel.json")});
    INFO(run.err);
    CHECK(run.code == kDone);
    const json answer = json::parse(run.out);
    CHECK(answer.at("spill_bytes") == 0);
    CHECK(answer.at("refusals").empty());
    const std::string text = heddle::test::read_text(folder.path("kernel.cu"));
    CHECK(contains(text, "extern \"C\" __global__"));
    // The schedule and the cuts that it tells of are all that it takes to write the text again; what was proved is not in the file.
    const auto unproved = [](std::string of) {
      const std::size_t at = of.find("// certificate:");
      return at == std::string::npos ? of : of.erase(at, of.find('\n', at) - at);
    };
    std::vector<std::string> words{"emit", kernel, "h100", folder.path("kernel.json")};
    for (const json& cut : answer.at("cuts")) words.insert(words.end(), {"--cut", std::to_string(cut.get<int>())});
    CHECK(unproved(run_heddle(words).out) == unproved(text));
  }
}

TEST_CASE("what no schedule can mend is refused with the way out", "[app]") {
  const auto run = run_heddle({"emit", "attention_forward_tile_hopper", "h100", "-p", "KV=32"});  // which has few programs
  CHECK(run.code == kNegative);
  CHECK(contains(run.err, "tile_rows"));
  CHECK(contains(run.err, "--subtile Q_ROWS=2"));
  CHECK(contains(run.err, "no demand avoids it: how large its tiles are is the kernel's"));
}
#endif

TEST_CASE("compile says what ptxas made of it, where there is a compiler", "[app]") {
  const auto run = run_heddle({"compile", "gemm_hopper", "h100", kGemm, "--no-cache", "--json"});
  if (!heddle::codegen::find_compiler().ok()) {
    CHECK(run.code == kEnvironment);
    return;
  }
  INFO(run.err);
  CHECK(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("spill_bytes") == 0);
  CHECK(answer.at("wgmma") == 16);  // four per step of k: both groups have a filling and a steady loop
  const int as_compiled = answer.at("as_compiled");
  CHECK(as_compiled >= 1024);  // the work of the tensor cores, which hardly anything disturbs
  CHECK(as_compiled < 1100);
  for (const json& loop : answer.at("machine_code"))
    if (loop.at("counts").contains("wgmma")) CHECK(loop.at("time").at("iteration") <= as_compiled);
  CHECK(answer.at("refusals").empty());
}

TEST_CASE("compile refuses what ptxas pulled apart, says where, and lets it through when it may", "[app]") {
  if (!heddle::codegen::find_compiler().ok()) return;
  const std::string apart = repository_path("tests/schedules/attention_pulled_apart.json");
  // With the loops cut elsewhere ptxas would leave the products together.
  const auto refused =
      run_heddle({"compile", "attention_forward_hopper", "h100", apart, "-p", "KV=176", "--cut", "0", "--no-cache", "--json"});
  CHECK(refused.code == kKernelFailed);
  CHECK(contains(refused.err, "broken_batch: between two wgmmas of 'PV0'"));
  const json report = json::parse(refused.out);
  CHECK(report.at("refusals").empty());
  CHECK(report.at("findings").size() == 2);
  REQUIRE(report.at("machine_code").size() == 3);
  for (const json& loop : report.at("machine_code")) {
    int all = 0;
    for (const json& stretch : loop.at("stretches"))
      for (const json& count : stretch.at("counts")) all += count.get<int>();
    CHECK(all == loop.at("instructions"));
  }
  const auto allowed = run_heddle({"compile", "attention_forward_hopper", "h100", apart, "-p", "KV=176", "--cut", "0", "--allow"});
  CHECK(allowed.code == kDone);
  CHECK(contains(allowed.err, "broken_batch"));
  CHECK(contains(allowed.out, "PV0 is interrupted"));
  CHECK(contains(allowed.out, "\nas compiled: "));
}

TEST_CASE("emit writes the text that compile finds clean, and the first one when it is told to", "[app]") {
  if (!heddle::codegen::find_compiler().ok()) return;
  ScratchFolder folder;
  // Without the deeper rings, the kernel's first text spills.
  const std::string cuda = folder.path("kernel.cu"), kernel = folder.path("gemm.json");
  REQUIRE(run_heddle({"new", "gemm", "bias=yes", "activation=gelu", "-o", kernel}).code == kDone);
  const auto compiled = run_heddle({"compile", kernel, "h100", "--least-rings", "--cuda", cuda});
  CHECK(compiled.code == kDone);
  const auto emitted = run_heddle({"emit", kernel, "h100", "--least-rings"});
  CHECK(emitted.code == kDone);
  CHECK((emitted.out == heddle::test::read_text(cuda)));
  const auto first = run_heddle({"emit", kernel, "h100", "--least-rings", "--no-compile"});
  CHECK(first.code == kDone);
  CHECK((first.out != emitted.out));
}
