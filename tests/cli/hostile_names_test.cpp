// Names that would steer a terminal, in arguments, in files and as names of files, through every subcommand: none reaches a stream as it
// is, and none makes a line that looks like a message of ours.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/command/command_table.h"
#include "core/base/text_style.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle::app;
using heddle::printable;
using heddle::test::read_text;
using heddle::test::repository_path;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string kHostile = "a\u009b31m\u2066b\b\x1b[2J\x1b]0;x\x07\rc\x7f\u202ed\nheddle: FORGED";

/// The folder in which it is, so that files of any name are written there.
struct InFolder {
  fs::path before = fs::current_path();
  explicit InFolder(const ScratchFolder& folder) { fs::current_path(folder.path("")); }
  ~InFolder() { fs::current_path(before); }
};

void run(const std::vector<std::string>& words) {
  const auto ran = run_heddle(words);
  std::string shown;
  for (const std::string& word : words) shown += printable(word) + " ";
  for (const std::string* text : {&ran.out, &ran.err}) {
    std::string plain = *text;
    for (char& c : plain) c = c == '\t' ? ' ' : c;
    INFO(shown << "\n" << printable(*text, true).substr(0, 2000));
    CHECK(printable(plain, true) == plain);
    CHECK(("\n" + *text).find("\nheddle: FORGED") == std::string::npos);
  }
}

/// Copies of a document in each of which some of its texts is hostile.
std::vector<std::string> hostile_copies(const std::string& text) {
  std::vector<std::string> copies;
  const json flat = json::parse(text).flatten();
  for (const auto& [pointer, value] : flat.items()) {
    if (!value.is_string()) continue;
    json changed = json::parse(text);
    changed[json::json_pointer(pointer)] = kHostile;
    copies.push_back(changed.dump());
  }
  return copies;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
  return text;
}

}  // namespace

TEST_CASE("hostile arguments and values of options are printed harmless by every subcommand", "[app]") {
  const ScratchFolder folder;
  const InFolder there(folder);
  ::setenv("HEDDLE_GUI", ("/nowhere/" + kHostile).c_str(), 1);
  for (const CommandSpec& command : command_table()) {
    run({command.name, kHostile});
    run({command.name, "/nowhere/" + kHostile, kHostile, kHostile});
    run({command.name, "toy_fig1", kHostile, kHostile});
    run({command.name, "toy_fig1", "toy", kHostile, kHostile});
    run({command.name, "--" + kHostile});
    for (const OptionSpec& option : all_options(command)) {
      if (option.type == ValueType::Switch) continue;
      run({command.name, "toy_fig1", "no_such_machine", option.flag, kHostile});
      run({command.name, "no_such_kernel", "toy", option.flag, kHostile, "--json"});
    }
  }
  run({kHostile});
  ::unsetenv("HEDDLE_GUI");
}

TEST_CASE("demands, numbers and names of ops may be hostile too", "[app]") {
  const ScratchFolder folder;
  const InFolder there(folder);
  for (const char* option : {"--demand", "--set", "--param", "--constraints", "--layout", "--instruction", "--subtile"})
    for (const std::string& value : {kHostile, "pin " + kHostile + " at 3", kHostile + "=1", kHostile + ".latency=3"})
      run({"solve", "toy_fig1", "toy", option, value});
  run({"latency", "toy_fig1", "toy", kHostile});
  run({"slack", "toy_fig1", "toy", "--op", kHostile});
  run({"family", "toy_fig1", "toy", "--vary", kHostile});
  run({"family", "toy_fig1", "toy", "--vary", kHostile + "=1,2"});
  run({"family", "toy_fig1," + kHostile, "toy"});
  run({"pareto", "toy_fig1", "toy", "--against", kHostile});
  run({"new", "gemm", kHostile});
  run({"new", "gemm", "bias=" + kHostile});
  run({"new", "gemm", kHostile + "=yes", "-o", kHostile + ".json"});
  run({"new", "gemm", "-o", kHostile + ".json"});
  run({"solve", "toy_fig1", "toy", "--out", kHostile + ".json"});
  run({"layout", kHostile, "--type", "f16"});
  run({"bench", "h100", "--only", kHostile});
  run({"compare", "toy_fig1", "toy", kHostile});
  run({"export", "toy_fig1", "toy", "-o", kHostile});
}

TEST_CASE("hostile texts in files, and files of hostile names, are printed harmless", "[app]") {
  const ScratchFolder folder;
  const InFolder there(folder);
  const auto all = [&](const std::string& text, const std::string& name, const std::vector<std::vector<std::string>>& lines) {
    std::vector<std::string> copies = hostile_copies(text.substr(0, text.find_last_not_of('\n') + 1));
    copies.push_back(text);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const std::string file = folder.write(i + 1 < copies.size() ? name : kHostile + name, copies[i]);
      for (std::vector<std::string> words : lines) {
        for (std::string& word : words) word = word == "FILE" ? file : word;
        run(words);
      }
    }
  };
  const std::string schedule = folder.write("schedule.json", heddle::test::toy_schedule());
  all(read_text(repository_path("kernels/toy_fig1.json")), "kernel.json",
      {{"show", "FILE", "toy"}, {"eval", "FILE"}, {"analyze", "FILE", "toy"}, {"family", "FILE", "toy", "--vary", "groups=1"}});
  all(read_text(repository_path("assets/machines/toy.json")), "machine.json",
      {{"solve", "toy_fig1", "FILE"}, {"traffic", "toy_fig1", "FILE"}});
  all(heddle::test::toy_schedule(), "toy.json",
      {{"check", "toy_fig1", "toy", "FILE"}, {"diff", "toy_fig1", "toy", "FILE", schedule}, {"compare", "toy_fig1", "toy", "FILE"}});
  all(R"([{"ph":"X","name":"S","pid":0,"tid":0,"ts":0.001,"dur":0.001,"args":{"x":"y"}},{"ph":"X","name":"other","pid":0,"tid":0,"ts":1,"dur":1}])",
      "trace.json", {{"overlay", "toy_fig1", "toy", "FILE", schedule}, {"overlay", "toy_fig1", "toy", "FILE", schedule, "--map", "FILE"}});
  all(R"({"id": "one", "do": "solve", "kernel": "toy_fig1", "machine": "toy", "options": {"demand": "pin S at 0"}})", "jobs.jsonl",
      {{"batch", "FILE", "--out", folder.path("results.jsonl")},
       {"batch", "FILE", "--out", folder.path(kHostile + "results.jsonl"), "-v"}});
  all(R"({"schema": "heddle.result/1", "job": "x", "do": "solve", "status": "done", "key": "k"})", "results.jsonl",
      {{"merge", "FILE", "--out", folder.path("merged.jsonl")}, {"tune", "--show", "FILE"}, {"validate", "FILE"}, {"fit", "h100", "FILE"}});
  for (const char* dump : {"flat.schedule_graph.json", "scores.ddg.json", "small.curated.json"})
    all(read_text(repository_path("tests/dumps/" + std::string(dump))), dump, {{"audit", "FILE", "--no-solve"}, {"list", "FILE"}});
}

TEST_CASE("hostile texts of Triton are printed harmless", "[app]") {
  const ScratchFolder folder;
  const InFolder there(folder);
  const std::string text = read_text(repository_path("kernels/triton/attention_forward.sm90.ttgir"));
  const std::string kernel = replaced(text, "@attention_forward(", "@\"" + replaced(kHostile, "\n", " ") + "\"(");
  REQUIRE(kernel != text);
  for (const std::string& changed :
       {kernel, replaced(text, "loc(\"", "loc(\"" + kHostile), replaced(text, "tt.load", kHostile + "tt.load"), text}) {
    const std::string file = folder.write(changed == text ? kHostile + ".ttgir" : "text.ttgir", changed);
    run({"audit", file, "--no-solve"});
    run({"audit", file, "--no-solve", "--json"});
    run({"check", file});
    run({"list", file});
    run({"list", folder.path("")});
    run({"show", file + "#triton," + kHostile});
    run({"export", file, "-o", "out.ttgir"});
    run({"analyze", file});
  }
}
