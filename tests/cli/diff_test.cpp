// heddle diff on the command line.
#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/command/exit_code.h"
#include "app/session/environment.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "core/base/json.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;
using test::contains;
using test::run_heddle;

TEST_CASE("diff of a schedule with itself is the same schedule and exits with 0", "[app]") {
  const test::ScratchFolder folder;
  const auto path = folder.write("a.json", test::toy_schedule());
  const auto run = run_heddle({"diff", "toy_fig1", "toy", path, path});
  CHECK(run.code == app::kDone);
  CHECK(contains(run.out, "the same schedule"));
  CHECK(contains(run.out, "none starts at another time or in another group"));
  CHECK_FALSE(contains(run.out, "first divergence"));
  CHECK(contains(run_heddle({"diff", "toy_fig1", "toy", path, path, "--all"}).out, "delta"));
}

TEST_CASE("diff shows numbers, ops and the first divergence of different programs, and exits with 4", "[app]") {
  const std::string pair = test::repository_path("tests/schedules/attention_ping_pong.json");
  const test::ScratchFolder folder;
  nlohmann::json exchanged = nlohmann::json::parse(test::read_text(pair));
  const auto start = [&](const char* id) -> nlohmann::json& {
    const auto op = std::find_if(exchanged["ops"].begin(), exchanged["ops"].end(), [&](const auto& each) { return each["id"] == id; });
    REQUIRE(op != exchanged["ops"].end());
    return (*op)["start"];
  };
  const int rescale = start("rescale0"), sum = start("sum0");
  REQUIRE(sum == rescale + 64);
  start("sum0") = rescale;
  start("rescale0") = rescale + 70;
  const auto other = folder.write("b.json", exchanged.dump());
  const auto run = run_heddle({"diff", "attention_forward_hopper", "h100", pair, other});
  CHECK(run.code == app::kNegative);
  for (const char* part :
       {"different programs", "first divergence", "after cvt0, A issues rescale0 and B sum0", "2 of 20 differ", "+70", "-64",
        "sustainable period", "TC busy", "consumer A registers", "barriers of rings between groups", "ring k depth", "limited by"}) {
    CAPTURE(run.out, part);
    CHECK(contains(run.out, part));
  }
  const auto quiet = run_heddle({"diff", "attention_forward_hopper", "h100", pair, other, "--quiet"});
  CHECK(std::count(quiet.out.begin(), quiet.out.end(), '\n') == 1);
  const auto aligned = run_heddle({"diff", "attention_forward_hopper", "h100", pair, other, "--align", "rescale0"});
  CHECK(contains(aligned.out, "aligned at rescale0: B shown 70 cycles earlier"));
}

TEST_CASE("diff prints one JSON object", "[app]") {
  const test::ScratchFolder folder;
  const auto a = folder.write("a.json", test::toy_schedule());
  const auto b = folder.write("b.json", test::toy_schedule("\"start\": 3", "\"start\": 5"));
  const auto run = run_heddle({"diff", "toy_fig1", "toy", a, b, "--json", "--align", "most"});
  const auto json = parse_json(run.out, "out");
  REQUIRE(json.ok());
  CHECK(*json->find("align")->string() == "most");
  CHECK((run.code == app::kDone) == *json->find("same_program")->boolean());
  CHECK_FALSE(*json->find("same_times")->boolean());
  CHECK(json->find("ops")->items()->size() == 3);
  CHECK(json->find("a")->find("checker") != nullptr);
  CHECK(*json->find("b")->find("ii")->integer() == 2);
}

TEST_CASE("diff refuses what it cannot read, all at once where it can", "[app]") {
  const test::ScratchFolder folder;
  const auto a = folder.write("a.json", test::toy_schedule());
  CHECK(run_heddle({"diff", "toy_fig1", "toy"}).code == app::kUsage);
  const auto missing = run_heddle({"diff", "toy_fig1", "toy", a, folder.path("none.json")});
  CHECK(missing.code == app::kInvalidInput);
  const auto op = run_heddle({"diff", "toy_fig1", "toy", a, a, "--align", "Q"});
  CHECK(op.code == app::kInvalidInput);
  CHECK(contains(op.err, "its ops: S, P or O; or start, or most"));
  CHECK(parse_json(run_heddle({"diff", "toy_fig1", "toy", a, a, "--align", "Q", "--json"}).out, "out").ok());
  CHECK(run_heddle({"diff", "attention_forward_hopper", "h100", a}).code == app::kInvalidInput);
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("diff without B compares with the solver's schedule", "[app]") {
  const test::ScratchFolder folder;
  const auto run = run_heddle({"diff", "toy_fig1", "toy", folder.write("a.json", test::toy_schedule())});
  CHECK((run.code == app::kDone || run.code == app::kNegative));
  CHECK(contains(run.out, "the solver's optimum"));
  CHECK(contains(run.out, "proved"));
}
#endif

TEST_CASE("a project stands for its A and its B, and the other way round with --swap", "[app]") {
  const test::ScratchFolder folder;
  Session session{Environment{}};
  session.apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
  REQUIRE(session.content().entry());
  Schedule other = session.content().entry()->schedule;
  const Problem& p = *session.content().problem;
  std::swap(other.ops[p.find_op("rescale0").index()].start, other.ops[p.find_op("sum0").index()].start);
  session.apply(AdoptSchedule{other, "exchanged", true});
  const std::string project = folder.path("pair.heddle.json");
  session.apply(SaveProject{project});
  const auto run = run_heddle({"diff", project});
  CHECK(run.code == app::kNegative);
  CHECK(contains(run.out, "after cvt0, A issues rescale0 and B sum0"));
  CHECK(contains(run_heddle({"diff", project, "--swap"}).out, "after cvt0, A issues sum0 and B rescale0"));
  const auto picture = run_heddle({"export", project, "--below", project, "--format", "svg"});
  CHECK(picture.code == app::kDone);
  CHECK(contains(picture.out, "exchanged"));
  session.apply(SetBaseline{});
  session.apply(SaveProject{project});
  CHECK(contains(run_heddle({"export", project, "--below", project, "--format", "svg"}).err, "has no B"));
  CHECK(contains(run_heddle({"export", project, "--below", "nowhere.json", "--format", "svg"}).err, "nowhere.json"));
}
