// Job files: lines, grids, located faults, identities.
#include "app/batch/job_file.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <random>

#include "core/base/atomic_file.h"
#include "core/library/library.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using test::ScratchFolder;

namespace {

std::string words_of(const Job& job) { return fmt::format("{}", fmt::join(job.words, " ")); }

/// The faults of the only job of a text, "POINTER MESSAGE" each.
std::vector<std::string> faults_of(const std::string& text) {
  const JobFile file = parse_jobs(text, "jobs.jsonl");
  REQUIRE(file.jobs.size() == 1);
  std::vector<std::string> faults;
  for (const Fault& fault : file.jobs[0].faults) {
    CHECK(fault.file == "jobs.jsonl:1");
    faults.push_back(fault.pointer + " " + fault.message);
  }
  return faults;
}

void check_fault(const std::string& text, const std::string& pointer, const std::string& part) {
  const auto faults = faults_of(text);
  INFO(text << "\n" << fmt::format("{}", fmt::join(faults, "\n")));
  CHECK(std::any_of(faults.begin(), faults.end(),
                    [&](const std::string& f) { return f.starts_with(pointer + " ") && f.find(part) != std::string::npos; }));
}

}  // namespace

TEST_CASE("a line becomes the command line that a person would type", "[app]") {
  const JobFile file = parse_jobs(
      "# a comment\n\n"
      R"({"do": "solve", "kernel": "gemm_hopper", "machine": "h100", "params": {"TILE_N": 128, "K": 64}, "options": {"timeout": 0.5, "max-stages": 3, "demand": ["registers <= 240", "at most 3 stages"], "require-optimal": true}})"
      "\r\n"
      R"({"do": "compare", "kernel": "-k", "machine": "h100", "schedules": ["a.json", "b.json"], "options": {"no-hand": false}})",
      "jobs.jsonl");
  REQUIRE(file.jobs.size() == 2);
  CHECK(file.faults().empty());
  CHECK(file.jobs[0].line == 3);
  CHECK(file.jobs[0].number == 1);
  CHECK(words_of(file.jobs[0]) ==
        "solve --param=K=64 --param=TILE_N=128 --json --no-color --timeout=0.5 --max-stages=3 --demand=registers <= 240 --demand=at most 3 "
        "stages "
        "--require-optimal -- gemm_hopper h100");
  CHECK(words_of(file.jobs[1]) == "compare --json --no-color -- -k h100 a.json b.json");
  CHECK(file.jobs[0].id.size() == 16);
  CHECK(
      file.jobs[0].description.line() ==
      R"({"do": "solve", "kernel": "gemm_hopper", "machine": "h100", "params": {"K": 64, "TILE_N": 128}, "options": {"demand": ["registers <= 240", "at most 3 stages"], "max-stages": 3, "require-optimal": true, "timeout": 0.5}})");
}

TEST_CASE("a grid is the cross product of its lists, the last one varying fastest", "[app]") {
  const JobFile file = parse_jobs(
      R"({"do": "solve", "machine": "h100", "params": {"K": 64}, "each": {"kernel": ["layernorm", "gemm_hopper"], "params": {"M": {"from": 64, "to": 256, "step": 96}}, "options": {"demand": ["a", ["b", "c"]]}}})"
      "\n"
      R"({"each": {"do": ["solve", "analyze"], "kernel": ["toy_fig1"], "machine": ["toy"]}})",
      "jobs.jsonl");
  REQUIRE(file.jobs.size() == 2 * 3 * 2 + 2);
  CHECK(file.faults().empty());
  CHECK(words_of(file.jobs[0]) == "solve --param=K=64 --param=M=64 --json --no-color --demand=a -- layernorm h100");
  CHECK(words_of(file.jobs[1]) == "solve --param=K=64 --param=M=64 --json --no-color --demand=b --demand=c -- layernorm h100");
  CHECK(words_of(file.jobs[2]) == "solve --param=K=64 --param=M=160 --json --no-color --demand=a -- layernorm h100");
  CHECK(words_of(file.jobs[11]) == "solve --param=K=64 --param=M=256 --json --no-color --demand=b --demand=c -- gemm_hopper h100");
  CHECK(words_of(file.jobs[13]) == "analyze --json --no-color -- toy_fig1 toy");
  CHECK(file.jobs[11].line == 1);
  CHECK(file.jobs[11].number == 12);
  CHECK(file.jobs[12].line == 2);
}

TEST_CASE("a broken line is located and leaves the others alone", "[app]") {
  const JobFile file =
      parse_jobs("{\"do\": \"solve\"\n{\"do\": \"analyze\", \"kernel\": \"toy_fig1\", \"machine\": \"toy\"}\n[1]\n", "x/jobs.jsonl");
  REQUIRE(file.jobs.size() == 3);
  REQUIRE_FALSE(file.jobs[0].faults.empty());
  CHECK(file.jobs[0].faults[0].file == "x/jobs.jsonl:1");
  CHECK(file.jobs[1].faults.empty());
  CHECK(file.jobs[2].faults[0].file == "x/jobs.jsonl:3");
  CHECK(file.jobs[2].number == 3);
  CHECK(parse_jobs("", "x").jobs.empty());
  CHECK_FALSE(read_jobs("/nowhere/jobs.jsonl").ok());
}

TEST_CASE("every fault of a line says where it is and what was meant", "[app]") {
  const std::string head = R"({"do": "solve", "kernel": "k", "machine": "m", )";
  check_fault(R"({"kernel": "k"})", "", "\"do\" is missing");
  check_fault(R"({"do": "solv", "kernel": "k"})", "/do", "no job does 'solv'");
  check_fault(R"({"do": "batch", "kernel": "k"})", "/do", "no job does 'batch'");
  check_fault(R"({"do": "gui"})", "/do", "no job does 'gui'");
  check_fault(R"({"do": "solve", "kernel": "k"})", "", "\"machine\" is missing");
  check_fault(R"({"do": "solve", "kernel": 7, "machine": "m"})", "/kernel", "a text of 1 to");
  check_fault(R"({"do": "solve", "kernel": "a\u0000b", "machine": "m"})", "/kernel", "control characters");
  check_fault(R"({"do": "solve", "kernel": "", "machine": "m"})", "/kernel", "a text of 1 to");
  check_fault(head + R"("prams": {}})", "/prams", "no member 'prams'");
  check_fault(head + R"("params": {"K": "x"}})", "/params/K", "integer");
  check_fault(head + R"("params": {"K": 1.5}})", "/params/K", "integer");
  check_fault(head + R"("params": {"a=b": 1}})", "/params/a=b", "no '='");
  check_fault(head + R"("params": [1]})", "/params", "an object");
  check_fault(head + R"("options": {"max-stage": 1}})", "/options/max-stage", "no option");
  check_fault(head + R"("options": {"max-stages": 65}})", "/options/max-stages", "from 1 to 64");
  check_fault(head + R"("options": {"max-stages": "2"}})", "/options/max-stages", "a number");
  check_fault(head + R"("options": {"timeout": -1}})", "/options/timeout", "seconds");
  check_fault(head + R"("options": {"timeout": 1e400}})", "/options/timeout", "overflow");
  check_fault(head + R"("options": {"json": true}})", "/options/json", "JSON");
  check_fault(head + R"("options": {"param": "K=1"}})", "/options/param", "params");
  check_fault(head + R"("options": {"require-optimal": 1}})", "/options/require-optimal", "true or false");
  check_fault(head + R"("options": {"demand": ["a", 7]}})", "/options/demand/1", "a text of 1 to");
  check_fault(head + R"("options": {"--timeout": 1}})", "/options/--timeout", "no option");
  check_fault(head + R"("schema": "heddle.kernel/1"})", "/schema", "heddle.job/1");
  check_fault(head + R"("options": {"seed": 1, "seed": 2}})", "/options/seed", "twice");
  check_fault(head + R"("each": {}})", "/each", "at least one list");
  check_fault(head + R"("each": []})", "/each", "an object");
  check_fault(head + R"("each": {"kernel": ["a"]}})", "/each/kernel", "already");
  check_fault(head + R"("each": {"params": {"K": []}}})", "/each/params/K", "at least one value");
  check_fault(head + R"("each": {"params": {"K": 7}}})", "/each/params/K", "object");
  check_fault(head + R"("each": {"params": {"K": [1, "x", 3]}}})", "/each/params/K/1", "integer");
  check_fault(head + R"("each": {"params": {"K": {"from": 9, "to": 1}}}})", "/each/params/K", "above");
  check_fault(head + R"("each": {"params": {"K": {"from": 1, "to": 9, "step": 0}}}})", "/each/params/K/step", "positive");
  check_fault(head + R"("each": {"params": {"K": {"from": 1, "to": 900000}}}})", "/each", "more than 100000");
  check_fault(head + R"("each": {"params": {"K": {"from": 1, "to": 1000}, "L": {"from": 1, "to": 1000}}}})", "/each", "more than 100000");
  check_fault(head + R"("each": {"options": {"max-stages": [1, 99]}}})", "/each/options/max-stages/1", "from 1 to 64");
  check_fault(head + R"("each": {"nonsense": [1, 2]}})", "/each/nonsense/0", "no member");
  // What stands in every point is said once.
  CHECK(faults_of(R"({"do": "solv", "each": {"kernel": ["a", "b", "c"]}})").size() == 1);
}

TEST_CASE("a job's identity is its words and what it reads", "[app]") {
  const ScratchFolder scratch;
  const auto id_of = [](const std::string& line) {
    const JobFile file = parse_jobs(line, "jobs.jsonl");
    REQUIRE(file.jobs.size() == 1);
    REQUIRE(file.jobs[0].faults.empty());
    return file.jobs[0].id;
  };
  const std::string kernel = *read_file(*find_in_library(Shelf::Kernels, "toy_fig1")), mine = scratch.write("k.json", kernel);
  const std::string line = R"({"do": "solve", "kernel": ")" + mine + R"(", "machine": "toy"})";
  const std::string before = id_of(line);
  CHECK(id_of(line) == before);
  CHECK(id_of(R"({"machine": "toy", "kernel": ")" + mine + R"(", "do": "solve"})") == before);  // the order of members says nothing
  CHECK(id_of(R"({"x-note": 1, "do": "solve", "kernel": ")" + mine + R"(", "machine": "toy"})") == before);
  CHECK(id_of(R"({"do": "analyze", "kernel": ")" + mine + R"(", "machine": "toy"})") != before);
  CHECK(id_of(R"({"do": "solve", "kernel": ")" + mine + R"(", "machine": "h100"})") != before);
  CHECK(id_of(R"({"do": "solve", "kernel": ")" + mine + R"(", "machine": "toy", "options": {"seed": 1}})") != before);
  scratch.write("k.json", kernel + " ");
  CHECK(id_of(line) != before);
  std::filesystem::remove(mine);
  CHECK(id_of(line) != before);

  const JobFile twins = parse_jobs(line + "\n" + line + "\n", "jobs.jsonl");
  CHECK(twins.jobs[0].id == twins.jobs[1].id);
  CHECK(twins.batch != parse_jobs(line + "\n", "jobs.jsonl").batch);
  // Bad lines are told apart by their text and place.
  const JobFile bad = parse_jobs("{\n{\n", "jobs.jsonl");
  CHECK(bad.jobs[0].id != bad.jobs[1].id);
}

TEST_CASE("the example job file has no faults", "[app]") {
  const Result<JobFile> file = read_jobs(test::repository_path("tests/schema/example.jobs.jsonl"));
  REQUIRE(file.ok());
  CHECK(file->faults().empty());
  CHECK(file->jobs.size() > 5);
}

TEST_CASE("no text makes the reader of job files crash, and what it makes is a job or a fault", "[app]") {
  const char* given = std::getenv("HEDDLE_SEED");
  const unsigned seed = given ? static_cast<unsigned>(std::stoul(given)) : 20261121u;
  INFO("HEDDLE_SEED=" << seed);
  std::mt19937 random(seed);
  const std::string whole = *read_file(test::repository_path("tests/schema/example.jobs.jsonl"));
  for (int round = 0; round < 400; ++round) {
    std::string text = whole;
    for (unsigned change = 0; change <= random() % 6; ++change) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text[at] = static_cast<char>(random()); break;
        case 1: text.erase(at, random() % 20); break;
        case 2: text.insert(at, std::string("\n{}[]\",:\\0#\x01").substr(random() % 10, 1)); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 60)); break;
      }
      if (text.empty()) break;
    }
    const JobFile file = parse_jobs(text, "jobs.jsonl");
    for (std::size_t i = 0; i < file.jobs.size(); ++i) {
      const Job& job = file.jobs[i];
      CHECK(job.number == i + 1);
      CHECK(job.faults.empty() == !job.command.empty());
      CHECK(job.id.size() == 16);
      for (const std::string& word : job.words) CHECK(word.find('\0') == std::string::npos);
    }
  }
}
