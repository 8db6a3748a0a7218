#include "tests/ptx/report/mutant_campaign.h"

#include <algorithm>
#include <catch2/catch.hpp>
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

std::string key_of(const SaidFinding& finding) {
  std::string key = finding.rule + " " + std::to_string(finding.line);
  for (const SaidFinding::Related& related : finding.related) key += " " + std::to_string(related.line);
  return key;
}

bool is_core(const std::string& kind) {
  return kind == "drop_arrive" || kind == "expect_more" || kind == "expect_half" || kind == "drop_product_wait" ||
         kind == "drop_tensor_commit";
}

}  // namespace

CampaignKernel campaign_kernel(const std::string& name, const std::filesystem::path& launch_file) {
  auto launch = read_launch(launch_file.string());
  if (!launch) throw std::runtime_error(to_string(launch.error()));
  std::ifstream file(launch_file.parent_path() / launch->ptx);
  std::stringstream text;
  text << file.rdbuf();
  CampaignKernel kernel{name, text.str(), *launch, {}};
  const auto checked = check(kernel.text, name, kernel.launch, {});
  if (!checked) throw std::runtime_error(to_string(checked.error()));
  if (!checked->stopped.empty()) throw std::runtime_error(name + ": " + checked->stopped);
  for (const SaidFinding& finding : checked->findings)
    if (finding.rank != Rank::Note) kernel.said.insert(key_of(finding));
  return kernel;
}

CampaignKernel own_kernel(const std::string& name) {
  return campaign_kernel(name, std::string(HEDDLE_SOURCE_DIR) + "/tests/ptx/texts/" + name + ".json");
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
    if (finding.rank == Rank::Note || kernel.said.contains(key_of(finding))) continue;
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

MissedTable missed_table(const std::string& name) {
  MissedTable rows;
  std::ifstream file(std::string(HEDDLE_SOURCE_DIR) + "/tests/ptx/" + name);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t statement = line.find(" | "), reason = line.rfind(" | ");
    REQUIRE(statement < reason);
    const auto [at, made] = rows.try_emplace(line.substr(0, statement));
    CHECK(made);
    at->second = {line.substr(statement + 3, reason - statement - 3), line.substr(reason + 3)};
  }
  return rows;
}

void plant(const CampaignKernel& kernel, MissedTable rows, int step, Tally& tally) {
  std::erase_if(rows, [&](const auto& row) { return !row.first.starts_with(kernel.name + " "); });
  const std::vector<PtxMutant> mutants = ptx_mutants(kernel.text, executed_lines(kernel));
  for (std::size_t i = 0; i < mutants.size(); i += static_cast<std::size_t>(step)) {
    const JudgedMutant one = judged(kernel, mutants[i]);
    const std::string key = kernel.name + " " + one.kind + " " + std::to_string(one.line);
    INFO(key << ": " << one.statement << "\n" << one.said);
    ++tally.planted;
    tally.found += one.found() ? 1 : 0;
    tally.core += is_core(one.kind) ? 1 : 0;
    tally.core_found += one.found() && is_core(one.kind) ? 1 : 0;
    const auto row = rows.find(key);
    if (one.found()) {
      CHECK(row == rows.end());  // the table has no line for what is found
      continue;
    }
    CHECK(row != rows.end());
    if (row == rows.end()) continue;
    CHECK(one.statement.starts_with(row->second.statement));
    CHECK(row->second.reason.size() > 20);
    rows.erase(row);
  }
  if (step != 1) return;
  for (const auto& [key, row] : rows) FAIL_CHECK("the table tells of " << key << ", which was not planted or is found");
}

}  // namespace heddle::test
