// heddle pareto: what a smaller II costs in warps, registers, memory or stages.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/cli/questions/schedule_files.h"
#include "app/cli/solving.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/jobs/judge_claim.h"
#include "core/answers/layout_choice.h"
#include "core/answers/pareto.h"
#include "core/base/atomic_file.h"
#include "core/base/words.h"
#include "core/formats/schedule_json.h"
#include "core/schedule/question.h"
#include "solver/questions/pareto.h"

namespace heddle::app {
namespace {

int exit_code(const Pareto& front) {
  if (!front.fault.empty()) return kInternal;
  if (front.cancelled) return kInterrupted;
  if (!front.complete) return kNoProof;
  return front_points(front).empty() ? kNegative : kDone;
}

std::vector<Resource> resources_of(const Arguments& arguments) {
  std::set<Resource> resources;
  for (const std::string& word : arguments.all("--against"))
    if (const auto resource = parse_word(word, Resource::Tmem)) resources.insert(*resource);
  return {resources.begin(), resources.end()};
}

int save_points(const Problem& problem, const Pareto& front, const std::string& folder, const Terminal& terminal) {
  std::size_t number = 0;
  for (const std::size_t i : front_points(front)) {
    const std::string path = numbered_file(folder, problem.kernel, ++number);
    if (const int failed = write_text(terminal, path, schedule_text(problem, *front.steps[i].schedule))) return failed;
    terminal.note(fmt::format("{} saved as {}", point_sentence(front, front.steps[i]), path));
  }
  return kDone;
}

/// The front of the combination that dominates all others is the front of all.
Result<Ok> take_the_only_layouts(Inputs& inputs, solver::ParetoRequest& request) {
  if (!inputs.open || inputs.open->decisions.empty()) return Ok{};
  const OpenLayouts& open = *inputs.open;
  const auto only = only_choices(open);
  if (!only) return Error::input("--choose: " + several_left_text(open), "leave fewer open, or say some with --layout and --instruction");
  Result<Instance> chosen = with(inputs, *only);
  if (!chosen) return chosen.error();
  inputs.instance = *std::move(chosen);
  request.layouts_open = open_layouts_text(open);
  request.layouts = choices_in_words(inputs.choices());
  return Ok{};
}

/// What an earlier run proved is the file's word. With --prove, or where something free contradicts it, it is not gone on from.
void distrust(const Inputs& inputs, const std::string& file, bool prove, Pareto& known, const Terminal& terminal) {
  if (prove) terminal.note(fmt::format("{}: begun again, because --prove believes no file", file));
  if (prove || known.steps.empty() || !known.steps[0].schedule) return prove ? known.steps.clear() : void();
  Schedule first = *known.steps[0].schedule;
  Certificate& claim = first.claim.emplace();
  claim.status = Status::Feasible;
  claim.ii = first.ii;
  claim.lower_bound = known.steps[0].lower_bound;
  claim.problem_hash = question_hash(inputs.problem(), inputs.constraints);
  std::vector<Fault> refuted;
  judge_claim(inputs.problem(), inputs.constraints, first, file, &refuted);
  print_warnings(terminal, refuted);
  if (!first.claim) known.steps.clear();
  known.from_file = !known.steps.empty();
}

/// Announces points that are new, and keeps the file up to date.
class Keeper {
 public:
  Keeper(const Inputs& inputs, std::optional<std::string> file, ProgressLine& line)
      : inputs_(inputs), file_(std::move(file)), line_(line) {}

  void operator()(const Pareto& front) {
    for (const std::size_t i : front_points(front)) {
      const std::string sentence = point_sentence(front, front.steps[i]);
      if (said_.insert(sentence).second) line_.announce(sentence);
    }
    line_.show({fmt::format("{} points", front_points(front).size()), fmt::format("{} steps", front.steps.size())});
    save(front);
  }
  /// What an earlier run found is not news.
  void know(const Pareto& front) {
    for (const std::size_t i : front_points(front)) said_.insert(point_sentence(front, front.steps[i]));
  }
  void save(const Pareto& front) {
    if (!file_) return;
    const Result<Ok> written = write_file(*file_, pareto_json(inputs_.problem(), inputs_.constraints, front).pretty());
    error_.reset();
    if (!written) error_ = written.error();
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const Inputs& inputs_;
  std::optional<std::string> file_;
  ProgressLine& line_;
  std::set<std::string> said_;
  std::optional<Error> error_;  ///< of the last write
};

}  // namespace

int run_pareto(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const auto file = arguments.text("--out"), folder = arguments.text("--out-dir");
  if (arguments.has("--resume") && !file) return refuse(terminal, "--resume goes on from the file that --out names; give --out FILE", json);
  if (file == "-") return refuse(terminal, "--out keeps a file to go on from; for standard output use --json", json);
  Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  solver::ParetoRequest request;
  if (const Result<Ok> taken = take_the_only_layouts(*inputs, request); !taken) return report(terminal, taken.error(), json);
  request.solve = solve_request(*inputs, arguments);
  request.against = resources_of(arguments);
  Pareto known;
  if (arguments.has("--resume")) {
    std::vector<Fault> warnings;
    Result<Pareto> read = read_pareto(*file, inputs->problem(), inputs->constraints, &warnings);
    print_warnings(terminal, warnings);
    if (!read) return report(terminal, read.error(), json);
    known = *std::move(read);
    distrust(*inputs, *file, arguments.has("--prove"), known, terminal);
    if (!request.against.empty() && request.against != known.against)
      return report(terminal, Error::input(fmt::format("{} holds a front against other resources than --against asks for", *file)), json);
    request.against = known.against;
    request.max_ii_factor = known.max_ii_factor;
    request.known = known.steps;
  }
  if (request.against.empty()) request.against = {Resource::Smem};
  if (const auto factor = arguments.integer("--max-ii-factor")) request.max_ii_factor = static_cast<int>(*factor);
  if (file)
    if (const int failed = expect_writable(terminal, *file, json)) return failed;
  if (folder)
    if (const int failed = expect_writable(terminal, numbered_file(*folder, inputs->problem().kernel, 1), json)) return failed;

  Pareto front;
  std::optional<Error> unsaved;
  {
    const InterruptScope interrupt;
    ProgressLine progress(terminal);
    Keeper keeper(*inputs, file, progress);
    keeper.know(known);
    front = solver::find_pareto(
        request, interrupt.token(), [&](const Pareto& so_far) { keeper(so_far); }, listener_for(progress));
    keeper.save(front);
    unsaved = keeper.error();
  }
  if (json)
    terminal.out << pareto_json(inputs->problem(), inputs->constraints, front).pretty();
  else if (terminal.quiet)
    terminal.out << pareto_headline(front) << "\n";
  else
    terminal.out << pareto_summary(inputs->problem(), front, terminal.style);
  if (!front.fault.empty()) terminal.complain("internal error: " + front.fault);
  int code = exit_code(front);
  if (folder)
    if (const int failed = save_points(inputs->problem(), front, *folder, terminal)) code = failed;
  if (unsaved) code = report(terminal, *unsaved, false);
  return code;
}

}  // namespace heddle::app
