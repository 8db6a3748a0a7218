// heddle pareto: what a smaller II costs in warps, registers, memory or stages.
#include <fmt/format.h>

#include <set>

#include "app/ask/pareto.h"
#include "app/cli/questions/asking.h"
#include "app/cli/questions/schedule_files.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/jobs/judge_claim.h"
#include "core/base/atomic_file.h"
#include "core/base/words.h"
#include "core/formats/schedule_json.h"
#include "core/schedule/question.h"

namespace heddle::app {
namespace {

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

/// What an earlier run proved is the file's word. With --prove, or where something free contradicts it, it is not gone on from.
void distrust(const Subject& subject, const std::string& file, bool prove, Pareto& known, const Terminal& terminal) {
  if (prove) terminal.note(fmt::format("{}: begun again, because --prove believes no file", file));
  if (prove || known.steps.empty() || !known.steps[0].schedule) return prove ? known.steps.clear() : void();
  Schedule first = *known.steps[0].schedule;
  Certificate& claim = first.claim.emplace();
  claim.status = Status::Feasible;
  claim.ii = first.ii;
  claim.lower_bound = known.steps[0].lower_bound;
  claim.problem_hash = question_hash(subject.problem(), subject.constraints);
  std::vector<Fault> refuted;
  judge_claim(subject.problem(), subject.constraints, first, file, &refuted);
  print_warnings(terminal, refuted);
  if (!first.claim) known.steps.clear();
  known.from_file = !known.steps.empty();
}

}  // namespace

int run_pareto(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const auto file = arguments.text("--out"), folder = arguments.text("--out-dir");
  if (arguments.has("--resume") && !file) return refuse(terminal, "--resume goes on from the file that --out names; give --out FILE", json);
  if (file == "-") return refuse(terminal, "--out keeps a file to go on from; for standard output use --json", json);
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  Subject subject = subject_of(*inputs, arguments);
  if (const Result<Ok> taken = take_only_layouts(subject); !taken)
    return report(
        terminal,
        Error::input("--choose: " + taken.error().faults.front().message, "leave fewer open, or say some with --layout and --instruction"),
        json);
  ParetoOptions options;
  options.against = resources_of(arguments);
  Pareto known;
  if (arguments.has("--resume")) {
    std::vector<Fault> warnings;
    Result<Pareto> read = read_pareto(*file, subject.problem(), subject.constraints, &warnings);
    print_warnings(terminal, warnings);
    if (!read) return report(terminal, read.error(), json);
    known = *std::move(read);
    distrust(subject, *file, arguments.has("--prove"), known, terminal);
    if (!options.against.empty() && options.against != known.against)
      return report(terminal, Error::input(fmt::format("{} holds a front against other resources than --against asks for", *file)), json);
    options.against = known.against;
    options.max_ii_factor = known.max_ii_factor;
  }
  if (options.against.empty()) options = {};
  if (const auto factor = arguments.integer("--max-ii-factor")) options.max_ii_factor = static_cast<int>(*factor);
  if (file)
    if (const int failed = expect_writable(terminal, *file, json)) return failed;
  if (folder)
    if (const int failed = expect_writable(terminal, numbered_file(*folder, subject.problem().kernel, 1), json)) return failed;

  std::optional<Error> unsaved;  // of the last write
  const auto save = [&](const Pareto& front) {
    if (!file) return;
    const Result<Ok> written = write_file(*file, pareto_json(subject.problem(), subject.constraints, front).pretty());
    unsaved = written ? std::nullopt : std::optional(written.error());
  };
  const Result<Pareto> front = asked<Pareto>(terminal, [&](auto stop, auto listener) {
    listener.heard = [&, tell_it = std::move(listener.heard)](const News& news, const Pareto* so_far) {
      tell_it(news, so_far);
      if (so_far) save(*so_far);
    };
    return ask_pareto(subject, options, known, stop, listener);
  });
  if (!front) return report(terminal, front.error(), json);
  save(*front);
  int code = tell(terminal, json, told(subject, *front, telling(terminal, json)), ended(*front));
  if (folder)
    if (const int failed = save_points(subject.problem(), *front, *folder, terminal)) code = failed;
  if (unsaved) code = report(terminal, *unsaved, false);
  return code;
}

}  // namespace heddle::app
