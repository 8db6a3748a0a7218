// Triton's texts are found where Triton leaves them: alone, in a log of passes, in its cache, in the events of tritonparse.
#include <unistd.h>
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/triton/read/files.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

namespace fs = std::filesystem;

std::string sample(const std::string& name) { return test::repository_path("tests/triton/texts/" + name); }
std::string content_of(const std::string& name) { return read_file(sample(name)).value(); }
const char* kLog = "attention_forward_ws.sm100.mlir-enable-dump.log";

/// A folder that goes away with the test.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::temp_directory_path() / ("heddle-triton-" + name + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    REQUIRE(write_file(*this / name, content));
    return *this / name;
  }
  std::string str() const { return path_.string(); }

 private:
  fs::path path_;
};

TritonProgram read(const std::string& name) {
  const auto address = parse_address(name);
  if (!address) FAIL(heddle::to_string(address.error()));
  auto program = read_program(*address);
  if (!program) FAIL(heddle::to_string(program.error()));
  return *program;
}

Fault refused(const std::string& name) {
  const auto address = parse_address(name);
  if (!address) return address.error().faults.at(0);
  const auto program = read_program(*address);
  REQUIRE(!program);
  return program.error().faults.at(0);
}

std::vector<Offer> offers(const std::string& path) {
  auto list = list_offers(path);
  if (!list) FAIL(heddle::to_string(list.error()));
  return *list;
}

std::string usual_of(const std::vector<Offer>& list) {
  std::string words;
  for (const Offer& offer : list)
    if (offer.usual) words += (words.empty() ? "" : " ") + offer.words;
  return words;
}

std::string without_end(const std::string& text) { return text.substr(0, text.find_last_not_of('\n') + 1); }

std::string old_header(const std::string& pass, const std::string& kind) {
  return "// -----// IR Dump Before " + kind + " (" + pass + ") ('builtin.module' operation) //----- //\n";
}
std::string new_header(const std::string& pass, const std::string& kind) {
  return "// -----// IR Dump Before " + kind + ": " + pass +
         "{num-stages=3 dump-intermediate-steps=false} ('builtin.module' operation) //----- //\n";
}

}  // namespace

TEST_CASE("an address names a file, and after its mark a pass, a kernel, a loop, a reading", "[core]") {
  const auto address = parse_address("a b/c.log#tritongpu-pipeline:2,1,free,attention").value();
  CHECK(address.path == "a b/c.log");
  CHECK(address.words == std::vector<std::string>{"tritongpu-pipeline:2", "attention"});
  CHECK(address.loop == 1);
  CHECK(address.reading == TextReading::Free);
  CHECK(parse_address(to_string(address)).value().words == address.words);
  CHECK(to_string(parse_address(to_string(address)).value()) == to_string(address));
  CHECK(!parse_address("x.ttgir#0,1"));
  CHECK(!parse_address("x.ttgir#free,triton"));
  CHECK(!parse_address("x.ttgir#99999999999999999999"));
  CHECK(parse_address("x.ttgir").value().words.empty());
  CHECK(parse_address("x.ttgir#").value().words.empty());
  const Folder folder("mark");
  const std::string name = folder.write("a#0", "x");
  CHECK(parse_address(name).value().path == name);
  CHECK(parse_address(name + "#1").value().path == name);
}

TEST_CASE("Triton's texts are told by their content", "[core]") {
  for (const auto& entry : fs::directory_iterator(test::repository_path("tests/triton/texts"))) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().string();
    INFO(name);
    CHECK(is_triton(name) == (name.ends_with(".ttgir") || name.ends_with(".log")));
  }
  CHECK(is_triton(sample(kLog) + "#tritongpu-schedule-loops:2"));
  CHECK(is_triton(test::repository_path("tests/triton/texts")));
  CHECK(!is_triton(test::repository_path("assets/machines")));
  CHECK(!is_triton(sample("absent.ttgir")));
  const Folder folder("content");
  CHECK(is_triton(folder.write("plain.txt", content_of("layer_norm.sm90.scheduled.ttgir"))));
  CHECK(!is_triton(folder.write("other.mlir", "module {\n  func.func @f() {\n    return\n  }\n}\n")));
  CHECK(!is_triton(folder.write("empty", "")));
  CHECK(!is_triton(folder.write("kernel.json", "{\"format\": \"heddle.kernel/1\"}\n")));
  CHECK(!is_triton(folder.write("binary", std::string("#loc = loc(unknown)\0\n", 21))));
  CHECK(!is_triton(folder.str()));
}

TEST_CASE("a text alone is one offer that needs no words", "[core]") {
  const auto list = offers(sample("attention_forward.sm90.scheduled.ttgir"));
  REQUIRE(list.size() == 1);
  CHECK(list[0].words.empty());
  CHECK(list[0].usual);
  CHECK(list[0].kernel == "attention_forward");
  CHECK(list[0].title == "attention_forward (sm_90)");
  CHECK(list[0].detail == "scheduled, 8 warps");
  const TritonProgram program = read(sample("attention_forward.sm90.scheduled.ttgir"));
  CHECK(program.kernel == "attention_forward");
  CHECK(program.form == TextForm::Scheduled);
  CHECK(program.file == sample("attention_forward.sm90.scheduled.ttgir"));
  CHECK((program.module->text == content_of("attention_forward.sm90.scheduled.ttgir")));
  CHECK(machine_for(program).value() == "h100");
}

TEST_CASE("a log offers its modules by pass, and the first run of a pass is what its name means", "[core]") {
  const auto list = offers(sample(kLog));
  REQUIRE(list.size() == 6);
  CHECK(list[1].words == "tritongpu-schedule-loops");
  CHECK(list[1].title == "before tritongpu-schedule-loops");
  CHECK(list[5].words == "tritongpu-schedule-loops:2");
  CHECK(list[5].detail.starts_with("specialized, 4 warps"));
  CHECK(list[2].detail == "scheduled, 4 warps, line 386");
  // It was cut off before the pipeliner: what has stages, not yet in warp groups.
  CHECK(usual_of(list) == "VerifyWarpSpecializationPartitions");
  for (const Offer& offer : list) {
    INFO(offer.words);
    const TritonProgram program = read(sample(kLog) + "#" + offer.words);
    CHECK(program.kernel == "attention_forward");
    CHECK(!program.pass.empty());
    CHECK(program.module->text.starts_with("#blocked"));
    CHECK(program.file == sample(kLog));
  }
  CHECK(read(sample(kLog) + "#tritongpu-schedule-loops").form == TextForm::Input);
  CHECK(read(sample(kLog) + "#tritongpu-schedule-loops:2").form == TextForm::Specialized);
  CHECK(read(sample(kLog) + "#TritonGPUAutomaticWarpSpecialization").form == TextForm::Scheduled);
  CHECK(read(sample(kLog)).form == TextForm::Partitioned);
  CHECK(read(sample(kLog)).module->text.find("IR Dump") == std::string::npos);
  CHECK(read(sample(kLog)).module->text.ends_with(")\n"));
  CHECK(refused(sample(kLog) + "#tritongpu-shedule-loops").hint.find("tritongpu-schedule-loops") != std::string::npos);
  CHECK(refused(sample(kLog) + "#tritongpu-schedule-loops:3").message.find("is no pass") != std::string::npos);
}

TEST_CASE("by default the module before the pipeliner is taken, whatever stands between the modules", "[core]") {
  const std::string input = content_of("attention_forward.sm90.input.ttgir"),
                    scheduled = content_of("attention_forward.sm90.scheduled.ttgir"),
                    final = content_of("attention_forward.sm90.final.ttgir");
  const Folder folder("log");
  for (const bool modern : {false, true}) {
    const auto header = [&](const std::string& pass, const std::string& kind) {
      return modern ? new_header(pass, kind) : old_header(pass, kind);
    };
    const std::string log = "UserWarning: something (a.py:3)\n  x = {\n\n" +
                            header("tritongpu-assign-latencies", "TritonGPUAssignLatencies") + input +
                            "\n\nkernels.py:3:1: remark: spilled\n# = not an alias\n" + header("tritongpu-pipeline", "TritonGPUPipeline") +
                            scheduled + "\n\n" + header("cse", "CSE") + final + "\n" + header("convert-x", "X") +
                            "module {\n  llvm.func @attention_forward() {\n  }\n}\n100%|####| 3/3\n";
    const std::string path = folder.write("run.log", log);
    CHECK(is_triton(path));
    const auto list = offers(path);
    REQUIRE(list.size() == 3);
    CHECK(usual_of(list) == "tritongpu-pipeline");
    const TritonProgram program = read(path);
    CHECK(program.pass == "tritongpu-pipeline");
    CHECK((without_end(program.module->text) == without_end(scheduled)));
    CHECK(read(path + "#cse").form == TextForm::Final);
    CHECK((without_end(read(path + "#cse").module->text) == without_end(final)));
  }
}

TEST_CASE("several kernels in one log are listed, each with its own usual text", "[core]") {
  const std::string first = content_of("gemm_descriptors.sm90.scheduled.ttgir"),
                    second = content_of("attention_forward.sm90.scheduled.ttgir");
  const auto compile = [&](const std::string& text) {
    return new_header("inline", "Inliner") + "module {\n  tt.func public @" + (text == first ? "gemm_descriptors" : "attention_forward") +
           "() {\n    tt.return\n  }\n}\n\n" + new_header("tritongpu-schedule-loops", "TritonGPUScheduleLoops") + text + "\n\n" +
           new_header("tritongpu-pipeline", "TritonGPUPipeline") + text + "\n\n";
  };
  const Folder folder("kernels");
  const std::string two = folder.write("two.log", compile(first) + compile(second));
  CHECK(offers(two).size() == 4);  // what has no layouts yet is left out
  CHECK(usual_of(offers(two)).empty());
  CHECK(offers(two)[1].words == "gemm_descriptors");
  CHECK(offers(two)[0].words == "gemm_descriptors,tritongpu-schedule-loops");
  CHECK(refused(two).message.find("2 kernels") != std::string::npos);
  CHECK(refused(two).hint.find("attention_forward") != std::string::npos);
  CHECK(read(two + "#attention_forward").kernel == "attention_forward");
  CHECK(read(two + "#attention_forward").pass == "tritongpu-pipeline");
  CHECK(read(two + "#gemm_descriptors,tritongpu-schedule-loops").pass == "tritongpu-schedule-loops");
  CHECK(refused(two + "#tritongpu-pipeline").message.find("2 kernels") != std::string::npos);

  const std::string tuned = folder.write("tuned.log", compile(first) + compile(first));
  CHECK(offers(tuned)[1].words == "gemm_descriptors:1");
  CHECK(offers(tuned)[3].words == "gemm_descriptors:2");
  CHECK(read(tuned + "#gemm_descriptors:2").pass == "tritongpu-pipeline");
  CHECK(refused(tuned + "#gemm_descriptors").message.find("2 kernels") != std::string::npos);

  const std::string bare = folder.write("bare.txt", first + "\n" + second);
  CHECK(offers(bare).size() == 2);
  CHECK(read(bare + "#attention_forward").kernel == "attention_forward");
}

TEST_CASE("a failed pass leaves a module in numbers and its reproducer behind", "[core]") {
  const std::string text = content_of("gemm_descriptors.sm90.scheduled.ttgir");
  const Folder folder("failed");
  const std::string path = folder.write(
      "failed.log", new_header("tritongpu-pipeline", "TritonGPUPipeline") + text + "\nkernels.py:1:1: error: op was not predicated\n" +
                        text +
                        "\n{-#\n  external_resources: {\n    mlir_reproducer: {\n      pipeline: "
                        "\"builtin.module(tritongpu-pipeline{num-stages=4})\",\n    }\n  }\n#-}\n"
                        "kernels.py:1:1: note: Pipeline failed while executing [`TritonGPUPipeline` on 'builtin.module' operation]\n");
  const auto list = offers(path);
  REQUIRE(list.size() == 2);
  CHECK(list[1].words == "reproducer");
  CHECK(usual_of(list) == "tritongpu-pipeline");
  CHECK(read(path + "#reproducer").kernel == "gemm_descriptors");
}

TEST_CASE("functions that were printed without their module are texts too", "[core]") {
  std::string text = content_of("gemm_descriptors.sm90.scheduled.ttgir");
  const std::size_t module = text.find("module attributes"), begin = text.find("tt.func"), end = text.rfind("\n}");
  text = text.substr(0, module) + text.substr(begin, end - begin + 1);  // its own end stays indented
  text.replace(text.rfind("\n  }") + 1, 2, "");
  const Folder folder("functions");
  const std::string path =
      folder.write("x.log", "// -----// IR Dump Before CSE (cse) ('tt.func' operation: @gemm_descriptors) //----- //\n" + text + "\n");
  CHECK(offers(path).at(0).words.empty());
  const TritonProgram program = read(path);
  CHECK(program.pass == "cse");
  CHECK(program.kernel == "gemm_descriptors");
}

TEST_CASE("a folder of Triton's cache lists its kernels with what their metadata says", "[core]") {
  const std::string gemm = content_of("gemm_descriptors.sm90.final.ttgir"), attention = content_of("attention_forward.sm90.final.ttgir");
  const Folder cache("cache");
  const std::string metadata =
      "{\"hash\": \"6719\", \"target\": {\"backend\": \"cuda\", \"arch\": 90, \"warp_size\": 32}, \"num_warps\": 8, \"num_ctas\": 1, "
      "\"num_stages\": 3, "
      "\"shared\": 229432, \"tmem_size\": 0, \"name\": \"attention_forward\", \"triton_version\": \"3.9.0\", \"maxnreg\": null}";
  cache.write("M4M7LJCSMGBFT4AB/attention_forward.ttgir", attention);
  cache.write("M4M7LJCSMGBFT4AB/attention_forward.json", metadata);
  cache.write("M4M7LJCSMGBFT4AB/attention_forward.ttir", "module {\n}\n");
  cache.write("M4M7LJCSMGBFT4AB/__grp__attention_forward.json", "{}");
  cache.write("ABCDEFGHIJKLMNOP/gemm_descriptors.ttgir", gemm);
  cache.write("ABCDEFGHIJKLMNOP/gemm_descriptors.json", "this is no JSON");
  cache.write("QRSTUVWXYZABCDEF/unrelated.json", "{}");
  CHECK(is_triton(cache.str()));
  CHECK(is_triton(cache / "M4M7LJCSMGBFT4AB"));
  CHECK(!is_triton(cache / "QRSTUVWXYZABCDEF"));
  const auto list = offers(cache.str());
  REQUIRE(list.size() == 2);
  CHECK(list[1].words == "attention_forward");
  CHECK(list[1].title == "attention_forward (sm_90)");
  CHECK(list[1].detail == "8 warps, num_stages 3, 229432 bytes of shared memory, Triton 3.9.0");
  CHECK(refused(cache.str()).message.find("2 kernels") != std::string::npos);
  const TritonProgram program = read(cache.str() + "#attention_forward");
  CHECK(program.metadata.shared == 229432);
  CHECK(program.metadata.target == 90);
  CHECK(program.metadata.num_stages == 3);
  CHECK(program.metadata.tmem_size == 0);
  CHECK(program.metadata.triton_version == "3.9.0");
  CHECK(program.metadata.file == cache / "M4M7LJCSMGBFT4AB/attention_forward.json");
  CHECK(read(cache / "M4M7LJCSMGBFT4AB").kernel == "attention_forward");
  CHECK(read(cache / "M4M7LJCSMGBFT4AB/attention_forward.ttgir").metadata.shared == 229432);
  CHECK(read(cache.str() + "#gemm_descriptors").metadata.file.empty());
  CHECK(read(cache.str() + "#ABCD").kernel == "gemm_descriptors");

  // The same kernel twice, as autotuning leaves it.
  cache.write("M4M7ZZZZZZZZZZZZ/attention_forward.ttgir", attention);
  const auto twice = offers(cache.str());
  REQUIRE(twice.size() == 3);
  CHECK(twice[1].words == "M4M7LJCS");
  CHECK(twice[2].words == "M4M7ZZZZ");
  CHECK(refused(cache.str() + "#attention_forward").hint.find("M4M7LJCS") != std::string::npos);
  for (const Offer& offer : twice) CHECK(read(cache.str() + "#" + offer.words).kernel == offer.kernel);

  // Links that lead to themselves end.
  fs::create_directory_symlink(cache.str(), cache / "M4M7ZZZZZZZZZZZZ/again");
  CHECK(offers(cache.str()).size() == 3);
  CHECK(!list_offers(cache / "QRSTUVWXYZABCDEF"));
}

TEST_CASE("events of tritonparse hold texts and their metadata", "[core]") {
  const auto event = [](const std::string& kernel, const std::string& text, const std::string& hash) {
    Json metadata = Json::object();
    metadata.set("hash", hash).set("num_warps", 8).set("shared", 229432).set("triton_version", "3.9.0");
    metadata.set("target", Json::object().set("backend", "cuda").set("arch", 90));
    Json payload = Json::object();
    payload.set("metadata", metadata).set("file_path", Json::object().set(kernel + ".ttgir", "x/" + kernel + ".ttgir"));
    payload.set("file_content", Json::object().set(kernel + ".ttir", "module {}").set(kernel + ".ttgir", text));
    return Json::object().set("event_type", "compilation").set("stack", Json::array()).set("payload", payload).line() + "\n";
  };
  const std::string attention = content_of("attention_forward.sm90.final.ttgir"), gemm = content_of("gemm_descriptors.sm90.final.ttgir");
  const std::string launch = "{\"event_type\":\"launch\",\"payload\":{}}\n";
  const Folder folder("trace");
  const std::string one = folder.write("one.ndjson", launch + event("attention_forward", attention, "aaaaaaaa1") + launch +
                                                         event("attention_forward", attention, "aaaaaaaa1"));
  CHECK(is_triton(one));
  CHECK(offers(one).size() == 1);
  const TritonProgram program = read(one);
  CHECK(program.kernel == "attention_forward");
  CHECK(program.metadata.shared == 229432);
  CHECK(program.metadata.triton_version == "3.9.0");
  CHECK((program.module->text == attention));
  const std::string several =
      folder.write("several.ndjson", event("attention_forward", attention, "aaaaaaaa1") + event("gemm_descriptors", gemm, "bbbbbbbb2") +
                                         event("gemm_descriptors", gemm, "cccccccc3") + "{\"event_type\": \"cut of");
  const auto list = offers(several);
  REQUIRE(list.size() == 3);
  CHECK(list[0].words == "attention_forward");
  CHECK(list[2].words == "cccccccc");
  CHECK(read(several + "#cccccccc").kernel == "gemm_descriptors");
  CHECK(refused(folder.write("none.ndjson", launch)).message.find("no event") != std::string::npos);
}

TEST_CASE("what cannot be read says why", "[core]") {
  const Folder folder("refused");
  CHECK(refused(folder / "absent.ttgir").message.find("no such file") != std::string::npos);
  CHECK(refused(folder.write("a.txt", "hello\n")).message.find("no text that Triton") != std::string::npos);
  CHECK(refused(folder.write("b.gz", "\x1f\x8b\x08 compressed")).hint.find("gunzip") != std::string::npos);
  CHECK(refused(folder.write("c.ttir", "module {\n  tt.func public @f(%a: i32) {\n    tt.return\n  }\n}\n")).message.find("no layouts") !=
        std::string::npos);
  CHECK(refused(sample("attention_forward.sm90.scheduled.ttgir") + "#tritongpu-pipeline").message.find("is no pass") != std::string::npos);
  std::string broken = content_of("gemm_descriptors.sm90.scheduled.ttgir");
  broken.replace(broken.find("tt.get_program_id"), 17, "tt.get_program_id %nobody");
  const Fault alone = refused(folder.write("d.ttgir", broken));
  CHECK(alone.pointer.find(':') != std::string::npos);
  const Fault in_log = refused(folder.write("d.log", "noise\n" + new_header("tritongpu-pipeline", "TritonGPUPipeline") + broken));
  CHECK(std::stoi(in_log.pointer) == std::stoi(alone.pointer) + 2);
  CHECK(list_offers(folder / "d.ttgir"));
}

TEST_CASE("the loop that is meant is found, or all are listed with the reason", "[core]") {
  const TritonProgram norm = read(sample("layer_norm.sm90.scheduled.ttgir"));
  CHECK(find_loop(norm, parse_address("x#0").value()).value()->number == 0);
  CHECK(find_loop(norm, parse_address("x#1").value()).value()->number == 1);
  const auto absent = find_loop(norm, parse_address("x#7").value());
  REQUIRE(!absent);
  CHECK(absent.error().faults[0].hint.find("#1") != std::string::npos);
  const TritonProgram plain = read(sample("swiglu_elementwise.sm90.scheduled.ttgir"));
  REQUIRE(!find_loop(plain, {}));
  CHECK(find_loop(plain, {}).error().faults[0].message.find("no loop") != std::string::npos);
  TextAddress log;
  log.path = sample(kLog);
  log.words = {"tritongpu-schedule-loops:2"};
  const TritonProgram hidden = read_program(log).value();
  REQUIRE(!find_loop(hidden, log));
  CHECK(find_loop(hidden, log).error().faults[0].hint.find("#VerifyWarpSpecializationPartitions") != std::string::npos);
}

TEST_CASE("a target has its machine, or a sentence", "[core]") {
  TritonProgram program = read(sample("gemm_descriptors.sm100.scheduled.ttgir"));
  CHECK(machine_for(program).value() == "b200");
  program.target = 103;
  CHECK(machine_for(program).value() == "b200");
  program.target = 90;
  CHECK(machine_for(program).value() == "h100");
  for (const int target : {80, 89, 120}) {
    program.target = target;
    REQUIRE(!machine_for(program));
    CHECK(machine_for(program).error().faults[0].message.find("sm_" + std::to_string(target)) != std::string::npos);
    CHECK(!machine_for(program).error().faults[0].hint.empty());
  }
}
