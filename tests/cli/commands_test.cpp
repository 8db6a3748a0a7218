// Commands on real and on broken files: exit codes, what is on which stream, JSON that parses.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/cli/schemas.h"
#include "app/command/command_table.h"
#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using heddle::test::toy_schedule;
using nlohmann::json;

namespace {

std::string toy_kernel() { return heddle::test::read_text(heddle::test::repository_path("kernels/toy_fig1.json")); }

/// The toy's kernel file with a change made by `edit`.
template <class Edit>
std::string edited_kernel(Edit edit) {
  json kernel = json::parse(toy_kernel());
  edit(kernel);
  return kernel.dump();
}

}  // namespace

TEST_CASE("every class of bad kernel file ends with code 3, a sentence on stderr and faults in the JSON", "[app]") {
  ScratchFolder folder;
  const std::vector<std::pair<std::string, std::string>> files{
      {"empty.json", ""},
      {"truncated.json", toy_kernel().substr(0, 900)},
      {"not_json.json", std::string("\x00\xff\x01", 3)},
      {"a_list.json", "[]"},
      {"deep.json", std::string(100000, '[')},
      {"other_schema.json", edited_kernel([](json& k) { k["schema"] = "heddle.machine/1"; })},
      {"newer.json", edited_kernel([](json& k) { k["schema"] = "heddle.kernel/99"; })},
      {"wrong_type.json", edited_kernel([](json& k) { k["body"] = 3; })},
      {"dangling.json", edited_kernel([](json& k) { k["body"][1]["in"][0] = "nowhere"; })},
      {"cyclic.json", edited_kernel([](json& k) { k["body"][0]["in"][0] = "p"; })},
      {"unknown_kind.json", edited_kernel([](json& k) { k["body"][0]["kind"] = "mmma"; })},
      {"absurd.json", edited_kernel([](json& k) { k["values"][0]["shape"][0] = 1000000000000000000; })},
      {"beyond_64_bits.json", edited_kernel([](json& k) { k["params"][0]["value"] = 1e30; })},
      {"too_large_value.json", edited_kernel([](json& k) {
         for (json& value : k["values"]) value["shape"] = {100, 100}, value["space"] = "smem";
       })},
      {"duplicate.json", "{\"schema\": \"heddle.kernel/1\", \"schema\": \"heddle.kernel/1\"}"},
  };
  for (const auto& [name, text] : files) {
    const std::string path = folder.write(name, text);
    for (const char* command : {"solve", "analyze", "show"}) {
      const auto run = run_heddle({command, path, "toy"});
      INFO(name << " " << command << ": " << run.out << run.err);
      CHECK(run.code == kInvalidInput);
      CHECK(run.out.empty());
      CHECK(contains(run.err, name));
    }
    const auto run = run_heddle({"analyze", path, "toy", "--json"});
    CHECK(run.code == kInvalidInput);
    const json report = json::parse(run.out);
    CHECK(report.at("error") == "input");
    CHECK(!report.at("faults").empty());
  }
}

TEST_CASE("missing files and unknown names end with code 3, all of them at once", "[app]") {
  const auto run = run_heddle({"solve", "toy_fig", "tay", "--json"});
  CHECK(run.code == kInvalidInput);
  CHECK(contains(run.err, "did you mean 'toy_fig1'?"));
  CHECK(contains(run.err, "did you mean 'toy'?"));
  CHECK(json::parse(run.out).at("faults").size() == 2);
  CHECK(run_heddle({"solve", "./absent.json", "toy"}).code == kInvalidInput);
  CHECK(run_heddle({"solve", "/", "toy"}).code == kInvalidInput);
  CHECK(run_heddle({"analyze", "toy_fig1", "toy", "--param", "Z=3"}).code == kInvalidInput);
  CHECK(run_heddle({"analyze", "toy_fig1", "toy", "--param", "T=3", "--param", "T=4"}).code == kInvalidInput);
}

TEST_CASE("check accepts a legal schedule and names the violations of an illegal one", "[app]") {
  ScratchFolder folder;
  auto run = run_heddle({"check", "toy_fig1", "toy", folder.write("good.json", toy_schedule())});
  INFO(run.out << run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "valid"));
  run = run_heddle({"check", "toy_fig1", "toy", folder.write("good.json", toy_schedule()), "--json"});
  CHECK(run.code == kDone);
  CHECK(json::parse(run.out).at("valid") == true);
  CHECK(run.err.empty());

  const std::string bad = folder.write("bad.json", toy_schedule("\"id\": \"O\", \"start\": 3", "\"id\": \"O\", \"start\": 2"));
  run = run_heddle({"check", "toy_fig1", "toy", bad});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "TC"));
  run = run_heddle({"check", "toy_fig1", "toy", bad, "--json"});
  CHECK(run.code == kNegative);
  const json verdict = json::parse(run.out);
  CHECK(verdict.at("valid") == false);
  REQUIRE(!verdict.at("violations").empty());
  CHECK(!verdict.at("violations")[0].at("message").get<std::string>().empty());
}

TEST_CASE("a schedule that no analysis could index is a fault of its file, for every command that reads one", "[app]") {
  ScratchFolder folder;
  const std::string good = folder.write("good.json", toy_schedule());
  const std::vector<std::string> broken{
      folder.write("no_groups.json", toy_schedule(R"([{"id": 0, "role": "consumer", "warps": 1, "registers": 24}])", "[]")),
      folder.write("no_group_list.json", toy_schedule(R"("groups": [{"id": 0, "role": "consumer", "warps": 1, "registers": 24}],)", "")),
      folder.write(
          "no_ops.json",
          toy_schedule(R"({"id": "S", "start": 0, "group": 0}, {"id": "P", "start": 1, "group": 0}, {"id": "O", "start": 3, "group": 0})",
                       ""))};
  for (const std::string& bad : broken) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"check", "toy_fig1", "toy", bad},
                                                  {"show", "toy_fig1", "toy", bad},
                                                  {"simulate", "toy_fig1", "toy", bad},
                                                  {"slack", "toy_fig1", "toy", bad},
                                                  {"interpret", "toy_fig1", "toy", bad},
                                                  {"emit", "toy_fig1", "toy", bad},
                                                  {"diff", "toy_fig1", "toy", bad, good},
                                                  {"diff", "toy_fig1", "toy", good, bad},
                                                  {"compare", "toy_fig1", "toy", bad, "--no-solve"},
                                                  {"export", "toy_fig1", "toy", bad, "--format", "svg"}}) {
      const auto run = run_heddle(words);
      INFO(words.front() << " " << bad << ": " << run.out << run.err);
      CHECK(run.code == kInvalidInput);
      CHECK(run.out.empty());
      CHECK(contains(run.err, bad));
    }
  }
  CHECK(contains(run_heddle({"check", "toy_fig1", "toy", broken[0]}).err, "/groups: expected at least one warp group\n"));
}

TEST_CASE("check reads constraints and finds the one that a schedule breaks", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("schedule.json", toy_schedule());
  const auto constraints = [&](int at) {
    return folder.write("constraints.json",
                        R"({"schema": "heddle.constraints/1", "constraints": [{"name": "late P", "kind": "pin", "ops": ["P"], "at": )" +
                            std::to_string(at) + "}]}");
  };
  CHECK(run_heddle({"check", "toy_fig1", "toy", schedule, "--constraints", constraints(1)}).code == kDone);
  const auto run = run_heddle({"check", "toy_fig1", "toy", schedule, "--constraints", constraints(2)});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "late P"));
  const std::string misspelt =
      folder.write("misspelt.json", R"({"schema": "heddle.constraints/1", "constraints": [{"kind": "pin", "ops": ["Q"], "at": 1}]})");
  CHECK(run_heddle({"check", "toy_fig1", "toy", schedule, "--constraints", misspelt}).code == kInvalidInput);
}

TEST_CASE("bad schedule files end with code 3", "[app]") {
  ScratchFolder folder;
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"ii\": 2", "\"ii\": 0"},
                                                        {"\"ii\": 2", "\"ii\": \"2\""},
                                                        {"\"id\": \"O\"", "\"id\": \"X\""},
                                                        {"\"id\": \"O\"", "\"id\": \"S\""},
                                                        {"\"start\": 3", "\"start\": -3"},
                                                        {"\"start\": 3, \"group\": 0", "\"start\": 3, \"group\": 7"},
                                                        {"\"start\": 3", "\"start\": 3, \"stage\": 0"}}) {
    const std::string path = folder.write("bad.json", toy_schedule(from, to));
    for (const std::vector<std::string>& args : {std::vector<std::string>{"check", "toy_fig1", "toy", path},
                                                 {"show", "toy_fig1", "toy", path},
                                                 {"export", "toy_fig1", "toy", path, "--format", "trace"}}) {
      const auto run = run_heddle(args);
      INFO(to << ": " << run.out << run.err);
      CHECK(run.code == kInvalidInput);
      CHECK(run.out.empty());
      CHECK(contains(run.err, "bad.json"));
    }
  }
}

TEST_CASE("analyze prints the bounds of the toy, as text and as JSON", "[app]") {
  const auto text = run_heddle({"analyze", "toy_fig1", "toy"});
  CHECK(text.code == kDone);
  CHECK(text.err.empty());
  CHECK(contains(text.out, "ResMII 2"));
  CHECK(contains(text.out, "RecMII 1"));
  const auto run = run_heddle({"analyze", "toy_fig1", "toy", "--json"});
  const json bounds = json::parse(run.out);
  CHECK(bounds.at("res_mii") == 2);
  CHECK(bounds.at("rec_mii") == 1);
}

TEST_CASE("show draws a given schedule in every mode without the solver", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("schedule.json", toy_schedule());
  for (const char* mode : {"steady", "unrolled", "pipeline"}) {
    const auto run = run_heddle({"show", "toy_fig1", "toy", schedule, "--mode", mode, "--width", "60"});
    INFO(run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.out, "TC"));
    CHECK(contains(run.out, "start = stage*II + slot"));
    CHECK_FALSE(contains(run.out, "\x1b"));
  }
}

TEST_CASE("an illegal schedule is drawn too, with its violations on stderr", "[app]") {
  ScratchFolder folder;
  const std::string bad = folder.write("bad.json", toy_schedule("\"id\": \"O\", \"start\": 3", "\"id\": \"O\", \"start\": 2"));
  const auto run = run_heddle({"show", "toy_fig1", "toy", bad});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "!"));
  CHECK(contains(run.err, "unit"));
}

TEST_CASE("every export format writes something of its kind, to a file and to standard output alike", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("schedule.json", toy_schedule());
  for (const auto& [format, mark] : std::vector<std::pair<std::string, std::string>>{{"svg", "<svg"},
                                                                                     {"html", "<!DOCTYPE html>"},
                                                                                     {"trace", "traceEvents"},
                                                                                     {"dot", "digraph"},
                                                                                     {"csv", "start_cycles"},
                                                                                     {"text", "II 2"},
                                                                                     {"json", "heddle.schedule/1"}}) {
    const auto run = run_heddle({"export", "toy_fig1", "toy", schedule, "--format", format});
    INFO(format << run.err);
    CHECK(run.code == kDone);
    CHECK(contains(run.out, mark));
    if (format == "trace" || format == "json") CHECK(json::accept(run.out));
    const std::string path = folder.path("out." + format);
    const auto written = run_heddle({"export", "toy_fig1", "toy", schedule, "--format", format, "-o", path});
    CHECK(written.code == kDone);
    CHECK(written.out.empty());
    CHECK(heddle::test::read_text(path) == run.out);
  }
  CHECK(contains(run_heddle({"export", "toy_fig1", "toy", schedule, "-o", folder.path("x.csv")}).err, "csv written"));
  CHECK(run_heddle({"export", "toy_fig1", "toy", schedule, "--format", "csv", "-o", "/proc/nowhere/x"}).code == kEnvironment);
}

TEST_CASE("what export json writes, check accepts", "[app]") {
  ScratchFolder folder;
  const std::string first = folder.write("schedule.json", toy_schedule());
  const std::string second = folder.path("again.json");
  CHECK(run_heddle({"export", "toy_fig1", "toy", first, "--format", "json", "--out", second}).code == kDone);
  CHECK(run_heddle({"check", "toy_fig1", "toy", second, "--quiet"}).out == "valid\n");
}

TEST_CASE("eval agrees with the formula, and the JSON says so alone on standard output", "[app]") {
  const auto run = run_heddle({"eval", "toy_fig1", "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(run.err.empty());
  CHECK(json::parse(run.out).at("pass") == true);
  CHECK(run_heddle({"eval", "toy_fig1", "--quiet"}).out == "agrees\n");
  CHECK(run_heddle({"eval", "toy_fig1", "--param", "T=0"}).code != kInternal);
  CHECK(run_heddle({"eval", "nothing_like_it"}).code == kInvalidInput);
}

TEST_CASE("list names what is shipped", "[app]") {
  CHECK(contains(run_heddle({"list"}).out, "toy_fig1"));
  CHECK(contains(run_heddle({"list", "machines", "--quiet"}).out, "h100\n"));
  CHECK(contains(run_heddle({"list", "kinds"}).out, "tma_load"));
  const json all = json::parse(run_heddle({"list", "--json"}).out);
  for (const char* section : {"kernels", "machines", "schedules", "kinds"}) CHECK(all.contains(section));
}

TEST_CASE("schema prints a JSON Schema of every kind", "[app]") {
  for (const heddle::app::SchemaKind& kind : heddle::app::schema_kinds()) {
    const auto run = run_heddle({"schema", kind.name});
    INFO(run.err);
    CHECK(run.code == kDone);
    CHECK(json::parse(run.out).contains("$schema"));
  }
  std::vector<std::string> names;
  for (const heddle::app::SchemaKind& kind : heddle::app::schema_kinds()) names.emplace_back(kind.name);
  CHECK(heddle::app::find_command("schema")->positionals.front().choices == names);
}

TEST_CASE("a project stands for kernel, machine, demands and schedule", "[app]") {
  const heddle::test::ScratchFolder folder;
  const std::string golden = heddle::test::read_text(heddle::test::repository_path("tests/golden/project.json"));
  const std::string project = folder.write("p.heddle.json", golden);
  const auto analyzed = run_heddle({"analyze", project});
  INFO(analyzed.err);
  CHECK(analyzed.code == kDone);
  CHECK(contains(analyzed.out, "T=12"));
  CHECK(contains(analyzed.out, "changed: P.latency=+1"));
  const auto shown = run_heddle({"show", project});
  INFO(shown.err);
  CHECK(contains(shown.out, "II 2"));
  // The schedule that is shown is judged under the project's demands; another file's takes its place when it is given.
  CHECK(run_heddle({"check", project}).code != kInvalidInput);
  const auto other = run_heddle({"check", project, "nowhere.json"});
  CHECK(other.code == kInvalidInput);
  CHECK(contains(other.err, "nowhere.json"));
  CHECK(run_heddle({"solve", folder.path("none.heddle.json")}).code == kInvalidInput);
}
