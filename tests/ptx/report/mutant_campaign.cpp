#include "tests/ptx/report/mutant_campaign.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "ptx/launch/launch_json.h"
#include "ptx/report/check.h"
#include "ptx/run/cluster.h"
#include "ptx/text/parse.h"

namespace heddle::test {
using namespace ptx;

namespace {

std::string line_of(const std::string& text, int line) {
  std::istringstream lines(text);
  std::string found;
  for (int i = 0; i < line; ++i) std::getline(lines, found);
  const std::size_t begin = found.find_first_not_of(" \t"), end = found.find_last_not_of(" \t\r");
  return begin == std::string::npos ? "" : found.substr(begin, end - begin + 1);
}

}  // namespace

CampaignKernel campaign_kernel(const std::string& name) {
  const std::string base = std::string(HEDDLE_SOURCE_DIR) + "/tests/ptx/texts/" + name;
  std::ifstream file(base + ".ptx");
  std::stringstream text;
  text << file.rdbuf();
  auto launch = read_launch(base + ".json");
  if (!launch) throw std::runtime_error(to_string(launch.error()));
  return {name, text.str(), *launch};
}

std::set<int> executed_lines(const CampaignKernel& kernel) {
  const auto module = parse(kernel.text, kernel.name);
  if (!module) throw std::runtime_error(to_string(module.error()));
  const auto function = find_entry(*module, kernel.name, kernel.launch.kernel);
  if (!function) throw std::runtime_error(to_string(function.error()));
  const Costs costs = costs_of(nullptr);
  ClusterOptions options;
  options.trace = false;
  Launch launch = kernel.launch;
  for (std::size_t i = 0; i < 3; ++i)
    if (launch.block[0] == 0 || i > 0) launch.block[i] = std::max(launch.block[i], (*function)->threads[i]);
  ClusterRun run(*module, **function, launch, costs, options);
  run.run();
  std::set<int> lines;
  for (std::size_t pc = 0; pc < run.executed.size(); ++pc)
    if (run.executed[pc] > 0) lines.insert((*function)->code[pc].line);
  return lines;
}

JudgedMutant judged(const CampaignKernel& kernel, const PtxMutant& mutant) {
  JudgedMutant one{mutant.kind, line_of(kernel.text, mutant.line), mutant.line, Judged::Clean, ""};
  const auto checked = check(mutant.text, kernel.name, kernel.launch, {});
  if (!checked) {
    one.judged = Judged::Unreadable;
    one.said = to_string(checked.error());
    return one;
  }
  for (const SaidFinding& finding : checked->findings) {
    if (finding.rank == Rank::Note) continue;
    one.judged = finding.rank == Rank::Wrong ? Judged::Wrong : Judged::Doubtful;
    one.said = finding.rule + ": " + finding.sentence;
    return one;
  }
  if (!checked->stopped.empty()) {
    one.judged = Judged::Stopped;
    one.said = checked->stopped;
  }
  return one;
}

}  // namespace heddle::test
