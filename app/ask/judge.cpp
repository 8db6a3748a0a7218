// One compilation at a time: the order of the candidates, and not the number of cores, says which are looked at first.
#include "app/ask/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "app/ask/listener.h"
#include "core/base/clock.h"
#include "core/motion/motion.h"
#include "core/timing/program.h"

namespace heddle::app {
namespace {

/// Of its time, for finding candidates; the rest is the compiler's.
constexpr double kForCandidates = 0.4;

class Judge {
 public:
  Judge(MadeKernel& made, const JudgeRequest& request, const std::stop_token& stop, const std::function<void(const News&)>& heard)
      : made_(made), problem_(made.instance.problem()), request_(request), stop_(stop), heard_(heard), deadline_(request.seconds) {}

  void run() {
    Judgement& judgement = made_.judged.emplace();
    if (!made_.built.audit.iteration()) {
      judgement.why = "no machine code to judge";
      return;
    }
    const Clock::time_point begin = Clock::now();
    first();
    heard_({.doing = "looking for the next best orders"});
    std::vector<NextBest> candidates = request_.next_best(made_, kForCandidates * deadline_.left(), stop_);
    std::erase_if(candidates, [&](const NextBest& c) { return same_program(c.schedule, made_.schedule); });
    judgement.candidates = candidates.size() + 1;
    for (NextBest& candidate : candidates) {
      judgement.why = why_end();
      if (!judgement.why.empty()) break;
      say(rows_.size(), judgement.candidates);
      look_at(std::move(candidate));
    }
    std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.place() < b.place(); });
    for (Row& row : rows_) judgement.ranked.push_back(std::move(row.shown));
    judgement.seconds = seconds_between(begin, Clock::now());
    if (!better_) return;
    made_.schedule = std::move(better_->schedule);
    made_.built = std::move(better_->built);
  }

 private:
  struct Row {
    JudgedSchedule shown;
    bool written = false, timed = false;
    /// What is clean and timed first; among these by cycles, among equals by period.
    std::tuple<bool, bool, bool, Cycle, double> place() const {
      return {!shown.against.empty(), !written, !timed, shown.as_compiled.value_or(0), shown.period};
    }
  };
  struct Better {
    Schedule schedule;
    codegen::BuiltKernel built;
  };

  std::vector<std::string> order(const Schedule& schedule) const {
    return timing::stream_text(problem_, motion::program_of(problem_, schedule));
  }

  static void take(const codegen::BuiltKernel& built, Row& row) {
    row.written = true;
    row.shown.as_compiled = built.audit.iteration();
    row.timed = row.shown.as_compiled.has_value();
    for (const auto* against : {&built.faults, &built.findings})
      if (!against->empty() && row.shown.against.empty()) object(against->front(), row);
  }
  static void object(const codegen::Refusal& refusal, Row& row) {
    row.shown.rule = refusal.rule;
    row.shown.against = refusal.sentence;
  }

  /// The kernel that there is: known, and compiled already.
  void first() {
    Row row{{"solved", order(made_.schedule), motion::motion_of(problem_, made_.schedule).period.cycles()}};
    take(made_.built, row);
    texts_.insert(made_.built.emission.source);
    best_ = row.place();
    rows_.push_back(std::move(row));
  }

  /// Nothing is begun that would probably end too late: the longest so far says how long a text takes.
  std::string why_end() const {
    if (stop_.stop_requested()) return "stopped";
    return deadline_.left() <= longest_ ? fmt::format("{:g} s were all that it had", request_.seconds) : std::string();
  }

  void say(std::size_t done, std::size_t of) const {
    const Row& best = *std::min_element(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.place() < b.place(); });
    const std::string least =
        best.shown.as_compiled ? fmt::format("fastest as compiled {} cycles", *best.shown.as_compiled) : std::string();
    heard_({.doing = "judging machine code", .facts = {"judging machine code", fmt::format("order {} of {}", done + 1, of), least}});
  }

  void look_at(NextBest candidate) {
    const Clock::time_point begin = Clock::now();
    Row row{{std::move(candidate.name), order(candidate.schedule), candidate.period}};
    const codegen::CompileQuestion question{made_.instance.kernel(), problem_, candidate.schedule, request_.trips};
    WrittenKernel written = written_kernel(question, request_.build);
    if (!written.refusals.empty()) {
      object(written.refusals.front(), row);
      rows_.push_back(std::move(row));
      return;
    }
    const bool known = !texts_.insert(written.emission->source).second;
    if (known) return;  // another program, the same text
    auto built = codegen::compile_kernel(question, std::move(written.build), *std::move(written.program), *std::move(written.emission),
                                         request_.compile);
    if (built.ok()) take(*built, row);
    if (!built.ok()) row.shown.against = built.error().faults.front().message;
    if (built.ok() && row.place() < best_) {
      best_ = row.place();
      better_.emplace(Better{std::move(candidate.schedule), std::move(*built)});
    }
    rows_.push_back(std::move(row));
    longest_ = std::max(longest_, seconds_between(begin, Clock::now()));
  }

  MadeKernel& made_;
  const Problem& problem_;
  const JudgeRequest& request_;
  const std::stop_token& stop_;
  const std::function<void(const News&)>& heard_;
  const Deadline deadline_;
  double longest_ = 0;  // seconds for a candidate
  std::set<std::string> texts_;
  std::vector<Row> rows_;
  std::tuple<bool, bool, bool, Cycle, double> best_;
  std::optional<Better> better_;
};

}  // namespace

void judge_kernel(MadeKernel& made, const JudgeRequest& request, const std::stop_token& stop,
                  const std::function<void(const News&)>& heard) {
  Judge(made, request, stop, heard).run();
}

}  // namespace heddle::app
