// Streams as text: what hand schedules are written in, and what logs show.
#include <fmt/format.h>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "core/timing/program.h"

namespace heddle::timing {
namespace {

constexpr int kMostStages = 64;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  std::size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string::npos) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    found.push_back(text.substr(at, end - at));
    at = end;
  }
  return found;
}

}  // namespace

Result<std::vector<std::vector<StreamStep>>> parse_streams(const Problem& problem, const std::vector<std::string>& streams) {
  Error error;
  const auto fault = [&](std::string message, std::string hint = {}) {
    error.faults.push_back({{}, {}, std::move(message), std::move(hint)});
  };
  std::vector<int> seen(problem.ops.size(), 0);
  std::vector<std::vector<StreamStep>> parsed;
  for (const std::string& stream : streams) {
    std::vector<StreamStep>& steps = parsed.emplace_back();
    for (const std::string& word : words(stream)) {
      const std::size_t mark = word.find('@');
      StreamStep step{problem.find_op(word.substr(0, mark)), 0};
      if (!step.op.valid()) {
        fault(fmt::format("unknown op '{}'", word), did_you_mean(word.substr(0, mark), names_of(problem.ops)));
        continue;
      }
      if (mark != std::string::npos) {
        step.stage = read_number<int>(std::string_view(word).substr(mark + 1)).value_or(-1);
        if (step.stage < 0 || step.stage > kMostStages)
          fault(fmt::format("'{}' does not say by how many iterations the op lags behind", word), "write QK0@1");
      }
      if (++seen[step.op.index()] == 2) fault(fmt::format("{} comes twice", problem.op(step.op).name));
      steps.push_back(step);
    }
  }
  for (std::size_t v = 0; v < seen.size(); ++v)
    if (seen[v] == 0) fault(fmt::format("{} is in no stream", problem.ops[v].name));
  if (!error.faults.empty()) return error;
  return parsed;
}

std::vector<std::string> stream_text(const Problem& problem, const LoopProgram& program) {
  std::vector<std::string> texts;
  for (const auto& stream : program.streams) {
    std::string& text = texts.emplace_back();
    for (const StreamStep& step : stream)
      text += fmt::format("{}{}{}", text.empty() ? "" : " ", problem.op(step.op).name, step.stage ? fmt::format("@{}", step.stage) : "");
  }
  return texts;
}

}  // namespace heddle::timing
