#include "app/session/kernel_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "app/jobs/package_job.h"
#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/open_document.h"
#include "app/session/proposal.h"
#include "app/session/rows.h"
#include "app/session/solving.h"
#include "core/base/atomic_file.h"
#include "core/base/text_style.h"

namespace heddle::app {
namespace {

void say_outcome(OpenDocument& document, const KernelCheck& c) {
  const std::string name = c.of.schedule_name;
  if (!c.failure.empty()) return document.say(LogLevel::Warning, fmt::format("{}: not verified: {}", name, c.failure));
  if (!c.fault.empty()) return document.say(LogLevel::Bad, fmt::format("{}: interleaving {}: {}", name, c.done - 1, c.fault));
  document.say(LogLevel::Good, fmt::format("{}: {} {}", name, count_of(c.done, "interleaving"),
                                           c.data ? "with data on the CPU: every element is what heddle eval computes"
                                                  : "on the CPU: no deadlock, no race"));
}

}  // namespace

std::optional<KernelSubject> KernelState::subject_of(const Content& content) {
  if (!content.problem || !content.shown) return std::nullopt;
  const EntryPtr& entry = content.schedules[*content.shown];
  KernelSubject subject;
  subject.spec = content.spec();
  subject.problem = content.problem;
  subject.schedule = std::shared_ptr<const Schedule>(entry, &entry->schedule);
  subject.schedule_name = entry->name;
  subject.options = content.kernel_options;
  return subject;
}

bool KernelState::writes_or_has(const KernelSubject& subject) const {
  return text_.active() ? writing_ && same_text(*writing_, subject) : text_.answer() && same_text(text_.answer()->of, subject);
}

void KernelState::write(const KernelSubject& subject) {
  if (!writing_ || !same_kernel(*writing_, subject)) {
    check_next_.reset();
    data_next_.reset();
    build_next_ = false;
  }
  // What was compiled stays what is shown, whatever was proved since.
  std::optional<codegen::BuildOptions> cuts;
  if (text_.answer() && same_kernel(text_.answer()->of, subject)) cuts = text_.answer()->build;
  writing_ = subject;
  given_up_.reset();
  text_.start([subject, cuts](std::stop_token, const auto&) { return write_kernel(subject, cuts); }, wake_);
}

void KernelState::write_first(const KernelSubject& subject) {
  if (writes_or_has(subject)) return;
  const auto check = check_next_, data = data_next_;
  const bool build = build_next_;
  write(subject);
  check_next_ = check;
  data_next_ = data;
  build_next_ = build;
}

void KernelState::check(const KernelSubject& subject, const CheckRequest& request) {
  write_first(subject);
  auto& next = request.data ? data_next_ : check_next_;
  next = request;
  if (!text_.active()) start_check(next);
}

void KernelState::build(const KernelSubject& subject) {
  look_for_compiler();
  write_first(subject);
  build_next_ = true;
  if (!text_.active()) start_build();
}

void KernelState::start_check(std::optional<CheckRequest>& next) {
  if (!next) return;
  const CheckRequest request = *std::exchange(next, std::nullopt);
  if (!text_.answer() || !text_.answer()->program) return;
  auto& task = request.data ? data_ : check_;
  task.start([text = text_.answer(), request, check = tools_.check](
                 std::stop_token stop, const auto& say) { return check(*text, request, std::move(stop), say); },
             wake_);
}

void KernelState::start_build() {
  build_next_ = false;
  if (!text_.answer() || !text_.answer()->emission) return;
  build_.start(
      [text = text_.answer(), compile = tools_.compile](std::stop_token stop, const auto& say) {
        say("the compiler is at work");
        return build_kernel(text, compile, stop, say);
      },
      wake_);
}

std::string KernelState::why_not_again() const { return again_.active() ? "it is being solved again" : solving_.why_no_solve(); }

void KernelState::solve_again(KernelGoal goal) {
  if (const std::string reason = why_not_again(); !reason.empty()) return say(LogLevel::Warning, "not solving: " + reason);
  const KernelSubject of = *subject_of(content_);
  Subject subject{Instance(of.spec, of.problem), content_.constraints, *of.schedule, *of.schedule};  // what comes of it stays close
  subject.limits.timeout_seconds = static_cast<double>(settings_.search_seconds);
  subject.limits.max_stages = std::max(subject.limits.max_stages, stages_wanted(content_));
  KernelRequest request{of.options.build, of.options.records, of.options.trips, goal, true, {}, tools_.compile};
  request.solve = [solve = solve_](Subject& now, const std::stop_token& stop) {
    return solve(solve_request(now), stop, [](const auto&) {});
  };
  again_builds_ = goal == KernelGoal::Compiled;
  again_asked_ = document_.asked();
  again_.start(
      [subject = std::move(subject), request = std::move(request)](std::stop_token stop, const auto& say) {
        return ask_kernel(subject, request, std::move(stop), {[&](const News& news, const KernelAnswer*) { say(news.doing); }});
      },
      wake_);
  changed();
}

void KernelState::take(const KernelAnswer& answer) {
  for (const std::string& line : answer.said) say(LogLevel::Info, line);
  if (content_.problem != again_asked_.problem || content_.constraints != again_asked_.constraints)
    return say(LogLevel::Info, "not shown: its question is gone");
  if (!answer.made || answer.made->demands.empty()) return;
  const Schedule& schedule = answer.made->schedule;
  const Constraints& demands = answer.made->demands;
  Constraints next = content_.constraints;
  next.insert(next.end(), demands.begin(), demands.end());
  std::string what;
  for (const UserConstraint& demand : demands) what += (what.empty() ? "" : ", ") + demand.name;
  edits_.demand(std::move(next), what, "the constraints changed");
  content_.baseline = content_.shown;
  const auto& proof = schedule.certificate;
  rows_.add({schedule, what, false, proof ? std::optional(proof->lower_bound) : std::nullopt, proof ? proof->explanation : ""});
  if (again_builds_) build(*subject_of(content_));
}

void KernelState::cancel(KernelStep step) {
  if (step == KernelStep::Text || step == KernelStep::Build) again_.cancel();
  switch (step) {
    case KernelStep::Text:
      if (text_.active()) given_up_ = writing_;
      text_.cancel();
      check_next_.reset();
      data_next_.reset();
      build_next_ = false;
      break;
    case KernelStep::Check:
      check_next_.reset();
      check_.cancel();
      break;
    case KernelStep::Data:
      data_next_.reset();
      data_.cancel();
      break;
    case KernelStep::Build:
      build_next_ = false;
      build_.cancel();
      break;
  }
}

void KernelState::look_for_compiler() {
  if (compiler_.active() || compiler_.answer() || !tools_.find_compiler) return;
  compiler_.start([find = tools_.find_compiler](std::stop_token, const auto&) { return find(); }, wake_);
}

bool KernelState::pump() {
  bool news = compiler_.pump();
  if (text_.pump()) {
    news = true;
    if (text_.phase() == Task<KernelText>::Phase::Failed) {
      say(LogLevel::Warning, "the code generator failed: " + text_.failure());
      cancel(KernelStep::Text);  // it begins again only when asked
      given_up_ = writing_;
    } else if (!text_.active()) {
      if (const auto& text = text_.answer(); text && !text->refusals.empty())
        say(LogLevel::Info, fmt::format("no CUDA for {}: {}: {}", text->of.schedule_name, text->refusals.front().rule,
                                        printable(text->refusals.front().sentence)));
      start_check(check_next_);
      start_check(data_next_);
      if (build_next_) start_build();
    }
  }
  for (Task<KernelCheck>* task : {&check_, &data_}) {
    if (!task->pump()) continue;
    news = true;
    if (task->phase() == Task<KernelCheck>::Phase::Failed) say(LogLevel::Warning, "the interpreter failed: " + task->failure());
    if (!task->active() && task->phase() == Task<KernelCheck>::Phase::Done) say_outcome(document_, *task->answer());
  }
  if (build_.pump()) {
    news = true;
    if (build_.phase() == Task<KernelBuild>::Phase::Failed) say(LogLevel::Warning, "the compiler failed: " + build_.failure());
    if (!build_.active() && build_.phase() == Task<KernelBuild>::Phase::Done) {
      const KernelBuild& b = *build_.answer();
      const bool recut = !text_.active() && is_current(text_, b.of) && text_.answer() != b.text;
      if (recut) text_.replace(b.text);  // what is shown, saved and verified is what was compiled
      const std::string name = b.of.schedule_name;
      if (b.error)
        say(LogLevel::Warning, name + ": not compiled");
      else if (!b.faults.empty())
        say(LogLevel::Warning, fmt::format("{}: {}: {}", name, b.faults.front().rule, b.faults.front().sentence));
      else
        say(LogLevel::Good,
            fmt::format("{}: compiled by {}{}{}", name, b.compiled.compiler, b.compiled.from_cache ? ", from the cache" : "",
                        recut ? "; its loops begin elsewhere than at first, which suits ptxas" : ""));
    }
  }
  if (again_.pump()) {
    news = true;
    if (again_.phase() == Task<KernelAnswer>::Phase::Failed) say(LogLevel::Warning, "solving again failed: " + again_.failure());
    if (!again_.active() && again_.phase() == Task<KernelAnswer>::Phase::Done) take(*again_.answer());
  }
  if (news) changed();
  keep_fresh();
  return news;
}

bool KernelState::close(std::chrono::steady_clock::time_point until) {
  for (const KernelStep step : {KernelStep::Text, KernelStep::Check, KernelStep::Data, KernelStep::Build})
    cancel(step);  // all, then they end side by side
  return text_.close(until) && check_.close(until) && data_.close(until) && build_.close(until) && compiler_.close(until) &&
         again_.close(until);
}

std::string KernelState::why_no_kernel(const Content& content) {
  if (!content.kernel) return "open a kernel first";
  if (!content.machine) return "open a machine first";
  if (!content.problem) return content.kernel->name + " cannot be scheduled on " + content.machine->name;
  return content.entry() ? "" : "there is no schedule yet";
}

const KernelText* KernelState::text_of_problem() const {
  const KernelText* text = text_.answer().get();
  return text && content_.problem && text->of.problem == content_.problem ? text : nullptr;
}

std::string KernelState::why_no_build() const {
  if (const std::string reason = why_no_kernel(content_); !reason.empty()) return reason;
  if (!tools_.compile) return "there is no compiler";
  if (const Result<std::string>* found = compiler(); found && !found->ok()) return found->error().faults.front().message;
  const auto subject = subject_of(content_);
  if (is_current(text_, subject) && !text_.answer()->emission) return "the schedule cannot be written as a kernel";
  return {};
}

void KernelState::keep_fresh() {
  if (view_.tab != BottomTab::Cuda) return;
  look_for_compiler();
  const auto subject = subject_of(content_);
  // A schedule that is still being improved is soon another one.
  if (!subject || content_.entry()->running || writes_or_has(*subject) || gave_up(*subject)) return;
  write(*subject);
  changed();
}

void KernelState::on(const WriteKernel& c) {
  view_.tab = BottomTab::Cuda;
  if (const std::string reason = why_no_kernel(content_); !reason.empty()) return say(LogLevel::Warning, "no CUDA: " + reason);
  if (c.again) return solve_again(KernelGoal::Text);
  write(*subject_of(content_));
  changed();
}

void KernelState::on(const CheckKernel& c) {
  constexpr std::int64_t kMost = 1'000'000;
  if (const std::string reason = why_no_kernel(content_); !reason.empty()) return say(LogLevel::Warning, "not verified: " + reason);
  view_.tab = BottomTab::Cuda;
  check(*subject_of(content_), {std::clamp<std::int64_t>(c.interleavings, 1, kMost), c.data});
  changed();
}

void KernelState::on(const SetKernelOptions& c) {
  const KernelOptions next = within_limits(c.options);
  if (!content_.kernel || next == content_.kernel_options) return;
  document_.undo.remember(content_, "kernel written " + describe(next));
  content_.kernel_options = next;
  changed();
}

void KernelState::on(const BuildKernel& c) {
  if (const std::string reason = why_no_build(); !reason.empty()) return say(LogLevel::Warning, "not compiled: " + reason);
  view_.tab = BottomTab::Cuda;
  if (c.again) return solve_again(KernelGoal::Compiled);
  build(*subject_of(content_));
  changed();
}

void KernelState::on(const CancelKernel& c) {
  cancel(c.step);
  changed();
}

void KernelState::on(const SaveKernel& c) {
  const auto subject = subject_of(content_);
  if (!is_current(text_, subject) || !text_.answer()->emission)
    return fail("Cannot save " + base_name(c.path), Error::input("there is no CUDA text of the shown schedule", "generate it first"));
  if (const auto saved = write_file(c.path, text_.answer()->emission->source); !saved)
    return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, "saved " + c.path);
}

void KernelState::on(const SavePackage& c) {
  if (!is_current(text_, subject_of(content_)) || !text_.answer()->emission)
    return fail("Cannot save " + base_name(c.path), Error::input("there is no CUDA text of the shown schedule", "generate it first"));
  const auto made = make_package(*text_.answer(), c.torch ? codegen::PackageFormat::Torch : codegen::PackageFormat::Cuda, c.command);
  if (!made) return fail("Cannot save " + base_name(c.path), made.error());
  if (const auto saved = codegen::write_package(made->files, c.path, false); !saved)
    return fail("Cannot save " + base_name(c.path), saved.error());
  say(LogLevel::Good, fmt::format("saved {} in {}", count_of(static_cast<std::int64_t>(made->files.size()), "file"), c.path));
}

}  // namespace heddle::app
