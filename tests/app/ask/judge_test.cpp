// The judge of machine code, with a compiler whose code is made up: loops of one wgmma and as many sums as a text is to take cycles.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "app/ask/judge.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "core/formats/schedule_json.h"
#include "core/formats/schema.h"
#include "core/library/library.h"
#include "core/motion/motion.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

namespace {

constexpr std::uint64_t kSum = 0x221, kWgmma = 0x9f0, kLeave = 0x94d;

/// Each stalls for four cycles, so that no warp keeps the others out, and touches no scoreboard.
constexpr std::uint64_t kCode = std::uint64_t{7} << 23 | std::uint64_t{4} << 41 | std::uint64_t{7} << 46 | std::uint64_t{7} << 49;

codegen::MachineInstruction instruction(std::uint64_t key, int line) { return {key | 0x7000, kCode, line}; }

/// BRA, sometimes taken, so many instructions back.
codegen::MachineInstruction back(std::int64_t by, int line) {
  const auto words = static_cast<std::uint64_t>(-4 * (by + 1));
  return {0x947 | (words & 0xff) << 16 | (words >> 8 & 0x3fffffff) << 34, kCode | (words >> 8 >> 30 & 0x3ffff), line};
}

struct Fate {
  int sums = 1000;  ///< of an iteration
  std::int64_t spills = 0;
  bool refused = false;   ///< by the compiler
  bool elsewhere = true;  ///< with a loop cut elsewhere it spills, too
};

/// Every role's steady loop.
codegen::Compiled code_of(const codegen::Emission& emission, const codegen::Program& program, const Fate& fate) {
  codegen::Compiled compiled;
  compiled.compiler = "fake 1.0";
  compiled.report.spill_stores = fate.spills;
  std::set<std::size_t> done;
  for (const codegen::SourceSpan& span : emission.lines) {
    if (span.part != codegen::Section::Part::Steady || span.kind != codegen::StepKind::Issue || !done.insert(span.role).second) continue;
    const auto& sections = program.roles[span.role].sections;
    const auto steady = std::find_if(sections.begin(), sections.end(),
                                     [](const codegen::Section& s) { return s.part == codegen::Section::Part::Steady && s.loop; });
    const int sums = fate.sums * (steady == sections.end() ? 1 : steady->unroll);
    compiled.code.push_back(instruction(kWgmma, span.first_line));
    for (int i = 0; i < sums; ++i) compiled.code.push_back(instruction(kSum, span.first_line));
    compiled.code.push_back(back(sums + 1, span.first_line));
  }
  compiled.code.push_back(instruction(kLeave, 0));  // what is behind it would be reached by nobody
  return compiled;
}

/// Attention's schedule of the tests, compiled with its own fate, and hand schedules with theirs.
class Bench {
 public:
  Bench() {
    add("solved", "tests/schedules/attention_forward_hopper_h100.json", {1500});
    made_.built = codegen::compile_kernel(question(schedules_.front()), {}, *first_.program, *first_.emission, compile()).value();
  }

  void add(const std::string& name, const std::string& file, Fate fate) {
    schedules_.push_back(read_schedule(test::repository_path(file), problem()).value());
    WrittenKernel written = written_kernel(question(schedules_.back()), {});
    REQUIRE(written.refusals.empty());
    for (std::size_t role = 0; role < written.program->roles.size() && fate.spills > 0; ++role)
      for (int cut = 1; cut < written.program->roles[role].cuts; ++cut) {
        codegen::BuildOptions build;
        build.cuts.resize(written.program->roles.size(), 0);
        build.cuts[role] = cut;
        const WrittenKernel other = written_kernel(question(schedules_.back()), build);
        if (!other.emission) continue;
        codes_[other.emission->source] = {code_of(*other.emission, *other.program, {fate.sums, fate.elsewhere ? fate.spills : 0}), false};
        ++cuts;
      }
    codes_[written.emission->source] = {code_of(*written.emission, *written.program, fate), fate.refused};
    if (schedules_.size() == 1)
      first_ = std::move(written), made_.schedule = schedules_.front();
    else
      candidates_.push_back({name, schedules_.back(), motion::motion_of(problem(), schedules_.back()).period.cycles()});
  }
  void hand(const std::string& name, Fate fate) { add(name, "kernels/schedules/attention_forward_hopper/" + name + ".json", fate); }

  const Problem& problem() const { return made_.instance.problem(); }
  codegen::CompileQuestion question(const Schedule& schedule) const { return {made_.instance.kernel(), problem(), schedule}; }
  codegen::CompileFunction compile() {
    return [this](const std::string& source, const std::string&) -> Result<codegen::Compiled> {
      const std::lock_guard lock(mutex_);
      ++compilations;
      if (compiling) compiling();
      const auto& [code, refused] = codes_.at(source);
      if (refused) return Error::input("no such thing");
      return code;
    };
  }

  const Judgement& judge(double seconds = 600, std::stop_token stop = {}) {
    compilations = asked = 0;
    JudgeRequest request{.compile = compile(), .seconds = seconds, .at_once = at_once};
    request.next_best = [&](const MadeKernel&, double, const std::stop_token&) {
      ++asked;
      return candidates_;
    };
    judge_kernel(made_, request, stop, [&](const News& news) { heard.push_back(news); });
    return made_.judged.value();
  }

  const Schedule& schedule(std::size_t i) const { return schedules_[i]; }
  MadeKernel& made() { return made_; }
  std::vector<News> heard;
  std::function<void()> compiling;
  int compilations = 0, asked = 0;
  int cuts = 0;             ///< texts of what spills, with a loop cut elsewhere
  std::size_t at_once = 1;  ///< compilations

 private:
  MadeKernel made_{
      make_instance(spec_of(load_kernel("attention_forward_hopper").value(), load_machine("h100").value())).value(), {}, {}, {}, {}};
  WrittenKernel first_;
  std::vector<Schedule> schedules_;
  std::vector<NextBest> candidates_;
  std::map<std::string, std::pair<codegen::Compiled, bool>> codes_;
  std::mutex mutex_;
};

std::vector<std::string> names(const Judgement& judgement) {
  std::vector<std::string> list;
  for (const JudgedSchedule& one : judgement.ranked) list.push_back(one.name);
  return list;
}

}  // namespace

TEST_CASE("the fastest as compiled is the answer, and what spills or does not compile falls behind", "[app]") {
  Bench bench;
  bench.at_once = GENERATE(1u, 4u);
  bench.hand("fa3", {1300});
  bench.hand("fa3-overlap", {1100, 8});
  bench.hand("fa3-pingpong", {1200});
  bench.hand("fa3-neither", {1000, 0, true});
  const Judgement& judgement = bench.judge();
  REQUIRE(bench.made().built.audit.iteration());
  CHECK(names(judgement) == std::vector<std::string>{"fa3-pingpong", "fa3", "solved", "fa3-overlap", "fa3-neither"});
  CHECK(bench.compilations >= 4);  // the first one was
  CHECK(bench.compilations <= 4 + bench.cuts);
  CHECK(judgement.candidates == 5);
  CHECK(judgement.why.empty());
  CHECK(same_program(bench.made().schedule, bench.schedule(3)));
  CHECK(bench.made().built.audit.iteration() == judgement.ranked.front().as_compiled);
  CHECK(*judgement.ranked[0].as_compiled < *judgement.ranked[1].as_compiled);
  CHECK(judgement.ranked[3].rule == "spills");
  CHECK(*judgement.ranked[3].as_compiled < *judgement.ranked[0].as_compiled);
  CHECK_FALSE(judgement.ranked[4].rule.has_value());
  CHECK(judgement.ranked[4].against == "no such thing");
  const std::string text = judgement_text(judgement, {});
  CHECK(text.find("5 of 5 orders were compiled") == 0);
  CHECK(text.find("2 fell behind (does not compile 1, spills 1)\n") != text.npos);
  CHECK(text.find("fa3-pingpong") != text.npos);
  CHECK(text.find("solved") != text.npos);
  CHECK(judgement_json(judgement).pretty().find("\"why_not_all\": null") != std::string::npos);
  CHECK(bench.heard.size() == 6);  // the last are other cuts of what spills
}

TEST_CASE("what spills is tried with its loops cut elsewhere before it falls behind", "[app]") {
  Bench bench;
  bench.at_once = GENERATE(1u, 4u);
  bench.hand("fa3", {1300});
  bench.hand("fa3-overlap", {1100, 8, false, false});
  REQUIRE(bench.cuts > 0);
  const Judgement& judgement = bench.judge();
  CHECK(names(judgement) == std::vector<std::string>{"fa3-overlap", "fa3", "solved"});
  CHECK(judgement.ranked.front().against.empty());
  CHECK_FALSE(judgement.ranked.front().rule.has_value());
  CHECK(same_program(bench.made().schedule, bench.schedule(2)));
  const std::vector<int>& cuts = bench.made().built.build.cuts;
  CHECK(std::any_of(cuts.begin(), cuts.end(), [](int cut) { return cut != 0; }));
  CHECK(bench.made().built.faults.empty());
}

TEST_CASE("a kernel that nothing beats stays as it is, even where it is not the least by the rule", "[app]") {
  Bench bench;
  bench.hand("fa3", {1600});
  const std::string source = bench.made().built.emission.source;
  const Judgement& judgement = bench.judge();
  CHECK(names(judgement) == std::vector<std::string>{"solved", "fa3"});
  CHECK(bench.made().built.emission.source == source);
  REQUIRE(judgement.least());
  CHECK(judgement.ranked[*judgement.least()].name == "fa3");
  CHECK(judgement_text(judgement, {}).find("the least period by the rule of motion is that of fa3") != std::string::npos);
}

TEST_CASE("a clean order comes before one that spills, however fast that is", "[app]") {
  Bench bench;
  bench.made().built.faults = {codegen::refusal("spills", {}, "8 bytes of spills")};
  bench.hand("fa3", {3000});
  CHECK(names(bench.judge()) == std::vector<std::string>{"fa3", "solved"});
  CHECK(bench.made().built.faults.empty());
}

TEST_CASE("no time is no judgement of others, and a stop ends it with what was best so far", "[app]") {
  Bench bench;
  bench.hand("fa3", {1300});
  bench.hand("fa3-overlap", {1100});
  CHECK(names(bench.judge(0)) == std::vector<std::string>{"solved"});
  CHECK(bench.compilations == 0);
  CHECK(bench.made().judged->why.find("0 s were all") == 0);

  std::stop_source stop;
  bench.compiling = [&] { stop.request_stop(); };  // what runs comes to its end here
  const Judgement& stopped = bench.judge(600, stop.get_token());
  CHECK(names(stopped) == std::vector<std::string>{"fa3", "solved"});
  CHECK(bench.compilations == 1);
  CHECK(stopped.why == "stopped");
  CHECK(same_program(bench.made().schedule, bench.schedule(1)));
}

TEST_CASE("where machine code cannot be timed nobody looks for other orders", "[app]") {
  Bench bench;
  bench.hand("fa3", {1300});
  bench.made().built.audit = {};
  const Judgement& judgement = bench.judge();
  CHECK(judgement.ranked.empty());
  CHECK(judgement.why == "no machine code to judge");
  CHECK(bench.asked == 0);
  CHECK(bench.compilations == 0);
  CHECK(judgement_text(judgement, {}).empty());
}
