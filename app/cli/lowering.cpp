// Ctrl-C is watched for in turns, because one scope lives at a time: a search does so itself.
#include "app/cli/lowering.h"

#include <functional>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "app/ask/judge.h"
#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "app/cli/package_command.h"
#include "app/cli/solving.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "app/jobs/judge_store.h"
#include "core/simulate/forecast.h"
#include "core/simulate/kernel_run.h"
#ifdef HEDDLE_HAS_SOLVER
#include "app/ask/next_best.h"
#endif

namespace heddle::app {
namespace {

codegen::Recording recording_of(const Arguments& arguments) {
  const std::string records = arguments.text("--records").value_or("none");
  return records == "ops" ? codegen::Recording::Ops : records == "loop" ? codegen::Recording::Loop : codegen::Recording::None;
}

/// Where the text is compared with one that is written on another host, which knows of no proof.
void forget_proofs(std::optional<Schedule>& schedule, const Arguments& arguments) {
  if (schedule && arguments.has("--on")) schedule->certificate.reset(), schedule->claim.reset();
}

/// What a command's kernel is made with.
class Tools {
 public:
  Tools(CommandInputs inputs, const Arguments& arguments, const Terminal& terminal, int& code)
      : inputs_(std::move(inputs)), arguments_(arguments), terminal_(terminal), code_(code) {}

  SolveOutcome solve(Subject& now) {
    passed_on_.reset();
    watch_.reset();
    CommandInputs asked = inputs_;
    asked.instance = now.instance;
    asked.constraints = now.constraints;
    asked.schedule.reset();
    if (!now.open) asked.open.reset();
    asked.most_seconds = now.limits.timeout_seconds;
    SolveOutcome outcome;
    outcome.schedule = schedule_to_show(asked, arguments_, terminal_, code_);
    outcome.cancelled = code_ == kInterrupted;
    if (outcome.schedule && outcome.cancelled) terminal_.complain("interrupted");
    forget_proofs(outcome.schedule, arguments_);
    now.instance = asked.instance;
    if (!asked.open) now.open.reset();
    return outcome;
  }

  /// While others are judged several threads ask at once, and what they wait for ends with an interrupt.
  Result<codegen::Compiled> compile(const std::string& source, const std::string& arch, codegen::CompileOptions options) {
    if (!watch_) passed_on_.emplace(watch_.emplace(arguments_.deadline()).token(), [this] { stop_.request_stop(); });
    options.arch = arch_of(arch, arguments_);
    if (judging_) options.stop = stop_.get_token();
    if (options.arch.starts_with("sm_10") != arch.starts_with("sm_10"))
      return Error::input(fmt::format("{} is written for {}, which {} does not run", printable(inputs_.kernel().name), arch, options.arch));
    std::vector<std::string> entries;
    std::vector<std::string>* const all = std::exchange(options.entries, &entries);
    auto compiled = codegen::compile_cuda(source, options);
    const std::lock_guard lock(mutex_);
    if (all) all->insert(all->end(), entries.begin(), entries.end());
    return compiled;
  }

  void hear(const News& news, const KernelAnswer* so_far) {
    if (!news.line.empty()) terminal_.note(news.line);
    if (!so_far) return;
    const std::vector<codegen::Refusal>& refusals = so_far->chain.back().refusals;
    complain_of(refusals, terminal_);
    if (arguments_.has("--json")) terminal_.out << Json(Json::Object{{"refusals", refusals_json(refusals)}}).pretty();
    code_ = kNegative;
  }

#ifdef HEDDLE_HAS_SOLVER
  void judge(MadeKernel& made, const Subject& subject, const KernelRequest& request) {
    judging_ = true;
    JudgeRequest others{request.build, request.trips, request.compile};
    others.build.run_time_sizes = made.built.build.run_time_sizes;
    others.seconds = std::min(arguments_.judge_seconds(), request.deadline.left());
    others.next_best = [&](const MadeKernel& first, double seconds, const std::stop_token& stop) {
      return kept_or_searched(subject, first, seconds, stop);
    };
    ProgressLine progress(terminal_);
    judge_kernel(made, others, token(),
                 [&](const News& news) { progress.show(news.facts.empty() ? std::vector<std::string>{news.doing} : news.facts); });
  }
#endif

  std::stop_token token() const { return stop_.get_token(); }
  bool interrupted() const { return watch_ && watch_->interrupted(); }

 private:
#ifdef HEDDLE_HAS_SOLVER
  /// The kernel's own order is kept with the others: the next search for it may end with another one.
  std::vector<NextBest> kept_or_searched(const Subject& subject, const MadeKernel& made, double seconds,
                                         const std::stop_token& stop) const {
    const ContentStore store(arguments_.has("--no-store") ? StorePlace{} : store_place());
    OrdersQuestion question{made.instance.problem(), subject.constraints, subject.limits.seed, seconds};
    question.demands.insert(question.demands.end(), made.demands.begin(), made.demands.end());
    if (auto kept = find_orders(store, question)) return *std::move(kept);
    std::vector<NextBest> found = next_best(subject, made, seconds, stop);
    if (stop.stop_requested()) return found;
    std::vector<NextBest> kept = found;
    kept.insert(kept.begin(), {"solved before", made.schedule});
    keep_orders(store, question, kept);
    return found;
  }
#endif

  const CommandInputs inputs_;
  const Arguments& arguments_;
  const Terminal& terminal_;
  int& code_;
  std::stop_source stop_;
  std::mutex mutex_;  // guards where entries of the cache are listed
  bool judging_ = false;
  std::optional<InterruptScope> watch_;  // of compilations
  std::optional<std::stop_callback<std::function<void()>>> passed_on_;
};

#ifdef HEDDLE_HAS_SOLVER
/// Whoever gives a schedule, says where loops are cut, asks for clock readings or for another answer than the fastest gets just that.
bool may_judge(const CommandInputs& inputs, const Arguments& arguments, const KernelRequest& request) {
  return request.goal == KernelGoal::Compiled && !inputs.schedule && request.build.cuts.empty() &&
         request.records == codegen::Recording::None && arguments.judge_seconds() > 0 && time_choice_of(inputs, arguments) != nullptr;
}
#endif

}  // namespace

void complain_of(const std::vector<codegen::Refusal>& refusals, const Terminal& terminal) {
  for (const std::string& line : complaints(refusals)) terminal.complain(line);
  for (const codegen::Refusal& r : refusals)
    if (r.cut) terminal.complain(fmt::format("  cut it with --subtile {}={}", printable(r.cut->param), r.cut->factor));
}

codegen::BuildOptions build_options(const Arguments& arguments) {
  const std::optional<std::string> sizes = arguments.text("--sizes");
  codegen::BuildOptions build{.cluster = static_cast<int>(arguments.integer("--cluster").value_or(1)),
                              .turns = !arguments.has("--no-turns"),
                              .deep_rings = !arguments.has("--least-rings"),
                              .run_time_sizes = sizes ? sizes == "run-time" : package_format(arguments).has_value()};
  for (const std::string& cut : arguments.all("--cut")) build.cuts.push_back(std::stoi(cut));  // an integer in range: the option says so
  return build;
}

codegen::Compiler compiler_of(const Arguments& arguments) {
  const std::string name = arguments.text("--compiler").value_or("auto");
  return name == "nvrtc" ? codegen::Compiler::Nvrtc : name == "nvcc" ? codegen::Compiler::Nvcc : codegen::Compiler::Auto;
}

std::string arch_of(const std::string& written_for, const Arguments& arguments) { return arguments.text("--arch").value_or(written_for); }

Json refusals_json(const std::vector<codegen::Refusal>& refusals) {
  Json list = Json::array();
  for (const codegen::Refusal& r : refusals) {
    Json ops = Json::array();
    for (const std::string& op : r.ops) ops.push(op);
    list.push(Json::Object{{"rule", r.rule},
                           {"ops", std::move(ops)},
                           {"sentence", r.sentence},
                           {"demand", r.constraint ? Json(r.constraint->name) : Json()},
                           {"no_demand", r.constraint ? Json() : Json(codegen::why_no_demand(r.rule))}});
  }
  return list;
}

std::optional<MadeKernel> make_kernel(const Arguments& arguments, const Terminal& terminal, KernelGoal goal,
                                      const codegen::CompileOptions& options, int& code) {
  const bool json = arguments.has("--json");
  Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
  if (!inputs) {
    code = report(terminal, inputs.error(), json);
    return std::nullopt;
  }
  code = kDone;
  KernelRequest request{build_options(arguments), recording_of(arguments), arguments.integer("--trips"), goal, arguments.has("--again")};
  request.deadline = arguments.deadline();
  request.sizes_may_be_fixed = package_format(arguments) && !arguments.has("--sizes");
  inputs->can_be_written = can_be_written(inputs->instance.spec().kernel, request);
  Subject subject{inputs->instance, inputs->constraints, inputs->schedule};
  if (inputs->open) subject.open = std::make_shared<const OpenLayouts>(*inputs->open);
  subject.limits.timeout_seconds = arguments.deadline(subject.limits.timeout_seconds).left();
  forget_proofs(subject.schedule, arguments);
#ifdef HEDDLE_HAS_SOLVER
  const bool judging = may_judge(*inputs, arguments, request);
#endif
  Tools tools(*std::move(inputs), arguments, terminal, code);
  request.solve = [&](Subject& now, const std::stop_token&) { return tools.solve(now); };
  request.compile = [&](const std::string& source, const std::string& arch) { return tools.compile(source, arch, options); };
  KernelAnswer answer = ask_kernel(subject, request, tools.token(), {[&](const News& n, const KernelAnswer* far) { tools.hear(n, far); }});
#ifdef HEDDLE_HAS_SOLVER
  if (judging && answer.made && !answer.error && !answer.cancelled) tools.judge(*answer.made, subject, request);
#endif
  if (tools.interrupted()) {  // which may have taken the compiler with it
    terminal.complain("interrupted");
    code = kInterrupted;
    return std::nullopt;
  }
  if (answer.error) code = report(terminal, *answer.error, json);
  if (answer.last_word) code = kDone;
  return std::move(answer.made);
}

codegen::MeasureRequest measure_request(const Arguments& arguments, bool profile, const MadeKernel& made,
                                        const codegen::CompileOptions& compile) {
  codegen::MeasureRequest request{made.instance.kernel(), made.instance.problem(), made.schedule, made.built.program, compile};
  request.compile.arch = arch_of(made.built.program.arch, arguments);
  request.profile = profile;
  request.verify = !arguments.has("--no-verify") && !arguments.has("--trips");
  request.time = !arguments.has("--no-time");
  request.library = !arguments.has("--no-library") && !arguments.has("--trips");
  request.repeats = static_cast<int>(arguments.integer("--repeats").value_or(request.repeats));
  request.launches = static_cast<int>(arguments.integer("--launches").value_or(request.launches));
  request.sustained_launches = static_cast<int>(arguments.integer("--sustained").value_or(request.sustained_launches));
  request.warmups = static_cast<int>(arguments.integer("--warmups").value_or(request.warmups));
  request.blocks = static_cast<int>(arguments.integer("--blocks").value_or(request.blocks));
  request.pause_seconds = arguments.seconds("--pause").value_or(request.pause_seconds);
  request.seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(1));
  return request;
}

std::optional<PredictedRun> prediction_of_run(const Arguments& arguments, const MadeKernel& made) {
  KernelRunOptions options;
  options.loop.arbitration = Arbitration::Interleaved;
  options.loop.turns = !arguments.has("--no-turns");
  options.trips = arguments.integer("--trips");
  options.persistent = true;  // as every kernel is written
  options.cluster = made.built.program.cluster;
  return predicted_run(heddle::run_kernel(made.instance, made.schedule, options));
}

}  // namespace heddle::app
