// What codegen refuses is asked for anew with each demand of the compiler, because it belongs to schedules that were found without it.
#include "app/ask/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "codegen/program/target.h"
#include "core/base/text_style.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

constexpr int kMostRounds = 8;
/// Once there is a kernel, a better one is worth a part of what that one took, and not all the time that is left.
constexpr double kLeastSeconds = 5;

class Chain {
 public:
  Chain(const Subject& subject, const KernelRequest& request, std::stop_token stop, const Listener<KernelAnswer>& listener)
      : subject_(subject), request_(request), stop_(std::move(stop)), listener_(listener) {}

  KernelAnswer follow() {
    find();
    if (answer_.cancelled) note("stopped");
    if (answer_.error) note(to_string(*answer_.error));
    if (!answer_.made && !over() && (answer_.chain.empty() || !answer_.chain.back().demands.empty()))
      note("no such schedule was found" + (why_none_.empty() ? "" : ": " + why_none_));
    return std::move(answer_);
  }

 private:
  bool compiles() const { return request_.goal == KernelGoal::Compiled; }
  bool kept() const { return subject_.schedule && !request_.again; }
  bool over() const { return answer_.cancelled || answer_.error; }
  /// By somebody, and not because time is up: some of a kernel's cuts are as good as all.
  bool stopped() const { return stop_.stop_requested() && !request_.deadline.passed(); }
  bool can_solve() {
    if (!request_.solve)
      answer_.error = Error::environment("this build has no solver", "configure with -DHEDDLE_SOLVER=ON, or give a schedule");
    return !over();
  }
  void note(std::string line) { answer_.said.push_back(std::move(line)); }
  void say(const std::string& line) {
    note(line);
    listener_.tell({.doing = line, .line = line});
  }
  codegen::CompileQuestion question(const Instance& instance, const Schedule& schedule) const {
    return {instance.kernel(), instance.problem(), schedule, request_.trips, request_.records};
  }

  /// Those that are not known yet; false: there is none.
  bool take_demands(const std::vector<codegen::Refusal>& refusals, Constraints& known) {
    Constraints demands;
    for (const codegen::Refusal& r : refusals) {
      if (!r.constraint || std::find(known.begin(), known.end(), *r.constraint) != known.end()) continue;
      if (!can_solve()) return false;
      say(fmt::format("{}: {}; solved again with \"{}\"", r.rule, printable(r.sentence), printable(r.constraint->name)));
      known.push_back(*r.constraint);
      demands.push_back(*r.constraint);
    }
    if (demands.empty()) return false;
    answer_.chain.push_back({refusals, std::move(demands)});
    return true;
  }

  /// Where no schedule with fewer registers was found: fewer stages keep fewer values alive, too. False: there are no fewer, or they have
  /// been asked for.
  bool fewer_stages_instead() {
    const auto of_kind = [](ConstraintKind kind) { return [kind](const UserConstraint& c) { return c.kind == kind; }; };
    const codegen::Program& program = answer_.made->built.program;
    if (program.stages < 2 || std::any_of(demands_.begin(), demands_.end(), of_kind(ConstraintKind::MaxStages))) return false;
    if (std::erase_if(demands_, of_kind(ConstraintKind::MaxRegisters)) == 0) return false;
    UserConstraint& fewer = demands_.emplace_back(codegen::fewer_stages(program));
    fewer.name = describe(fewer);
    say(fmt::format("no schedule with fewer registers was found; solved again with \"{}\"", fewer.name));
    answer_.chain.push_back({{}, {fewer}});
    return true;
  }

  /// Without a compiler.
  std::optional<MadeKernel> written() {
    Subject now = subject_;
    if (!demands_.empty()) now.schedule.reset();
    now.constraints.insert(now.constraints.end(), demands_.begin(), demands_.end());
    if (most_seconds_) now.limits.timeout_seconds = std::min(now.limits.timeout_seconds, *most_seconds_);
    WrittenKernel kernel;
    for (int round = 0; round < kMostRounds; ++round) {
      SolveOutcome search;
      search.schedule = std::exchange(now.schedule, std::nullopt);
      if (!search.schedule && can_solve()) search = request_.solve(now, stop_);
      answer_.cancelled = search.cancelled || stopped();
      why_none_ = search.explanation;
      if (answer_.cancelled || !search.schedule) return std::nullopt;
      const codegen::CompileQuestion asked = question(now.instance, *search.schedule);
      kernel = request_.sizes_may_be_fixed ? written_for_most_sizes(asked, request_.build, request_.goal)
                                           : written_kernel(asked, request_.build, request_.goal);
      const auto no_machine = codegen::refuse_machine(now.instance.machine());
      if (no_machine && kernel.program && request_.goal != KernelGoal::Program) kernel.refusals = {*no_machine};
      if (kernel.refusals.empty()) {
        now.constraints.erase(now.constraints.begin(), now.constraints.begin() + static_cast<std::ptrdiff_t>(subject_.constraints.size()));
        codegen::BuiltKernel built{std::move(kernel.build), *std::move(kernel.program), {}, {}, {}, {}, {}};
        if (kernel.emission) built.emission = *std::move(kernel.emission);
        return MadeKernel{now.instance, *std::move(search.schedule), std::move(now.constraints), std::move(built)};
      }
      if (kept() || !take_demands(kernel.refusals, now.constraints)) break;
    }
    std::ranges::for_each(complaints(kernel.refusals), [&](const std::string& line) { note(line); });
    answer_.chain.push_back({std::move(kernel.refusals), {}});
    listener_.tell({}, &answer_);
    return std::nullopt;
  }

  bool compile(MadeKernel& made) {
    const auto doing = [&](std::string text) { listener_.tell({.doing = std::move(text)}); };
    doing("the compiler is at work");
    auto kernel = compiled_kernel(question(made.instance, made.schedule), std::move(made.built), request_.compile, stop_, doing);
    answer_.cancelled = stopped();
    if (!kernel.ok() && !answer_.cancelled) answer_.error = kernel.error();
    if (over()) return false;
    made.built = std::move(*kernel);
    const std::vector<int>& cuts = made.built.build.cuts;
    for (std::size_t role = 0; role < cuts.size() && request_.build.cuts.empty() && made.built.faults.empty(); ++role)
      if (cuts[role] != 0)
        say(fmt::format("{}: its loop begins elsewhere than at first, which suits ptxas", printable(made.built.program.roles[role].name)));
    return true;
  }

  void find() {
    const auto begun = Deadline::Clock::now();
    for (int round = 0;; ++round) {
      if (answer_.made && request_.deadline.passed()) return say("time is up: what was compiled before is the last word");
      std::optional<MadeKernel> made = written();
      if (!made && answer_.made && !over()) {
        if (fewer_stages_instead()) continue;
        answer_.last_word = true;
        return say("no such schedule can be written: what was compiled before is the last word");
      }
      answer_.made.reset();
      if (!made || (compiles() && !compile(*made))) return;
      answer_.made = std::move(made);
      if (!most_seconds_)
        most_seconds_ = std::max(kLeastSeconds, std::chrono::duration<double>(Deadline::Clock::now() - begun).count() / 2);
      if (!compiles() || kept() || round == kMostRounds || !take_demands(answer_.made->built.faults, demands_)) return;
    }
  }

  const Subject& subject_;
  const KernelRequest& request_;
  const std::stop_token stop_;
  const Listener<KernelAnswer>& listener_;
  Constraints demands_;                 // of the compiler
  std::optional<double> most_seconds_;  // for a search
  std::string why_none_;                // no schedule, in the solver's words
  KernelAnswer answer_;
};

}  // namespace

WrittenKernel written_kernel(const codegen::CompileQuestion& question, const codegen::BuildOptions& build, KernelGoal goal) {
  codegen::BuildResult built = codegen::build_program(question.kernel, question.problem, question.schedule, question.trips, build);
  WrittenKernel kernel{build, std::move(built.program), {}, std::move(built.refusals)};
  if (!kernel.program || goal == KernelGoal::Program) return kernel;
  codegen::EmitResult emitted = codegen::emit_cuda(question.kernel, question.problem, question.schedule, *kernel.program, question.records);
  kernel.emission = std::move(emitted.emission);
  kernel.refusals = std::move(emitted.refusals);
  return kernel;
}

WrittenKernel written_for_most_sizes(const codegen::CompileQuestion& question, codegen::BuildOptions build, KernelGoal goal) {
  build.run_time_sizes = true;
  WrittenKernel kernel = written_kernel(question, build, goal);
  if (kernel.refusals.empty()) return kernel;
  build.run_time_sizes = false;
  std::string why = kernel.refusals.front().sentence;
  kernel = written_kernel(question, build, goal);
  kernel.why_fixed_sizes = std::move(why);
  return kernel;
}

Result<codegen::BuiltKernel> compiled_kernel(const codegen::CompileQuestion& question, codegen::BuiltKernel written,
                                             const codegen::CompileFunction& compile, const std::stop_token& stop,
                                             const std::function<void(std::string)>& doing) {
  const bool may_cut = written.build.cuts.empty();
  int tried = 0;
  const codegen::CompileFunction compile_next = [&](const std::string& source, const std::string& arch) {
    if (tried > 0) doing(fmt::format("{} did not suit ptxas: trying other places where loops may begin", count_of(tried, "text")));
    ++tried;
    return compile(source, arch);
  };
  auto kernel =
      codegen::compile_kernel(question, std::move(written.build), std::move(written.program), std::move(written.emission), compile_next);
  return kernel.ok() && may_cut ? codegen::recut(question, std::move(*kernel), compile_next, stop) : std::move(kernel);
}

std::function<bool(const Problem&, const Schedule&)> can_be_written(std::shared_ptr<const Kernel> kernel, const KernelRequest& request) {
  return [kernel = std::move(kernel), trips = request.trips, build = request.build, may_be_fixed = request.sizes_may_be_fixed](
             const Problem& problem, const Schedule& schedule) {
    const codegen::CompileQuestion asked{*kernel, problem, schedule, trips};
    return (may_be_fixed ? written_for_most_sizes(asked, build) : written_kernel(asked, build)).refusals.empty();
  };
}

KernelAnswer ask_kernel(const Subject& subject, const KernelRequest& request, std::stop_token stop,
                        const Listener<KernelAnswer>& listener) {
  return Chain(subject, request, std::move(stop), listener).follow();
}

std::vector<std::string> complaints(const std::vector<codegen::Refusal>& refusals) {
  std::vector<std::string> lines;
  for (const codegen::Refusal& r : refusals) {
    lines.push_back(fmt::format("{}: {}", r.rule, printable(r.sentence)));
    lines.push_back(r.constraint ? fmt::format("  solve with --demand \"{}\"", printable(r.constraint->name))
                                 : fmt::format("  no demand avoids it: {}", codegen::why_no_demand(r.rule)));
  }
  return lines;
}

}  // namespace heddle::app
