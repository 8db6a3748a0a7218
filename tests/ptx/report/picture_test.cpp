// Pictures of runs: roles and their steady trips, rings, lanes; of runs that go on for longer than is kept; stopped while they are made.
#include <catch2/catch.hpp>

#include <algorithm>
#include <stop_token>
#include <string>

#include "core/base/atomic_file.h"
#include "ptx/launch/launch_json.h"
#include "ptx/report/check.h"
#include "ptx/report/check_words.h"
#include "ptx/report/show.h"
#include "ptx/report/timeline.h"
#include "tests/ptx/run/small_run.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

PtxRecord record_of(ClusterRun& run) {
  return {&run.module, &run.function, &run.launch, &run.trace, run.warps_per_cta(), run.cluster_size(), run.events_left_out};
}

Checked shown(const std::string& name) {
  const std::string base = test::repository_path("tests/ptx/texts/" + name);
  const auto launch = read_launch(base + ".json");
  REQUIRE(launch.ok());
  CheckOptions options;
  options.picture = RunPicture::Lanes;
  auto answer = check(*read_file(base + ".ptx"), name + ".ptx", *launch, options);
  REQUIRE(answer.ok());
  REQUIRE(answer->shown);
  return std::move(answer.value());
}

const ShownRole& role(const ShownRun& run, const std::string& name) {
  const auto found = std::ranges::find(run.roles, name, &ShownRole::name);
  REQUIRE(found != run.roles.end());
  return *found;
}

bool has_step(const ShownRole& role, const std::string& text) {
  return std::ranges::any_of(role.trip, [&](const ShownStep& step) { return step.text.find(text) != std::string::npos; });
}

/// Goes round often enough that not all of it is kept, and then does `end`.
std::string long_run(const std::string& end) {
  return "mov.u32 r1, 0;\nROUND:\nst.shared.u32 [m], r1;\nst.shared.u32 [m+4], r1;\nadd.u32 r1, r1, 1;\nsetp.lt.u32 p1, r1, 520000;\n"
         "@p1 bra ROUND;\n" +
         end;
}

}  // namespace

TEST_CASE("a trip of products holds what it waits for, also where an inner loop issues them", "[ptx]") {
  const Checked checked = shown("gemm_blackwell");
  const ShownRole& products = role(*checked.shown, "products w1");
  CHECK(products.trips == 51);
  CHECK(has_step(products, "wait FULL of A["));
  CHECK(has_step(products, "wait FULL of B["));
  CHECK(has_step(products, "MMA 128x256x16"));
  CHECK(has_step(products, "commit mma to EMPTY"));
  REQUIRE(checked.timeline);
  CHECK(checked.timeline->left_out == 0);
}

TEST_CASE("rings say where their slots lie and which barriers they have", "[ptx]") {
  const Checked checked = shown("gemm_hopper");
  REQUIRE(checked.shown->rings.size() == 3);
  const ShownRing& first = checked.shown->rings.front();
  CHECK(first.name == "A.0");
  REQUIRE(first.slots.size() == 4);
  for (const ShownSlot& slot : first.slots) {
    CHECK(slot.begin >= 1024);  // behind what is reserved
    CHECK(slot.end - slot.begin == 8192);
    CHECK(slot.full > 0);
    CHECK(slot.empty > 0);
    CHECK(slot.full != slot.empty);
  }
  const std::string text = show_text(*checked.shown, 80);
  CHECK(text.find("1024 are reserved") != std::string::npos);
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) CHECK(text.find('\n', begin) - begin <= 80);
}

TEST_CASE("warps of a plain kernel have one role, also where the first does more", "[ptx]") {
  test::SmallRunOptions options;
  options.threads = 128;
  test::SmallRun small(
      "st.shared.u32 [m], t;\nbar.sync 0;\nsetp.gt.u32 p1, t, 31;\n@p1 bra END;\nld.shared.u32 r1, [m];\nst.global.u32 [d1], "
      "r1;\nEND:\nret;",
      options);
  const RunNames names(record_of(small.run()));
  REQUIRE(names.roles().size() == 1);
  CHECK(to_string(names.roles().front(), names.record) == "all warps w0-w3");
  CHECK(role_of_warp(names.roles(), names.record, 2) == "w2");
}

TEST_CASE("of a run that goes on the first events are kept, and the last state of a hang", "[ptx]") {
  test::SmallRunOptions options;
  options.limit = 10'000'000;
  test::SmallRun small(long_run("mbarrier.init.shared.b64 [m+64], 1;\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 p2, [m+64], 0;\n"
                                "@!p2 bra AGAIN;\nret;"),
                       options);
  CHECK(small.found(CheckRule::Hang));
  CHECK(small.run().trace.size() == kMostEvents);
  CHECK(small.run().events_left_out > 0);
  const RunNames names(record_of(small.run()));
  RunTimeline timeline = timeline_of(names);
  CHECK(timeline.left_out == small.run().events_left_out);
  CHECK(timeline.cut == timeline.end);
  add_hang(timeline, names.record, {{0, 0, "waits"}});
  REQUIRE_FALSE(timeline.lanes.empty());
  const LaneBar& last = timeline.lanes.front().bars.back();
  CHECK(last.kind == LaneBarKind::Hangs);
  CHECK(last.begin > timeline.cut);
  CHECK(timeline.text(last.text) == "waits");
  CHECK(timeline.texts.size() < 20);  // once for all bars that say the same
}

TEST_CASE("a picture that is stopped is not drawn to its end", "[ptx]") {
  test::SmallRunOptions options;
  options.limit = 10'000'000;
  test::SmallRun small(long_run("ret;"), options);
  const RunNames names(record_of(small.run()));
  std::stop_source stop;
  stop.request_stop();
  std::size_t bars = 0;
  for (const RunLane& lane : timeline_of(names, stop.get_token()).lanes) bars += lane.bars.size();
  CHECK(bars < 10'000);
}

TEST_CASE("a check says that not all events are shown", "[ptx]") {
  const std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry turns()
.reqntid 32, 1, 1
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.shared .align 8 .b8 word[8];
	mov.u32 %r1, word;
AGAIN:
	st.shared.u32 [%r1], 0;
	bra AGAIN;
}
)";
  CheckOptions options;
  options.limit = 2'500'000;
  options.picture = RunPicture::Lanes;
  const auto answer = check(text, "turns.ptx", {}, options);
  REQUIRE(answer.ok());
  CHECK(answer->verdict == CheckVerdict::Stopped);
  CHECK(std::ranges::any_of(answer->notes, [](const std::string& note) { return note.starts_with("shown: the first 1000000 events"); }));
}

TEST_CASE("a line that has no branch, and a target that is none, are refused", "[ptx]") {
  const std::string base = test::repository_path("tests/ptx/texts/one_slot");
  const auto launch = read_launch(base + ".json");
  REQUIRE(launch.ok());
  std::string text = *read_file(base + ".ptx");
  CheckOptions options;
  options.branches = {{45, BranchChoice::Taken}, {44, BranchChoice::Taken}};
  const auto wrong = check(text, "k.ptx", *launch, options);
  REQUIRE_FALSE(wrong.ok());
  REQUIRE(wrong.error().faults.size() == 1);
  CHECK(to_string(wrong.error().faults[0]) ==
        "k.ptx: no branch stands at line 45 (the nearest instruction with a predicate stands at line 44)");
  options.branches.erase(45);
  const auto known = check(text, "k.ptx", *launch, options);
  REQUIRE(known.ok());
  CHECK(std::ranges::any_of(known->notes,
                            [](const std::string& note) { return note.starts_with("the branch at line 44 hung on nothing unknown"); }));
  text.replace(text.find("sm_90a"), 6, "sm90");
  const auto target = check(text, "k.ptx", *launch, {});
  REQUIRE_FALSE(target.ok());
  CHECK(to_string(target.error().faults[0]) == "k.ptx: line 3: 'sm90' is no target (sm_90a, sm_100a and so on)");
}

TEST_CASE("values are said by the names that the text has", "[ptx]") {
  const auto find = [](const Launch&, const std::string& name) -> std::optional<NamedParameter> {
    if (name != "param_1") return std::nullopt;
    return NamedParameter{name, 8, "b32"};
  };
  const std::string text = R"({"schema":"heddle.launch/1","grid":[1],"block":[32],"parameters":"00000000","values":{"param_1":7}})";
  const auto launch = parse_launch(text, "launch.json", nullptr, find);
  REQUIRE(launch.ok());
  REQUIRE(launch->parameters.size() == 12);
  CHECK(launch->parameters[8] == 7);
  CHECK_FALSE(parse_launch(text, "launch.json").ok());
}
