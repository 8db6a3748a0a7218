// Kernels of the session: written, checked and compiled in the background, cancelled, refused, and never passed off as current.
#include "app/session/kernel_state.h"
#include "app/session/environment.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/run_state.h"
#include "app/session/session.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "core/schedule/constraint_text.h"
#include "tests/app/cli_support.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
using namespace std::chrono_literals;

namespace {

struct Fixture {
  Session session;
  explicit Fixture(codegen::CompileFunction compile = {}) : session(environment(std::move(compile))) {
    session.apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
    REQUIRE(session.content().entry());
  }
  ~Fixture() { CHECK(session.close(test::kPatience)); }
  static Environment environment(codegen::CompileFunction compile) {
    Environment e;
    e.solve = test::solve_toy;
    const bool there = static_cast<bool>(compile);
    e.kernel.find_compiler = [there] {
      return there ? Result<std::string>(std::string("fake 1.0")) : Result<std::string>(Error::environment("nothing compiles here"));
    };
    e.kernel.compile = compile ? std::move(compile) : [](const std::string&, const std::string&) {
      return Result<codegen::Compiled>(Error::environment("nothing compiles here"));
    };
    e.run = {"", "", "no GPU in tests"};
    return e;
  }
  void settle() {
    REQUIRE(test::wait_until([&] { return !session.building(); }, [&] { session.pump(); }));
  }
  bool text_is_current() const { return KernelState::is_current(session.kernel().text(), KernelState::subject_of(session.content())); }
};

}  // namespace

TEST_CASE("the text is written when its tab is shown, and again when the schedule changes", "[app]") {
  Fixture f;
  CHECK_FALSE(f.session.kernel().text().answer());
  f.session.apply(show_tab(BottomTab::Cuda));
  f.settle();
  REQUIRE(f.text_is_current());
  CHECK(f.session.kernel().text().answer()->emission);
  const auto first = f.session.kernel().text().answer();
  f.session.apply(show_tab(BottomTab::Log));
  Schedule deeper = f.session.content().entry()->schedule;
  deeper.ii += 64;
  f.session.apply(AdoptSchedule{deeper, "slower", false});
  CHECK_FALSE(f.text_is_current());
  CHECK(f.session.kernel().text().answer() == first);  // the old one, known to be old
  f.session.apply(show_tab(BottomTab::Cuda));
  f.settle();
  CHECK(f.text_is_current());
}

TEST_CASE("a kernel saved under a name is the same kernel: what was verified and compiled stays so, and the text follows a proof",
          "[app]") {
  const test::ScratchFolder folder;
  int compiled = 0;
  Fixture f([&](const std::string&, const std::string&) {
    ++compiled;
    return Result<codegen::Compiled>(codegen::Compiled{});
  });
  f.session.apply(CheckKernel{3});
  f.session.apply(BuildKernel{});
  f.settle();
  const auto subject = [&] { return KernelState::subject_of(f.session.content()); };
  REQUIRE(KernelState::is_current(f.session.kernel().checked(), subject()));
  REQUIRE(KernelState::is_current(f.session.kernel().built(), subject()));
  const int compiles = compiled;
  f.session.apply(SaveSource{SourceOf::Kernel, folder.path("mine.json")});
  REQUIRE_FALSE(f.session.error());
  f.settle();
  CHECK(f.text_is_current());
  CHECK(KernelState::is_current(f.session.kernel().checked(), subject()));
  CHECK(KernelState::is_current(f.session.kernel().built(), subject()));
  // What is proved of it stands at the top of its text.
  CHECK(f.session.kernel().text().answer()->emission->source.find("// certificate: none") != std::string::npos);
  Schedule proved = f.session.content().entry()->schedule;
  Certificate& certificate = proved.certificate.emplace();
  certificate.status = Status::Optimal;
  certificate.lower_bound = certificate.ii = proved.ii;
  f.session.apply(AdoptSchedule{proved, "proved", false});
  f.settle();
  CHECK(f.session.kernel().text().answer()->emission->source.find("// certificate: optimal") != std::string::npos);
  CHECK(KernelState::is_current(f.session.kernel().checked(), subject()));
  CHECK(KernelState::is_current(f.session.kernel().built(), subject()));
  CHECK(compiled == compiles);
}

TEST_CASE("what was cancelled is not begun again by itself", "[app]") {
  Fixture f;
  f.session.apply(show_tab(BottomTab::Cuda));
  f.session.apply(CancelKernel{KernelStep::Text});
  for (int i = 0; i < 20; ++i) f.session.pump(), std::this_thread::sleep_for(1ms);
  CHECK_FALSE(f.session.kernel().text().answer());
  CHECK_FALSE(f.session.kernel().text().active());
  f.session.apply(WriteKernel{});
  f.settle();
  CHECK(f.text_is_current());
}

TEST_CASE("compiling writes the text first, and its answer is about that text", "[app]") {
  std::string compiled_text;
  Fixture f([&](const std::string& source, const std::string&) {
    if (compiled_text.empty()) compiled_text = source;  // other cuts follow, and are no better
    codegen::Compiled compiled;
    compiled.compiler = "fake 1.0";
    compiled.report.spill_stores = 8;
    return Result<codegen::Compiled>(std::move(compiled));
  });
  f.session.apply(BuildKernel{});
  f.settle();
  REQUIRE(f.session.kernel().built().answer());
  CHECK(compiled_text == f.session.kernel().text().answer()->emission->source);
  const KernelBuild& build = *f.session.kernel().built().answer();
  REQUIRE(build.faults.size() == 1);
  CHECK(build.faults[0].rule == "spills");
  REQUIRE(build.faults[0].constraint);
  // Taken up as a demand, it can be undone like any other.
  f.session.apply(AddConstraint{*build.faults[0].constraint, false});
  CHECK(f.session.content().constraints.size() == 1);
  f.session.apply(Undo{});
  CHECK(f.session.content().constraints.empty());
}

TEST_CASE("where the first text spills, the window shows the one with other cuts that does not", "[app]") {
  std::vector<std::string> sources;  // as the compiler gets them, one after the other
  Fixture f([&](const std::string& source, const std::string&) {
    sources.push_back(source);
    codegen::Compiled compiled;
    compiled.compiler = "fake 1.0";
    compiled.report.spill_stores = sources.size() == 1 ? 8 : 0;
    return Result<codegen::Compiled>(std::move(compiled));
  });
  f.session.apply(BuildKernel{});
  f.settle();
  const auto text = f.session.kernel().text().answer();
  REQUIRE(sources.size() == 2);
  CHECK(sources[0] != sources[1]);
  CHECK(f.text_is_current());
  REQUIRE(text->emission);
  CHECK(text->emission->source == sources[1]);
  CHECK(text->source.lines.size() > 100);
  CHECK(f.session.kernel().built().answer()->faults.empty());
  // Its command line writes just this text, and the check is of it.
  const std::string line = command_line(f.session, "emit");
  CHECK_THAT(line, Catch::Contains(" --cut 1"));
  f.session.apply(CheckKernel{2});
  f.settle();
  CHECK(f.session.kernel().text().answer() == text);
  CHECK(f.session.kernel().checked().answer()->fault.empty());
}

TEST_CASE("what does not compile has its messages; without a compiler there is one sentence", "[app]") {
  Fixture f([](const std::string&, const std::string&) {
    return Result<codegen::Compiled>(Error::input("fake does not accept the kernel:\nheddle.cu(3): error: no\n"));
  });
  f.session.apply(BuildKernel{});
  f.settle();
  REQUIRE(f.session.kernel().built().answer()->error);
  REQUIRE(f.session.kernel().built().answer()->messages.size() == 1);
  CHECK(f.session.kernel().built().answer()->messages[0].line == 3);
  Fixture none;
  none.session.apply(show_tab(BottomTab::Cuda));
  none.settle();
  CHECK(none.session.kernel().why_no_build() == "nothing compiles here");
}

TEST_CASE("the program is checked in as many orders as asked for, and cancelled at once", "[app]") {
  Fixture f;
  f.session.apply(CheckKernel{3});
  f.settle();
  REQUIRE(f.session.kernel().checked().answer());
  CHECK(f.session.kernel().checked().answer()->done == 3);
  CHECK(f.session.kernel().checked().answer()->fault.empty());
  f.session.apply(CheckKernel{1'000'000});
  f.session.apply(CancelKernel{KernelStep::Check});
  CHECK_FALSE(f.session.building());
}

TEST_CASE("a machine without kernels says so, and no run is offered", "[app]") {
  Fixture f;
  f.session.apply(OpenPair{"toy_fig1", "toy", true});
  REQUIRE(test::wait_until([&] { return !f.session.live().active(); }, [&] { f.session.pump(); }));
  f.session.apply(show_tab(BottomTab::Cuda));
  f.settle();
  REQUIRE(f.text_is_current());
  CHECK(f.session.kernel().text().answer()->refusals.front().rule == "arch");
  CHECK(f.session.runs().why_no_run().find("sm_90a") != std::string::npos);
  f.session.apply(BuildKernel{});
  f.session.apply(RunKernel{});
  f.settle();
  CHECK_FALSE(f.session.kernel().built().answer());
}

TEST_CASE("how the kernel is written is a step of undo, changes its text, and is in every line", "[app]") {
  Fixture f;
  f.session.apply(OpenSchedule{test::repository_path("tests/schedules/gemm_hopper_h100.json")});
  f.session.apply(show_tab(BottomTab::Cuda));
  f.settle();
  REQUIRE(f.text_is_current());
  const std::string plain = f.session.kernel().text().answer()->emission->source;
  CHECK(plain.find("__cluster_dims__") == std::string::npos);
  KernelOptions options;
  options.build.cluster = 2;
  options.records = codegen::Recording::Loop;
  options.trips = 5;
  f.session.apply(SetKernelOptions{options});
  f.settle();
  REQUIRE(f.text_is_current());
  const KernelText& text = *f.session.kernel().text().answer();
  REQUIRE(text.emission);
  CHECK(text.emission->source.find("__cluster_dims__(2") != std::string::npos);
  CHECK(text.emission->records);
  CHECK(text.program->trips == 5);
  CHECK(f.session.last_line().find("--trips 5 --cluster 2 --records loop") != std::string::npos);
  CHECK(command_line(f.session, "run").find("--cluster 2") != std::string::npos);
  CHECK(command_line(f.session, "run").find("--records") == std::string::npos);  // of no use there
  CHECK(command_line(f.session, "solve").find("--cluster") == std::string::npos);
  const std::vector<std::string> words = kernel_words(f.session.content());
  CHECK(std::find(words.begin(), words.end(), "--cluster") != words.end());
  f.session.apply(Undo{});
  f.settle();
  CHECK(f.session.content().kernel_options == KernelOptions{});
  CHECK(f.session.kernel().text().answer()->emission->source == plain);
  f.session.apply(Redo{});
  CHECK(f.session.content().kernel_options == options);
}

TEST_CASE("options out of range are taken as the nearest that there is", "[app]") {
  Fixture f;
  KernelOptions wild;
  wild.build.cluster = 17;
  wild.trips = -4;
  f.session.apply(SetKernelOptions{wild});
  CHECK(f.session.content().kernel_options.build.cluster == 1);
  CHECK(f.session.content().kernel_options.trips == 1);
  for (const KernelOptions& options : {KernelOptions{}, KernelOptions{{2, {}, false}, codegen::Recording::Ops, 7},
                                       KernelOptions{{1, {}, true}, codegen::Recording::Loop, {}}})
    CHECK(options_from(to_choices(options)) == options);
  CHECK(options_from({{"emit cluster", "many"}, {"emit trips", "9x"}, {"emit records", "?"}}) == KernelOptions{});
  CHECK(describe(KernelOptions{{2, {}, false}, codegen::Recording::Ops, 7}) == "trips 7, cluster 2, no turns, records ops");
}

TEST_CASE("what a kernel cannot have is known, with the reason", "[app]") {
  Fixture f;
  f.session.apply(OpenSchedule{test::repository_path("tests/schedules/gemm_hopper_h100.json")});
  f.session.apply(show_tab(BottomTab::Cuda));
  f.settle();
  const KernelText* text = f.session.kernel().text_of_problem();
  REQUIRE(text);
  CHECK(text->offers.cluster.empty());
  CHECK(text->offers.loop_records.empty());
  CHECK(text->offers.op_records.empty());
  f.session.apply(OpenSchedule{test::repository_path("tests/schedules/layernorm_h100.json")});
  f.settle();
  text = f.session.kernel().text_of_problem();
  REQUIRE(text);
  CHECK(text->offers.cluster.size() > 8);
  CHECK(text->offers.turns == "the kernel has no wgmma to keep in order");
}

TEST_CASE("the program is verified with data beside the check of its orders, and a text is written first", "[app]") {
  Fixture f;
  f.session.apply(OpenSchedule{test::repository_path("tests/schedules/gemm_hopper_h100.json")});
  f.session.apply(CheckKernel{2, true});
  f.session.apply(CheckKernel{3, false});
  CHECK(f.session.last_line().find("heddle interpret gemm_hopper h100 --interleavings 3") == 0);
  f.settle();
  REQUIRE(f.session.kernel().verified().answer());
  const KernelCheck& data = *f.session.kernel().verified().answer();
  CHECK(data.failure.empty());
  CHECK(data.fault.empty());
  CHECK(data.done == 2);
  CHECK(data.data);
  REQUIRE(f.session.kernel().checked().answer());
  CHECK(f.session.kernel().checked().answer()->done == 3);
  CHECK(check_kernel_command(f.session, {12, true}).find(" --interleavings 12 --data") != std::string::npos);
  f.session.apply(CheckKernel{1'000'000, true});
  f.session.apply(CancelKernel{KernelStep::Data});
  CHECK_FALSE(f.session.building());
}

TEST_CASE("what the compiler objects to is solved again with, and what comes of it is compiled", "[app]") {
  auto solved = std::make_shared<std::atomic<bool>>(false);
  Environment e = Fixture::environment([solved](const std::string&, const std::string&) {
    codegen::Compiled compiled;
    compiled.compiler = "fake 1.0";
    compiled.report.spill_stores = *solved ? 0 : 8;
    return Result<codegen::Compiled>(std::move(compiled));
  });
  auto shown = std::make_shared<Schedule>();
  e.solve = [solved, shown](const solver::SolveRequest& request, const std::stop_token&, const solver::SolveListener&) {
    SolveOutcome outcome;
    *solved = request.constraints.size() == 1 && request.constraints.front().kind == ConstraintKind::MaxRegisters;
    outcome.status = Status::Feasible;
    outcome.schedule = *shown;
    return outcome;
  };
  Session session(std::move(e));
  session.apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
  *shown = session.content().entry()->schedule;
  session.apply(BuildKernel{true});
  CHECK(session.kernel().waits(KernelStep::Build));
  REQUIRE(test::wait_until([&] { return !session.building(); }, [&] { session.pump(); }));
  REQUIRE(session.content().constraints.size() == 1);
  CHECK(session.content().entry()->name == session.content().constraints.front().name);
  CHECK(KernelState::is_current(session.kernel().built(), KernelState::subject_of(session.content())));
  CHECK(session.kernel().built().answer()->faults.empty());
  CHECK(session.close(test::kPatience));
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("solving again follows a whole chain of refusals, as one step that can be undone", "[app]") {
  const test::ScratchFolder folder;
  const Instance instance = make_instance(spec_of(load_kernel("swiglu_dual_gemm_hopper").value(), load_machine("h100").value())).value();
  const auto with = [](solver::SolveRequest request, std::vector<std::string> sentences) {
    for (const std::string& sentence : sentences) request.constraints.push_back(parse_constraint(sentence, request.problem).value());
    return request;
  };
  Environment e = Fixture::environment({});
  // As long as nobody demands it otherwise, it keeps apart what has to be together.
  e.solve = [&](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener&) {
    const bool second = std::any_of(request.constraints.begin(), request.constraints.end(),
                                    [](const UserConstraint& c) { return c.name == "G1 and U1 in one group"; });
    return solver::solve(second ? request : with(request, {"G1 and U1 apart"}), stop);
  };
  Session session(std::move(e));
  const auto settle = [&] { REQUIRE(test::wait_until([&] { return !session.building(); }, [&] { session.pump(); })); };
  solver::SolveRequest first;
  first.problem = instance.problem();
  const SolveOutcome apart = solver::solve(with(first, {"G0 and U0 apart", "G1 and U1 in one group"}));
  session.apply(OpenSchedule{folder.write("apart.json", schedule_text(instance.problem(), apart.schedule.value()))});
  REQUIRE(session.content().entry());
  const std::string before = session.content().entry()->name;
  session.apply(show_tab(BottomTab::Cuda));
  settle();
  REQUIRE_FALSE(session.kernel().text().answer()->refusals.empty());
  session.apply(WriteKernel{true});
  CHECK(session.last_line().find(" --again") != std::string::npos);
  CHECK(session.kernel().waits(KernelStep::Text));
  CHECK_FALSE(session.kernel().why_not_again().empty());
  settle();
  const Constraints& demanded = session.content().constraints;
  REQUIRE(demanded.size() == 2);
  CHECK(demanded[0].name == "G0 and U0 in one group");
  CHECK(demanded[1].name == "G1 and U1 in one group");
  CHECK(KernelState::is_current(session.kernel().text(), KernelState::subject_of(session.content())));
  CHECK(session.kernel().text().answer()->emission);
  CHECK(session.content().entry()->verdict.valid());
  CHECK(session.content().entry()->status == Status::Optimal);
  CHECK(session.content().baseline_entry()->name == before);
  const auto in_log = [&](const char* text) {
    return std::any_of(session.log().begin(), session.log().end(),
                       [&](const LogEntry& line) { return line.text.find(text) != line.text.npos; });
  };
  CHECK(in_log("solved again with \"G0 and U0 in one group\""));
  CHECK(in_log("solved again with \"G1 and U1 in one group\""));
  session.apply(Undo{});
  CHECK(session.content().constraints.empty());
  CHECK(session.content().entry()->name == before);
  // Stopped in the middle, nothing has changed.
  session.apply(WriteKernel{true});
  session.apply(CancelKernel{KernelStep::Text});
  CHECK_FALSE(session.kernel().again().active());
  settle();
  CHECK(session.content().constraints.empty());
  // The question is another one meanwhile.
  session.apply(WriteKernel{true});
  session.apply(AddConstraint{parse_constraint("at most 5 stages", instance.problem()).value(), false});
  settle();
  CHECK(session.content().constraints.size() == 1);
  CHECK(in_log("its question is gone"));
  CHECK(session.close(test::kPatience));
}

TEST_CASE("a chain that ends without a schedule says the same in the window and on the command line", "[app]") {
  const test::ScratchFolder folder;
  const Instance instance = make_instance(spec_of(load_kernel("swiglu_dual_gemm_hopper").value(), load_machine("h100").value())).value();
  // Each of the two refusals is against one of them.
  const std::vector<std::string> demanded{"U0 and U1 in one group", "G0 and G1 apart"};
  solver::SolveRequest first;
  first.problem = instance.problem();
  for (const std::string& sentence : demanded) first.constraints.push_back(parse_constraint(sentence, instance.problem()).value());
  const SolveOutcome found = solver::solve(first);
  const std::string file = folder.write("first.json", schedule_text(instance.problem(), found.schedule.value()));
  Environment e = Fixture::environment({});
  e.solve = built_in_solver();
  Session session(std::move(e));
  session.apply(OpenSchedule{file});
  for (const UserConstraint& constraint : first.constraints) session.apply(AddConstraint{constraint, false});
  session.apply(WriteKernel{true});
  REQUIRE(test::wait_until([&] { return !session.building(); }, [&] { session.pump(); }));
  CHECK(session.content().constraints == first.constraints);
  const auto run = test::run_heddle({"emit", "swiglu_dual_gemm_hopper", "h100", file, "--again", "--no-compile", "--least-ii", "--demand",
                                     demanded[0], "--demand", demanded[1]});
  INFO(run.err);
  CHECK(run.code == 4);  // there is none
  std::size_t links = 0, at = 0;
  for (const LogEntry& line : session.log()) {
    if (line.text.find("; solved again with ") == std::string::npos) continue;
    const std::size_t here = run.err.find("heddle: " + line.text + "\n", at);
    CHECK(here != std::string::npos);
    at = std::min(here, run.err.size());
    ++links;
  }
  CHECK(links == 2);
  // The reason is the solver's on both.
  const std::string none = "no such schedule was found: ";
  const auto reason =
      std::find_if(session.log().begin(), session.log().end(), [&](const LogEntry& line) { return line.text.starts_with(none); });
  REQUIRE(reason != session.log().end());
  CHECK(test::contains(run.err, reason->text.substr(none.size())));
  CHECK(session.close(test::kPatience));
}
#endif
