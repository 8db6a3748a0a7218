// What files say was proved: their word in every command until --prove proves it, nothing where something free refutes it.
#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <regex>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using namespace heddle::test;
using nlohmann::json;

namespace {

std::string solved_toy(const ScratchFolder& folder) {
  const std::string path = folder.path("best.json");
  REQUIRE(run_heddle({"solve", "toy_fig1", "toy", "--out", path}).code == kDone);
  return path;
}

/// What is left says "proved" only where it claims it.
std::string without_denials(const std::string& text) { return std::regex_replace(text, std::regex("not proved"), ""); }

/// The toy's best schedule with one part of its file replaced.
std::string forged(const ScratchFolder& folder, const std::string& from, const std::string& to) {
  std::string text = read_text(solved_toy(folder));
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return folder.write("forged.json", text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("what a file says was proved is called its word by every command that shows it", "[app]") {
  ScratchFolder folder;
  const std::string best = solved_toy(folder);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"show", "toy_fig1", "toy", best},
                                                  {"check", "toy_fig1", "toy", best},
                                                  {"slack", "toy_fig1", "toy", best},
                                                  {"diff", "toy_fig1", "toy", best, best},
                                                  {"export", "toy_fig1", "toy", best, "--format", "svg"}}) {
    CAPTURE(command[0]);
    const auto run = run_heddle(command);
    CHECK(run.code == kDone);
    CHECK(contains(run.out, "the file says proved"));
    CHECK_FALSE(contains(run.out, "· proved"));
  }
  const json judged = json::parse(run_heddle({"check", "toy_fig1", "toy", best, "--json"}).out);
  CHECK(judged.at("certificate") == json({{"by", "file"}, {"status", "optimal"}, {"lower_bound", 2}}));
}

TEST_CASE("--prove makes a file's word this program's own", "[app]") {
  ScratchFolder folder;
  const std::string best = solved_toy(folder);
  const auto shown = run_heddle({"show", "toy_fig1", "toy", best, "--prove"});
  CHECK(shown.code == kDone);
  CHECK(contains(shown.out, "II 2 · bound 2 · proved"));
  CHECK(contains(shown.err, "proved again: no schedule has an II below 2"));
  const json judged = json::parse(run_heddle({"check", "toy_fig1", "toy", best, "--prove", "--json"}).out);
  CHECK(judged.at("certificate").at("by") == "heddle");
  const auto both = run_heddle({"diff", "toy_fig1", "toy", best, best, "--prove"});
  CHECK_FALSE(contains(both.out, "the file says"));
  CHECK(contains(both.out, "proved"));
}

TEST_CASE("a claim that its own file or the checker contradicts is thrown away aloud", "[app]") {
  ScratchFolder folder;
  for (const auto& [from, to, why] :
       {std::array<std::string, 3>{"\"lower_bound\": 2", "\"lower_bound\": 1", "says that II 2 is the least, and that the bound is 1"},
        {"\"problem_hash\": \"", "\"problem_hash\": \"0", "is about another problem"},
        {"\"problem_hash\": \"", "\"x-hash\": \"", "does not say which problem it is about"}}) {
    CAPTURE(to);
    const std::string file = forged(folder, from, to);
    const auto run = run_heddle({"show", "toy_fig1", "toy", file});
    CHECK(run.code == kDone);
    CHECK(contains(run.out, "not proved"));
    CHECK(contains(run.err, "forged.json: /certificate: the certificate " + why));
  }
}

TEST_CASE("a false proof is refuted for free, in every command, and never reaches the CUDA text", "[app]") {
  const std::string file = repository_path("tests/schedules/gemm_false_certificate.json");
  for (const std::string command : {"show", "check", "slack", "emit"}) {
    CAPTURE(command);
    const auto run = run_heddle({command, "gemm_hopper", "h100", file});
    CHECK(run.code == kDone);
    CHECK(contains(run.err, "says that no II is below 3072, but"));
    for (const char* lie : {"proved", "optimal", "bound 3072"}) CHECK_FALSE(contains(without_denials(run.out), lie));
  }
  const auto proved = run_heddle({"check", "gemm_hopper", "h100", file, "--prove"});
  CHECK(proved.code == kNegative);
  CHECK(contains(proved.out, "not the least"));
  CHECK(contains(proved.err, "not the least: there is a schedule with II 1024, and this one has 3072"));
  CHECK(contains(proved.out, "bound 1024"));
}

TEST_CASE("a proof under demands says nothing about the question without them", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.path("pinned.json");
  REQUIRE(run_heddle({"solve", "toy_fig1", "toy", "--demand", "at most 1 stage", "--out", path}).code == kDone);
  const auto without = run_heddle({"show", "toy_fig1", "toy", path});
  CHECK(contains(without.err, "is about another problem, or about other demands"));
  CHECK(contains(without.out, "not proved"));
  CHECK(contains(run_heddle({"show", "toy_fig1", "toy", path, "--demand", "at most 1 stage"}).out, "the file says proved"));
}

TEST_CASE("a schedule that was made for another kernel or machine is a fault, whatever rules it obeys", "[app]") {
  ScratchFolder folder;
  for (const auto& [from, to, fault] :
       {std::array<std::string, 3>{"\"kernel\": \"toy_fig1\"", "\"kernel\": \"other\"",
                                   "the schedule was made for kernel 'other', not 'toy_fig1'"},
        {"\"machine\": \"toy\"", "\"machine\": \"b200\"", "the schedule was made for machine 'b200', not 'toy'"}}) {
    CAPTURE(to);
    const std::string file = forged(folder, from, to);
    const auto run = run_heddle({"check", "toy_fig1", "toy", file});
    CHECK(run.code == kNegative);
    CHECK(contains(run.out, fault));
    const auto quiet = json::parse(run_heddle({"check", "toy_fig1", "toy", file, "--json"}).out);
    CHECK_FALSE(quiet.at("valid").get<bool>());
    CHECK(quiet.at("violations").at(0).at("message") == fault);
  }
}

TEST_CASE("a project's proofs are its word, and a forged one is refuted", "[app]") {
  const std::string file = repository_path("tests/schedules/forged.heddle.json");
  const auto run = run_heddle({"show", file});
  CHECK(run.code == kDone);
  CHECK(contains(run.err, "forged.heddle.json: /certificate: the certificate says that no II is below 6, but"));
  CHECK_FALSE(contains(without_denials(run.out), "proved"));
}

TEST_CASE("a front that goes on from a file says that it rests on it, unless it is proved again", "[app]") {
  ScratchFolder folder;
  const std::string front = folder.path("front.json");
  REQUIRE(run_heddle({"pareto", "toy_fig1", "toy", "--against", "stages", "--out", front}).code == kDone);
  const auto resumed = run_heddle({"pareto", "toy_fig1", "toy", "--out", front, "--resume"});
  CHECK(resumed.code == kDone);
  CHECK(contains(resumed.out, "complete; the file says proved"));
  const auto proved = run_heddle({"pareto", "toy_fig1", "toy", "--out", front, "--resume", "--prove"});
  CHECK(proved.code == kDone);
  CHECK(contains(proved.out, "complete and proved"));
}
