// heddle check and heddle show of PTX texts, launch files and folders of a capture.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/ask/ptx.h"
#include "app/command/arguments.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/option_words.h"
#include "app/command/progress_line.h"
#include "app/command/terminal.h"
#include "core/base/scanner.h"

namespace heddle::app {
namespace {

/// "120=taken"
Result<std::map<int, ptx::BranchChoice>> branches_of(const Arguments& arguments) {
  std::map<int, ptx::BranchChoice> branches;
  Error error;
  for (const std::string& word : arguments.all("--branch")) {
    const std::size_t mark = std::min(word.find('='), word.size());
    const auto line = read_number<int>(std::string_view(word).substr(0, mark));
    const std::string way = mark < word.size() ? word.substr(mark + 1) : std::string();
    if (!line || *line < 1 || (way != "taken" && way != "not" && way != "both")) {
      error.faults.push_back({{}, {}, fmt::format("--branch: expected LINE=taken, LINE=not or LINE=both, found '{}'", word), {}});
      continue;
    }
    branches[*line] = way == "taken" ? ptx::BranchChoice::Taken : way == "not" ? ptx::BranchChoice::NotTaken : ptx::BranchChoice::Both;
  }
  if (!error.faults.empty()) return error;
  return branches;
}

Result<PtxQuestion> question_of(const Arguments& arguments) {
  PtxQuestion question;
  question.launch_path = arguments.text("--launch").value_or("");
  question.kernel = arguments.text("--kernel").value_or("");
  question.words.grid = arguments.text("--grid");
  question.words.cluster = arguments.text("--cluster");
  question.words.block = arguments.text("--block");
  if (const auto bytes = arguments.integer("--smem")) question.words.dynamic_shared = static_cast<std::uint64_t>(*bytes);
  question.words.parameters = arguments.all("--param");
  question.words.maps = arguments.all("--map");
  question.words.buffers = arguments.all("--buffer");
  question.more_sizes = arguments.has("--sizes");
  question.machine = arguments.text("--machine").value_or("");
  question.limit = arguments.integer("--limit").value_or(question.limit);
  Error error;
  const auto add = [&](const Error& more) { error.faults.insert(error.faults.end(), more.faults.begin(), more.faults.end()); };
  for (const std::string& word : arguments.all("--size"))
    if (Result<ptx::SizeWish> wish = ptx::read_size(word); wish.ok())
      question.sizes.push_back(*std::move(wish));
    else
      add(in_options(wish.error()));
  Result<std::map<int, ptx::BranchChoice>> branches = branches_of(arguments);
  if (branches)
    question.branches = *std::move(branches);
  else
    add(branches.error());
  if (!error.faults.empty()) return error;
  return question;
}

/// The answers of all files together; fails with the first file that stands for nothing.
Result<PtxAnswer> answer_of(const Arguments& arguments, const Terminal& terminal, PtxQuestion question, const InterruptScope& interrupt) {
  ProgressLine progress(terminal);
  PtxAnswer all;
  const std::vector<std::string>& files = arguments.all("FILES");
  for (const std::string& file : files) {
    question.path = file;
    Result<PtxAnswer> answer = ask_ptx(question, interrupt.token(), [&](const std::string& name) { progress.show({name}); });
    if (!answer && files.size() == 1) return answer.error();
    if (!answer) {
      all.launches.push_back({file, {}, {}, {}, {}, answer.error()});
      continue;
    }
    std::ranges::move(answer->launches, std::back_inserter(all.launches));
    std::ranges::move(answer->said, std::back_inserter(all.said));
    all.cancelled |= answer->cancelled;
  }
  return all;
}

/// What no launch of one text executed.
std::string unseen_in_all(const PtxAnswer& answer) {
  std::set<int> lines;
  for (std::size_t l = 0; l < answer.launches.size(); ++l) {
    if (!answer.launches[l].checked || answer.launches[l].text_path != answer.launches.front().text_path) return {};
    std::set<int> now;
    for (const ptx::NotSeen& part : answer.launches[l].checked->not_seen) now.insert(part.line);
    if (l == 0)
      lines = std::move(now);
    else
      std::erase_if(lines, [&](int line) { return !now.contains(line); });
  }
  return lines.empty() ? "every wait, copy, arrive and product was executed in one of these launches"
                       : fmt::format("not executed in any of these launches: {} (first at line {})",
                                     count_of(static_cast<std::int64_t>(lines.size()), "instruction"), *lines.begin());
}

void print(const PtxAnswer& answer, bool sizes, const Terminal& terminal) {
  if (answer.launches.size() == 1 && !terminal.quiet) {
    terminal.out << ptx::check_text(answer.launches.front(), terminal.style);
    return;
  }
  if (terminal.quiet) {
    for (const ptx::CheckedLaunch& launch : answer.launches)
      terminal.out << printable(answer.launches.size() == 1 ? verdict_text(launch) : launch.name + ": " + verdict_text(launch)) << "\n";
    return;
  }
  terminal.out << ptx::check_lines(answer.launches, terminal.style);
  const auto in_order = [](const ptx::CheckedLaunch& launch) {
    return launch.checked && launch.checked->verdict == ptx::CheckVerdict::InOrder;
  };
  if (sizes) {
    if (const std::string unseen = unseen_in_all(answer); !unseen.empty()) terminal.out << "\n" << unseen << "\n";
    for (const ptx::CheckedLaunch& launch : answer.launches)
      if (!in_order(launch)) terminal.out << "\n" << ptx::check_text(launch, terminal.style);
  } else if (const auto bad = std::ranges::find_if_not(answer.launches, in_order); bad != answer.launches.end()) {
    terminal.note(as_called(fmt::format("heddle check {} says more", printable(bad->name))));
  }
}

int code_of(const PtxAnswer& answer, const InterruptScope& interrupt, const Terminal& terminal) {
  if (interrupt.interrupted()) return terminal.complain("interrupted"), kInterrupted;
  if (interrupt.timed_out()) terminal.complain("time is up");
  return exit_code(ended(answer));
}

}  // namespace

int run_ptx_check(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const Result<PtxQuestion> question = question_of(arguments);
  if (!question) return report(terminal, question.error(), json);
  const InterruptScope interrupt(arguments.deadline());
  const Result<PtxAnswer> answer = answer_of(arguments, terminal, *question, interrupt);
  if (!answer) return report(terminal, answer.error(), json);
  if (json)
    terminal.out << ptx::check_json(answer->launches).pretty();
  else
    print(*answer, question->more_sizes, terminal);
  for (const std::string& line : answer->said) terminal.note(printable(line));
  return code_of(*answer, interrupt, terminal);
}

int run_ptx_show(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  Result<PtxQuestion> question = question_of(arguments);
  if (!question) return report(terminal, question.error(), json);
  question->picture = ptx::RunPicture::Shown;
  const InterruptScope interrupt(arguments.deadline());
  const Result<PtxAnswer> answer = answer_of(arguments, terminal, *question, interrupt);
  if (!answer) return report(terminal, answer.error(), json);
  if (json) terminal.out << ptx::show_json(answer->launches).pretty();
  for (const ptx::CheckedLaunch& launch : answer->launches) {
    const bool in_order = launch.checked && launch.checked->verdict == ptx::CheckVerdict::InOrder;
    if (!in_order) terminal.note(printable(fmt::format("{}: {}", launch.name, verdict_text(launch))));
    if (!launch.checked || json) continue;
    if (answer->launches.size() > 1) terminal.out << printable(launch.name) << "\n";
    for (const std::string& note : launch.checked->notes) terminal.note(printable(note));
    terminal.out << printable(show_text(*launch.checked->shown, terminal.style.width), true);
  }
  return code_of(*answer, interrupt, terminal);
}

}  // namespace heddle::app
